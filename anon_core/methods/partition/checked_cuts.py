"""Median cuts for privacy models that no limits describe: both sides of every cut are asked about.

The cuts are those of the compiled partition (`kernels.mondrian_split`), tried in the same order.
All parts that are still open are cut in one round, so that models are asked about many at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import F64, I64
from anon_core.base.context import Context
from anon_core.base.errors import NotFound, listing
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import Buckets
from anon_core.data.hierarchy import Hierarchy
from anon_core.methods.partition.merging import keeping
from anon_core.release.problem import Problem

Mask = npt.NDArray[np.bool_]
_SAME_WIDTH = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class Ways:
    """How attributes are cut.

    Attributes
    ----------
    positions : sequence of float64 arrays of shape (leaves,)
    by_tree, loose : bool arrays of shape (attributes,)
        Whether it is cut along its hierarchy; whether rows at a median may part.
    weights : float64 array of shape (attributes,)
    """

    hierarchies: Sequence[Hierarchy]
    positions: Sequence[F64]
    by_tree: Mask
    loose: Mask
    weights: F64


def asked_parts(
    problem: Problem,
    models: Sequence[GroupModel],
    entries: Buckets,
    ways: Ways,
    context: Context,
    *,
    least: int = 1,
) -> I64:
    """Return the part of every entry, shape (entries,).

    A part that keeps the privacy models is cut only into pieces that all keep them. One that does
    not, where good groups may be bad together, is cut all the same.

    Parameters
    ----------
    entries : Buckets
        Keys with their rows, in the parts to begin with; a key may be there row by row.
    least : int
        Rows every part needs.

    Raises
    ------
    NotFound
        If parts are left that do not keep the privacy models, and whether there are better is open.
    """
    return _Cuts(problem, models, entries, ways, context, least).all()


class _Cuts:
    def __init__(
        self,
        problem: Problem,
        models: Sequence[GroupModel],
        entries: Buckets,
        ways: Ways,
        context: Context,
        least: int,
    ) -> None:
        self.problem, self.models, self.ways, self.context = problem, models, ways, context
        self.key, self.count = entries.key, entries.count
        self.codes = problem.frequency.codes[entries.key, : len(problem.quasi)].astype(np.int64)
        self.part = entries.group.copy()
        self.parts = int(self.part.max(initial=-1)) + 1
        self.least = least
        size = max((len(h.leaves) for h in ways.hierarchies), default=1)
        self._wide = size + 1

    def all(self) -> I64:
        """Cut until no part can be cut any further, or time is up."""
        good = self._asked(np.arange(len(self.part)), self.part, self.parts)
        open_ = np.arange(self.parts)
        while len(open_):
            self.context.report(1.0 - len(open_) / max(self.parts, 1), "Partitioning")
            if self.context.out_of_time():
                break
            before = self.parts
            good = self._round(open_, good)
            open_ = np.arange(before, self.parts)
        alive = np.unique(self.part)
        if not good[alive].all():
            raise NotFound(
                f"Not found: cuts left {np.count_nonzero(~good[alive])} of {len(alive)} parts that "
                f"do not keep {listing(m.title for m in self.models)}. Another technique may find "
                "a release.",
                remedy="Choose the optimal search, or ask for less.",
                best=float(np.mean(good[alive])),
                best_of="share of parts that keep it",
            )
        return np.unique(self.part, return_inverse=True)[1].astype(np.int64)

    def _asked(self, inside: I64, group: I64, groups: int) -> Mask:
        """Ask all models about groups of some entries, numbered without gaps."""
        found = np.ones(groups, dtype=np.bool_)
        asked = keeping(
            self.problem,
            self.models,
            Buckets(key=self.key[inside], group=group, count=self.count[inside]),
        )
        found[: len(asked)] = asked
        return found

    def _round(self, open_: I64, good: Mask) -> Mask:
        """Cut every open part once, if it can be; pieces become new parts. Return which are good.

        `good` shows it of the parts there are.
        """
        number = np.full(self.parts, -1, dtype=np.int64)
        number[open_] = np.arange(len(open_))
        entry = np.flatnonzero(number[self.part] >= 0)
        own = number[self.part[entry]]
        order = np.argsort(own, kind="stable")
        entry, own = entry[order], own[order]
        rows = np.bincount(own, self.count[entry], minlength=len(open_)).astype(np.int64)
        begin = np.searchsorted(own, np.arange(len(open_)))
        low = np.minimum.reduceat(self.codes[entry], begin, axis=0)
        high = np.maximum.reduceat(self.codes[entry], begin, axis=0)
        width = self._widths(low, high)
        pending = rows >= 2 * self.least
        for _ in range(width.shape[1]):
            widest = self._widest(width)
            pending &= width[np.arange(len(open_)), widest] >= 0.0
            if not pending.any():
                break
            inside = pending[own]
            at = _Attribute(
                entry=entry[inside],
                own=own[inside],
                code=self.codes[entry[inside], widest[own[inside]]],
                count=self.count[entry[inside]],
                column=widest,
                low=low[np.arange(len(open_)), widest],
                high=high[np.arange(len(open_)), widest],
                rows=rows,
            )
            for piece, of in self._candidates(at, pending):
                good, cut = self._try(at, piece, of & pending, good, good[open_])
                pending &= ~cut
            width[np.arange(len(open_)), widest] = -1.0
        return good

    def _widths(self, low: I64, high: I64) -> F64:
        """Return every open part's width along every attribute, -1 where it has one code."""
        found = np.full(low.shape, -1.0)
        for d, hierarchy in enumerate(self.ways.hierarchies):
            lo, hi = low[:, d].astype(np.int32), high[:, d].astype(np.int32)
            if self.ways.by_tree[d]:
                level = hierarchy.smallest_node(lo, hi)
                inside = hierarchy.last_leaf[level, lo] - hierarchy.first_leaf[level, lo]
                own = inside / max(len(hierarchy.leaves) - 1, 1)
            else:
                own = self.ways.positions[d][hi] - self.ways.positions[d][lo]
            found[:, d] = np.where(lo < hi, self.ways.weights[d] * own, -1.0)
        return found

    def _widest(self, width: F64) -> I64:
        """Return every part's widest attribute, the first of those that are."""
        found = np.zeros(len(width), dtype=np.int64)
        most = width[:, 0].copy()
        for d in range(1, width.shape[1]):
            wider = width[:, d] > most + _SAME_WIDTH
            found[wider], most[wider] = d, width[wider, d]
        return found

    def _candidates(self, at: _Attribute, pending: Mask) -> Sequence[tuple[I64, Mask]]:
        """Return the ways to cut all parts along their attribute, in the order to try them.

        Each is the piece of every entry, and which parts it is a way for.
        """
        by_tree = self.ways.by_tree[at.column]
        missing = np.array(
            [len(h.leaves) - 1 if h.has_missing else -1 for h in self.ways.hierarchies]
        )[at.column]
        median, below, upto, gone = self._medians(at)
        half = (at.rows + 1) // 2
        loose = self.ways.loose[at.column]
        ways: list[tuple[I64, Mask]] = []
        # 1. Missing values are cut off first: no range can hold them with others.
        ways.append(
            (
                (at.code == at.high[at.own]).astype(np.int64),
                ~by_tree & (at.high == missing) & self._wide_enough(at, at.rows - gone),
            )
        )
        # 2. Through the rows at the median.
        if loose.any():
            ties = (at.code == median[at.own]) & ~by_tree[at.own]
            later = np.ones(len(at.code), dtype=np.int64)
            turn = np.cumsum(ties)
            first = np.searchsorted(at.own, np.arange(len(at.rows)))
            before = np.append(0, turn)[first]
            nth = turn - before[at.own]
            later[at.code < median[at.own]] = 0
            later[ties & (nth <= (half - below)[at.own])] = 0
            ways.append((later, ~by_tree & loose & self._wide_enough(at, half)))
        # 3. At ≤ median, or into the children of the covering node; 4. at < median.
        piece = (at.code > median[at.own]).astype(np.int64)
        if by_tree.any():
            piece = np.where(by_tree[at.own], self._children(at), piece)
        ways.append((piece, by_tree | self._wide_enough(at, upto)))
        strictly = (at.code >= median[at.own]).astype(np.int64)
        ways.append((strictly, ~by_tree & self._wide_enough(at, below)))
        return [(piece, of) for piece, of in ways if (of & pending).any()]

    def _wide_enough(self, at: _Attribute, under: I64) -> Mask:
        return (under >= self.least) & (at.rows - under >= self.least)

    def _medians(self, at: _Attribute) -> tuple[I64, I64, I64, I64]:
        """Return lower median, rows below it, up to it, and at the highest code, per part."""
        parts = len(at.rows)
        key = at.own * self._wide + at.code
        order = np.argsort(key, kind="stable")
        key, upto = key[order], np.append(0, np.cumsum(at.count[order]))
        start = upto[np.searchsorted(key, np.arange(parts) * self._wide)]
        place = np.searchsorted(upto[1:], start + (at.rows + 1) // 2)
        median = key[np.minimum(place, len(key) - 1)] - np.arange(parts) * self._wide
        at_median = np.arange(parts) * self._wide + median
        below = upto[np.searchsorted(key, at_median)] - start
        through = upto[np.searchsorted(key, at_median, side="right")] - start
        highest = np.searchsorted(key, np.arange(parts) * self._wide + at.high)
        gone = start + at.rows - upto[highest]
        return median, below, through, gone

    def _children(self, at: _Attribute) -> I64:
        """Return the child of the covering node that holds each entry."""
        found = np.zeros(len(at.code), dtype=np.int64)
        for d, hierarchy in enumerate(self.ways.hierarchies):
            mine = at.column == d
            if not self.ways.by_tree[d] or not mine.any():
                continue
            lo, hi = at.low.astype(np.int32), at.high.astype(np.int32)
            last = np.int32(len(hierarchy.leaves) - 1)
            level = hierarchy.smallest_node(np.minimum(lo, last), np.minimum(hi, last))
            inside = mine[at.own]
            of = at.own[inside]
            found[inside] = hierarchy.nodes[np.maximum(level[of] - 1, 0), at.code[inside]]
        return found

    def _try(
        self, at: _Attribute, piece: I64, of: Mask, good: Mask, whole_good: Mask
    ) -> tuple[Mask, Mask]:
        """Ask about the pieces of some parts; where all are good, they become parts.

        Returns which parts there are now are good, and which of the open ones were cut.
        """
        inside = np.flatnonzero(of[at.own])
        cut = np.zeros(len(of), dtype=np.bool_)
        if not len(inside):
            return good, cut
        wide = int(piece[inside].max()) + 1
        pair, group = np.unique(at.own[inside] * wide + piece[inside], return_inverse=True)
        group = group.astype(np.int64)
        owner = pair // wide
        asked = self._asked(at.entry[inside], group, len(pair))
        rows = np.bincount(group, at.count[inside], minlength=len(pair))
        bad = (~asked & whole_good[owner]) | (rows < self.least)
        cut[owner] = True
        cut[owner[bad]] = False
        cut &= np.bincount(owner, minlength=len(of)) > 1
        taken = cut[owner]
        numbers = np.where(taken, self.parts + np.cumsum(taken) - 1, -1)
        moved = taken[group]
        self.part[at.entry[inside[moved]]] = numbers[group[moved]]
        self.parts += int(np.count_nonzero(taken))
        return np.concatenate([good, asked[taken]]), cut


@dataclass(frozen=True, kw_only=True, eq=False)
class _Attribute:
    """The open parts along the attribute that each is to be cut along.

    Attributes
    ----------
    entry, own, code, count : int64 arrays of shape (entries,)
        Entries by part, their part, and their code and rows.
    column, low, high, rows : int64 arrays of shape (parts,)
        Attribute, its smallest and largest code, and rows of every part.
    """

    entry: I64
    own: I64
    code: I64
    count: I64
    column: I64
    low: I64
    high: I64
    rows: I64
