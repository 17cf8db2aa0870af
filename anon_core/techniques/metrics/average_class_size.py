"""Average class size (C_AVG): rows per equivalence class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.params import integer
from anon_core.base.registry import register
from anon_core.contracts.metric import MetricScale
from anon_core.contracts.search_cost import SizeCost


@register("metric")
@dataclass(frozen=True, kw_only=True)
class AverageClassSize(SizeCost):
    """Rows of the table per published class, divided by k."""

    name: ClassVar[str] = "average-class-size"
    title: ClassVar[str] = "Average class size"
    summary: ClassVar[str] = (
        "Rows of the table per published class, in units of k: 1 is the best that a k-anonymous "
        "table can reach. Suppressed rows count too, so hiding rows never looks better."
    )
    formula: ClassVar[str] = "n / (number of published classes · k)"
    source: ClassVar[str] = "LeFevre et al. 2006, doi 10.1109/ICDE.2006.101"
    scale: ClassVar[MetricScale] = MetricScale(unit="× k rows", size_parameter="k")

    k: int = integer(default=1, low=1, help="Class size that counts as 1.", label="k", unit="rows")

    def of_sizes(self, sizes: npt.NDArray[np.int64], removed: int, rows: int) -> float:
        """Return n / (classes · k); infinite where nothing is published."""
        return rows / (len(sizes) * self.k) if len(sizes) else float("inf")

    def of_totals(
        self,
        classes: npt.NDArray[np.int64],
        squares: npt.NDArray[np.int64],
        removed: npt.NDArray[np.int64],
        rows: int,
    ) -> npt.NDArray[np.float64]:
        """Return n / (classes · k) for many nodes; infinite where nothing is published."""
        with np.errstate(divide="ignore"):
            return rows / (classes * self.k)

    def floor_above(self, sizes: npt.NDArray[np.int64], rows: int) -> float:
        """Return n / (classes · k): above a node there are never more classes."""
        return self.of_sizes(sizes, 0, rows)

    def floor_below(self, removed: int, rows: int, least: int) -> float:
        """Return the value with classes of the least size only."""
        classes = (rows - removed) // max(least, 1)
        return rows / (classes * self.k) if classes else float("inf")

    def share_of(self, value: float, rows: int) -> float:
        """Return (rows per class − 1) / (n − 1)."""
        if not np.isfinite(value):
            return 1.0
        return (value * self.k - 1) / (rows - 1) if rows > 1 else 0.0

    def also(self, sizes: npt.NDArray[np.int64], removed: int, rows: int) -> dict[str, float]:
        """Return the plain mean of published rows per published class."""
        return {"published rows per class": float(sizes.mean()) if len(sizes) else 0.0}
