"""Models of how near a class's sensitive values are to the table's, or to each other."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial
from itertools import accumulate
from typing import Any, cast

from anon_core.verification.evidence import CannotTell, Evidence, Found, each_column
from anon_core.verification.findings import Check
from anon_core.verification.registry import recomputes
from anon_core.verification.rows.groups import Counts

# How far the values of a class are from the table's: the work of making one spread the other.
#
# Li, Li and Venkatasubramanian 2007, doi 10.1109/ICDE.2007.367856. What a class costs goes with
# the values that it shows, not with those of the table; distances are fractions.


#: Rows of each value, which is its number from 0.
Rows = Mapping[int, int]


def all_alike(shown: Rows, table: Sequence[int], n: int) -> Fraction:
    """Return half of all differences in share; of a value that is not shown it is all it has.

    Parameters
    ----------
    table : sequence of int
        The table's rows of each value.
    n : int
        Their sum.
    """
    size = sum(shown.values())
    apart = sum(abs(count * n - table[value] * size) for value, count in shown.items())
    apart += size * (n - sum(table[value] for value in shown))
    return Fraction(apart, 2 * n * size)


def in_order(shown: Rows, upto: Sequence[int], weighed: Sequence[int]) -> Fraction:
    """Return the work where values stand in order: the first rows go to the first, and so on.

    Class and table are laid side by side, stretched to the same length, both ascending; what stands
    opposite each other goes from one place to the other.

    Parameters
    ----------
    upto, weighed : sequences of int
        The table's rows before each place, and the sum of their places; the last of each is of all.
    """
    size, n, m = sum(shown.values()), upto[-1], len(upto) - 1

    def places(at: int) -> int:
        """Sum up the table's places from the beginning to a point."""
        which = bisect_right(upto, at // size) - 1
        return weighed[which] * size + (at - size * upto[which]) * which

    work = right = 0
    for place in sorted(shown):
        left, right = right, right + shown[place] * n
        turn = min(max(size * upto[place], left), right)  # before it the table's places are lower
        work += (2 * turn - left - right) * place + places(left) + places(right) - 2 * places(turn)
    return Fraction(work, n * max(m - 1, 1) * size)


@dataclass(frozen=True, kw_only=True)
class Tree:
    """A tree by its nodes: the parent of each, -1 of the root, and the longest way down."""

    above: Sequence[int]
    height: Sequence[int]

    def way(self, node: int) -> Iterator[int]:
        """Yield a node and those above it."""
        while node >= 0:
            yield node
            node = self.above[node]

    def rows(self, hung: Rows) -> Counter[int]:
        """Return the rows below each node, given those that hang at nodes."""
        found = Counter[int]()
        for node, rows in hung.items():
            for up in self.way(node):
                found[up] += rows
        return found


def by_tree(shown: Rows, whole: Rows, tree: Tree) -> Fraction:
    """Return the work of exchanging at every node what its children have too much or lack.

    What they lack is what they have too much less what the node itself has: so a child of which a
    class shows nothing needs no look.

    Parameters
    ----------
    shown : mapping of int to int
        The class's rows that hang at each node.
    whole : mapping of int to int
        The table's rows below each node.
    """
    own, size, n, moved = tree.rows(shown), sum(shown.values()), max(whole.values()), 0
    much = Counter[int]()  # what the children of a node have too much
    extra = {node: rows * n - whole[node] * size for node, rows in own.items()}
    for node, more in extra.items():
        much[tree.above[node]] += max(more, 0)
    for node, more in extra.items():
        moved += min(much[node], much[node] - more) * tree.height[node]
    return Fraction(moved, n * max(*tree.height, 1) * size)


# t-closeness, recomputed: the Earth Mover's Distance of every class from the private table.


@recomputes("t-closeness", forms=("whole", "averaged", "permuted"))
def t_closeness(evidence: Evidence) -> list[Check]:
    """No class is further than t from the private table before any row was suppressed."""
    most = evidence.number("t", least=0, most=1)
    way = evidence.text("distance")

    def distances(column: str) -> Found:
        far, place = _distance(evidence, column, way)

        def near(shown: Counts) -> tuple[bool, float]:
            if not shown:
                raise CannotTell("a class shows no row")
            _refuse_unknown(shown, place)
            own = Counter[int]()
            for value, rows in shown.items():
                own[place[value]] += rows
            found = far(own)
            return found <= most, float(found)

        return evidence.histogram(column).each(near)

    what = f"t = {float(most):g}"
    return each_column(
        evidence, what, distances, bound=float(most), measured="largest distance", worst="most"
    )


def _refuse_unknown(shown: Counts, table: Mapping[Hashable, int]) -> None:
    if not shown.keys() <= table.keys():
        raise CannotTell("a class shows a value that the table has not")


def _distance(
    evidence: Evidence, column: str, way: str
) -> tuple[Callable[[Rows], Fraction], Mapping[Hashable, int]]:
    """Return what says how far a class is from the table, and the number of each value."""
    weights = evidence.text("weights")
    table = evidence.weighed(column, weights) if weights else evidence.original(column)
    if way in ("", "equal"):
        rows = list(table.values())
        return partial(all_alike, table=rows, n=sum(rows)), {v: i for i, v in enumerate(table)}
    if way == "hierarchical":
        tree, node_of = _tree(evidence, column)
        if any(value not in node_of for value in table):
            raise CannotTell(f"the level table of '{column}' lacks values of the table")
        hung = Counter[int]()
        for value, rows in table.items():
            hung[node_of[value]] += rows
        place = {value: node for value, node in node_of.items() if value in table}
        return partial(by_tree, whole=tree.rows(hung), tree=tree), place
    if way != "ordered":
        raise CannotTell("the distance is unknown")
    if None in table:
        raise CannotTell("a missing value has no place in the order")
    if evidence.measured(column):
        order: list[Any] = sorted(cast(list[Any], list(table)))
    else:
        order = _listed(evidence, column, table)
    rows = [table[value] for value in order]
    weighed = accumulate((own * i for i, own in enumerate(rows)), initial=0)
    known = partial(in_order, upto=list(accumulate(rows, initial=0)), weighed=list(weighed))
    return known, {value: i for i, value in enumerate(order)}


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
    return Tree(above=above, height=heights), node_of


# β-likeness, recomputed.


@recomputes("beta-likeness", forms=("whole", "averaged", "permuted"))
def beta_likeness(evidence: Evidence) -> list[Check]:
    """No value's share grows from the private table to a class by more than β of itself.

    Enhanced, nor by more than −ln of its share in the private table.
    """
    most, enhanced = evidence.number("beta", above=0), evidence.flag("enhanced", True)

    def likely(column: str) -> Found:
        table = evidence.original(column)
        every = sum(table.values())

        def keeps(shown: Counts) -> tuple[bool, float]:
            gains = _gains(shown, table, every)
            gain = max(gains.values(), default=Fraction(0))
            if enhanced and any(
                not _unsurprising(own, Fraction(rows, every)) for (_, rows), own in gains.items()
            ):
                return False, math.inf
            return gain <= most, float(gain)

        return evidence.histogram(column).each(keeps)

    what = f"β = {float(most):g}"
    return each_column(
        evidence, what, likely, bound=float(most), measured="largest gain", worst="most"
    )


def _gains(
    shown: Counts, table: Mapping[Hashable, int], every: int
) -> dict[tuple[int, int], Fraction]:
    """Return the gains of values that a class makes likelier, by their rows in it and in all."""
    _refuse_unknown(shown, table)
    rows = sum(shown.values())
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

    def reaches(column: str) -> Found:
        table = evidence.original(column)
        every = sum(table.values())

        def reach(shown: Counts) -> tuple[bool, float]:
            found = _disclosed(shown, table, every)
            with localcontext() as exact:
                exact.prec = 50
                less = found is not None and found * most.denominator < most.numerator
            return less, math.inf if found is None else float(found)

        return evidence.histogram(column).each(reach)

    wrong = f"δ = {float(most):g}"
    kept = "largest |ln| of a ratio"
    return each_column(evidence, wrong, reaches, bound=float(most), measured=kept, worst="most")


def _disclosed(shown: Counts, table: Mapping[Hashable, int], every: int) -> Decimal | None:
    """Return the largest |ln(q/p)| to 50 digits, None where a value is absent."""
    _refuse_unknown(shown, table)
    if len(shown) < len(table):
        return None
    rows = sum(shown.values())
    pairs = {(shown[v], n) for v, n in table.items()}
    with localcontext() as exact:
        exact.prec = 50
        return max(abs(Decimal(own * every).ln() - Decimal(rows * n).ln()) for own, n in pairs)


# (k, e)-anonymity, recomputed.


def _numbers(shown: Counts) -> list[tuple[Fraction, int]]:
    """Return the numbers that a class shows, from the least, and the rows of each."""
    if any(value is None or isinstance(value, str) for value in shown):
        raise CannotTell("a value is missing or a text, which is not a number")
    return sorted((Fraction(value), count) for value, count in shown.items())


@recomputes("k-e-anonymity", forms=("whole", "averaged", "permuted"))
def k_e_anonymity(evidence: Evidence) -> list[Check]:
    """Every class shows k different numbers, and the greatest exceeds the least by e."""
    least, width = evidence.integer("k"), evidence.number("e", least=0)

    def wide(shown: Counts) -> tuple[bool, float]:
        numbers = [number for number, _ in _numbers(shown)]
        if len(numbers) < least:
            return False, 0.0
        return numbers[-1] - numbers[0] >= width, float(numbers[-1] - numbers[0])

    what = f"k = {least:,}, e = {float(width):g}"
    return each_column(
        evidence,
        what,
        lambda column: evidence.numbers(column).each(wide),
        bound=float(width),
        measured="smallest range",
    )


# (ε, m)-anonymity, recomputed.


@recomputes("epsilon-m-anonymity", forms=("whole", "averaged", "permuted"))
def epsilon_m_anonymity(evidence: Evidence) -> list[Check]:
    """Around every row of a class, at most one m-th of the class's rows are within ε."""
    reach, most = evidence.number("epsilon", least=0), evidence.number("m", least=1)
    relative = evidence.flag("relative")

    def apart(shown: Counts) -> tuple[bool, float]:
        rows = _numbers(shown)
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

    wrong = f"ε = {float(reach):g}, m = {float(most):g}"
    kept = "least rows per near one"
    return each_column(
        evidence,
        wrong,
        lambda column: evidence.numbers(column).each(apart),
        bound=float(most),
        measured=kept,
    )
