"""A column's generalization hierarchy: as leaves in one order, and as a level table.

Because the leaves are ordered so that every node is a run of neighbours, a node is an interval
[lo, hi] of leaf numbers and all work on generalized values is integer arithmetic. A level table
is the form that files have, and that every builder gives its levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

TOP = "*"
#: Longest label of a group; the data's own values may be of any length.
MOST_LETTERS = 1000
#: Letters that are left of a label that is too long.
_SHORT = 80
#: A hierarchy as a file has it: one row a value, the value first, then its label on each level.
LevelTable: TypeAlias = Sequence[Sequence[str]]
#: A level table as builders make it.
Rows = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Hierarchy:
    """The generalization hierarchy of one column (Samarati 2001, doi 10.1109/69.971193).

    Attributes
    ----------
    leaves : tuple of str
        Texts in leaf order: numbers and dates by value, else depth-first; missing last.
    measure : float64 array of shape (leaves,), or None
        Number or day of each leaf, NaN for missing; None for text.
    starts : tuple of int32 arrays
        Per level, the first leaf of each of its nodes, ascending. Level 0 is the leaves.
    labels : tuple of tuples of str
        Per level, the published text of each node.
    counted : bool array of shape (leaves,)
        Leaves in |A|: all of the hierarchy's own, seen in the data or not. Values that only a
        population table has are leaves too (see `widened`), but do not move metrics.
    has_missing : bool
        Whether the last leaf is the missing value; it hangs directly under the root.
    """

    column: str
    leaves: tuple[str, ...]
    measure: npt.NDArray[np.float64] | None
    starts: tuple[npt.NDArray[np.int32], ...]
    labels: tuple[tuple[str, ...], ...]
    counted: npt.NDArray[np.bool_]
    has_missing: bool

    @property
    def height(self) -> int:
        """The number of the top level."""
        return len(self.starts) - 1

    @property
    def missing_leaf(self) -> int:
        """The leaf of the missing value; -1 where there is none."""
        return len(self.leaves) - 1 if self.has_missing else -1

    @cached_property
    def code(self) -> dict[str, int]:
        """Leaf number by text."""
        return {text: i for i, text in enumerate(self.leaves)}

    @cached_property
    def size(self) -> int:
        """|A|: the number of counted leaves."""
        return int(np.count_nonzero(self.counted))

    @cached_property
    def nodes(self) -> npt.NDArray[np.int32]:
        """Node number of every leaf at every level, shape (levels, leaves)."""
        places = np.arange(len(self.leaves), dtype=np.int32)
        found = [np.searchsorted(starts, places, side="right") - 1 for starts in self.starts]
        return np.stack(found).astype(np.int32)

    def node(self, level: int) -> npt.NDArray[np.int32]:
        """Return the node number at `level` of every leaf, shape (leaves,)."""
        return self.nodes[level]

    @cached_property
    def first_leaf(self) -> npt.NDArray[np.int32]:
        """First leaf of the node that holds each leaf, shape (levels, leaves).

        Generalizing is one look-up, whatever level a value already is at.
        """
        return np.stack([s[n] for s, n in zip(self.starts, self.nodes, strict=True)])

    @cached_property
    def last_leaf(self) -> npt.NDArray[np.int32]:
        """Last leaf of the node that holds each leaf, shape (levels, leaves)."""
        return np.stack([self.bounds(level)[1][n] for level, n in enumerate(self.nodes)])

    def bounds(self, level: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Return first and last leaf of every node at `level`, each of shape (nodes,)."""
        return self.starts[level], self._last[level]

    @cached_property
    def _last(self) -> list[npt.NDArray[np.int32]]:
        """Last leaf of every node, by level."""
        ends = [np.append(lo[1:], len(self.leaves)) - 1 for lo in self.starts]
        return [hi.astype(np.int32) for hi in ends]

    def leaf_count(
        self, lo: npt.NDArray[np.int32], hi: npt.NDArray[np.int32]
    ) -> npt.NDArray[np.int64]:
        """Return how many counted leaves lie in [lo, hi]; same shape as `lo`."""
        upto = np.concatenate([[0], np.cumsum(self.counted)])
        return (upto[hi + 1] - upto[lo]).astype(np.int64)

    def smallest_node(
        self, lo: npt.NDArray[np.int32], hi: npt.NDArray[np.int32]
    ) -> npt.NDArray[np.int32]:
        """Return the lowest level at which one node covers [lo, hi] (the LCA's level)."""
        level = np.full(lo.shape, self.height, dtype=np.int32)
        for step in range(self.height, -1, -1):
            level[self.first_leaf[step][lo] == self.first_leaf[step][hi]] = step
        return level

    def rows(self) -> list[tuple[str, ...]]:
        """Return the level table: a row a leaf, its text first, then each level's label."""
        maps = [self.node(i) for i in range(len(self.starts))]
        return [
            tuple(self.labels[i][maps[i][leaf]] for i in range(len(self.starts)))
            for leaf in range(len(self.leaves))
        ]


def tidied(rows: Sequence[Sequence[str]]) -> Rows:
    """Return a level table under ``*``, each level coarser than the one below and none one group.

    A label that is longer than one may be is cut short. A text that would represent different
    values on different levels gets ``(group)`` behind it, since a cell of a release that is recoded
    locally must mean one thing.

    Parameters
    ----------
    rows : sequence of sequences of str
        The value first, then a label for every level; levels must nest.

    Examples
    --------
    >>> tidied([["a", "x", "all"], ["b", "x", "all"], ["c", "c", "all"]])
    (('a', 'x', '*'), ('b', 'x', '*'), ('c', 'c', '*'))
    >>> tidied([["a", "b", "s"], ["b", "b", "s"], ["c", "c", "t"], ["d", "d", "t"]])
    (('a', 'b (group)', 's', '*'), ('b', 'b (group)', 's', '*'), ('c', 'c', 't', '*'), ('d', 'd', 't', '*'))
    """  # noqa: E501 - a result is in one line
    if not rows:
        return ()
    given = [list(level) for level in zip(*rows, strict=True)]
    kept = [given[0]]
    groups = len(given[0])
    for level in given[1:]:
        found = len(set(level))
        if 1 < found < groups:
            kept.append(level)
            groups = found
    kept.append([TOP] * len(given[0]))
    return tuple(zip(*_one_meaning(kept), strict=True))


def _one_meaning(levels: list[list[str]]) -> list[list[str]]:
    cover: dict[str, tuple[int, ...]] = {text: (place,) for place, text in enumerate(levels[0])}
    named = [levels[0]]
    for level in levels[1:-1]:
        members: dict[str, list[int]] = {}
        for place, label in enumerate(level):
            members.setdefault(label, []).append(place)
        new: dict[str, str] = {}
        for label, places in members.items():
            label_of = label if len(label) <= MOST_LETTERS else f"{label[:_SHORT].rstrip()}…"
            text, turn = label_of, 1
            while cover.setdefault(text, tuple(places)) != tuple(places):
                text = f"{label_of} (group)" if turn == 1 else f"{label_of} (group {turn})"
                turn += 1
            new[label] = text
        named.append([new[label] for label in level])
    return [*named, levels[-1]]
