"""Downcoding: exact for one column of one level, and never wrong for more."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest

from anon_core.base.context import Context, now
from anon_core.base.registry import find
from anon_core.methods.consistent_tables.base_cells import Boxes
from anon_core.methods.consistent_tables.program import solutions
from anon_core.release.ground_truth import truth_of
from anon_core.release.knowledge.audience import audience_of
from anon_core.release.minimality_rule import MinimalRows
from anon_core.techniques.attacks.downcoding import Downcoding, class_program, lowered
from anon_core.techniques.models.k_anonymity import KAnonymity
from tests.every_table import UNEVEN, B, every_release, table
from tests.making import Levels


def leaves(many: int) -> Levels:
    return [(str(n), "r") for n in range(1, many + 1)]


def anonymous(cells: tuple[str, ...], k: int) -> bool:
    return min(Counter(cells).values()) >= k


def minimal(rows: tuple[str, ...], k: int) -> Iterator[tuple[str, ...]]:
    """Yield the recodings of which no row can be lowered, by trying all that lower some."""
    for up in product((False, True), repeat=len(rows)):
        values = tuple("r" if on else row for row, on in zip(rows, up, strict=True))
        lower = (
            tuple("r" if on else row for row, on in zip(rows, less, strict=True))
            for less in product(*((False, True) if on else (False,) for on in up))
            if less != up
        )
        if anonymous(values, k) and not any(anonymous(other, k) for other in lower):
            yield tuple(sorted(values))


@pytest.mark.parametrize(("many", "rows", "k"), [(3, 4, 2), (3, 5, 2), (4, 4, 2), (2, 6, 3)])
def test_one_column_of_one_level_against_every_minimal_recoding(
    many: int, rows: int, k: int
) -> None:
    worlds: dict[tuple[str, ...], set[tuple[int, ...]]] = defaultdict(set)
    names = [str(n) for n in range(1, many + 1)]
    for original in combinations_with_replacement(names, rows):
        for entry in minimal(original, k):
            rest = Counter(original) - Counter(t for t in entry if t != "r")
            worlds[entry].add(tuple(rest[name] for name in names))
    hierarchy = table([(name,) for name in names], [leaves(many)]).problem().hierarchies["A"]
    seen = 0
    for entry, rests in worlds.items():
        size = Counter(entry)
        if not size["r"]:
            continue
        cells = sorted(size)
        lo = [0 if c == "r" else names.index(c) for c in cells]
        hi = [many - 1 if c == "r" else names.index(c) for c in cells]
        boxes = Boxes(
            lo=np.array(lo, dtype=np.int32)[:, None],
            hi=np.array(hi, dtype=np.int32)[:, None],
            size=np.array([size[c] for c in cells]),
            hierarchies=(hierarchy,),
        )
        rule, place = MinimalRows(least=k, rows=rows), cells.index("r")
        found = class_program(rule, boxes, place)
        assert found is not None
        ways = solutions([found[0]], range(many), 100, Context())
        assert ways.complete
        assert set(ways.found) == rests
        sure = sum(min(rest[n] for rest in rests) for n in range(many))
        assert lowered(rule, boxes, place, Context()).rows == sure
        if entry == ("r",) * 4 and many == 4:
            assert ways.found == ((1, 1, 1, 1),)
            assert sure == 4
        if entry == ("1", "1", "r", "r", "r") and many == 3:
            assert sorted(ways.found) == [(0, 1, 2), (0, 2, 1)]
            assert sure == 2
        seen += 1
    assert seen


EXACT = {"transformation": "CG", "method": "exact"}


def test_what_is_lowered_is_so_in_every_table_of_the_cheapest_recoding() -> None:
    claimed = 0
    for behind in every_release("cell-suppression", 4, [UNEVEN, B], EXACT)[::6]:
        rule = behind.release.stopped
        assert isinstance(rule, MinimalRows)
        for number in range(len(behind.boxes.size)):
            found = lowered(rule, behind.boxes, number, Context())
            assert found.decided
            for ends, least in zip(found.cells, found.least, strict=True):
                for world in behind.worlds:
                    there = sum(
                        many
                        for codes, many in world[number]
                        if all(a <= c <= b for c, (a, b) in zip(codes, ends, strict=True))
                    )
                    assert there >= least
            claimed += found.rows
    assert claimed


def test_four_rows_of_four_values_are_recovered() -> None:
    algorithm: Any = find("algorithm", "cell-suppression").from_mapping(EXACT)
    problem = table([(str(n),) for n in range(1, 5)], [leaves(4)]).problem()
    release = algorithm.run(problem, [KAnonymity(k=2)], Context()).release
    audience, truth = audience_of(problem), truth_of(problem, release)
    (found,) = Downcoding().run(release.view, audience, truth, Context())
    assert (found.succeeded, found.at_risk, found.worst, found.undecided) == (4, 4, 1, 0)
    assert "lowers 4 of 4 generalized rows (100%)" in found.sentence
    late = Context(deadline=now() - 1)
    (open_,) = Downcoding().run(release.view, audience, truth, late)
    assert (open_.undecided, open_.rate, open_.interval) == (4, 1.0, (0.0, 1.0))
    loose: Any = find("algorithm", "cell-suppression").from_mapping({"transformation": "CG"})
    view = loose.run(problem, [KAnonymity(k=2)], Context()).release.view
    assert "says when it stopped" in Downcoding().reason_not_applicable(view, audience)
