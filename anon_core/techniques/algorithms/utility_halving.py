"""Utility-based local recoding: halve the table between two distant seeds."""

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
from anon_core.methods.clusters.cluster_rows import Clustering, blocks, seeded_halves
from anon_core.release.problem import Problem


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class UtilityHalving(Clustering):
    """Top-down greedy local recoding (Xu et al. 2006).

    For every part with 2k rows:

    1. Take two rows far from each other as seeds: three steps from the farthest to the farthest.
    2. Each row joins the side whose weighted box grows less.
    3. A side of fewer than k rows takes the nearest rows that the other can spare.
    4. Both sides go on, or the part stays whole.
    """

    name: ClassVar[str] = "utility-halving"
    title: ClassVar[str] = "Utility-based local recoding"
    summary: ClassVar[str] = (
        "Picks two rows far from each other, and every row joins the one whose box grows less. "
        "Continues with both halves while they have k rows. Ranges of classes may overlap."
    )
    offer: ClassVar[Offer] = Offer(
        when="When some columns matter more than others: weights say how much the detail of each "
        "counts.",
        for_study=True,
    )
    shape: ClassVar[Shape] = Shape(forms_ranges=True)
    needs: ClassVar[Needs] = replace(Clustering.needs, counts_people=True)
    formula: ClassVar[str] = (
        "seeds u, v with NCP(u, v) large; row to the side whose weighted NCP grows less"
    )
    source: ClassVar[str] = "Xu et al. 2006, doi 10.1145/1150402.1150504"

    def clusters(
        self,
        problem: Problem,
        models: Sequence[GroupModel],
        k: int,
        prices: Prices,
        context: Context,
    ) -> npt.NDArray[np.int64]:
        """Halve every block between two distant seeds; see `Clustering.clusters`."""
        # Outliers are the farthest: seeds of the whole table would split them off one at a time.
        block = blocks(problem, models, k, prices, part_of(context, 0.0, 0.1))
        return seeded_halves(problem, block, k, prices, part_of(context, 0.1, 1.0))
