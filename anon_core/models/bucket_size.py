"""Bucket size: every published group has at least k rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ..context import Context
from ..least_size import LeastSize
from ..params import integer
from ..problem import Problem
from ..registry import register
from ..release import View
from ..results import Verdict


@register("model")
@dataclass(frozen=True, kw_only=True)
class BucketSize(LeastSize):
    """Every bucket has at least k rows; says nothing of how rows differ inside it."""

    name: ClassVar[str] = "bucket-size"
    title: ClassVar[str] = "Bucket size"
    summary: ClassVar[str] = (
        "Everyone's published group has at least k rows. In a permuted table the rows of a group "
        "still show exact values, so this is less than k-anonymity."
    )
    formula: ClassVar[str] = "min |B| ≥ k over all buckets B"
    source: ClassVar[str] = "Toth 2015, section 3.1"
    by_limits: ClassVar[bool] = True

    k: int = integer(default=5, low=2, help="Smallest allowed bucket.", label="k", unit="rows")

    def measure(self, problem: Problem, view: View, context: Context) -> Sequence[Verdict]:
        """Return the smallest published group against k."""
        return [self.verdict_of_sizes(view.group_size, "bucket")]
