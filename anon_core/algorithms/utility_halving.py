"""Utility-based local recoding: halve the table between two distant seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

from ..boxes import box_outcome
from ..clusters import refuse_fewer, seeded_halves
from ..context import Context, part_of
from ..costs import CellCost
from ..gain import cell_prices, gain_parts
from ..kinds import Algorithm, GroupModel, run_buckets
from ..merging import merged
from ..params import choice, text
from ..partition import cut_by_tree
from ..per_column import attribute_weights
from ..problem import Problem
from ..registry import find, register
from ..results import Outcome

_MOST = 4000  # tuples that are halved as one table


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class UtilityHalving(Algorithm):
    """Top-down greedy local recoding (Xu et al. 2006)."""

    name: ClassVar[str] = "utility-halving"
    title: ClassVar[str] = "Utility-based local recoding"
    summary: ClassVar[str] = (
        "Picks two rows far from each other, lets every row join the one whose box grows less, and "
        "goes on with both halves as long as they have k rows. Ranges of classes may overlap."
    )
    when: ClassVar[str] = (
        "When some columns matter more than others: weights say how much the detail of each counts."
    )
    formula: ClassVar[str] = (
        "seeds u, v with NCP(u, v) large; row to the side whose weighted NCP grows less"
    )
    source: ClassVar[str] = "Xu et al. 2006, doi 10.1145/1150402.1150504"

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
        # Above a few thousand tuples, seeds are chosen within blocks that cuts make: outliers
        # are the farthest, and would be split off one class at a time.
        least = max(_MOST // 4, k) if len(problem.frequency.run_count) > _MOST else problem.rows
        block = gain_parts(problem, models, prices, part_of(context, 0.0, 0.1), least=least)
        part = seeded_halves(problem, block, k, prices, part_of(context, 0.1, 0.9))
        # Promises beyond k rows, and what was left over: merge with the nearest.
        groups = merged(
            problem, models, run_buckets(problem, part), prices, part_of(context, 0.9, 1.0)
        )
        return box_outcome(problem, groups, nodes)
