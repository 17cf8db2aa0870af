"""How far a group's sensitive values are from the whole table's: the Earth Mover's Distance.

Li, Li and Venkatasubramanian 2007, doi 10.1109/ICDE.2007.367856. With c(v) of a group's N rows and
R(v) of the table's n, a distance is a whole number over s·N·n, where s is 1, m − 1 or H: what is
compared with t is that number, not its quotient.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import I64
from anon_core.contracts.group_stats import Histogram
from anon_core.methods.sensitive_statistics.exact_decimal import ROOM, at_most, sums

#: Values looked at, group size by group size, for the least one that can be near.
_MOST_LOOKED = 20_000_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Distance:
    """Distances of groups as whole numbers over a common kind of denominator.

    Attributes
    ----------
    above, under : int64 (or object) arrays of shape (groups,)
        The distance is above / under; `under` is 0 for a group without rows.
    """

    above: I64
    under: I64

    def within(self, t: Fraction) -> npt.NDArray[np.bool_]:
        """Return which groups are at most t away, shape (groups,)."""
        return at_most(self.above, self.under, t)

    @property
    def values(self) -> npt.NDArray[np.float64]:
        """The distances, rounded; shape (groups,)."""
        above, under = self.above.astype(np.float64), self.under.astype(np.float64)
        return np.divide(above, under, out=np.zeros(len(above)), where=under > 0)


def equal_distance(counted: Histogram, rows: I64) -> Distance:
    """Return ½ Σ |q − p|: every value is as far from every other.

    Parameters
    ----------
    rows : int64 array of shape (leaves,)
        Rows of each value in the whole table.
    """
    n, size = int(rows.sum()), counted.rows
    size, rows, count = _roomy(n * n, size, rows, counted.count)
    more = np.maximum(count * n - rows[counted.value] * size[counted.group], 0)
    return Distance(above=sums(counted.group, more, counted.groups), under=size * n)


def ordered_distance(counted: Histogram, rows: I64, place: I64) -> Distance:
    """Return Σ |cumulative differences| / (m − 1), where `place` is that of each leaf in the order.

    The m values are those that occur in the table: one that is only declared would shrink every
    distance. With one value alone every distance is 0. Places need not be dense, since a hierarchy
    may list values between those of the column.

    Between two neighbouring values of a group its cumulative count stays as it is while the
    table's grows, so the differences change sign once: two look-ups add all of them up.
    """
    in_order = np.argsort(place)
    used = rows[in_order] > 0
    m, n, size = int(np.count_nonzero(used)), int(rows.sum()), counted.rows
    if m <= 1:
        return Distance(above=np.zeros_like(size), under=size)
    rank_of = np.empty(len(place), dtype=np.int64)
    rank_of[in_order] = np.cumsum(used) - 1
    key = counted.group * m + rank_of[counted.value]
    key, count = _in_order(key, counted.count, counted.groups * m)
    group, rank = key // m, key % m
    begin = np.flatnonzero(np.diff(group, prepend=-1))
    own = group[begin]
    upto = np.cumsum(count)
    before = np.repeat(upto[begin] - count[begin], np.diff(begin, append=len(group)))
    cumulative = upto - before  # the group's rows up to each entry
    table = np.cumsum(rows[in_order][used])  # the table's
    below = np.concatenate([[0], np.cumsum(table)])  # Σ of the table's before each rank
    next_rank = np.append(rank[1:], m)
    next_rank[np.append(begin[1:], len(group)) - 1] = m
    most = m * n * n
    cumulative, below, size, size_of = _roomy(most, cumulative, below, size, size[group])
    turn = np.searchsorted(table, (-(-cumulative * n // size_of)).astype(np.int64))
    turn = np.clip(turn, rank, next_rank)
    # Up to the turn the group is ahead, from there on the table.
    ahead = (2 * turn - rank - next_rank) * (cumulative * n)
    behind = size_of * (below[rank] + below[next_rank] - 2 * below[turn])
    found = np.zeros(counted.groups, dtype=ahead.dtype)
    if len(begin):
        found[own] = np.add.reduceat(ahead + behind, begin) + size[own] * below[rank[begin]]
    return Distance(above=found, under=size * (n * (m - 1)))


@dataclass(frozen=True, kw_only=True, eq=False)
class Tree:
    """A tree of values as it is climbed: per level the node of every leaf, and the nodes' heights.

    Attributes
    ----------
    nodes : tuple of int64 arrays of shape (leaves,)
        Node of every leaf, from the leaves themselves up to the root.
    heights : tuple of int64 arrays of shape (nodes of the level,)
        Longest path down from each node. Only leaves are on several levels.
    """

    nodes: tuple[I64, ...]
    heights: tuple[I64, ...]

    def of_leaves(self, place: I64) -> Tree:
        """Return the tree as some of its leaves climb it; heights stay those of the whole."""
        return Tree(
            nodes=(np.arange(len(place)), *(own[place] for own in self.nodes[1:])),
            heights=(np.zeros_like(place), *self.heights[1:]),
        )

    @property
    def height(self) -> int:
        """H: the root's."""
        return int(self.heights[-1][0]) if len(self.heights[-1]) else 0


def tree_of(lines: Sequence[Sequence[str]]) -> Tree:
    """Return the tree of a level table: a row a leaf, its text first, then its labels.

    A label that repeats the one below it, leaf or group, adds no step. Lines end in the root; where
    they do not, one is put on top.
    """
    chains = [[text for text, _ in groupby(line)] for line in lines]
    if len({chain[-1] for chain in chains}) > 1:
        chains = [[*chain, "*"] for chain in chains]
    # From the root down every node has its place; a leaf that hangs high is repeated below.
    deepest = max(map(len, chains), default=1)
    full = [[chain[0]] * (deepest - len(chain)) + chain for chain in chains]
    nodes: list[I64] = [np.arange(len(lines), dtype=np.int64)]
    heights: list[I64] = [np.zeros(len(lines), dtype=np.int64)]
    for level in range(1, deepest):
        paths = [tuple(line[level:]) for line in full]
        number = {path: i for i, path in enumerate(dict.fromkeys(paths))}
        node = np.array([number[path] for path in paths], dtype=np.int64)
        step = np.array([line[level - 1] != line[level] for line in full], dtype=np.int64)
        found = np.zeros(len(number), dtype=np.int64)
        np.maximum.at(found, node, heights[-1][nodes[-1]] + step)
        nodes.append(node)
        heights.append(found)
    return Tree(nodes=tuple(nodes), heights=tuple(heights))


def tree_distance(counted: Histogram, rows: I64, tree: Tree) -> Distance:
    """Return the distance of two values as the height of what joins them.

    d(v, w) = h(least common ancestor) / H. At every inner node the rows that its children have too
    many, or too few, are exchanged among them: Σ h / H · min(Σ extra⁺, Σ extra⁻).
    """
    n, size = int(rows.sum()), counted.rows
    size, table, count = _roomy(tree.height * n * n, size, rows, counted.count)
    total = np.zeros(counted.groups, dtype=size.dtype)
    group, node = counted.group, counted.value.astype(np.int64)
    for level in range(1, len(tree.nodes)):
        wide = len(tree.heights[level])
        above = np.zeros(len(tree.heights[level - 1]), dtype=np.int64)
        above[tree.nodes[level - 1]] = tree.nodes[level]
        key, place = np.unique(group * wide + above[node], return_inverse=True)
        up = np.zeros(wide, dtype=table.dtype)
        np.add.at(up, above, table)
        extra = count * n - table[node] * size[group]
        more, less, seen, together = (
            sums(place, own, len(key))
            for own in (np.maximum(extra, 0), np.maximum(-extra, 0), table[node], count)
        )
        group, parent = key // wide, key % wide
        less = less + size[group] * (up[parent] - seen)  # children that the group has none of
        moved = np.minimum(more, less) * tree.heights[level][parent]
        total = total + sums(group, moved, counted.groups)
        node, table, count = parent, up, together
    return Distance(above=total, under=size * (n * max(tree.height, 1)))


def covered(counted: Histogram, rows: I64) -> I64:
    """Return how many of the table's rows have a value that the group shows, shape (groups,)."""
    return sums(counted.group, rows[counted.value], counted.groups)


def least_rows(rows: I64, t: Fraction) -> int:
    """Return the size of the smallest group that can be at most t away, all values equally far.

    Of columns with very many values it may be less than that, never more.

    Of N rows at most Σ min(p_v, c_v / N) are where the table's are: ⌊p_v·N⌋ rows of each value, and
    one more of those that lack most of a row.

    Examples
    --------
    >>> [least_rows(np.array([2, 1, 1]), Fraction(t)) for t in ("0.5", "0.3", "0.25", "0")]
    [1, 2, 2, 4]
    """
    n = int(rows.sum())
    # N rows show N values at most; fewer than this cannot cover 1 − t of the table.
    upto = np.cumsum(np.sort(rows)[::-1])
    size = int(np.searchsorted(upto, math.ceil(n * (1 - t))))
    last = size + max(_MOST_LOOKED // max(len(rows), 1), 16)
    while True:
        size += 1
        whole, part = np.divmod(rows * size, n)
        left = size - int(whole.sum())
        near = int(whole.sum()) * n + int(np.sort(part)[::-1][:left].sum())
        if Fraction(n * size - near, n * size) <= t or size == last:
            return size


def least_step(tree: Tree, rows: I64) -> Fraction:
    """Return the least distance between two different values that occur in the table."""
    lowest = tree.height
    for level in range(1, len(tree.nodes)):
        below = np.unique(
            np.stack([tree.nodes[level][rows > 0], tree.nodes[level - 1][rows > 0]]), axis=1
        )
        node, children = np.unique(below[0], return_counts=True)
        heights = tree.heights[level][node[children > 1]]
        lowest = min(lowest, int(heights.min(initial=lowest)))
    return Fraction(lowest, tree.height) if tree.height else Fraction(1)


def _roomy(most: int, *numbers: I64) -> tuple[I64, ...]:
    """Return whole numbers of any length where products may have no room in 64 bits."""
    if 4 * most < ROOM:
        return numbers
    return tuple(own.astype(object) for own in numbers)


def _in_order(key: I64, count: I64, keys: int) -> tuple[I64, I64]:
    """Return keys in ascending order, and the count of each."""
    most = int(count.max(initial=0)) + 1
    if keys < ROOM // most:  # one word holds both
        both = np.sort(key * most + count)
        return both // most, both % most
    order = np.argsort(key)
    return key[order], count[order]
