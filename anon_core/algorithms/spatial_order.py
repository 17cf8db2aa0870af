"""Space-filling order: rows along a curve, cut into runs of at least k."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

from ..boxes import box_outcome
from ..clusters import ordered_runs, refuse_fewer
from ..context import Context, part_of
from ..costs import CellCost
from ..gain import cell_prices
from ..kinds import Algorithm, GroupModel, run_buckets
from ..merging import merged
from ..params import choice, text
from ..partition import cut_by_tree
from ..per_column import attribute_weights
from ..problem import Problem
from ..registry import find, register
from ..results import Outcome


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class SpatialOrder(Algorithm):
    """The leaves of a bulk-loaded spatial index (Iwuchukwu and Naughton 2007)."""

    name: ClassVar[str] = "spatial-order"
    title: ClassVar[str] = "Space-filling order"
    summary: ClassVar[str] = (
        "Orders rows along a curve that keeps neighbours together and cuts it, as cheaply as that "
        "order allows, into runs of at least k rows."
    )
    when: ClassVar[str] = (
        "When the table is large and columns are numbers or ordered: one sort and one pass do."
    )
    formula: ClassVar[str] = (
        "min over cuts of the Z-order of Σ rows × cost, runs of k to about 2k rows"
    )
    source: ClassVar[str] = "Iwuchukwu and Naughton 2007, K-anonymization as spatial indexing"

    metric: str = choice(
        default="ncp",
        options={"ncp": "NCP / GCP", "loss": "Loss"},
        help="What similar rows lose least of when they publish one box.",
        label="Saving",
    )
    weights: str = text(
        help="Columns whose detail counts more or less than 1, for example age = 2 | sex = 0.5.",
        label="Weights",
    )

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Form clusters and publish their boxes; see `Algorithm.run`."""
        nodes = [cut_by_tree(problem, h) for h in problem.quasi_hierarchies]
        metric = cast(CellCost, find("metric", self.metric)())
        weights = attribute_weights(problem, self.weights, self.name)
        prices = cell_prices(problem, metric, nodes, weights)
        k = max(model.least_size() for model in models)
        refuse_fewer(problem, k)
        part = ordered_runs(problem, k, prices, part_of(context, 0.0, 0.9))
        # Promises beyond k rows, and what was left over: merge with the nearest.
        groups = merged(
            problem, models, run_buckets(problem, part), prices, part_of(context, 0.9, 1.0)
        )
        return box_outcome(problem, groups, nodes)
