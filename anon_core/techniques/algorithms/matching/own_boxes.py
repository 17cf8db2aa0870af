"""Boxes of their own, widened until the matches that were promised are there (Gionis et al. 2008).

Each box is first as narrow as the rows that publish it. It reaches out to its nearest rows until k
rows fit it, (k, 1); rows that fit too few boxes are taken in by the nearest, (1, k); and whoever
could be ruled out by a perfect matching has its part of the exchanges joined with another.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anon_core.base.arrays import I32, I64
from anon_core.base.context import Context
from anon_core.contracts.partitioner import Buckets
from anon_core.kernels.best_gain_split import Prices
from anon_core.kernels.widening_boxes import (
    Boxes,
    Joins,
    Parts,
    Sorted,
    box_price,
    cheapest_joins,
    join,
    reach_out,
    show,
    take_in,
)
from anon_core.methods.matching.matching import WORK, by_order, covering
from anon_core.methods.partition.merging import boxes_of
from anon_core.release.problem import Problem

MOST_PARTS = 4096  # components that are looked through for the cheapest exchange
MOST_TRIED = 256  # boxes, and lacking tuples, of one component that are tried for it


class Unfinished(Exception):
    """The boxes could not be finished; another release is to be published."""


@dataclass(frozen=True, kw_only=True, eq=False)
class OwnBoxes:
    """Boxes that are widened until they match; `low` and `high` are changed in place.

    Attributes
    ----------
    prices : Prices
    tuples : Sorted
        The table's distinct tuples. Their attributes, and those of the boxes and prices, stand in
        the order `across`.
    across : int64 array of shape (quasi,)
    low, high : int32 arrays of shape (boxes, quasi)
        What each box shows.
    size : int64 array of shape (boxes,)
        Rows that publish each.
    own : int64 array of shape (tuples,)
        The box of each tuple's rows.
    home : int64 array of shape (boxes,)
        A tuple of each box.
    """

    prices: Prices
    tuples: Sorted
    across: I64
    low: I32
    high: I32
    size: I64
    own: I64
    home: I64

    @classmethod
    def of_groups(cls, problem: Problem, groups: Buckets, prices: Prices) -> OwnBoxes:
        """Begin with what covers each group; no tuple may stand in two."""
        frequency = problem.frequency
        tuples, across, order = by_order(frequency.run_codes, frequency.run_count)
        prices = prices._replace(
            by_node=prices.by_node[across],
            place_of=prices.place_of[across],
            step=prices.step[across],
            whole=prices.whole[across],
            missing=prices.missing[across],
            tree_offset=prices.tree_offset[across],
            leaves=prices.leaves[across],
        )
        low, high, size = boxes_of(problem, groups)
        low, high = (np.ascontiguousarray(ends[:, across]) for ends in (low, high))
        show(prices, low, high)
        of_run = np.empty(len(order), dtype=np.int64)
        of_run[frequency.run[groups.key]] = groups.group
        own = of_run[order]
        home = np.empty(len(low), dtype=np.int64)
        home[own] = np.arange(len(own))
        return cls(
            prices=prices,
            tuples=tuples,
            across=across,
            low=low,
            high=high,
            size=size,
            own=own,
            home=home,
        )

    def price(self) -> float:
        """Return what all rows' cells cost, as a share of the table's cells."""
        return box_price(self.prices, self.low, self.high, self.size) / max(
            self.low.shape[1] * int(self.size.sum()), 1
        )

    def ends(self) -> tuple[I32, I32]:
        """Return first and last leaf of every box, in the order of the table's columns."""
        low, high = np.empty_like(self.low), np.empty_like(self.high)
        low[:, self.across], high[:, self.across] = self.low, self.high
        return low, high

    def reach_out(self, k: int, context: Context) -> None:
        """Widen boxes to the nearest tuples until k rows fit each: (k, 1)."""
        step = self._step()
        for start in range(0, len(self.low), step):
            self._go_on(start / len(self.low), context)
            stop = min(start + step, len(self.low))
            reach_out(self.prices, self.tuples, self._boxes, k, start, stop)

    def take_in(self, k: int, context: Context) -> None:
        """Let each tuple be covered by the nearest boxes until it fits k rows: (1, k)."""
        box, at = self._pairs(context)
        fits = _summed(at, self.size[box], len(self.own))
        few = np.flatnonzero(fits < k)
        step = self._step()
        for start in range(0, len(few), step):
            self._go_on(start / len(few), context)
            stop = min(start + step, len(few))
            take_in(self.prices, self.tuples.codes, self._boxes, few, fits[few], k, start, stop)

    def exchange(self, k: int, context: Context) -> int:
        """Join parts of exchanges until k rows are left of what each tuple fits: global (1, k).

        Every tuple must fit k rows already. That everyone publishes its own box is one perfect
        matching; a pair lies in another if its tuple and its box lie on a cycle of tuples that fit
        boxes and boxes that are published by tuples. Those are the pairs within a strongly
        connected component. A component one of whose tuples has too few of them fits boxes of
        others: one box of its own that takes in a tuple of those makes one component of both.

        Returns
        -------
        int
            Rounds that it took.
        """
        rounds, first = 0, 0
        while True:
            parts = self._parts(k, context)
            lacking = len(parts.few)
            if not lacking:
                return rounds
            first = first or lacking
            who = np.flatnonzero(np.diff(parts.first_few)).astype(np.int64)
            joins = Joins(
                who=who,
                price=np.empty(len(who), dtype=np.float64),
                widened=np.empty(len(who), dtype=np.int64),
                taken=np.empty(len(who), dtype=np.int64),
            )
            # Each box and tuple of a part is compared with all others.
            work = np.cumsum(np.diff(parts.first_box)[who] + np.diff(parts.first_few)[who])
            start, step = 0, self._step()
            while start < len(who):
                self._go_on(1.0 - lacking / first, context)
                before = work[start - 1] if start else 0
                stop = max(int(np.searchsorted(work, before + step, side="right")), start + 1)
                cheapest_joins(
                    self.prices, self.tuples, self._boxes, parts, MOST_PARTS, start, stop, joins
                )
                start = stop
            order = np.argsort(joins.price, kind="stable")
            join(self.prices, self.tuples, self._boxes, parts, order, joins)
            rounds += 1

    def _parts(self, k: int, context: Context) -> Parts:
        """Return who can change places, and who has fewer than k matches by that."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        box, at = self._pairs(context)
        boxes = len(self.low)
        links = csr_array(
            (np.ones(len(box), dtype=np.int8), (self.own[at], box)), shape=(boxes, boxes)
        )
        wide, part = connected_components(links, directed=True, connection="strong")
        of_box = part.astype(np.int64)
        of_tuple = of_box[self.own]
        within = of_tuple[at] == of_box[box]
        fits = _summed(at, self.size[box] * within, len(self.own))
        few = np.flatnonzero(fits < k)
        # Of a large component only the boxes of those who lack matches are tried.
        tried = np.bincount(of_box, minlength=wide)[of_box] <= MOST_TRIED
        tried[self.own[few]] = True
        first_box, listed = _first_of_each(of_box, np.flatnonzero(tried), wide)
        first_few, few = _first_of_each(of_tuple, few, wide)
        ahead = np.unique(of_tuple[at[~within]] * wide + of_box[box[~within]])
        behind = np.sort(ahead % wide * wide + ahead // wide)
        ends = np.arange(wide + 1)
        return Parts(
            of_tuple=of_tuple,
            of_box=of_box,
            first_box=first_box,
            box=listed,
            first_few=first_few,
            few=few,
            first_ahead=np.searchsorted(ahead // wide, ends).astype(np.int64),
            ahead=ahead % wide,
            first_behind=np.searchsorted(behind // wide, ends).astype(np.int64),
            behind=behind % wide,
        )

    def _pairs(self, context: Context) -> tuple[I64, I64]:
        pairs = covering(self.tuples, self.low, self.high, context)
        if pairs is None:
            raise Unfinished
        return pairs

    @property
    def _boxes(self) -> Boxes:
        return Boxes(low=self.low, high=self.high, size=self.size, home=self.home)

    def _step(self) -> int:
        return max(WORK // max(len(self.own), 1), 1)

    def _go_on(self, share: float, context: Context) -> None:
        context.report(share, "Widening cells")
        if context.out_of_time():
            raise Unfinished


def _first_of_each(part: I64, who: I64, parts: int) -> tuple[I64, I64]:
    """List the first few of every part; return where each part's begin, and the list."""
    ranked = who[np.argsort(part[who], kind="stable")]
    begin = np.searchsorted(part[ranked], np.arange(parts))
    kept = ranked[np.arange(len(ranked)) - begin[part[ranked]] < MOST_TRIED].astype(np.int64)
    return np.searchsorted(part[kept], np.arange(parts + 1)).astype(np.int64), kept


def _summed(where: I64, what: I64, size: int) -> I64:
    return np.bincount(where, weights=what, minlength=size).astype(np.int64)
