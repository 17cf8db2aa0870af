"""Consistency without classes: each row publishes a box of its own that enough others fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from anon_core.base.arrays import I32, I64
from anon_core.base.context import Context, now, part_of
from anon_core.base.registry import register
from anon_core.contracts.algorithm import Algorithm, Offer, Shape
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import Buckets, run_buckets
from anon_core.contracts.search_cost import CellCost, saving
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
from anon_core.methods.clusters.cluster_rows import blocks, k_members, refuse_fewer
from anon_core.methods.matching.matching import WORK, ConsistencyModel, by_order, covering
from anon_core.methods.partition.best_gain import cell_prices, gain_parts
from anon_core.methods.partition.box_release import covered_outcome
from anon_core.methods.partition.merging import boxes_of, merged
from anon_core.methods.partition.mondrian_cuts import cut_by_tree
from anon_core.release.outcome import Outcome
from anon_core.release.problem import Problem

# Boxes of their own, widened until the matches that were required are there (Gionis et al. 2008).
#
# Each box is first as narrow as the rows that publish it. It reaches out to its nearest rows until
# k rows fit it, (k, 1); rows that fit too few boxes are taken in by the nearest, (1, k); and
# anyone who could be ruled out by a perfect matching has its part of the exchanges joined with
# another.


MOST_PARTS = 4096  # components that are looked through for the cheapest exchange
MOST_TRIED = 256  # boxes, and lacking tuples, of one component that are tried for it


class Unfinished(Exception):
    """The boxes could not be finished; another release is to be published."""


@dataclass(frozen=True, kw_only=True, eq=False)
class OwnBoxes:
    """Boxes that are widened until they match; `low` and `high` are changed in place.

    Attributes
    ----------
    tuples : Sorted
        The table's distinct tuples. Their attributes, and those of the boxes and prices, are in
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
        """Begin with what covers each group; no tuple may be in two."""
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
        """Join parts until each tuple fits k rows in perfect matchings: global (1, k).

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


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class Matching(Algorithm):
    """Boxes grown until the matches that were required are there (Gionis et al. 2008)."""

    name: ClassVar[str] = "matching"
    title: ClassVar[str] = "Boxes by matches"
    summary: ClassVar[str] = (
        "Starts from exact rows and widens the cells of people with too few matches, each time to"
        " the row that costs least. Merges rows to satisfy privacy models about classes. Also "
        "forms classes by clustering and by cuts, and publishes the cheapest result."
    )
    offer: ClassVar[Offer] = Offer(
        when="When (k, k)- or global (1, k)-anonymity is required, which needs no equal rows."
    )
    shape: ClassVar[Shape] = Shape(forms_ranges=True)
    formula: ClassVar[str] = "while matches(r) < k: join the boxes of r and its nearest"
    source: ClassVar[str] = "Gionis, Mazza and Tassa 2008, doi 10.1109/ICDE.2008.4497483"

    metric: CellCost = saving(help="What widening cells costs.")

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Widen boxes, form classes, publish the better; see `Algorithm.run`."""
        nodes = [cut_by_tree(problem, h) for h in problem.quasi_hierarchies]
        prices = cell_prices(problem, self.metric, nodes, np.ones(len(nodes)))
        # 1. Classes keep every privacy model about matches too, and are there when time is up.
        classes, whole = min(
            (
                (groups, OwnBoxes.of_groups(problem, groups, prices))
                for groups in _classes(problem, models, prices, part_of(context, 0.0, 0.3))
            ),
            key=lambda pair: pair[1].price(),
        )
        found = {"Classes": whole.price()}
        chosen, boxes, rounds = classes, whole, 0
        # 2. Boxes of their own, from exact rows or from the least classes that are required.
        rest = [m for m in models if not isinstance(m, ConsistencyModel)]
        groups = run_buckets(problem, np.arange(len(problem.frequency.run_count), dtype=np.int64))
        if rest:
            groups = merged(problem, rest, groups, prices, part_of(context, 0.3, 0.5))
        own = OwnBoxes.of_groups(problem, groups, prices)
        try:
            rounds = _widened(own, models, part_of(context, 0.5, 1.0))
            found["Boxes by matches"] = own.price()
        except Unfinished:
            found["Boxes by matches"] = np.inf
        # 3. The better is published.
        if found["Boxes by matches"] <= found["Classes"]:
            chosen, boxes = groups, own
        outcome = covered_outcome(problem, chosen, *boxes.ends(), nodes)
        steps = tuple(
            {
                "Release": name,
                f"{self.metric.title} of the cells": (
                    price if np.isfinite(price) else "not finished"
                ),
                "Rounds of exchanges": 0 if name == "Classes" else rounds,
                "Published": "yes" if (name == "Classes") == (boxes is whole) else "no",
            }
            for name, price in found.items()
        )
        return replace(outcome, account=replace(outcome.account, steps=steps))


def _first_half(context: Context) -> Context:
    """Return a context with half of the time that is left."""
    if context.deadline is None:
        return context
    left = max(context.deadline - now(), 0.0)
    return replace(context, deadline=context.deadline - left / 2)


def _classes(
    problem: Problem, models: Sequence[GroupModel], prices: Prices, context: Context
) -> list[Buckets]:
    """Return clusters of near rows, and parts by cuts, that keep every privacy model as classes.

    Raises
    ------
    Infeasible
        If not even all rows as one class do.
    """
    k = max(model.least_size() for model in models)
    refuse_fewer(problem, k)
    context = _first_half(context)
    block = blocks(problem, [], k, prices, part_of(context, 0.0, 0.1))
    part = k_members(problem, block, k, prices, part_of(context, 0.1, 0.9))
    formed = run_buckets(problem, part)
    found = [merged(problem, models, formed, prices, part_of(context, 0.9, 1.0))]
    if all(model.logic.by_limits for model in models):
        found.append(run_buckets(problem, gain_parts(problem, models, prices, context)))
    return found


def _widened(boxes: OwnBoxes, models: Sequence[GroupModel], context: Context) -> int:
    """Widen boxes until every privacy model about matches is kept; return the rounds of exchanges.

    Raises
    ------
    Unfinished
        If time is up before, or more fits more than can be listed.
    """
    asked = [model for model in models if isinstance(model, ConsistencyModel)]

    def most(*sides: str) -> int:
        return max((m.k for m in asked if {*sides} & {*m.sides}), default=1)

    released, originals = most("released", "perfect"), most("originals", "perfect")
    exchanged = most("perfect")
    boxes.reach_out(released, part_of(context, 0.0, 0.5))
    boxes.take_in(originals, part_of(context, 0.5, 0.8))
    return boxes.exchange(exchanged, part_of(context, 0.8, 1.0)) if exchanged > 1 else 0
