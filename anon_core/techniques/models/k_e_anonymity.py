"""(k, e)-anonymity: every group shows k different numbers that span e or more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import B1, F64
from anon_core.base.params import integer, number
from anon_core.base.registry import register
from anon_core.contracts.feasibility import Allowed, impossible
from anon_core.contracts.group_stats import Histogram
from anon_core.contracts.model import ModelLogic
from anon_core.contracts.sensitive_values import others_known, protected_column
from anon_core.methods.sensitive_statistics.distribution_model import (
    DistributionModel,
    refuse_no_numbers,
)
from anon_core.methods.sensitive_statistics.exact_decimal import as_written
from anon_core.methods.sensitive_statistics.numeric_proximity import (
    exact_numbers,
    far_enough,
    spans,
)
from anon_core.release.private_reference import ValueCounts
from anon_core.release.problem import Problem


@register("model")
@dataclass(frozen=True, kw_only=True)
class KEAnonymity(DistributionModel):
    """Every group has at least k different numbers, and their range is at least e.

    Zhang, Koudas, Srivastava and Yu 2007; the range is from the least to the greatest, not between
    neighbours. Merging a good group with any keeps it (A, and so U): values and range only grow.
    Removing groups keeps it (R).
    """

    name: ClassVar[str] = "k-e-anonymity"
    title: ClassVar[str] = "(k, e)-anonymity"
    summary: ClassVar[str] = (
        "Every group of numbers, such as salaries, has k different ones, the greatest at least e "
        "above the least. So no group is narrow enough to give a number away."
    )
    formula: ClassVar[str] = (
        "|{values of S in G}| ≥ k and max − min ≥ e in every group G; a missing value is no "
        "number, and a column that has one is refused"
    )
    source: ClassVar[str] = "Zhang, Koudas, Srivastava and Yu 2007, doi 10.1109/ICDE.2007.367857"
    logic: ClassVar[ModelLogic] = replace(DistributionModel.logic, monotone_merge=True)
    worst_is_least: ClassVar[bool] = True

    k: int = integer(
        default=2, low=1, help="Different numbers every group shows.", label="k", unit="values"
    )
    e: float = number(
        default=1.0,
        low=0.0,
        help="Smallest range of a group's numbers, in the column's own unit.",
        label="e",
    )
    column: str = protected_column()
    others_known: bool = others_known()

    @property
    def asked(self) -> Fraction:
        """E as it was written."""
        return as_written(self.e)

    def check(self, problem: Problem, removable: int = 0) -> None:
        """Refuse what is not a number, a k above the values there are, and an e above their range.

        All rows as one group show every value, so nothing else is impossible.
        """
        for column in self.protects(problem):
            numbers = refuse_no_numbers(problem, column, self.title)
            if self.k > len(numbers):
                raise impossible(
                    f"{self.title} with k = {self.k} on '{column}'",
                    f"the column has {len(numbers)} different "
                    f"{'number' if len(numbers) == 1 else 'numbers'}",
                    float(len(numbers)),
                    "distinct values",
                    removable=removable,
                    remedy=f"Choose k of at most {len(numbers)}.",
                )
            span = numbers[-1] - numbers[0]
            if self.asked > span:
                raise impossible(
                    f"{self.title} with e = {self.e:g} on '{column}'",
                    "the numbers of the whole column span less",
                    float(span),
                    "range of the column",
                    removable=removable,
                    remedy=f"Choose e of at most {float(span):g}.",
                )

    def feasible(self, problem: Problem, removable: int = 0) -> Sequence[Allowed]:
        """Return the largest k and e of every column."""
        found: list[Allowed] = []
        for column in self.protects(problem):
            numbers = refuse_no_numbers(problem, column, self.title)
            span = float(numbers[-1] - numbers[0]) if numbers else 0.0
            found += [
                Allowed(parameter="k", column=column, low=1, high=float(len(numbers))),
                Allowed(parameter="e", column=column, low=0.0, high=span),
            ]
        return found

    def least_size(self) -> int:
        """Return k: fewer rows have fewer values."""
        return self.k

    def holds(self, counted: Histogram, table: ValueCounts) -> B1:
        """Return which groups show k numbers that span e."""
        assert table.number is not None
        first = _first_beyond(table.number.tobytes(), self.asked)
        low, high = spans(counted)
        return (counted.kinds >= self.k) & (high >= first[np.minimum(low, len(first) - 1)])

    def possible(self, counted: Histogram, table: ValueCounts) -> B1:
        """Return which groups keep it: what holds one of these does, too."""
        return self.holds(counted, table)

    def reached(self, counted: Histogram, table: ValueCounts) -> F64:
        """Return the range of every group's numbers; 0 where there are fewer than k."""
        assert table.number is not None
        low, high = spans(counted)
        found = np.zeros(counted.groups, dtype=np.float64)
        enough = counted.kinds >= self.k
        found[enough] = table.number[high[enough]] - table.number[low[enough]]
        return found

    def bound(self) -> float:
        """Return e."""
        return self.e

    def worst_in_words(self, column: str, worst: float) -> str:
        """Return the narrowest group in words."""
        return (
            f"The numbers of '{column}' in the narrowest group span {worst:.6g} (0 means fewer "
            f"than {self.k} of them); at least {self.e:g} is required."
        )


@lru_cache(maxsize=16)
def _first_beyond(number: bytes, e: Fraction) -> npt.NDArray[np.int64]:
    return np.append(far_enough(exact_numbers(np.frombuffer(number)), e), 0)
