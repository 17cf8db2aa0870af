"""Recursive (c, l)-diversity: the commonest value is rarer than c times the rarest together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from anon_core.base.arrays import B1, F64
from anon_core.base.params import integer, number
from anon_core.base.registry import register
from anon_core.base.terms import ordinal
from anon_core.contracts.feasibility import Allowed, impossible, rounded, value_rows
from anon_core.contracts.group_stats import Histogram
from anon_core.contracts.sensitive_values import others_known, protected_column
from anon_core.methods.sensitive_statistics.distribution_model import DistributionModel
from anon_core.methods.sensitive_statistics.entropy import least_ratio, recursive, tails
from anon_core.methods.sensitive_statistics.exact_decimal import as_written
from anon_core.release.private_reference import ValueCounts
from anon_core.release.problem import Problem


@register("model")
@dataclass(frozen=True, kw_only=True)
class RecursiveLDiversity(DistributionModel):
    """In every group r_1 < c · (r_l + … + r_m), with r_1 ≥ r_2 ≥ … the rows of its m values.

    Machanavajjhala et al. 2007, definition 4.3; strict, and broken where there are fewer than l
    values. Anyone who rules out l − 2 values is still left with a commonest that is not sure.
    Merging good groups keeps it (U): r_1 of a union is at most the sum of both, and N without the l
    − 1 commonest at least the sum of both. Merging with any group does not (no A): {b, c} keeps
    (3/2, 2), with {c} it has 2 against 3/2. Removing groups keeps it (R). A good group has
    r_1 < c · (m − l + 1) · r_1: whatever holds one has l + ⌊1/c⌋ values, and one row of each is
    good. A missing value is none.
    """

    name: ClassVar[str] = "recursive-l-diversity"
    title: ClassVar[str] = "Recursive (c, l)-diversity"
    summary: ClassVar[str] = (
        "The most common value of a group is not too common compared with the rare ones, even for "
        "an attacker who can rule out l − 2 values."
    )
    formula: ClassVar[str] = (
        "r_1 < c · (r_l + r_(l+1) + … + r_m) in every group; a missing value does not count, "
        "since one diagnosis and one gap reveal the diagnosis"
    )
    source: ClassVar[str] = "Machanavajjhala et al. 2007, doi 10.1145/1217299.1217302"

    c: float = number(
        default=3.0,
        low=1e-6,
        help="The commonest value has fewer rows than c times the rarest values together.",
        label="c",
    )
    l: int = integer(  # noqa: E741 - the field's own letter
        default=2,
        low=2,
        help="The rarest values are those from the l-th most common on.",
        label="l",
        unit="values",
    )
    column: str = protected_column()
    others_known: bool = others_known()

    @property
    def asked(self) -> Fraction:
        """C as it was written."""
        return as_written(self.c)

    def check(self, problem: Problem, removable: int = 0) -> None:
        """Refuse an l above the number of values, and a c that what must stay does not reach."""
        for column in self.protects(problem):
            rows = value_rows(problem, column)
            what = f"{self.title} with c = {self.c:g} and l = {self.l} on '{column}'"
            best = least_ratio(rows, self.l, removable)
            if best is None:
                raise impossible(
                    what,
                    f"the column has {len(rows)} {'value' if len(rows) == 1 else 'values'}",
                    float(len(rows)),
                    "largest l",
                    removable=removable,
                    remedy=f"Choose l of at most {len(rows)}."
                    if len(rows) > 1
                    else "Protect another column.",
                )
            if best >= self.asked:
                raise impossible(
                    what,
                    f"c must be above {float(best):.6g}, what one group of all rows that stay "
                    "reaches; no grouping reaches less",
                    float(best),
                    "c must be above",
                    removable=removable,
                    remedy=f"Choose c of {rounded(float(best) * 1.0005, 'up'):g} or more, a "
                    "smaller l, or allow more suppression.",
                )

    def feasible(self, problem: Problem, removable: int = 0) -> Sequence[Allowed]:
        """Return, for every column, the largest l and what c must be above."""
        found: list[Allowed] = []
        for column in self.protects(problem):
            rows = value_rows(problem, column)
            least = least_ratio(rows, self.l, removable)
            found.append(Allowed(parameter="l", column=column, low=2, high=float(len(rows))))
            if least is not None:
                found.append(Allowed(parameter="c", column=column, low=float(least), open=True))
        return found

    def least_size(self) -> int:
        """Return l + ⌊1/c⌋: so many values a group needs."""
        return self.l + self.asked.denominator // self.asked.numerator

    def holds(self, counted: Histogram, table: ValueCounts) -> B1:
        """Return which groups have r_1 < c · (r_l + … + r_m)."""
        return recursive(counted.with_value, self.asked, self.l)

    def possible(self, counted: Histogram, table: ValueCounts) -> B1:
        """Return which groups have l + ⌊1/c⌋ values."""
        return counted.distinct >= self.least_size()

    def reached(self, counted: Histogram, table: ValueCounts) -> F64:
        """Return r_1 / (r_l + … + r_m); infinity with fewer than l values."""
        rare = tails(counted.with_value, self.l)
        found = np.full(counted.groups, np.inf)
        np.divide(counted.most, rare, out=found, where=rare > 0)
        return found

    def bound(self) -> float:
        """Return c."""
        return self.c

    def worst_in_words(self, column: str, worst: float) -> str:
        """Return the group where the commonest value is most common, in words."""
        if np.isinf(worst):
            return f"A group shows fewer than {self.l} values of '{column}'."
        return (
            f"In the worst group the commonest value of '{column}' has {worst:.4g} times the rows "
            f"of those from the {ordinal(self.l)} on together; less than {self.c:g} times was "
            "allowed."
        )
