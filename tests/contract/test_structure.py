"""The shape of the house in figures: they may get better, and a worse one has to be argued for."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import defaultdict
from graphlib import TopologicalSorter
from pathlib import Path

from anon_core.base.registry import FAMILIES, family
from anon_core.contracts.algorithm import Algorithm
from tests.contract.test_import_graph import ROOT, imports_of, modules

#: Folders whose files are one kind of thing each, as many as there are.
SHELVES = {
    "algorithms",
    "attacks",
    "catalogue",
    "kernels",
    "lessons",
    "metrics",
    "models",
    "partitioners",
}


def room(module: str) -> str:
    """Return the room of a module of the core: its first folder."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and (ROOT / "anon_core" / parts[1]).is_dir() else "anon_core"


def arrows() -> dict[str, set[str]]:
    """Return the rooms that each room of the core imports."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for name, path in modules().items():
        if name.startswith("anon_core."):
            found[room(name)] |= {
                room(one) for one in imports_of(name, path) if one.startswith("anon_core.")
            }
    return {here: there - {here, "anon_core"} for here, there in found.items()}


def test_rooms_floors_and_arrows() -> None:
    graph = {here: there for here, there in arrows().items() if here != "anon_core"}
    assert len(graph) <= 16
    floors: dict[str, int] = {}
    for here in TopologicalSorter(graph).static_order():
        floors[here] = 1 + max((floors[there] for there in graph.get(here, ())), default=0)
    assert max(floors.values()) <= 10
    assert sum(map(len, graph.values())) <= 73


_MERGE = "put yours into the file of its family, or merge two that are read as one"


def test_files_of_the_core() -> None:
    files = [path for name, path in modules().items() if name.startswith("anon_core")]
    shelved = [path for path in files if path.parent.name in SHELVES]  # a technique costs a file
    assert len(files) - len(shelved) <= 450, _MERGE
    second = [path for path in files if "verification" in path.parts]
    assert len(second) <= 46, _MERGE


def code_lines(path: Path) -> int:
    """Return the lines of a file that are neither empty, nor comments or docstrings."""
    text = path.read_text(encoding="utf-8")
    said = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in said | {tokenize.ENDMARKER}:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def test_the_verifier_is_read_in_an_afternoon() -> None:
    second = [path for path in modules().values() if "verification" in path.parts]
    assert sum(code_lines(path) for path in second if "anon_core" in path.parts) <= 10_071, _MERGE


def test_no_folder_is_a_heap() -> None:
    flat: defaultdict[str, int] = defaultdict(int)
    for path in modules().values():
        inside = any(path.is_relative_to(ROOT / room) for room in ("anon_core", "ui"))
        if inside and path.name != "__init__.py":
            flat[str(path.parent.relative_to(ROOT))] += 1
    heaps = {where: n for where, n in flat.items() if where.rpartition("/")[2] not in SHELVES}
    assert max(heaps.values()) <= 20, sorted(heaps.items(), key=lambda one: -one[1])[:5]


def test_an_algorithm_says_little_beside_its_parameters() -> None:
    """What pages and runs know of it is in three values, and what a class lacks is no default."""
    said = {n for cls in Algorithm.__mro__ for n in vars(cls).get("__annotations__", {})}
    assert said == {"name", "title", "summary", "formula", "source", "offer", "shape", "needs"}
    for kind in family("algorithm").values():
        own = {n for n in vars(kind) if not n.startswith("_") and not callable(getattr(kind, n))}
        fields = {p.name for p in kind.parameters()}
        other = own - said - fields
        assert not [n for n in other if not isinstance(vars(kind)[n], property)], kind.name


def test_every_technique_sets_few_attributes() -> None:
    for kind in FAMILIES:
        for name, found in family(kind).items():
            bases = (vars(cls).get("__annotations__", {}) for cls in found.__mro__)
            said = {n for own in bases for n, of in own.items() if "ClassVar" in str(of)}
            assert len(said) <= 10, (name, sorted(said))


def test_modules_are_nouns() -> None:
    # Adverbs, prepositions and participles say nothing about what a file holds.
    bad = re.compile(
        r"^(beside|ahead|behind|again|alone|asked|told|once|apart|anew|moved|at_scale|seen|shuffled|permuted|permuting|describing|before_and_after)$"
    )
    assert not [name for name in modules() if bad.match(name.rpartition(".")[2])]


def test_values_are_named_by_what_they_hold() -> None:
    # The key of a container on Learn is older than the rule.
    bad = re.compile(r"(?<!learn-)\b(told|anew|whoever)\b")
    found = {
        f"{name}: {line.strip()}"
        for name, path in modules().items()
        for line in path.read_text(encoding="utf-8").splitlines()
        if bad.search(line)
    }
    assert not found, sorted(found)
