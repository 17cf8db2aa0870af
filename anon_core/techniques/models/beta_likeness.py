"""β-likeness: no sensitive value is much likelier in a group than in the whole table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from anon_core.base.arrays import B1, F64, I64
from anon_core.base.params import flag, number
from anon_core.base.registry import register
from anon_core.contracts.feasibility import Allowed
from anon_core.contracts.group_stats import Histogram
from anon_core.contracts.model import ModelAim
from anon_core.contracts.sensitive_values import others_known, protected_column
from anon_core.methods.sensitive_statistics.distribution_model import DistributionModel
from anon_core.methods.sensitive_statistics.exact_decimal import as_written
from anon_core.methods.sensitive_statistics.likelihood_ratios import (
    gains,
    gains_at_most,
    gains_below_surprise,
    likely_rows,
)
from anon_core.release.private_reference import ValueCounts
from anon_core.release.problem import Problem

_ROUNDING = 1e-9  # a sum of shares that is less than 1 by no more than this may be 1


@register("model")
@dataclass(frozen=True, kw_only=True)
class BetaLikeness(DistributionModel):
    """The share of a value in a group exceeds that in the table by at most β times the latter.

    Cao and Karras 2012; enhanced, also by at most −ln p times: for rare values the gain is limited
    by β, for common ones so that the share stays below 1. Values that get rarer are free. Merging
    good groups keeps it (U): a share in a union is a weighted mean. Merging with any group does not
    (no A): {b, c} in a table {b, b, c, c, c}, β = 1/10, with {c} gains 1/9. Removing groups keeps
    it (R), as the table stays the same. In a good group v fills at most (1 + β_v)·p_v, so that
    whatever holds one has values with Σ (1 + β_v)·p_v ≥ 1.
    """

    name: ClassVar[str] = "beta-likeness"
    title: ClassVar[str] = "β-likeness"
    summary: ClassVar[str] = (
        "No group makes a sensitive value much likelier than it is in the whole table. Protects "
        "rare values as well as common ones."
    )
    formula: ClassVar[str] = (
        "(q(v) − p(v)) / p(v) ≤ β, enhanced: ≤ min(β, −ln p(v)), for every value v with q(v) "
        "> p(v); a missing value counts as a value, since the table's own share of them is "
        "what a group is held against"
    )
    source: ClassVar[str] = "Cao and Karras 2012, doi 10.14778/2350229.2350255"
    aim: ClassVar[ModelAim] = ModelAim(stops="attribute", offered_at=3)

    beta: float = number(
        default=1.0,
        low=1e-6,
        help="Largest gain of a value's share, as a multiple of its share in the whole table.",
        label="β",
    )
    enhanced: bool = flag(
        default=True,
        help="Limit the gain of common values by −ln of their share, too.",
        label="Enhanced",
    )
    column: str = protected_column()
    others_known: bool = others_known()

    @property
    def asked(self) -> Fraction:
        """Β as it was written."""
        return as_written(self.beta)

    def feasible(self, problem: Problem, removable: int = 0) -> Sequence[Allowed]:
        """Return that every β can be asked: in the whole table as one group nothing gains."""
        return [
            Allowed(parameter="beta", column=column, low=0.0, open=True)
            for column in self.protects(problem)
        ]

    def check(self, problem: Problem, removable: int = 0) -> None:
        """Refuse a column that cannot be protected; nothing else is impossible."""
        self.protects(problem)

    def holds(self, counted: Histogram, table: ValueCounts) -> B1:
        """Return in which groups no value gains more than is allowed."""
        found = gains_at_most(counted, table.rows, self.asked)
        if self.enhanced:
            found &= gains_below_surprise(counted, table.rows)
        return found

    def fewest_rows(self, table: I64) -> int:
        """Return the size at which one row is no larger a share than β allows of any value."""
        return math.ceil(int(table.sum()) / (int(table.max()) * (1 + self.asked)))

    def possible(self, counted: Histogram, table: ValueCounts) -> B1:
        """Return which groups have values that can fill a good one."""
        filled = likely_rows(counted, table.rows, self.asked, enhanced=self.enhanced)
        return filled >= 1.0 - _ROUNDING

    def reached(self, counted: Histogram, table: ValueCounts) -> F64:
        """Return the largest gain; infinity where it exceeds −ln p, so that no β will do."""
        found = gains(counted, table.rows)
        if self.enhanced:
            found = np.where(gains_below_surprise(counted, table.rows), found, np.inf)
        return found

    def bound(self) -> float:
        """Return β."""
        return self.beta

    def worst_in_words(self, column: str, worst: float) -> str:
        """Return the group with the largest gain in words."""
        if np.isinf(worst):
            return (
                f"In a group a value of '{column}' gains more than −ln of its share in the whole "
                "table; enhanced β-likeness allows that for no β."
            )
        return (
            f"In the worst group a value of '{column}' is likelier than in the whole table by "
            f"{worst:.4g} times its share there; at most {self.beta:g} times was allowed."
        )
