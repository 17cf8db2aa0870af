"""Cuts that separate boxes: found from the boxes alone, so that any other row finds its place.

Every strict partition by cuts (LeFevre et al. 2006, doi 10.1109/ICDE.2006.101) can be cut
separately again, one cut after the other, from its boxes. Where boxes overlap they stay together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anon_core.base.arrays import B1, I32, I64
from anon_core.base.context import Context


@dataclass(frozen=True, kw_only=True, eq=False)
class CutTree:
    """Cuts, the first at node 0; a row goes left where its leaf is not above the cut.

    Attributes
    ----------
    column : int64 array of shape (nodes,)
        The column that a node is cut in; -1 where it is not.
    at : int64 array of shape (nodes,)
        The last leaf on the left.
    left : int64 array of shape (nodes,)
        The left child; the right one is the next.
    node : int64 array of shape (boxes,)
        The last node of each box.
    """

    column: I64
    at: I64
    left: I64
    node: I64

    def below(self, node: I64, codes: I32) -> I64:
        """Return the child that each tuple goes to, or its node where that is not cut.

        Parameters
        ----------
        node : int64 array of shape (tuples,)
        codes : int32 array of shape (tuples, columns)
        """
        column = self.column[node]
        own = codes[np.arange(len(codes)), np.maximum(column, 0)]
        return np.where(column < 0, node, self.left[node] + (own > self.at[node]))

    def last(self, codes: I32, context: Context) -> I64:
        """Return the last node of each tuple, shape (tuples,)."""
        node = np.zeros(len(codes), dtype=np.int64)
        while True:
            context.check()
            below = self.below(node, codes)
            if np.array_equal(below, node):
                return node
            node = below


def cuts_between(low: I64, high: I64, rows: I64, *, shared: bool = True) -> CutTree:
    """Return cuts that separate boxes, each as near to the middle of the rows as there is one.

    A cut that no box touches on both sides goes before one at a leaf that boxes share; of equal
    ones the first column's counts. A cut in a gap lies in its middle.

    Parameters
    ----------
    low, high : int64 arrays of shape (boxes, columns)
        First and last leaf of each box.
    rows : int64 array of shape (boxes,)
    shared : bool
        Whether boxes are also cut separately at a leaf that both have; rows of it go left.
    """
    node = np.zeros(len(low), dtype=np.int64)
    column, at, left = [-1], [-1], [-1]
    open_ = np.arange(len(low))
    while len(open_):
        own, which = np.unique(node[open_], return_inverse=True)
        best = np.zeros(len(own), dtype=np.int64)
        where, value = np.full(len(own), -1), np.full(len(own), -1)
        right = np.zeros(len(open_), dtype=np.bool_)
        for d in range(low.shape[1]):
            order, score, cut = _cuts(which, low[open_, d], high[open_, d], rows[open_], shared)
            found = np.zeros(len(own), dtype=np.int64)
            np.maximum.at(found, which[order], score)
            better = found > best
            # The first place of the best of each node.
            wanted = better[which[order]] & (score == found[which[order]])
            at_node, first = np.unique(which[order][wanted], return_index=True)
            place = np.flatnonzero(wanted)[first]
            best[at_node], where[at_node], value[at_node] = found[at_node], d, cut[place]
            begin = np.full(len(own), len(order))
            begin[at_node] = place
            here = better[which[order]]
            right[order[here]] = np.flatnonzero(here) >= begin[which[order]][here]
        cuttable = where >= 0
        number = np.cumsum(cuttable) - 1
        child = len(column) + 2 * number
        for i in np.flatnonzero(cuttable).tolist():
            column[own[i]], at[own[i]], left[own[i]] = int(where[i]), int(value[i]), int(child[i])
        new = 2 * int(np.count_nonzero(cuttable))
        column += [-1] * new
        at += [-1] * new
        left += [-1] * new
        going = cuttable[which]
        node[open_[going]] = (child[which] + right)[going]
        open_ = open_[going]
    return CutTree(column=np.array(column), at=np.array(at), left=np.array(left), node=node)


def hull(cover: B1) -> tuple[I64, I64, B1]:
    """Return of each text its first and last leaf, and whether it represents any.

    Parameters
    ----------
    cover : bool array of shape (texts, leaves)
    """
    first = cover.argmax(axis=1)
    last = cover.shape[1] - 1 - cover[:, ::-1].argmax(axis=1)
    return first, last, cover[np.arange(len(cover)), first]


def _cuts(which: I64, low: I64, high: I64, rows: I64, at_shared: bool) -> tuple[I64, I64, I64]:
    """Return boxes by node and first leaf, how good a cut before each is, and where it lies.

    0 is no cut. A clean one scores above every other of its node.
    """
    order = np.lexsort([high, low, which])
    owner, first, last = which[order], low[order], high[order]
    wide = int(high.max(initial=0)) + 2
    reach = np.maximum.accumulate(last + owner * wide) - owner * wide
    before = np.concatenate([[-1], reach[:-1]])
    start = np.flatnonzero(np.diff(owner, prepend=-1))
    begin = np.repeat(start, np.diff(start, append=len(owner)))
    inner = np.arange(len(owner)) > begin
    total = np.cumsum(rows[order])
    whole = np.repeat(
        np.diff(np.concatenate([[0], total[np.append(start[1:], len(owner)) - 1]])),
        np.diff(start, append=len(owner)),
    )
    left = total - rows[order] - (total - rows[order])[begin]
    half = np.minimum(left, whole - left) + 1
    clean: B1 = inner & (first > before)
    shared: B1 = at_shared & inner & (first == before) & (last > before)
    score = np.where(clean, half + whole + 1, np.where(shared, half, 0))
    cut = np.where(clean, (before + first) // 2, before)
    return order, score, cut
