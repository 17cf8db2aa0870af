"""Discernibility (DM): how many rows each row cannot be distinguished from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.registry import register
from anon_core.contracts.metric import MetricScale
from anon_core.contracts.search_cost import SizeCost


@register("metric")
@dataclass(frozen=True, kw_only=True)
class Discernibility(SizeCost):
    """Every row pays the size of its class; a suppressed row pays the size of the table."""

    name: ClassVar[str] = "discernibility"
    title: ClassVar[str] = "Discernibility"
    summary: ClassVar[str] = (
        "How many rows each row looks like, summed over all rows. Small classes are good. A "
        "suppressed row counts as if it looked like the whole table."
    )
    formula: ClassVar[str] = (
        "Σ |G|² over published classes + n · (suppressed rows); the form without the second term "
        "is shown next to it"
    )
    source: ClassVar[str] = "Bayardo and Agrawal 2005, doi 10.1109/ICDE.2005.42"
    of_squares: ClassVar[bool] = True
    scale: ClassVar[MetricScale] = MetricScale(unit="rows²")

    def of_sizes(self, sizes: npt.NDArray[np.int64], removed: int, rows: int) -> float:
        """Return Σ |G|² + n · removed."""
        return float(np.dot(sizes, sizes) + rows * removed)

    def of_totals(
        self,
        classes: npt.NDArray[np.int64],
        squares: npt.NDArray[np.int64],
        removed: npt.NDArray[np.int64],
        rows: int,
    ) -> npt.NDArray[np.float64]:
        """Return Σ |G|² + n · removed for many nodes."""
        return (squares + rows * removed).astype(np.float64)

    def floor_above(self, sizes: npt.NDArray[np.int64], rows: int) -> float:
        """Return Σ |G|²: classes only merge, and n · |G| ≥ |G|² for a suppressed class."""
        return float(np.dot(sizes, sizes))

    def floor_below(self, removed: int, rows: int, least: int) -> float:
        """Return n · removed, and for the rest at least classes of the least size."""
        return float(rows * removed + min(least, rows) * (rows - removed))

    def share_of(self, value: float, rows: int) -> float:
        """Return (DM − n) / (n² − n)."""
        return (value - rows) / (rows * rows - rows) if rows > 1 else 0.0

    def also(self, sizes: npt.NDArray[np.int64], removed: int, rows: int) -> dict[str, float]:
        """Return the form that counts published classes only."""
        return {"published classes only": float(np.dot(sizes, sizes))}
