"""A bound for anyone who can rule out a value: what is left is not much likelier than the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from anon_core.base.arrays import B1, F64
from anon_core.base.params import number
from anon_core.base.registry import register
from anon_core.contracts.feasibility import Allowed, impossible, rounded, value_rows
from anon_core.contracts.group_stats import Histogram
from anon_core.contracts.sensitive_values import others_known, protected_column
from anon_core.methods.sensitive_statistics.distribution_model import DistributionModel
from anon_core.methods.sensitive_statistics.entropy import bounded, least_ratio, tails
from anon_core.methods.sensitive_statistics.exact_decimal import as_written
from anon_core.release.private_reference import ValueCounts
from anon_core.release.problem import Problem

#: One value is ruled out, and one is the commonest: the rest begins with the third.
_REST = 3


@register("model")
@dataclass(frozen=True, kw_only=True)
class BackgroundBound(DistributionModel):
    """Whichever value is ruled out, r_1 ≤ factor · (r_3 + r_4 + … + r_m) in every group.

    Aalborg group 3 (2022), equation 3.1, after Machanavajjhala et al. 2007: background knowledge
    makes a value s' next to impossible for a person, f(s'|q) / f(s'|q*) ≈ 0. Without such figures
    from elsewhere any one value may be the one; the worst is the second commonest, and what is left
    is then at most factor : 1 for the commonest against all others: a chance of at most
    factor / (1 + factor). Not strict. This is recursive diversity with l = 3, and has its
    properties: merging good groups keeps it (U), merging with any does not (no A: {b, c, d} keeps
    factor 1, with {b} it has 2 against 1), removing groups keeps it (R). Whatever holds a good
    group has 2 + 1/factor values, rounded up.
    """

    name: ClassVar[str] = "background-bound"
    title: ClassVar[str] = "Bound against background knowledge"
    summary: ClassVar[str] = (
        "An attacker who can rule out any one sensitive value of a group still has no sure guess:"
        " the most common value is at most factor times as common as all others together."
    )
    formula: ClassVar[str] = (
        "r_1 ≤ factor · (r_3 + … + r_m) in every group; a missing value does not count, since one "
        "diagnosis and one gap reveal the diagnosis"
    )
    source: ClassVar[str] = "Machanavajjhala et al. 2007, doi 10.1145/1217299.1217302"

    factor: float = number(
        default=1.0,
        low=1e-6,
        help="How many times as common as all others left the commonest value may be, once any "
        "one value is ruled out; 1 is a chance of one half.",
        label="factor",
    )
    column: str = protected_column()
    others_known: bool = others_known()

    @property
    def asked(self) -> Fraction:
        """The factor as it was written."""
        return as_written(self.factor)

    def check(self, problem: Problem, removable: int = 0) -> None:
        """Refuse columns of two values, and a factor below what the rows that must stay reach."""
        for column in self.protects(problem):
            rows = value_rows(problem, column)
            best = least_ratio(rows, _REST, removable)
            what = f"{self.title} with factor = {self.factor:g} on '{column}'"
            if best is None:
                raise impossible(
                    what,
                    f"the column has {len(rows)} {'value' if len(rows) == 1 else 'values'}, and "
                    f"{_REST} are needed",
                    float(len(rows)),
                    "distinct values",
                    removable=removable,
                    remedy="Protect another column.",
                )
            if best > self.asked:
                raise impossible(
                    what,
                    f"one group of all rows that stay reaches {float(best):.6g}, and no grouping "
                    "reaches less",
                    float(best),
                    "smallest factor",
                    removable=removable,
                    remedy=f"Choose a factor of at least {rounded(float(best), 'up'):g}, or allow "
                    "more suppression.",
                )

    def feasible(self, problem: Problem, removable: int = 0) -> Sequence[Allowed]:
        """Return the smallest factor of every column that has one."""
        found: list[Allowed] = []
        for column in self.protects(problem):
            least = least_ratio(value_rows(problem, column), _REST, removable)
            if least is not None:
                found.append(Allowed(parameter="factor", column=column, low=float(least)))
        return found

    def least_size(self) -> int:
        """Return 2 + 1/factor, rounded up: so many values a group needs."""
        return _REST - 1 - (-self.asked.denominator // self.asked.numerator)

    def holds(self, counted: Histogram, table: ValueCounts) -> B1:
        """Return which groups have r_1 ≤ factor · (r_3 + … + r_m)."""
        return bounded(counted.with_value, self.asked, _REST) & (counted.known > 0)

    def possible(self, counted: Histogram, table: ValueCounts) -> B1:
        """Return which groups have 2 + 1/factor values."""
        return counted.distinct >= self.least_size()

    def reached(self, counted: Histogram, table: ValueCounts) -> F64:
        """Return r_1 / (r_3 + …); infinity with fewer than three values."""
        rare = tails(counted.with_value, _REST)
        found = np.full(counted.groups, np.inf)
        np.divide(counted.most, rare, out=found, where=rare > 0)
        return found

    def bound(self) -> float:
        """Return the factor."""
        return self.factor

    def worst_in_words(self, column: str, worst: float) -> str:
        """Return the group where the commonest value is surest, in words."""
        if np.isinf(worst):
            return f"A group shows fewer than {_REST} values of '{column}': ruling out one is much."
        return (
            f"Where one value of '{column}' is ruled out, the commonest left in the worst group is "
            f"{worst:.4g} times as common as all others; at most {self.factor:g} was allowed."
        )
