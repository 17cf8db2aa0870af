"""Bucket size: every published group has at least k rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..context import Context
from ..errors import Infeasible
from ..kinds import GroupModel, GroupStats
from ..params import integer
from ..problem import Problem
from ..registry import register
from ..release import View
from ..results import Verdict


@register("model")
@dataclass(frozen=True, kw_only=True)
class BucketSize(GroupModel):
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

    def check(self, problem: Problem) -> None:
        """Refuse a k larger than the table.

        Raises
        ------
        Infeasible
            If the table has fewer than k rows.
        """
        if problem.rows < self.k:
            raise Infeasible(
                f"Buckets of {self.k} rows need at least {self.k} rows; the table has "
                f"{problem.rows}.",
                remedy=f"Choose k of at most {problem.rows}, or load more rows.",
                best=float(problem.rows),
                best_of="rows",
            )

    def per_group(self, stats: GroupStats) -> npt.NDArray[np.bool_]:
        """Return which groups have at least k rows."""
        return stats.sizes >= self.k

    def least_size(self) -> int:
        """Return k."""
        return self.k

    def measure(self, problem: Problem, view: View, context: Context) -> Sequence[Verdict]:
        """Return the smallest published group against k."""
        sizes = view.group_size
        smallest = int(sizes.min()) if len(sizes) else 0
        return [
            Verdict(
                model=self.name,
                parameters=self.as_mapping(),
                state="holds" if not len(sizes) or smallest >= self.k else "broken",
                bound=float(self.k),
                reached=float(smallest),
                per_class=sizes.astype(np.float64),
                sentence=(
                    f"The smallest bucket has {smallest} rows; at least {self.k} were asked for."
                    if len(sizes)
                    else "No row is published."
                ),
            )
        ]
