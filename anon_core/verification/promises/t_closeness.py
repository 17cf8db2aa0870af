"""t-closeness, recomputed: the Earth Mover's Distance of every class from the private table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from fractions import Fraction
from typing import Any, cast

import numpy as np

from anon_core.verification.earth_mover import Spread, Tree, all_alike, by_tree, in_order
from anon_core.verification.evidence import CannotTell, Evidence, class_check
from anon_core.verification.findings import Check
from anon_core.verification.registry import recomputes
from anon_core.verification.rows.histogram import Histogram
from anon_core.verification.text.texts import Codes


@recomputes("t-closeness", forms=("whole", "averaged", "permuted"))
def t_closeness(evidence: Evidence) -> list[Check]:
    """No class is further than t from the private table before any row was suppressed."""
    most = evidence.number("t", least=0, most=1)
    way = evidence.text("distance")
    checks: list[Check] = []
    for column in evidence.columns:
        found = _distances(evidence, column, way)
        checks.append(
            class_check(
                evidence,
                f"t = {float(most):g} for '{column}'",
                np.array([own > most for own in found], dtype=np.bool_),
                np.array([float(own) for own in found], dtype=np.float64),
                bound=float(most),
                measured="largest distance",
                worst="most",
                column=column,
            )
        )
    return checks


def _distances(evidence: Evidence, column: str, way: str) -> list[Fraction]:
    """Return how far each class is from the table."""
    shown, table = evidence.histogram(column), evidence.original(column)
    if way in ("", "equal"):
        return all_alike(_spread(shown, table, list(table)))
    if way == "hierarchical":
        tree, node_of = _tree(evidence, column)
        if any(value not in node_of for value in table):
            raise CannotTell(f"the level table of '{column}' lacks values of the table")
        node = np.array([node_of[value] for value in table], dtype=np.int64)
        return by_tree(_spread(shown, table, list(table)), tree, node)
    if way != "ordered":
        raise CannotTell("the distance is none that is known")
    if None in table:
        raise CannotTell("a missing value has no place in the order")
    if evidence.measured(column):
        order: list[Any] = sorted(cast(list[Any], list(table)))
    else:
        order = _listed(evidence, column, table)
    return in_order(_spread(shown, table, order))


def _spread(shown: Histogram, table: Mapping[Hashable, int], order: list[Hashable]) -> Spread:
    """Return what classes show with values numbered as they stand in an order."""
    place_of = {value: i for i, value in enumerate(order)}
    place: Codes = np.array([place_of.get(v, -1) for v in shown.values], dtype=np.int64)
    value = place[shown.value]
    if value.min(initial=0) < 0:
        raise CannotTell("a class shows a value that the table has not")
    if shown.sizes.min(initial=1) < 1:
        raise CannotTell("a class shows no row")
    entry = np.lexsort([value, shown.owner])
    return Spread(
        owner=shown.owner[entry],
        value=value[entry],
        count=shown.count[entry],
        table=np.array([table[v] for v in order], dtype=np.int64),
        sizes=shown.sizes,
    )


def _listed(evidence: Evidence, column: str, table: Mapping[Hashable, int]) -> list[Hashable]:
    """Return the table's values group by group, each group where it is listed first."""
    lines = evidence.lines(column)
    first: dict[str, int] = {}
    for _, line in lines:
        for label in line:
            first.setdefault(label, len(first))
    lines.sort(key=lambda pair: [first[label] for label in reversed(pair[1])])
    return [value for value, _ in lines if value in table]


def _tree(evidence: Evidence, column: str) -> tuple[Tree, dict[Hashable, int]]:
    """Return the tree of a level table, and the node of every value; None hangs under the root.

    Heights are the longest ways down in the whole level table. A label repeated on a way up is no
    step; a value that is the label of a group, too, hangs below it.
    """
    lines = evidence.lines(column)
    ways = [list(dict.fromkeys(line if len(line) > 1 else [*line, "*"])) for _, line in lines]
    height: Counter[tuple[str, ...]] = Counter()
    for way in ways:
        for up in range(len(way)):
            height[tuple(way[up:])] = max(height[tuple(way[up:])], up)
    number = {node: i for i, node in enumerate(height)}
    above = [number.get(node[1:], -1) for node in number]
    heights = [height[node] for node in number]
    node_of: dict[Hashable, int] = {}

    def hang(value: Hashable, up: int) -> None:
        node_of[value] = len(above)
        above.append(up)
        heights.append(0)

    for (value, _), way in zip(lines, ways, strict=True):
        own = number[tuple(way)]
        if value is not None and heights[own]:
            hang(value, own)
        elif value is not None:
            node_of[value] = own
    hang(None, number[tuple(ways[0][-1:])])
    depth = [len(node) - 1 for node in number]
    depth += [depth[up] + 1 for up in above[len(depth) :]]
    tree = [np.array(own, dtype=np.int64) for own in (above, depth, heights)]
    return Tree(above=tree[0], depth=tree[1], height=tree[2]), node_of
