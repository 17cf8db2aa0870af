"""Promises that no sensitive value fills more than 1/l: what they ask of each group by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from .errors import Infeasible
from .kinds import GroupModel, GroupStats, sensitive_columns
from .params import integer, sensitive_column
from .problem import Problem


@dataclass(frozen=True, kw_only=True)
class MostShare(GroupModel):
    """The part that frequency l-diversity and l-diversity for slicing have in common."""

    # Merged with a group in which a value is too common, one that keeps it may break it.
    monotone_merge: ClassVar[bool] = False
    closed_under_union: ClassVar[bool] = True

    l: int = integer(default=4, low=2, help="No value may fill more.", label="l")  # noqa: E741
    column: str = sensitive_column(
        help="Sensitive column; empty for each sensitive column by itself.",
        label="sensitive column",
    )

    def needs(self, problem: Problem) -> tuple[str, ...]:
        """Return the sensitive columns concerned; see `sensitive_columns` for errors."""
        return sensitive_columns(problem, self.column, self.title)

    def check(self, problem: Problem) -> None:
        """Refuse an l the table is not eligible for.

        Raises
        ------
        Infeasible
            Naming the column and the largest l the table is eligible for.
        """
        for column in self.needs(problem):
            common = int(np.bincount(problem.leaf_codes(column)).max())
            largest = problem.rows // common
            if common * self.l > problem.rows:
                raise Infeasible(
                    f"The table is not eligible for l = {self.l} on '{column}': its most common "
                    f"value stands in {common} of {problem.rows} rows.",
                    remedy=f"Choose l of at most {largest}.",
                    best=float(largest),
                    best_of="largest l",
                )

    def per_group(self, stats: GroupStats) -> npt.NDArray[np.bool_]:
        """Return which groups have no value in more than 1/l of their rows."""
        holds = np.ones(len(stats.sizes), dtype=np.bool_)
        for name, counted in stats.histograms.items():
            if not self.column or name == self.column:
                holds &= counted.most * self.l <= stats.sizes
        return holds

    def least_size(self) -> int:
        """Return l: in a smaller group that keeps it by itself a value fills more than 1/l."""
        return self.l

    def most_share(self, problem: Problem) -> Mapping[str, int]:
        """Return l for every column concerned."""
        return dict.fromkeys(self.needs(problem), self.l)
