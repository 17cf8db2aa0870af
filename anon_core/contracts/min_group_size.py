"""Privacy models by which a group has at least k rows, whatever else they ask of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import Infeasible
from anon_core.base.params import integer
from anon_core.contracts.feasibility import Allowed
from anon_core.contracts.group_stats import GroupStats
from anon_core.contracts.model import GroupModel
from anon_core.release.outcome import Verdict
from anon_core.release.private_reference import Reference
from anon_core.release.problem import Problem


def smaller_k(most: int, alike: str = "rows") -> str:
    """Return the remedy where k is more than there are of the `alike`: rows, or people."""
    return f"Choose a smaller k, or load more rows. With k = {most:,}, all {alike} would be alike."


@dataclass(frozen=True, kw_only=True)
class LeastSize(GroupModel):
    """The part that k-anonymity, bucket size and the models of matches have in common."""

    size_parameter: ClassVar[str] = "k"

    k: int = integer(default=5, low=2, help="Smallest allowed group.", label="k", unit="rows")

    def check(self, problem: Problem, removable: int = 0) -> None:
        """Refuse a k larger than the table: removing rows does not make a group larger.

        Raises
        ------
        Infeasible
            If the table has fewer than k rows.
        """
        if problem.rows < self.k:
            raise Infeasible(
                f"{self.title} with k = {self.k:,} needs at least {self.k:,} rows; the table has "
                f"{problem.rows:,}.",
                remedy=smaller_k(problem.rows)
                if problem.rows > 1
                else "Load more rows: no one can be hidden alone.",
                best=float(problem.rows),
                best_of="rows",
            )

    def feasible(self, problem: Problem, removable: int = 0) -> Sequence[Allowed]:
        """Return the number of rows."""
        return [Allowed(parameter="k", low=2, high=float(problem.rows))]

    def per_group(self, stats: GroupStats, reference: Reference) -> npt.NDArray[np.bool_]:
        """Return which groups have at least k rows."""
        return stats.sizes >= self.k

    def least_size(self) -> int:
        """Return k."""
        return self.k

    def verdict_of_sizes(
        self, sizes: npt.NDArray[np.int64], called: str, counted: str = "rows"
    ) -> Verdict:
        """Return the smallest published group against k.

        Parameters
        ----------
        sizes : int64 array of shape (groups,)
        called : str
            What a group is called: class or bucket.
        counted : str
            What is counted: rows or people.
        """
        smallest = int(sizes.min()) if len(sizes) else 0
        return self.verdict(
            not len(sizes) or smallest >= self.k,
            f"The smallest {called} has {smallest} {counted}; at least {self.k} were asked for.",
            bound=float(self.k),
            reached=float(smallest),
            per_class=sizes.astype(np.float64),
        )
