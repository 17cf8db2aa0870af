"""Local recoding: refine a full-domain result, class by class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np

from ..boxes import box_outcome
from ..context import Context, part_of
from ..costs import CellCost
from ..gain import cell_prices, gain_parts
from ..kinds import Algorithm, Buckets, GroupModel, run_buckets
from ..merging import keeping
from ..nodes import suppression_budget
from ..params import choice
from ..per_column import attribute_weights
from ..problem import Problem
from ..registry import find, register
from ..results import Outcome


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class LocalRecoding(Algorithm):
    """Full-domain generalization first, then lower nodes wherever a class allows it."""

    name: ClassVar[str] = "local-recoding"
    title: ClassVar[str] = "Local recoding of a full-domain result"
    summary: ClassVar[str] = (
        "Chooses one level per column for the whole table, then cuts each class further and lets "
        "every part publish the lowest groups of the hierarchy that cover it. Rows the first step "
        "removed are published as classes of their own where that keeps the promises."
    )
    when: ClassVar[str] = (
        "When cells must be groups of the given hierarchies, but need not stand at one level in "
        "the whole table."
    )
    formula: ClassVar[str] = (
        "within each class, the node set apart from the rest that leaves the least rows × cost"
    )
    source: ClassVar[str] = (
        "Samarati 2001, doi 10.1109/69.971193; Prasser et al. 2020, doi 10.1002/spe.2812"
    )

    first: str = choice(
        default="optimal",
        options=("optimal", "datafly"),
        options_of="algorithm",
        help="How levels for the whole table are found.",
        label="Start from",
    )
    metric: str = choice(
        default="loss",
        options={"loss": "Loss", "ncp": "NCP / GCP"},
        help="What the first step and the cuts save.",
        label="Saving",
    )
    max_suppression: float = suppression_budget(
        help="Largest share of rows that the first step may remove."
    )

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Search, then refine; see `Algorithm.run`."""
        # 1. One level per column for the whole table.
        given: dict[str, object] = {"max_suppression": self.max_suppression}
        if self.first == "optimal":
            given["metric"] = self.metric
        search = cast(Algorithm, find("algorithm", self.first).from_mapping(given))
        found = search.run(problem, models, part_of(context, 0.0, 0.6)).release.grouping
        frequency = problem.frequency
        start = found.member[frequency.run_start]
        # 2. Rows that were removed are one more class, if together they keep the promises.
        left = np.flatnonzero(found.member < 0)
        if len(left):
            rest = Buckets(
                key=left, group=np.zeros(len(left), np.int64), count=frequency.count[left]
            )
            if keeping(problem, models, rest).all():
                start = np.where(start < 0, found.classes, start)
        # 3. Cut every class as long as its parts keep the promises.
        nodes = [True] * len(problem.quasi)
        metric = cast(CellCost, find("metric", self.metric)())
        prices = cell_prices(problem, metric, nodes, attribute_weights(problem, "", self.name))
        part = gain_parts(problem, models, prices, part_of(context, 0.6, 1.0), start=start)
        return box_outcome(problem, run_buckets(problem, part), nodes)
