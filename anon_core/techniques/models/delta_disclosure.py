"""δ-disclosure privacy: no sensitive value is much likelier or less likely in a group."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from anon_core.base.arrays import B1, F64, I64
from anon_core.base.params import number
from anon_core.base.registry import register
from anon_core.contracts.feasibility import Allowed
from anon_core.contracts.group_stats import Histogram
from anon_core.contracts.sensitive_values import others_known, protected_column
from anon_core.methods.sensitive_statistics.distribution_model import DistributionModel
from anon_core.methods.sensitive_statistics.exact_decimal import as_written
from anon_core.methods.sensitive_statistics.likelihood_ratios import disclosed_below, disclosure
from anon_core.release.private_reference import ValueCounts
from anon_core.release.problem import Problem


@register("model")
@dataclass(frozen=True, kw_only=True)
class DeltaDisclosure(DistributionModel):
    """|ln(q/p)| < δ for every value of the table in every group; strict, natural logarithm.

    Brickell and Shmatikov 2008. A value that a group does not show breaks every δ: that no one
    there has it is reported for sure. (With such values skipped not even good groups could be
    merged.) Merging good groups keeps it (U): a share in a union is a weighted mean, and stays
    between p·e^−δ and p·e^δ. Merging with any group does not (no A): {b, c} in a table {b, b, c,
    c}, e^δ = 5/4, with {c} has 2/3 of c. Removing groups keeps it (R), as the table stays the same.
    Whatever holds a good group shows every value.
    """

    name: ClassVar[str] = "delta-disclosure"
    title: ClassVar[str] = "δ-disclosure privacy"
    summary: ClassVar[str] = (
        "No group makes a sensitive value much likelier or less likely than it is in the whole "
        "table, or rules one out: every group shows every value."
    )
    formula: ClassVar[str] = (
        "|ln(q(v) / p(v))| < δ for every value v of the table in every group; a missing value "
        "counts as a value, since the table's own share of them is what a group is held "
        "against"
    )
    source: ClassVar[str] = "Brickell and Shmatikov 2008, doi 10.1145/1401890.1401904"

    delta: float = number(
        default=1.0,
        low=1e-6,
        help="What the natural logarithm of a value's share against the table's stays below.",
        label="δ",
    )
    column: str = protected_column()
    others_known: bool = others_known()

    @property
    def asked(self) -> Fraction:
        """Δ as it was written."""
        return as_written(self.delta)

    def feasible(self, problem: Problem, removable: int = 0) -> Sequence[Allowed]:
        """Return that every δ above 0 can be asked: the whole table as one group has ratios 1."""
        return [
            Allowed(parameter="delta", column=column, low=0.0, open=True)
            for column in self.protects(problem)
        ]

    def check(self, problem: Problem, removable: int = 0) -> None:
        """Refuse a column that cannot be protected; nothing else is impossible."""
        self.protects(problem)

    def holds(self, counted: Histogram, table: ValueCounts) -> B1:
        """Return which groups show every value about as often as the table."""
        return disclosed_below(counted, table.rows, self.asked)

    def fewest_rows(self, table: I64) -> int:
        """Return the number of values: every group shows each of them."""
        return len(table)

    def possible(self, counted: Histogram, table: ValueCounts) -> B1:
        """Return which groups show every value."""
        return counted.kinds == np.count_nonzero(table.rows)

    def reached(self, counted: Histogram, table: ValueCounts) -> F64:
        """Return the largest |ln(q/p)|; infinity where a value is absent."""
        return disclosure(counted, table.rows)

    def bound(self) -> float:
        """Return δ."""
        return self.delta

    def worst_in_words(self, column: str, worst: float) -> str:
        """Return the group that discloses most in words."""
        if math.isinf(worst):
            return f"A group does not show every value of '{column}', and so rules values out."
        return (
            f"In the worst group the share of a value of '{column}' differs from that in the whole "
            f"table by a factor of e^{worst:.4g}; less than e^{self.delta:g} was allowed."
        )
