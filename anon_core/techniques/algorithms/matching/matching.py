"""Consistency without classes: each row publishes a box of its own that enough others fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from anon_core.base.context import Context, now, part_of
from anon_core.base.registry import register
from anon_core.contracts.algorithm import Algorithm
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import Buckets, run_buckets
from anon_core.contracts.search_cost import CellCost, saving
from anon_core.kernels.best_gain_split import Prices
from anon_core.methods.clusters.cluster_base import blocks
from anon_core.methods.clusters.cluster_rows import k_members, refuse_fewer
from anon_core.methods.matching.matching import ConsistencyModel
from anon_core.methods.partition.best_gain import cell_prices, gain_parts
from anon_core.methods.partition.box_release import covered_outcome
from anon_core.methods.partition.merging import merged
from anon_core.methods.partition.mondrian_cuts import cut_by_tree
from anon_core.release.problem import Problem
from anon_core.release.results import Outcome
from anon_core.techniques.algorithms.matching.own_boxes import OwnBoxes, Unfinished


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class Matching(Algorithm):
    """Boxes grown until the matches that were promised are there (Gionis et al. 2008)."""

    name: ClassVar[str] = "matching"
    title: ClassVar[str] = "Boxes by matches"
    summary: ClassVar[str] = (
        "Starts from exact rows and widens the cells of people with too few matches, each time to "
        "the row that costs least. Privacy models about classes are met by merging rows. Classes "
        "that meet every model are also formed by clustering and by cuts; the cheapest result is "
        "published."
    )
    when: ClassVar[str] = (
        "When (k, k)- or global (1, k)-anonymity is promised, which needs no equal rows."
    )
    formula: ClassVar[str] = "while matches(r) < k: join the boxes of r and its nearest"
    source: ClassVar[str] = "Gionis, Mazza and Tassa 2008, doi 10.1109/ICDE.2008.4497483"
    forms_ranges: ClassVar[bool] = True

    metric: CellCost = saving(help="What widening cells costs.")

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Widen boxes, form classes, publish the better; see `Algorithm.run`."""
        nodes = [cut_by_tree(problem, h) for h in problem.quasi_hierarchies]
        prices = cell_prices(problem, self.metric, nodes, np.ones(len(nodes)))
        # 1. Classes keep every promise about matches too, and are there when time is up.
        classes, whole = min(
            (
                (groups, OwnBoxes.of_groups(problem, groups, prices))
                for groups in _classes(problem, models, prices, part_of(context, 0.0, 0.3))
            ),
            key=lambda pair: pair[1].price(),
        )
        found = {"Classes": whole.price()}
        chosen, boxes, rounds = classes, whole, 0
        # 2. Boxes of their own, from exact rows or from the least classes that are promised.
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
    """Return clusters of near rows, and parts by cuts, that keep every promise as classes.

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
    if all(model.by_limits for model in models):
        found.append(run_buckets(problem, gain_parts(problem, models, prices, context)))
    return found


def _widened(boxes: OwnBoxes, models: Sequence[GroupModel], context: Context) -> int:
    """Widen boxes until every promise about matches is kept; return the rounds of exchanges.

    Raises
    ------
    Unfinished
        If time is up before, or more fits more than can be listed.
    """
    asked = [model for model in models if isinstance(model, ConsistencyModel)]
    released = max((m.k for m in asked if m.of_released or m.perfect), default=1)
    originals = max((m.k for m in asked if m.of_originals or m.perfect), default=1)
    exchanged = max((m.k for m in asked if m.perfect), default=1)
    boxes.reach_out(released, part_of(context, 0.0, 0.5))
    boxes.take_in(originals, part_of(context, 0.5, 0.8))
    return boxes.exchange(exchanged, part_of(context, 0.8, 1.0)) if exchanged > 1 else 0
