"""k-member clustering: grow one cluster of k rows after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

from ..boxes import box_outcome
from ..clusters import k_members, refuse_fewer
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

_MOST = 4000  # tuples that are compared with each other; larger tables are cut into blocks first


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class KMember(Algorithm):
    """Greedy clustering by information loss (Byun et al. 2007)."""

    name: ClassVar[str] = "k-member"
    title: ClassVar[str] = "k-member clustering"
    summary: ClassVar[str] = (
        "Grows clusters of k rows, each time adding the row that loses least, and seeds the next "
        "one far from the last. Rows left over join the nearest cluster."
    )
    when: ClassVar[str] = (
        "When similar rows should share a class and the table is small enough to compare rows with "
        "each other."
    )
    formula: ClassVar[str] = "add argmin over rows of IL(cluster ∪ row) until k rows"
    source: ClassVar[str] = "Byun et al. 2007, doi 10.1007/978-3-540-71703-4_18"

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
        # Above a few thousand tuples, clusters are grown within blocks that cuts make.
        least = max(_MOST // 4, k) if len(problem.frequency.run_count) > _MOST else problem.rows
        block = gain_parts(problem, models, prices, part_of(context, 0.0, 0.1), least=least)
        part = k_members(problem, block, k, prices, part_of(context, 0.1, 0.9))
        # Promises beyond k rows, and what was left over: merge with the nearest.
        groups = merged(
            problem, models, run_buckets(problem, part), prices, part_of(context, 0.9, 1.0)
        )
        return box_outcome(problem, groups, nodes)
