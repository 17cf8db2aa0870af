"""(α, k)-anonymity: groups of k rows in which no sensitive value fills more than a share α."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from anon_core.base.arrays import B1, F64
from anon_core.base.params import integer, number
from anon_core.base.registry import register
from anon_core.contracts.feasibility import Allowed, impossible, rounded, value_rows
from anon_core.contracts.group_stats import Histogram
from anon_core.contracts.min_group_size import smaller_k
from anon_core.contracts.sensitive_share import least_level
from anon_core.contracts.sensitive_values import others_known, protected_column
from anon_core.methods.sensitive_statistics.distribution_model import DistributionModel
from anon_core.methods.sensitive_statistics.exact_decimal import as_written, at_most
from anon_core.release.private_reference import ValueCounts
from anon_core.release.problem import Problem


@register("model")
@dataclass(frozen=True, kw_only=True)
class AlphaKAnonymity(DistributionModel):
    """Every group has k rows, and every sensitive value at most α of them.

    Wong et al. 2006, for every value of the column; a missing value is none, and its rows are no
    part of what a share is of. Merging good groups keeps it (U): a share in a
    union is a weighted mean of the shares. Merging with any group does not (no A): {b, c} keeps
    α = 1/2, with {c} the share is 2/3. Removing groups keeps it (R). Whatever holds a good
    group has k rows and at least 1/α values.
    """

    name: ClassVar[str] = "alpha-k-anonymity"
    title: ClassVar[str] = "(α, k)-anonymity"
    summary: ClassVar[str] = (
        "Everyone is hidden among at least k rows, and no one can guess a sensitive value from "
        "the group with a chance above α."
    )
    formula: ClassVar[str] = (
        "|G| ≥ k and c(v) ≤ α·|G| for every value v of every group G; a missing value does not "
        "count, since one diagnosis and one gap reveal the diagnosis"
    )
    source: ClassVar[str] = "Wong, Li, Fu and Wang 2006, doi 10.1145/1150402.1150499"

    alpha: float = number(
        default=0.5,
        low=1e-6,
        high=1.0,
        help="Largest share of a group that one value may fill.",
        label="α",
        unit="share of rows",
    )
    k: int = integer(default=5, low=1, help="Smallest allowed group.", label="k", unit="rows")
    column: str = protected_column()
    others_known: bool = others_known()

    @property
    def asked(self) -> Fraction:
        """Α as it was written."""
        return as_written(self.alpha)

    def check(self, problem: Problem, removable: int = 0) -> None:
        """Refuse a k above the table's rows, and an α below what the rows that must stay reach."""
        if problem.rows < self.k:
            raise impossible(
                f"{self.title} with k = {self.k}",
                f"it has {problem.rows:,} {'row' if problem.rows == 1 else 'rows'}",
                float(problem.rows),
                "rows",
                removable=removable,
                remedy=smaller_k(problem.rows),
            )
        for column in self.protects(problem):
            best = _least_share(problem, column, removable)
            if best > self.asked:
                raise impossible(
                    f"{self.title} with α = {self.alpha:g} on '{column}'",
                    f"the commonest value fills {float(best):.6g} of the rows that stay, and more "
                    "than that of some group",
                    float(best),
                    "smallest α",
                    removable=removable,
                    remedy=f"Choose α of at least {rounded(float(best), 'up'):g}, allow more "
                    "suppression, or protect another column.",
                )

    def feasible(self, problem: Problem, removable: int = 0) -> Sequence[Allowed]:
        """Return the largest k, and the smallest α of every column."""
        return [
            Allowed(parameter="k", low=1, high=float(problem.rows)),
            *(
                Allowed(
                    parameter="alpha",
                    column=column,
                    low=float(_least_share(problem, column, removable)),
                    high=1.0,
                )
                for column in self.protects(problem)
            ),
        ]

    def least_size(self) -> int:
        """Return k, or 1/α where that is more: fewer rows have too few values."""
        return max(self.k, math.ceil(1 / self.asked))

    def holds(self, counted: Histogram, table: ValueCounts) -> B1:
        """Return which groups have k rows, and no value in more than α of them."""
        share = at_most(counted.most, counted.known, self.asked) & (counted.known > 0)
        return (counted.rows >= self.k) & share

    def possible(self, counted: Histogram, table: ValueCounts) -> B1:
        """Return which groups have k rows and at least 1/α values."""
        return (counted.rows >= self.k) & (counted.distinct >= math.ceil(1 / self.asked))

    def reached(self, counted: Histogram, table: ValueCounts) -> F64:
        """Return the share of the commonest value; 1 where no row has one."""
        share = counted.most / np.maximum(counted.known, 1)
        return np.where(counted.known > 0, share, 1.0)

    def bound(self) -> float:
        """Return α."""
        return self.alpha

    def worst_in_words(self, column: str, worst: float) -> str:
        """Return the group with the commonest value, in words."""
        return (
            f"In the worst group one value of '{column}' fills {worst:.4g} of the rows; at most "
            f"{self.alpha:g} was allowed, in groups of at least {self.k:,} rows."
        )


def _least_share(problem: Problem, column: str, removable: int) -> Fraction:
    """Return the least share of the commonest value of what is left; see `largest_share`."""
    rows = value_rows(problem, column)
    if not len(rows):
        return Fraction(1)
    level = least_level(rows, removable)
    return Fraction(level, int(np.minimum(rows, level).sum()))
