"""Space-filling order: rows along a curve, cut into runs of at least k."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context
from anon_core.base.registry import register
from anon_core.contracts.algorithm import Needs, Offer, Shape
from anon_core.contracts.model import GroupModel
from anon_core.kernels.best_gain_split import Prices
from anon_core.methods.clusters.cluster_rows import Clustering, ordered_runs
from anon_core.release.problem import Problem


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class SpatialOrder(Clustering):
    """The leaves of a bulk-loaded spatial index (Iwuchukwu and Naughton 2007).

    1. Order the rows along a space-filling curve through the normalized positions (Z-order).
    2. Cut the order into runs of at least k rows, as cheaply as the order allows.
    3. Every run, a leaf of the index, is a class.
    """

    name: ClassVar[str] = "spatial-order"
    title: ClassVar[str] = "Space-filling order"
    summary: ClassVar[str] = (
        "Orders rows along a curve that keeps neighbours together, and cuts this order into runs "
        "of at least k rows, as cheaply as the order allows."
    )
    offer: ClassVar[Offer] = Offer(
        when="When the table is large and columns are numbers or ordered: one sort and one pass do."
    )
    shape: ClassVar[Shape] = Shape(forms_ranges=True)
    needs: ClassVar[Needs] = replace(Clustering.needs, counts_people=True)
    formula: ClassVar[str] = (
        "min over cuts of the Z-order of Σ rows × cost, runs of k to about 2k rows"
    )
    source: ClassVar[str] = "Iwuchukwu and Naughton 2007, K-anonymization as spatial indexing"

    def clusters(
        self,
        problem: Problem,
        models: Sequence[GroupModel],
        k: int,
        prices: Prices,
        context: Context,
    ) -> npt.NDArray[np.int64]:
        """Cut the order along the curve; see `Clustering.clusters`."""
        return ordered_runs(problem, k, prices, context)
