"""t-closeness, recomputed: the Earth Mover's Distance of every class from the private table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from typing import Any, cast

from ..evidence import CannotTell, Evidence, class_check
from ..findings import Check
from ..histogram import Counts
from ..registry import recomputes

Extra = Mapping[Any, Fraction]
Work = Callable[[Extra], Fraction]


@recomputes("t-closeness", forms=("whole", "averaged", "permuted"))
def t_closeness(evidence: Evidence) -> list[Check]:
    """No class is further than t from the private table before any row was removed."""
    most = evidence.number("t", least=0, most=1)
    way = evidence.text("distance")
    checks: list[Check] = []
    for column in evidence.columns:
        table = evidence.original(column)
        work = _work(evidence, column, way, table)

        def close(
            shown: Counts, table: Mapping[Hashable, int] = table, work: Work = work
        ) -> tuple[bool, float]:
            moved = work(_extra(shown, table))
            return moved <= most, float(moved)

        checks.append(
            class_check(
                evidence,
                f"t = {float(most):g} for '{column}'",
                *evidence.histogram(column).each(close),
                bound=float(most),
                measured="largest distance",
                worst="most",
                column=column,
            )
        )
    return checks


def _extra(shown: Counts, table: Mapping[Hashable, int]) -> dict[Hashable, Fraction]:
    """Return by how much the share of each value of the table is larger in a class."""
    rows, every = sum(shown.values()), sum(table.values())
    if any(value not in table for value in shown):
        raise CannotTell("a class shows a value that the table has not")
    return {v: Fraction(shown.get(v, 0), rows) - Fraction(n, every) for v, n in table.items()}


def _work(evidence: Evidence, column: str, way: str, table: Mapping[Hashable, int]) -> Work:
    """Return how the work of moving what is too much to where it lacks is counted."""
    if way in ("", "equal"):
        return lambda extra: sum(map(abs, extra.values()), Fraction(0)) / 2
    if way == "hierarchical":
        return _by_tree(evidence, column, table)
    if way != "ordered":
        raise CannotTell("the distance is none that is known")
    if None in table:
        raise CannotTell("a missing value has no place in the order")
    if evidence.measured(column):
        order: list[Any] = sorted(cast(list[Any], list(table)))
    else:
        order = _listed(evidence, column, table)
    return lambda extra: _by_order(extra, order)


def _by_order(extra: Extra, order: Sequence[Any]) -> Fraction:
    """Carry everything from one value to the next."""
    carried = moved = Fraction(0)
    for value in order[:-1]:
        carried += extra[value]
        moved += abs(carried)
    return moved / (len(order) - 1) if len(order) > 1 else moved


def _listed(evidence: Evidence, column: str, table: Mapping[Hashable, int]) -> list[Hashable]:
    """Return the table's values group by group, each group where it is listed first."""
    lines = evidence.lines(column)
    first: dict[str, int] = {}
    for _, line in lines:
        for label in line:
            first.setdefault(label, len(first))
    lines.sort(key=lambda pair: [first[label] for label in reversed(pair[1])])
    return [value for value, _ in lines if value in table]


def _by_tree(evidence: Evidence, column: str, table: Mapping[Hashable, int]) -> Work:
    """Exchange at every inner node what its children have too much with what they lack.

    What is exchanged there goes the node's height, as a share of the root's; heights are the
    longest ways down in the whole level table. A label repeated on a way up is no step.
    """
    way_of: dict[Hashable, list[str]] = {}
    height: Counter[tuple[str, ...]] = Counter()
    lines = evidence.lines(column)
    for value, line in lines:
        way = list(dict.fromkeys(line if len(line) > 1 else [*line, "*"]))
        for up in range(len(way)):
            node = tuple(way[up:])
            height[node] = max(height[node], up)
        if value is not None:
            way_of[value] = way
    root = tuple(lines[0][1][-1:] if len(lines[0][1]) > 1 else ["*"])
    way_of[None] = ["", *root]
    if any(value not in way_of for value in table):
        raise CannotTell(f"the level table of '{column}' lacks values of the table")

    def work(extra: Extra) -> Fraction:
        within: dict[tuple[str, ...], Fraction] = {}
        for value, more in extra.items():
            way = way_of[value]
            for up in range(len(way)):
                node = tuple(way[up:])
                within[node] = within.get(node, Fraction(0)) + more
        much: dict[tuple[str, ...], Fraction] = {}
        little: dict[tuple[str, ...], Fraction] = {}
        for node, more in within.items():
            side = much if more > 0 else little
            side[node[1:]] = side.get(node[1:], Fraction(0)) + abs(more)
        moved = Fraction(0)
        for node in much.keys() & little.keys() - {()}:
            moved += min(much[node], little[node]) * height[node]
        return moved / max(height[root], 1)

    return work
