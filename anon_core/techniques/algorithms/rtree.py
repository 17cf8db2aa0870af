"""R⁺-tree: rows are inserted into a spatial index one at a time; its leaves are the classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context
from anon_core.base.params import integer
from anon_core.base.registry import register
from anon_core.contracts.algorithm import Needs, Offer, Shape
from anon_core.contracts.model import GroupModel
from anon_core.kernels.best_gain_split import Prices
from anon_core.methods.clusters.cluster_rows import Clustering, indexed_leaves
from anon_core.release.problem import Problem


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class RTree(Clustering):
    """The leaves of a spatial index that grows row by row (Iwuchukwu and Naughton 2007).

    For every row, in the order of arrival:

    1. Go down to the leaf whose region holds it; regions are disjoint.
    2. Where the leaf is full, split it where that costs least, with k rows on either side.

    3. At the end every leaf is cut down to k rows where it can be, and publishes its box.
    """

    name: ClassVar[str] = "rtree"
    title: ClassVar[str] = "R⁺-tree, row by row"
    summary: ClassVar[str] = (
        "Inserts rows one at a time into an index of disjoint regions. Splits a full region where"
        " that costs least, with k rows on either side, so every class keeps k rows after every "
        "insertion."
    )
    offer: ClassVar[Offer] = Offer(
        when="When rows arrive bit by bit and the index is to keep k at any time; the order of "
        "arrival, here drawn by the seed, shapes the classes.",
        for_study=True,
    )
    shape: ClassVar[Shape] = Shape(forms_ranges=True, by_chance=True)
    needs: ClassVar[Needs] = replace(Clustering.needs, counts_people=True)
    formula: ClassVar[str] = (
        "a leaf of 2k rows is split at argmin |L| · cost(L) + |R| · cost(R) with |L|, |R| ≥ k"
    )
    source: ClassVar[str] = "Iwuchukwu and Naughton 2007, K-anonymization as spatial indexing"

    leaf: int = integer(
        default=40,
        low=2,
        high=1_000_000,
        help="From how many times k rows on a leaf of the index is split for good; within a leaf "
        "classes are cut down to k. With few rows splits are made early and on little evidence.",
        label="Full leaf",
        unit="× k rows",
    )

    def clusters(
        self,
        problem: Problem,
        models: Sequence[GroupModel],
        k: int,
        prices: Prices,
        context: Context,
    ) -> npt.NDArray[np.int64]:
        """Grow the index; see `Clustering.clusters`."""
        return indexed_leaves(problem, k, self.leaf * k, prices, context)
