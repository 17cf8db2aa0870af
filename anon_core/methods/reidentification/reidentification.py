"""Bounds on the risk of re-identification: who is found, and what has to go for a bound."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import ClassVar

import numpy as np

from anon_core.base.arrays import B1, F64, I32, I64
from anon_core.base.context import Context
from anon_core.base.errors import Infeasible
from anon_core.base.params import number, private_column
from anon_core.base.terms import times
from anon_core.contracts.feasibility import Allowed
from anon_core.contracts.group_stats import GroupStats
from anon_core.contracts.model import GroupModel, ModelLogic, ModelScope, refuse_no_weights
from anon_core.data.roles.roles import ByRole
from anon_core.methods.matching.fitting_people import (
    expected_inverse,
    matched,
    public_people,
    refuse_unclear,
)
from anon_core.methods.matching.matching import plainly_behind
from anon_core.release.knowledge.audience import Audience
from anon_core.release.knowledge.people import Population
from anon_core.release.private_reference import Reference
from anon_core.release.problem import Problem
from anon_core.release.release import View

_ROUNDING = 1e-12  # of an estimate in floats, relative to the bound
_NEAR = 1e-9  # sums as near as this to a bound, relative to the rows, are compared as fractions


@cache
def as_written(risk: float) -> Fraction:
    """Return a bound as its decimal digits say, not as the binary number next to it.

    Examples
    --------
    >>> as_written(0.1), math.ceil(1 / as_written(0.05))
    (Fraction(1, 10), 20)
    """
    return Fraction(str(risk))


def least_people(risk: float) -> int:
    """Return ⌈1/r⌉: 1/N ≤ r holds from there on.

    Examples
    --------
    >>> least_people(0.2), least_people(0.09), least_people(0.00995), least_people(1.0)
    (5, 12, 101, 1)
    """
    return math.ceil(1 / as_written(risk))


def individual_risk(sizes: I64, weights: F64) -> F64:
    """Return the estimated chance of naming whose a survey's row is, of each class.

    E[1/F | f], where F − f, the other people of the population who fit, is negative binomial with
    p = f / Σw. Merging two classes never raises it.

    Parameters
    ----------
    sizes : int64 array of shape (classes,)
        f: rows of the class, or its persons; at least 1.
    weights : float64 array of shape (classes,)
        Sum of their weights, at least f.

    Returns
    -------
    float64 array of shape (classes,)

    References
    ----------
    Benedetti and Franconi 1998; Franconi and Polettini 2004, doi 10.1007/978-3-540-25955-8_20.

    Examples
    --------
    >>> individual_risk(np.array([1, 2, 5]), np.array([1.0, 2.0, 5.0])).tolist()
    [1.0, 0.5, 0.2]
    >>> individual_risk(np.array([1, 3]), np.array([10.0, 6.0])).round(8).tolist()
    [0.25584279, 0.19314718]
    """
    return expected_inverse(sizes, np.minimum(sizes / weights, 1.0))


def smallest_first(sizes: I64, keep: B1, rank: Callable[[B1], I64], risk: float) -> B1:
    """Return the classes left once #classes / #rows ≤ r, the fewest rows suppressed.

    Of any number of classes the smallest hold the fewest rows, so that their removal leaves the
    lowest share, too; and removing the smallest never raises it. The first number of them that is
    enough therefore removes the fewest rows.

    Parameters
    ----------
    sizes : int64 array of shape (classes,)
        Rows, at least one each.
    keep : bool array of shape (classes,)
        Classes that may stay.
    rank : callable
        Gives some of the classes their place by what they publish, so that it is known which of
        equals go.
    """
    bound = as_written(risk)
    ordered = np.sort(sizes[keep])
    rows = np.cumsum(ordered[::-1])[::-1]  # left where the classes before go
    classes = np.arange(len(ordered), 0, -1)
    good = np.flatnonzero(classes * bound.denominator <= rows * bound.numerator)
    gone = int(good[0]) if len(good) else len(ordered)
    if not gone:
        return keep
    last = ordered[gone - 1]
    left = keep & (sizes > last)
    equal = keep & (sizes == last)
    stay = int(np.count_nonzero(ordered[gone:] == last))
    if stay:  # of equals those of the first cells go
        places = np.flatnonzero(equal)[np.argsort(rank(equal), kind="stable")]
        left[places[len(places) - stay :]] = True
    return left


def rarest_first(sizes: I64, people: I64, keep: B1, rank: Callable[[B1], I64], risk: float) -> B1:
    """Return the classes left once the mean over rows of 1 / people of their class is at most r.

    Classes of the fewest people go first, of these the smallest: each lowers the mean for as long
    as it is above r. Which classes hold the fewest rows is a knapsack, and is not looked for.
    """
    kept = np.flatnonzero(keep)
    order = kept[np.lexsort([rank(keep), -sizes[kept], -people[kept]])]
    over = np.cumsum(sizes[order] / people[order]) - float(as_written(risk)) * np.cumsum(
        sizes[order]
    )
    stop = len(order)
    while stop and _above(sizes[order[:stop]], people[order[:stop]], float(over[stop - 1]), risk):
        stop -= 1
    left = np.zeros_like(keep)
    left[order[:stop]] = True
    return left


def riskiest_first(sizes: I64, risk: F64, keep: B1, bound: float) -> B1:
    """Return the classes left once the mean of estimated risks over their rows is at most a bound.

    Classes of the highest risk go first, equals together: each lowers the mean for as long as it
    is above the bound. Other classes may be fewer rows.
    """
    kept = np.flatnonzero(keep)
    order = kept[np.argsort(risk[kept], kind="stable")]
    rows = np.cumsum(sizes[order])
    good = np.cumsum(sizes[order] * risk[order]) <= bound * rows * (1 + _ROUNDING)
    # Not between equals: which of them goes first would be chance.
    ends = np.append(np.diff(risk[order]) > 0, True)[: len(order)]
    stop = int(np.flatnonzero(good & ends).max(initial=-1)) + 1
    left = np.zeros_like(keep)
    left[order[:stop]] = True
    return left


def _above(sizes: I64, people: I64, over: float, risk: float) -> bool:
    """Say whether Σ N/P > r · Σ N, of which `over` is the difference up to rounding."""
    if abs(over) > _NEAR * max(len(sizes), 1):
        return over > 0
    return mean_chance(sizes, people) > as_written(risk)


def mean_chance(sizes: I64, people: I64) -> Fraction:
    """Return the mean over rows of 1 / people of their class, exactly; 0 without rows."""
    kinds, place = np.unique(people, return_inverse=True)
    rows = np.bincount(place, weights=sizes, minlength=len(kinds)).astype(np.int64)
    total = sum(
        (Fraction(n, p) for n, p in zip(rows.tolist(), kinds.tolist(), strict=True)), Fraction(0)
    )
    return total / max(int(sizes.sum()), 1)


def weight_of_groups(stats: GroupStats, reference: Reference, weights: str) -> F64:
    """Return what the rows of each group weigh together, shape (groups,)."""
    histogram = stats.histograms[weights]
    return _summed(
        reference, weights, histogram.group, histogram.value, histogram.count, len(stats.sizes)
    )


def weight_of_classes(view: View, reference: Reference, weights: str) -> F64:
    """Return what the rows of each published class weigh together, shape (classes,)."""
    sizes, own = matched(view).sizes, reference.placed(weights)
    return _summed(reference, weights, own.group, own.value, own.count, len(sizes))


def _summed(
    reference: Reference, weights: str, group: I64, value: I32, count: I64, groups: int
) -> F64:
    number = reference.counts(weights).number
    assert number is not None  # `Roles.check` refuses what is not a number
    return np.bincount(group, number[value] * count, groups).astype(np.float64)


@dataclass(frozen=True, kw_only=True)
class RiskBound(GroupModel):
    """The part that bounds on the largest and on the mean risk have in common."""

    scope: ClassVar[ModelScope] = ModelScope(whole_rows=True, may_count_public=True)
    logic: ClassVar[ModelLogic] = ModelLogic(by_limits=True)

    risk: float = number(default=0.2, low=1e-6, high=1.0, help="Largest risk.", label="Risk")
    weights: str = private_column(
        help="The column with the role weight, to go by the individual risk that a survey's "
        "weights estimate. Without it rows count.",
        label="By the weights in",
        empty="rows, or people of a public table",
        quiet=True,
    )

    def __post_init__(self) -> None:
        """Validate; by weights, limits of rows do not decide, and no public table counts."""
        super().__post_init__()
        if self.weights:
            object.__setattr__(self, "logic", replace(self.logic, by_limits=False))
            object.__setattr__(self, "scope", replace(self.scope, may_count_public=False))

    def private_columns(self) -> tuple[str, ...]:
        """Return the column of weights, where it goes by them."""
        return (self.weights,) if self.weights else ()

    def needs(self, columns: ByRole) -> tuple[str, ...]:
        """Return the column of weights, where it goes by them."""
        return self.private_columns()

    def least_size(self) -> int:
        """Return ⌈1/r⌉: of so many rows each is found at most r of the time.

        By weights a single row can be enough.
        """
        return 1 if self.weights else least_people(self.risk)

    def recomputable(
        self, view: View, audience: Audience, reference: Reference, context: Context
    ) -> bool:
        """Return, by weights, whether it is plain which rows are in which class."""
        return not self.weights or plainly_behind(view, audience, reference, context)

    def estimated(self, stats: GroupStats, reference: Reference) -> F64:
        """Return the individual risk of each group by its weights, shape (groups,)."""
        total = weight_of_groups(stats, reference, self.weights)
        return individual_risk(np.maximum(stats.sizes, 1), np.maximum(total, 1.0))

    def estimated_of(self, view: View, reference: Reference) -> tuple[I64, F64]:
        """Return rows and individual risk of each published class, shape (classes,) each."""
        sizes = matched(view).sizes
        if not len(sizes):
            return sizes, np.zeros(0)
        return sizes, individual_risk(sizes, weight_of_classes(view, reference, self.weights))

    def within(self, risk: F64) -> B1:
        """Return which estimates are at most r, but for their rounding."""
        return risk <= self.risk * (1 + _ROUNDING)

    def _lowest(self, problem: Problem) -> float:
        """Return the estimated risk of all rows as one class: merging never raises it.

        Raises
        ------
        BadPlan
            If the column has not the role weight.
        """
        refuse_no_weights(problem, self.weights, self.title)
        return float(
            individual_risk(np.array([problem.rows]), np.array([problem.weighed_people]))[0]
        )

    def comes_to(self, stats: GroupStats, reference: Reference) -> str:
        """Return how often anyone who is in the smallest class is picked right."""
        smallest = int(stats.sizes.min())
        return (
            f"In the smallest class a guess is right {times(1 / smallest)}; at most "
            f"{times(self.risk)} is allowed."
        )

    def least_class(self, people: Population | None) -> int:
        """Return ⌈1/r⌉, or 1 where people outside the table are counted as well."""
        return 1 if self.of_release() or self.counts_public(people) else self.least_size()

    def check(self, problem: Problem, removable: int = 0) -> None:
        """Refuse a bound below 1/n, or below 1/|P| with a public table: all rows as one class.

        Merging never raises a risk, and anyone who is removed hides no one.

        Raises
        ------
        BadPlan
            If the public table lacks people of the table, or the column named is not the weight.
        Infeasible
            With the lowest risk there is.
        """
        if self.weights:
            lowest = self._lowest(problem)
            if not self.within(np.array([lowest]))[0]:
                raise Infeasible(
                    f"{self.title} of at most {self.risk:g} by the weights in '{self.weights}': "
                    f"even all rows as one class have an estimated risk of {lowest:.4g}.",
                    remedy=f"Allow a risk of at least {lowest * 1.001:.4g}.",
                    best=lowest,
                    best_of="lowest risk",
                )
            return
        among, what = self._alike_at_most(problem)
        if among < self.least_size():
            raise Infeasible(
                f"{self.title} of at most {self.risk:g} takes {self.least_size()} {what} who look "
                f"alike, and there are {among}.",
                remedy=f"Allow a risk of at least {_rounded_up(among):g}.",
                best=1 / among,
                best_of="lowest risk",
            )

    def feasible(self, problem: Problem, removable: int = 0) -> Sequence[Allowed]:
        """Return the lowest risk: that of one among all."""
        if self.weights:
            return (Allowed(parameter="risk", low=self._lowest(problem)),)
        among, _ = self._alike_at_most(problem)
        return (Allowed(parameter="risk", low=1 / among),)

    def _alike_at_most(self, problem: Problem) -> tuple[int, str]:
        """Return how many can look alike at most, and what they are."""
        if not self.counts_public(problem.population):
            return problem.rows, "rows of the table"
        people = public_people(problem.population, problem.frequency, self.title)
        refuse_unclear(problem, self.title)
        return people.size - people.beyond, "people of the public table"


@dataclass(frozen=True, kw_only=True)
class RiskOfAll(RiskBound):
    """The part that bounds over all classes together have in common: a mean, a share at risk."""

    logic: ClassVar[ModelLogic] = replace(RiskBound.logic, monotone_suppress=False)

    def of_release(self) -> bool:
        """Return that it is about all classes."""
        return True

    def removal_nests(self) -> bool:
        """Return that which classes go changes from node to node."""
        return False

    def per_group(self, stats: GroupStats, reference: Reference) -> B1:
        """Return which groups are enough by themselves: none of their rows is above r."""
        if self.weights:
            return self.within(self.estimated(stats, reference))
        people = stats.sizes if stats.population is None else stats.population
        return (people >= least_people(self.risk)) | (stats.sizes == 0)


def _rounded_up(among: int) -> float:
    """Return 1/among with four digits, and not below it."""
    digits = 10 ** (3 + len(str(among)))
    return -(-digits // among) / digits
