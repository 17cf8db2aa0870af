"""Promises that a group has at least k rows, whatever else they say of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .errors import Infeasible
from .kinds import GroupModel, GroupStats
from .params import integer
from .problem import Problem
from .results import Verdict


@dataclass(frozen=True, kw_only=True)
class LeastSize(GroupModel):
    """The part that k-anonymity, bucket size and the models of matches have in common."""

    k: int = integer(default=5, low=2, help="Smallest allowed group.", label="k", unit="rows")

    def check(self, problem: Problem) -> None:
        """Refuse a k larger than the table.

        Raises
        ------
        Infeasible
            If the table has fewer than k rows.
        """
        if problem.rows < self.k:
            raise Infeasible(
                f"{self.title} with k = {self.k} needs at least {self.k} rows; the table has "
                f"{problem.rows}.",
                remedy=f"Choose k of at most {problem.rows}, or load more rows."
                if problem.rows > 1
                else "Load more rows: nobody can be hidden alone.",
                best=float(problem.rows),
                best_of="rows",
            )

    def per_group(self, stats: GroupStats) -> npt.NDArray[np.bool_]:
        """Return which groups have at least k rows."""
        return stats.sizes >= self.k

    def least_size(self) -> int:
        """Return k."""
        return self.k

    def verdict_of_sizes(self, sizes: npt.NDArray[np.int64], called: str) -> Verdict:
        """Return the smallest published group against k.

        Parameters
        ----------
        sizes : int64 array of shape (groups,)
        called : str
            What a group is called: class or bucket.
        """
        smallest = int(sizes.min()) if len(sizes) else 0
        return Verdict(
            model=self.name,
            parameters=self.as_mapping(),
            state="holds" if not len(sizes) or smallest >= self.k else "broken",
            bound=float(self.k),
            reached=float(smallest),
            per_class=sizes.astype(np.float64),
            sentence=(
                f"The smallest {called} has {smallest} rows; at least {self.k} were asked for."
                if len(sizes)
                else "No row is published."
            ),
        )
