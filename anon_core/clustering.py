"""What the clusterings share: their parameters, their measure of likeness, and their last step."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import numpy.typing as npt

from .boxes import box_outcome
from .clusters import refuse_fewer
from .context import Context, part_of
from .costs import CellCost
from .gain import cell_prices, gain_parts
from .kernels.gain import Prices
from .kinds import Algorithm, GroupModel, run_buckets
from .merging import merged
from .params import choice
from .partition import cut_by_tree
from .per_column import attribute_weights, weights_text
from .problem import Problem
from .registry import find
from .results import Outcome

_MOST = 4000  # tuples that are compared with each other; larger tables are cut into blocks first


@dataclass(frozen=True, kw_only=True)
class Clustering(Algorithm):
    """Clusters of similar tuples; what they leave over, or leave broken, joins the nearest."""

    metric: str = choice(
        default="ncp",
        options={"ncp": "NCP / GCP", "loss": "Loss"},
        help="What similar rows lose least of when they publish one box.",
        label="Saving",
    )
    weights: str = weights_text()

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
        metric = cast(CellCost, find("metric", self.metric)())
        weights = attribute_weights(problem, self.weights, self.name)
        prices = cell_prices(problem, metric, nodes, weights)
        k = max(model.least_size() for model in models)
        refuse_fewer(problem, k)
        part = self.clusters(problem, models, k, prices, part_of(context, 0.0, 0.9))
        # Promises beyond k rows, and what was left over: merge with the nearest.
        groups = merged(
            problem, models, run_buckets(problem, part), prices, part_of(context, 0.9, 1.0)
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
