"""Normalized certainty penalty (NCP) and its table-wide mean, GCP."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context
from anon_core.base.registry import register
from anon_core.contracts.search_cost import CellCost
from anon_core.release.outcome import Measure
from anon_core.release.problem import Problem
from anon_core.release.release import Release


@register("metric")
@dataclass(frozen=True, kw_only=True)
class CertaintyPenalty(CellCost):
    """Numbers pay the share of the observed range, categories the share of the domain's leaves."""

    name: ClassVar[str] = "ncp"
    title: ClassVar[str] = "NCP / GCP"
    summary: ClassVar[str] = (
        "How wide the published ranges and groups are, as a share of each column's range."
    )
    formula: ClassVar[str] = (
        "numbers: (max − min in the cell) / (max − min in the table); categories: leaves / |A|, 0 "
        "for one leaf. GCP = mean over rows and columns (weights 1); NCP = sum"
    )
    source: ClassVar[str] = "Xu et al. 2006, doi 10.1145/1150402.1150504"
    by_distance: ClassVar[bool] = True

    def price(
        self, problem: Problem, column: str, lo: npt.NDArray[np.int32], hi: npt.NDArray[np.int32]
    ) -> npt.NDArray[np.float64]:
        """Return the penalty per cell; a cell that mixes missing with numbers pays 1."""
        hierarchy = problem.hierarchies[column]
        if hierarchy.measure is None:
            covered = hierarchy.leaf_count(lo, hi)
            return np.where(covered <= 1, 0.0, covered / max(hierarchy.size, 1))
        seen = (problem.leaf_rows[column] > 0) & ~np.isnan(hierarchy.measure)
        places = np.flatnonzero(seen)
        if len(places) == 0:
            return np.zeros(lo.shape, dtype=np.float64)
        low = np.searchsorted(places, lo, side="left")
        high = np.searchsorted(places, hi, side="right") - 1
        value = hierarchy.measure[places]
        whole = float(value[-1] - value[0])
        inside = np.minimum(low, len(places) - 1), np.maximum(high, 0)
        width = np.where(high > low, value[inside[1]] - value[inside[0]], 0.0)
        share = width / whole if whole > 0 else np.zeros(lo.shape, dtype=np.float64)
        if hierarchy.has_missing:
            last = len(hierarchy.leaves) - 1
            share = np.where((hi == last) & (lo < last), 1.0, share)
        return share

    def measure(self, problem: Problem, release: Release, context: Context) -> Measure:
        """Return GCP as the value, and the table's NCP next to it."""
        found = super().measure(problem, release, context)
        return replace(
            found, also={"NCP of the table": found.value * problem.rows * len(problem.quasi)}
        )
