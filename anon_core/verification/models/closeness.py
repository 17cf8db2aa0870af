"""Models of how near a class's sensitive values are to the table's, or to each other."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from anon_core.verification.evidence import CannotTell, Evidence, class_check
from anon_core.verification.findings import Check
from anon_core.verification.registry import recomputes
from anon_core.verification.rows.groups import Counts, Histogram
from anon_core.verification.text.texts import Codes

# How far the values of a class are from the table's: the work of making one spread the other.
#
# Li, Li and Venkatasubramanian 2007, doi 10.1109/ICDE.2007.367856. What a class costs goes with
# the values that it shows, not with those of the table; distances are fractions.


_WORD = 1 << 63


@dataclass(frozen=True, kw_only=True, eq=False)
class Spread:
    """The values of classes next to those of the table.

    Attributes
    ----------
    owner, value, count : int64 arrays of shape (entries,)
        The class, the value as an index into `table`, and the rows; by class and then by value.
    table : int64 array of shape (values,)
        The table's rows of each value.
    sizes : int64 array of shape (classes,)
        Rows of each class, none of them 0.
    """

    owner: Codes
    value: Codes
    count: Codes
    table: Codes
    sizes: Codes

    def fractions(self, above: Codes, under: int) -> list[Fraction]:
        """Return above / (under · rows of the class), shape (classes,)."""
        pairs = zip(above.tolist(), self.sizes.tolist(), strict=True)
        return [Fraction(int(part), under * size) for part, size in pairs]


def all_alike(spread: Spread) -> list[Fraction]:
    """Return half of all differences in share; of a value that is not shown it is all it has."""
    n, size = int(spread.table.sum()), spread.sizes[spread.owner]
    own = spread.table[spread.value]
    classes = len(spread.sizes)
    apart = _sums(spread.owner, np.abs(spread.count * n - own * size), classes)
    apart += spread.sizes * (n - _sums(spread.owner, own, classes))
    return spread.fractions(apart, 2 * n)


def in_order(spread: Spread) -> list[Fraction]:
    """Return the work where values stand in order: the first rows go to the first, and so on.

    Class and table are laid side by side, stretched to the same length, both ascending; what stands
    opposite each other goes from one place to the other.
    """
    n, m = int(spread.table.sum()), len(spread.table)
    if m < 2:
        return [Fraction(0)] * len(spread.sizes)
    dtype: Any = np.int64 if 8 * m * n * n < _WORD else np.object_
    size, place = spread.sizes[spread.owner], spread.value
    upto = np.concatenate([[0], np.cumsum(spread.table)])
    weighed = np.concatenate([[0], np.cumsum(spread.table * np.arange(m))]).astype(dtype)
    ends = np.cumsum(spread.count)
    first = np.searchsorted(spread.owner, spread.owner)
    ends = ends - (ends[first] - spread.count[first])  # within the class
    right, left = ends * n, (ends - spread.count) * n
    turn = np.clip(size * upto[place], left, right)  # before it the table's places are lower

    def places(at: Codes) -> npt.NDArray[Any]:
        """Sum up the table's places from the beginning to a point."""
        which = np.searchsorted(upto, at // size, side="right") - 1
        return weighed[which] * size + (at - size * upto[which]).astype(dtype) * which

    middle = places(turn)
    work = (2 * turn - left - right).astype(dtype) * place
    work += places(left) + places(right) - 2 * middle
    return spread.fractions(_sums(spread.owner, work, len(spread.sizes)), n * (m - 1))


@dataclass(frozen=True, kw_only=True, eq=False)
class Tree:
    """A tree by its nodes: parent, depth and height of each.

    Attributes
    ----------
    above : int64 array of shape (nodes,)
        -1 of the root.
    depth, height : int64 arrays of shape (nodes,)
        Steps to the root; longest way down.
    """

    above: Codes
    depth: Codes
    height: Codes


def by_tree(spread: Spread, tree: Tree, node: Codes) -> list[Fraction]:
    """Return the work of exchanging at every node what its children have too much or lack.

    What they lack is what they have too much less what the node itself has: so a child of which a
    class shows nothing needs no look.

    Parameters
    ----------
    node : int64 array of shape (values,)
        Where each of the table's values hangs.
    """
    n, nodes, top = int(spread.table.sum()), len(tree.above), int(tree.height.max(initial=0))
    whole = np.zeros(nodes, dtype=np.int64)
    np.add.at(whole, node, spread.table)
    for deep in range(int(tree.depth.max(initial=0)), 0, -1):
        here = np.flatnonzero(tree.depth == deep)
        np.add.at(whole, tree.above[here], whole[here])
    moved = np.zeros(len(spread.sizes), dtype=np.int64)
    own_key, own_count = spread.owner * nodes + node[spread.value], spread.count
    own_deep = tree.depth[node[spread.value]]
    key, count = own_key[:0], own_count[:0]
    surplus_of, surplus = own_key[:0], own_count[:0]
    for deep in range(int(tree.depth.max(initial=0)), -1, -1):
        here = own_deep == deep
        key, count = _joined(
            np.concatenate([key, own_key[here]]), np.concatenate([count, own_count[here]])
        )
        owner, at = key // nodes, key % nodes
        extra = count * n - whole[at] * spread.sizes[owner]
        # Every node that has a surplus below it is among them.
        much = np.zeros(len(key), dtype=np.int64)
        much[np.searchsorted(key, surplus_of)] = surplus
        np.add.at(moved, owner, np.minimum(much, much - extra) * tree.height[at])
        if deep:
            more = extra > 0
            up = owner * nodes + tree.above[at]
            surplus_of, surplus = _joined(up[more], extra[more])
            key, count = _joined(up, count)
    return spread.fractions(moved, n * max(top, 1))


def _joined(key: Codes, count: Codes) -> tuple[Codes, Codes]:
    """Return the different keys in ascending order, and the sum of each."""
    found, place = np.unique(key, return_inverse=True)
    return found, _sums(place, count, len(found))


def _sums(owner: Codes, values: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    found = np.zeros(size, dtype=values.dtype)
    np.add.at(found, owner, values)
    return found


# t-closeness, recomputed: the Earth Mover's Distance of every class from the private table.


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
    shown, weights = evidence.histogram(column), evidence.text("weights")
    table = evidence.weighed(column, weights) if weights else evidence.original(column)
    if way in ("", "equal"):
        return all_alike(_spread(shown, table, list(table)))
    if way == "hierarchical":
        tree, node_of = _tree(evidence, column)
        if any(value not in node_of for value in table):
            raise CannotTell(f"the level table of '{column}' lacks values of the table")
        node = np.array([node_of[value] for value in table], dtype=np.int64)
        return by_tree(_spread(shown, table, list(table)), tree, node)
    if way != "ordered":
        raise CannotTell("the distance is unknown")
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


# β-likeness, recomputed.


@recomputes("beta-likeness", forms=("whole", "averaged", "permuted"))
def beta_likeness(evidence: Evidence) -> list[Check]:
    """No value's share grows from the private table to a class by more than β of itself.

    Enhanced, nor by more than −ln of its share in the private table.
    """
    most, enhanced = evidence.number("beta", above=0), evidence.model.get("enhanced", True)
    if not isinstance(enhanced, bool):
        raise CannotTell("enhanced must be true or false")
    checks: list[Check] = []
    for column in evidence.columns:
        table = evidence.original(column)
        every = sum(table.values())

        def likely(
            shown: Counts, table: Mapping[Hashable, int] = table, every: int = every
        ) -> tuple[bool, float]:
            gains = _gains(shown, table, every)
            gain = max(gains.values(), default=Fraction(0))
            if enhanced and any(
                not _unsurprising(own, Fraction(rows, every)) for (_, rows), own in gains.items()
            ):
                return False, math.inf
            return gain <= most, float(gain)

        checks.append(
            class_check(
                evidence,
                f"β = {float(most):g} for '{column}'",
                *evidence.histogram(column).each(likely),
                bound=float(most),
                measured="largest gain",
                worst="most",
                column=column,
            )
        )
    return checks


def _gains(
    shown: Counts, table: Mapping[Hashable, int], every: int
) -> dict[tuple[int, int], Fraction]:
    """Return the gains of values that a class makes likelier, by their rows in it and in all."""
    rows = sum(shown.values())
    if any(value not in table for value in shown):
        raise CannotTell("a class shows a value that the table has not")
    pairs = {(n, table[v]) for v, n in shown.items()}
    gains = {(n, own): Fraction(n * every, rows * own) - 1 for n, own in pairs}
    return {pair: gain for pair, gain in gains.items() if gain > 0}


def _unsurprising(gain: Fraction, share: Fraction) -> bool:
    """Say whether a gain is at most −ln of a share; the two are never equal."""
    with localcontext() as exact:
        exact.prec = 50
        limit = Decimal(share.denominator).ln() - Decimal(share.numerator).ln()
        return Decimal(gain.numerator) / Decimal(gain.denominator) <= limit


# δ-disclosure privacy, recomputed.


@recomputes("delta-disclosure", forms=("whole", "averaged", "permuted"))
def delta_disclosure(evidence: Evidence) -> list[Check]:
    """In every class |ln(q/p)| < δ for every value of the private table, the absent ones too."""
    most = evidence.number("delta", above=0)
    checks: list[Check] = []
    for column in evidence.columns:
        table = evidence.original(column)
        every = sum(table.values())

        def reach(
            shown: Counts, table: Mapping[Hashable, int] = table, every: int = every
        ) -> tuple[bool, float]:
            found = _disclosed(shown, table, every)
            with localcontext() as exact:
                exact.prec = 50
                less = found is not None and found * most.denominator < most.numerator
            return less, math.inf if found is None else float(found)

        checks.append(
            class_check(
                evidence,
                f"δ = {float(most):g} for '{column}'",
                *evidence.histogram(column).each(reach),
                bound=float(most),
                measured="largest |ln| of a ratio",
                worst="most",
                column=column,
            )
        )
    return checks


def _disclosed(shown: Counts, table: Mapping[Hashable, int], every: int) -> Decimal | None:
    """Return the largest |ln(q/p)| to 50 digits, None where a value is absent."""
    if any(value not in table for value in shown):
        raise CannotTell("a class shows a value that the table has not")
    if len(shown) < len(table):
        return None
    rows = sum(shown.values())
    pairs = {(shown[v], n) for v, n in table.items()}
    with localcontext() as exact:
        exact.prec = 50
        return max(abs(Decimal(own * every).ln() - Decimal(rows * n).ln()) for own, n in pairs)


# (k, e)-anonymity, recomputed.


@recomputes("k-e-anonymity", forms=("whole", "averaged", "permuted"))
def k_e_anonymity(evidence: Evidence) -> list[Check]:
    """Every class shows k different numbers, and the greatest exceeds the least by e."""
    least, width = evidence.integer("k"), evidence.number("e", least=0)

    def wide(shown: Counts) -> tuple[bool, float]:
        if any(value is None for value in shown):
            raise CannotTell("a value is missing, which is not a number")
        numbers = sorted(Fraction(value) for value in shown)
        if len(numbers) < least:
            return False, 0.0
        return numbers[-1] - numbers[0] >= width, float(numbers[-1] - numbers[0])

    return [
        class_check(
            evidence,
            f"k = {least}, e = {float(width):g} for '{column}'",
            *evidence.numbers(column).each(wide),
            bound=float(width),
            measured="smallest range",
            column=column,
        )
        for column in evidence.columns
    ]


# (ε, m)-anonymity, recomputed.


@recomputes("epsilon-m-anonymity", forms=("whole", "averaged", "permuted"))
def epsilon_m_anonymity(evidence: Evidence) -> list[Check]:
    """Around every row of a class, at most one m-th of the class's rows are within ε."""
    reach, most = evidence.number("epsilon", least=0), evidence.number("m", least=1)
    relative = evidence.model.get("relative", False)
    if not isinstance(relative, bool):
        raise CannotTell("relative must be true or false")

    def apart(shown: Counts) -> tuple[bool, float]:
        if any(value is None for value in shown):
            raise CannotTell("a value is missing, which is not a number")
        if any(isinstance(value, str) for value in shown):
            raise CannotTell("a value is a text, which is not a number")
        rows = sorted((Fraction(value), count) for value, count in shown.items())
        if relative and rows[0][0] <= 0:
            raise CannotTell("a number is not above 0, so its share does not give a distance")
        size = sum(count for _, count in rows)
        crowd = first = last = near = 0
        # Both ends of what is near only move up from one number to the next.
        for number, _ in rows:
            width = reach * number if relative else reach
            while last < len(rows) and rows[last][0] <= number + width:
                near += rows[last][1]
                last += 1
            while rows[first][0] < number - width:
                near -= rows[first][1]
                first += 1
            crowd = max(crowd, near)
        return most * crowd <= size, size / crowd

    return [
        class_check(
            evidence,
            f"ε = {float(reach):g}, m = {float(most):g} for '{column}'",
            *evidence.numbers(column).each(apart),
            bound=float(most),
            measured="least rows per near one",
            column=column,
        )
        for column in evidence.columns
    ]
