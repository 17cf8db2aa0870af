"""What random problems of Hypothesis are like, and how small they become."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path
from random import Random

import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from anon_core.methods.lattice.lattice import Lattice
from tests import naive
from tests.making import Case
from tests.often import often
from tests.strategies import Posed, cases, problems, publics

TESTS = Path(__file__).resolve().parents[1]
#: What a file imports that tries a share.
ASKS = re.compile(r"from tests\.often import [^\n(]*(\(|\btimes\b|\bquarter\b|\bEVERY\b)")


@pytest.mark.long
def test_a_table_becomes_small_enough_to_read() -> None:
    found = find(
        cases(quasi=(1, 3)),
        lambda case: case.columns["s0"].count("b") >= 2,
        settings=settings(max_examples=100, database=None),
        random=Random(3),
    )
    assert len(found.rows) <= 5  # four is the least that is drawn
    assert set(found.rows) == {("v0",)}
    assert found.columns["s0"].count("b") == 2
    assert {*found.columns["s0"], *found.columns["s1"]} == {"a", "b"}
    assert all(len(lines[0]) == 2 for lines in found.levels.values())


def test_every_kind_of_table_comes_up() -> None:
    seen = Counter[str]()

    @settings(max_examples=60)
    @given(problems(public=True))
    def drawn(posed: Posed) -> None:
        case, public = posed.case, posed.public
        assert public is not None
        assert 4 <= len(case.rows) <= 27
        assert 1 <= len(case.quasi) <= 4
        names = [lines for lines in case.levels.values() if len(lines[0]) > 2]
        seen.update(
            {
                "gaps": any(None in case.columns[n] for n in case.quasi),
                "without a hierarchy": len(case.levels) < len(case.quasi),
                "numbers": "number" in case.kinds.values(),
                "unbalanced": any(line[0] == line[1] for lines in names for line in lines),
                "joined": any(len({x[1] for x in lines}) < len(lines) for lines in names),
                "nothing sensitive": not case.sensitive,
                "two promises": len(posed.models) == 2,
                "rows may go": posed.budget > 0,
                "others are known": public.rows > len(case.rows),
                "many rows": len(case.rows) > 15,
            }
        )

    drawn()
    assert len(seen) == 10
    assert min(seen.values()) > 3


@often(100)
@given(st.data())
def test_levels_mean_the_same_to_the_core_and_to_plain_loops(data: st.DataObject) -> None:
    case: Case = data.draw(cases())
    lattice = Lattice(case.problem(data.draw(publics(case))))
    for node in lattice.nodes():
        found = naive.classes(case.rows, case.attributes, node)
        assert sorted(lattice.at(node).count.tolist()) == sorted(map(len, found.values()))


def test_what_tries_a_share_at_every_change_is_run_whole_in_the_long_run() -> None:
    """What asks for `times` or `EVERY` carries the mark by which `make test-long` finds it."""
    seen = 0
    for file in sorted(TESTS.rglob("test_*.py")):
        text = file.read_text(encoding="utf-8")
        if not ASKS.search(text):
            continue
        parts = ast.parse(text).body
        if any("often" in ast.unparse(part) for part in parts if names(part) == {"pytestmark"}):
            continue
        shared = {
            name.asname or name.name
            for part in parts
            if isinstance(part, ast.ImportFrom) and part.module == "tests.often"
            for name in part.names
            if name.name in {"times", "quarter", "EVERY"}
        }
        for part in (*parts, *parts):  # a helper may stand below what calls it
            used = {node.id for node in ast.walk(part) if isinstance(node, ast.Name)}
            if not used & shared:
                continue
            if isinstance(part, ast.FunctionDef) and part.name.startswith("test_"):
                seen += 1
                marks = " ".join(ast.unparse(mark) for mark in part.decorator_list)
                assert re.search(r"often|^crossed\(", marks), f"{file.name}: {part.name}"
            else:
                shared |= names(part)
    assert seen > 10


def names(part: ast.stmt) -> set[str]:
    """Return what a statement of a module gives a value to."""
    if isinstance(part, ast.FunctionDef):
        return {part.name}
    return {
        n.id for n in ast.walk(part) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
