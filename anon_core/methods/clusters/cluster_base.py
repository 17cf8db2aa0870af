"""What the clusterings share: their parameters, their measure of likeness, and their last step."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context, part_of
from anon_core.contracts.algorithm import Algorithm
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import run_buckets
from anon_core.contracts.per_column import column_weights, weights_by_column
from anon_core.contracts.search_cost import CellCost, saving
from anon_core.kernels.best_gain_split import Prices
from anon_core.methods.clusters.cluster_rows import refuse_fewer
from anon_core.methods.partition.best_gain import cell_prices, gain_parts
from anon_core.methods.partition.box_release import box_outcome
from anon_core.methods.partition.merging import merged_as_published
from anon_core.methods.partition.mondrian_cuts import cut_by_tree
from anon_core.methods.partition.public_boxes import least_size
from anon_core.release.outcome import Outcome
from anon_core.release.problem import Problem

_MOST = 4000  # tuples that are compared with each other; larger tables are cut into blocks first


@dataclass(frozen=True, kw_only=True)
class Clustering(Algorithm):
    """Clusters of similar tuples; what they leave over, or leave broken, joins the nearest."""

    merges: ClassVar[bool] = True
    merges_by_public: ClassVar[bool] = True

    metric: CellCost = saving(help="What similar rows lose least of when they publish one box.")
    weights: Mapping[str, float] = column_weights()

    @abstractmethod
    def clusters(
        self,
        problem: Problem,
        models: Sequence[GroupModel],
        k: int,
        prices: Prices,
        context: Context,
    ) -> npt.NDArray[np.int64]:
        """Return the cluster of every quasi tuple, shape (runs,); small ones are merged later."""

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Form clusters and publish their boxes; see `Algorithm.run`."""
        nodes = [cut_by_tree(problem, h) for h in problem.quasi_hierarchies]
        weights = weights_by_column(problem, self.weights, self.name)
        prices = cell_prices(problem, self.metric, nodes, weights)
        k = least_size(problem, models)
        refuse_fewer(problem, k)
        by_rows = [model for model in models if not model.needs_public]
        part = self.clusters(problem, by_rows, k, prices, part_of(context, 0.0, 0.9))
        # Promises beyond k rows, and what was left over: merge with the nearest.
        groups = merged_as_published(
            problem, models, run_buckets(problem, part), prices, nodes, part_of(context, 0.9, 1.0)
        )
        return box_outcome(problem, groups, nodes)


def blocks(
    problem: Problem, models: Sequence[GroupModel], k: int, prices: Prices, context: Context
) -> npt.NDArray[np.int64]:
    """Return the block of every quasi tuple, shape (runs,): tuples are compared within blocks.

    Above a few thousand tuples, cuts make the blocks; a smaller table is one.
    """
    least = max(_MOST // 4, k) if len(problem.frequency.run_count) > _MOST else problem.rows
    return gain_parts(problem, models, prices, context, least=least)
