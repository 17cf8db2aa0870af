"""(ε, m)-anonymity: in every group at most one m-th of the numbers are near any of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np

from anon_core.base.arrays import B1, F64
from anon_core.base.errors import BadPlan
from anon_core.base.params import flag, number
from anon_core.base.registry import register
from anon_core.contracts.feasibility import Allowed, impossible, rounded
from anon_core.contracts.group_stats import Histogram
from anon_core.contracts.model import ModelLogic
from anon_core.contracts.sensitive_values import others_known, protected_column
from anon_core.methods.sensitive_statistics.distribution_model import (
    DistributionModel,
    refuse_no_numbers,
)
from anon_core.methods.sensitive_statistics.exact_decimal import as_written, at_most
from anon_core.methods.sensitive_statistics.numeric_proximity import (
    Near,
    crowding,
    exact_numbers,
    most_crowded,
    near,
    packed,
)
from anon_core.release.private_reference import ValueCounts
from anon_core.release.problem import Problem


@register("model")
@dataclass(frozen=True, kw_only=True)
class EpsilonMAnonymity(DistributionModel):
    """Around every number x of a group, m · |{y : |y − x| ≤ ε}| ≤ |G|; relative: ≤ ε·x.

    Li, Tao and Xiao 2008; x counts itself. Merging good groups can break it (no U): with ε = m = 2,
    {10, 14} and {12, 30} are good, and in their union 12 is near three of four. So no bad group is
    known to have no good parts, and searches look at every group by itself. Removing groups keeps
    it (R). Of a good group's numbers m at least lie pairwise more than ε separately, since what is
    near fewer than m of them is not all of it: what has no m such holds no good group.
    """

    name: ClassVar[str] = "epsilon-m-anonymity"
    title: ClassVar[str] = "(ε, m)-anonymity"
    summary: ClassVar[str] = (
        "No one can guess a number nearly right: at most one m-th of a group's numbers lie within"
        " ε of any of them."
    )
    formula: ClassVar[str] = (
        "m · |{y ∈ G : |y − x| ≤ ε}| ≤ |G| for every row x of every group G; relative: ≤ ε·x; "
        "a missing value is not a number, and a column that has one is refused"
    )
    source: ClassVar[str] = "Li, Tao and Xiao 2008, doi 10.1145/1376616.1376666"
    logic: ClassVar[ModelLogic] = replace(DistributionModel.logic, closed_under_union=False)
    worst_is_least: ClassVar[bool] = True

    epsilon: float = number(
        default=1.0,
        low=0.0,
        help="What is as near as this counts as the same; relative, as a share of the number.",
        label="ε",
    )
    m: float = number(
        default=2.0,
        low=1.0,
        help="At most one in m of a group's rows may be near any of them.",
        label="m",
    )
    relative: bool = flag(default=False, help="Take ε as a share of each number.", label="Relative")
    column: str = protected_column()
    others_known: bool = others_known()

    @property
    def asked(self) -> Fraction:
        """M as it was written."""
        return as_written(self.m)

    @property
    def reach(self) -> Fraction:
        """Ε as it was written."""
        return as_written(self.epsilon)

    def check(self, problem: Problem, removable: int = 0) -> None:
        """Refuse what is not a number, and an m that the table's most crowded numbers rule out.

        The W rows of a window of width ε are all near each other, so that groups that hold them
        have m·W rows or more. This is necessary; what is let pass, a search decides.
        """
        for column in self.protects(problem):
            numbers = refuse_no_numbers(problem, column, self.title)
            if self.relative and not 0 < self.reach < 1:
                raise BadPlan(
                    f"{self.title}: epsilon is {self.epsilon:g}; relative, it is a share "
                    "above 0 and below 1.",
                    remedy="Set epsilon to a share such as 0.1, or take it as it is.",
                )
            if self.relative and numbers and numbers[0] <= 0:
                raise BadPlan(
                    f"{self.title}: '{column}' has numbers that are not above 0, and shares of "
                    "these do not give a distance.",
                    remedy="Take epsilon as it is: relative = false.",
                )
            most = self._largest(problem, column, removable)
            if most is not None and self.asked > most:
                raise impossible(
                    f"{self.title} with m = {self.m:g}, ε = {self.epsilon:g} on '{column}'",
                    f"too many rows lie within ε of each other for m above {float(most):.6g}",
                    float(most),
                    "largest m",
                    removable=removable,
                    remedy=f"Choose m of at most {rounded(float(most), 'down'):g}, a smaller ε, or "
                    "allow more suppression.",
                )

    def feasible(self, problem: Problem, removable: int = 0) -> Sequence[Allowed]:
        """Return the m above which nothing can be had, for every column."""
        found: list[Allowed] = []
        for column in self.protects(problem):
            refuse_no_numbers(problem, column, self.title)
            most = self._largest(problem, column, removable)
            high = None if most is None else float(most)
            found.append(Allowed(parameter="m", column=column, low=1.0, high=high))
        return found

    def _largest(self, problem: Problem, column: str, removable: int) -> Fraction | None:
        """Return n / W of what is left, None where every crowded row may be suppressed."""
        hierarchy = problem.hierarchies[column]
        assert hierarchy.measure is not None
        rows = problem.leaf_counts(column)
        numbers = exact_numbers(hierarchy.measure)
        most = most_crowded(rows, numbers, self.reach, relative=self.relative)
        if most <= removable:
            return None
        return Fraction(problem.rows - removable, most - removable)

    def least_size(self) -> int:
        """Return m, rounded up: a row is near itself."""
        return math.ceil(self.asked)

    def holds(self, counted: Histogram, table: ValueCounts) -> B1:
        """Return in which groups no number has too many others near."""
        crowd = crowding(counted, self._near(table))
        return at_most(crowd, counted.rows, 1 / self.asked)

    def possible(self, counted: Histogram, table: ValueCounts) -> B1:
        """Return which groups have m numbers that can lie separately."""
        least = self.least_size()
        if self.relative:  # what is near is not so both ways
            return counted.kinds >= least
        return packed(counted, self._near(table), least) >= least

    def reached(self, counted: Histogram, table: ValueCounts) -> F64:
        """Return one in how many of a group's rows are near the row that most are near of."""
        return counted.rows / np.maximum(crowding(counted, self._near(table)), 1)

    def bound(self) -> float:
        """Return m."""
        return self.m

    def worst_in_words(self, column: str, worst: float) -> str:
        """Return the most crowded group in words."""
        unit = "of it, relative" if self.relative else "of it"
        return (
            f"In the worst group one in {worst:.4g} rows has a value of '{column}' near that of "
            f"one row, within {self.epsilon:g} {unit}; at most one in {self.m:g} was allowed."
        )

    def _near(self, table: ValueCounts) -> Near:
        assert table.number is not None
        return _neighbours(table.number.tobytes(), self.reach, self.relative)


@lru_cache(maxsize=16)
def _neighbours(number: bytes, reach: Fraction, relative: bool) -> Near:
    return near(exact_numbers(np.frombuffer(number)), reach, relative=relative)
