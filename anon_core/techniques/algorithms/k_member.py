"""k-member clustering: grow one cluster of k rows after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context, part_of
from anon_core.base.registry import register
from anon_core.contracts.algorithm import Needs, Offer, Shape
from anon_core.contracts.model import GroupModel
from anon_core.kernels.best_gain_split import Prices
from anon_core.methods.clusters.cluster_rows import Clustering, blocks, k_members
from anon_core.release.problem import Problem


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class KMember(Clustering):
    """Greedy clustering by information loss (Byun et al. 2007).

    While k rows are left:

    1. Take the row farthest from the last cluster's as a seed.
    2. Add the row that raises the cluster's information loss least, until it has k.

    3. Each row left over joins the cluster whose loss it raises least.
    """

    name: ClassVar[str] = "k-member"
    title: ClassVar[str] = "k-member clustering"
    summary: ClassVar[str] = (
        "Grows clusters of k rows, each time adding the row that loses least, and starts the next"
        " cluster far from the last. Rows left over join the nearest cluster."
    )
    offer: ClassVar[Offer] = Offer(
        when="When similar rows should share a class and the table is small enough to compare "
        "rows with each other."
    )
    shape: ClassVar[Shape] = Shape(forms_ranges=True)
    needs: ClassVar[Needs] = replace(Clustering.needs, counts_people=True)
    formula: ClassVar[str] = "add argmin over rows of IL(cluster ∪ row) until k rows"
    source: ClassVar[str] = "Byun et al. 2007, doi 10.1007/978-3-540-71703-4_18"

    def clusters(
        self,
        problem: Problem,
        models: Sequence[GroupModel],
        k: int,
        prices: Prices,
        context: Context,
    ) -> npt.NDArray[np.int64]:
        """Grow one cluster after the other within blocks; see `Clustering.clusters`."""
        block = blocks(problem, models, k, prices, part_of(context, 0.0, 0.1))
        return k_members(problem, block, k, prices, part_of(context, 0.1, 1.0))
