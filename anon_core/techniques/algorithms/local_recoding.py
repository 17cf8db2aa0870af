"""Local recoding: refine a full-domain result, class by class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from anon_core.base.context import Context, part_of
from anon_core.base.errors import Infeasible, NotFound
from anon_core.base.registry import part, register
from anon_core.contracts.algorithm import Algorithm, Needs, Offer, Service
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import Buckets, run_buckets
from anon_core.contracts.per_column import weights_by_column
from anon_core.contracts.search_cost import CellCost, LabelCost, saving
from anon_core.contracts.stop_rules import replay, stop_limits
from anon_core.methods.lattice.nodes import suppression_budget
from anon_core.methods.partition.best_gain import cell_prices, gain_parts
from anon_core.methods.partition.box_release import box_outcome
from anon_core.methods.partition.merging import keeping, merged
from anon_core.release.minimality_rule import UncutClasses
from anon_core.release.outcome import Outcome
from anon_core.release.problem import Problem


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class LocalRecoding(Algorithm):
    """Full-domain generalization first, then lower nodes wherever a class allows it."""

    name: ClassVar[str] = "local-recoding"
    title: ClassVar[str] = "Local recoding of a full-domain result"
    summary: ClassVar[str] = (
        "Chooses one level per column for the whole table, then cuts each class further. Each "
        "part publishes the lowest groups of the hierarchy that cover it. Rows that the first "
        "step suppressed become classes of their own if the privacy models allow it."
    )
    offer: ClassVar[Offer] = Offer(
        when="When cells must be groups of the given hierarchies, but levels may differ within a "
        "column.",
        serves={
            "statistics": Service(
                place=5,
                why="Cells are groups of your hierarchies, finer wherever a class allows it.",
                most_nodes=200_000,
            ),
            "sharing": Service(
                place=3,
                why="Every cell is a group of your hierarchies, as fine as its class allows, so "
                "that those who get the rows meet words they know.",
                most_nodes=200_000,
            ),
            "teaching": Service(
                place=2,
                why="Cells are groups of your hierarchies, and it shows how much detail is lost "
                "when each column has a single level.",
                most_nodes=200_000,
            ),
        },
    )
    needs: ClassVar[Needs] = Needs(counts_people=True)
    formula: ClassVar[str] = (
        "within each class, the node split off from the rest that leaves the least rows × cost"
    )
    source: ClassVar[str] = (
        "Samarati 2001, doi 10.1109/69.971193; Prasser et al. 2020, doi 10.1002/spe.2812"
    )

    first: Algorithm = part(
        default="optimal",
        families=["algorithm"],
        fits=lambda kind: (
            issubclass(kind, Algorithm)
            and kind.shape.approach == "levels"
            and not kind.needs.public
        ),
        help="How levels for the whole table are found.",
        label="Start from",
        governed=("metric", "max_suppression"),
    )
    metric: CellCost = saving(default="loss", help="What the first step and the cuts save.")
    max_suppression: float = suppression_budget(
        help="Largest share of rows that the first step may remove."
    )

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Search, then refine; see `Algorithm.run`.

        Raises
        ------
        NotFound
            If no levels for the whole table keep the privacy models, and smaller classes may.
        """
        # 1. One level per column for the whole table.
        search = self._search()
        try:
            first = search.run(problem, models, part_of(context, 0.0, 0.6))
        except Infeasible as error:
            if all(model.logic.monotone_merge for model in models):
                raise  # whatever classes keep the models, all rows as one class do
            raise NotFound(
                f"Not found: refining begins with levels for the whole table. {error.message}",
                remedy=error.remedy,
                best=error.best,
                best_of=error.best_of,
            ) from error
        found, frequency = first.release.grouping, problem.frequency
        start = found.member[frequency.run_start]
        # 2. Rows that were suppressed are one more class, if together they keep the privacy models.
        left = np.flatnonzero(found.member < 0)
        if len(left):
            rest = Buckets(
                key=left, group=np.zeros(len(left), np.int64), count=frequency.count[left]
            )
            if keeping(problem, models, rest).all():
                start = np.where(start < 0, found.classes, start)
        # 3. Cut every class as long as its parts keep the privacy models.
        nodes = [True] * len(problem.quasi)
        prices = cell_prices(problem, self.metric, nodes, weights_by_column(problem, {}, self.name))
        part = gain_parts(problem, models, prices, part_of(context, 0.6, 1.0), start=start)
        # 4. Levels may keep by all classes together, or by the public, what a cut class does not.
        published = part[frequency.run] >= 0
        groups = run_buckets(problem, part)
        kept = Buckets(
            key=groups.key[published],
            group=groups.group[published],
            count=groups.count[published],
        )
        try:
            kept = merged(problem, models, kept, prices, context)
        except (Infeasible, NotFound):
            return first  # what the public makes safe in whole columns is not safe in parts
        group = np.full(len(groups.group), -1, dtype=np.int64)
        group[published] = kept.group
        refined = box_outcome(problem, replace(groups, group=group), nodes)
        limits = stop_limits(problem, models)
        if limits is None or context.out_of_time():
            return refined
        stopped = UncutClasses(
            **limits,
            cut=("apart",) * len(nodes),
            by_node=tuple(nodes),
            again=replay(self, problem, models) if _by_quasi_alone(search) else None,
        )
        return replace(refined, release=replace(refined.release, stopped=stopped))

    def _search(self) -> Algorithm:
        """Return the first step with this technique's budget, and its metric where it goes by one.

        A search that goes by other metrics than cuts can save keeps its own.
        """
        given: dict[str, Any] = {}
        for parameter in self.first.parameters():
            if parameter.name == "max_suppression":
                given["max_suppression"] = self.max_suppression
            elif parameter.name == "metric" and self.metric.name in parameter.options:
                given["metric"] = self.metric
        return replace(self.first, **given)


def _by_quasi_alone(search: Algorithm) -> bool:
    """Say whether the first step looks at quasi-identifiers alone, and draws nothing."""
    return not search.shape.by_chance and not isinstance(getattr(search, "metric", None), LabelCost)
