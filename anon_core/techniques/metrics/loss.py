"""Loss (LM): how much of each attribute's domain a cell leaves open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.registry import register
from anon_core.contracts.metric import MetricScale
from anon_core.contracts.search_cost import CellCost, domain_share
from anon_core.release.problem import Problem


@register("metric")
@dataclass(frozen=True, kw_only=True)
class Loss(CellCost):
    """Iyengar's loss metric: mean of (leaves − 1) / (|A| − 1) over all cells."""

    name: ClassVar[str] = "loss"
    title: ClassVar[str] = "Loss"
    summary: ClassVar[str] = (
        "How much the cells leave open: 0 is unchanged, 1 is everything suppressed. A suppressed "
        "row counts as 1."
    )
    formula: ClassVar[str] = (
        "mean over cells of (leaves covered − 1) / (|A| − 1), |A| = all leaves of the hierarchy"
    )
    source: ClassVar[str] = "Iyengar 2002, doi 10.1145/775047.775089"
    by_distance: ClassVar[bool] = True
    by_domain: ClassVar[bool] = True
    scale: ClassVar[MetricScale] = MetricScale(headline="cells")

    def price(
        self, problem: Problem, column: str, lo: npt.NDArray[np.int32], hi: npt.NDArray[np.int32]
    ) -> npt.NDArray[np.float64]:
        """Return (leaves − 1) / (|A| − 1) per cell; 0 for a domain of one value."""
        return domain_share(problem, column, lo, hi)
