"""k-map by size: classes of a sample that most likely hide k people, from its share alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import B1, F64, I64
from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, Infeasible
from anon_core.base.params import integer, number, private_column
from anon_core.base.registry import register
from anon_core.base.terms import count
from anon_core.contracts.feasibility import Allowed
from anon_core.contracts.group_stats import GroupStats
from anon_core.contracts.model import GroupModel, ModelLogic, ModelScope, refuse_no_weights
from anon_core.contracts.people_count import crowd_behind, weight_of_crowd, weight_of_people
from anon_core.data.roles.roles import ByRole
from anon_core.methods.matching.fitting_people import matched
from anon_core.methods.matching.matching import plainly_behind
from anon_core.methods.reidentification.reidentification import weight_of_classes, weight_of_groups
from anon_core.release.knowledge.audience import Audience
from anon_core.release.knowledge.people import Population
from anon_core.release.outcome import Verdict
from anon_core.release.private_reference import Reference
from anon_core.release.problem import Problem
from anon_core.release.release import View

#: Largest k; more would take long to reckon exactly.
_MOST = 2000
_ROUNDING = 1e-9  # of an estimate in floats, relative to the bound


@lru_cache(maxsize=256)
def least_rows(k: int, share: float, alpha: float) -> int:
    """Return the least class that is drawn of fewer than k people with a chance of at most alpha.

    The least c ≤ k with P(X ≥ c | X ≥ 1) ≤ α, X ~ Bin(k − 1, f): of the populations that are too
    small, one of k − 1 people shows most rows. Exact, in fractions.

    Parameters
    ----------
    k : int
        People of the population who should share a class.
    share : float
        f: share of the population that is in the table; as its decimal is written.
    alpha : float
        Largest chance of a class that is too small.

    Examples
    --------
    >>> least_rows(5, 0.01, 0.05), least_rows(20, 0.1, 0.05), least_rows(50, 0.5, 0.05)
    (2, 5, 31)
    """
    drawn, most = Fraction(str(share)), Fraction(str(alpha))
    others, p, q = k - 1, drawn.numerator, drawn.denominator
    if p == q:
        return k
    # P(X = c) over the common denominator q^(k−1), one after the other, so that all stay whole.
    chance = (q - p) ** others
    seen = above = q**others - chance  # X ≥ 1
    for rows in range(1, k):
        if above * most.denominator <= seen * most.numerator:
            return rows
        chance = chance * (others - rows + 1) * p // (rows * (q - p))
        above -= chance
    return k


def shown_by_fewer(k: int, sizes: I64, weights: F64) -> F64:
    """Return the chance that a class is drawn of fewer than k people, at worst of k − 1.

    P(X ≥ f | X ≥ 1), X ~ Bin(k − 1, f / Σw); 0 from k rows on.

    Parameters
    ----------
    sizes : int64 array of shape (classes,)
        f, at least 1.
    weights : float64 array of shape (classes,)
        Σw, what the rows of a class weigh together.

    Examples
    --------
    >>> shown_by_fewer(5, np.array([1, 2, 3, 5]), np.array([10.0, 20, 30, 50])).round(6).tolist()
    [1.0, 0.152079, 0.010759, 0.0]
    """
    from scipy.special import betainc

    drawn = np.minimum(sizes / weights, 1.0)
    few = sizes < k
    some = -np.expm1((k - 1) * np.log1p(-np.where(drawn < 1, drawn, 0.5)))
    above = betainc(sizes, np.where(few, k - sizes, 1), drawn)
    return np.where(few, np.where(drawn < 1, above / some, 1.0), 0.0)


@register("model")
@dataclass(frozen=True, kw_only=True)
class KMapBySize(GroupModel):
    """Every class has k′ ≤ k rows, which fewer than k people of the population hardly give.

    By the weights of a survey each class has a share of its own, rows / weights, instead of one
    for all: classes of few rows that represent many people are let pass.

    Without "given that X ≥ 1" single rows would pass where the share is small: few people are
    seldom drawn at all, but those of a published class were. The chance is that of one class; of
    many classes some may be smaller.

    Merging and removing classes keeps it, since it is a least size.
    """

    name: ClassVar[str] = "k-map-by-size"
    title: ClassVar[str] = "k-map by size"
    summary: ClassVar[str] = (
        "An estimate without a public table: a class of this size, drawn at random, comes from at"
        " least k people of the population, except with probability α for each class."
    )
    formula: ClassVar[str] = (
        "|G| ≥ k′ = min {c ≤ k : P(X ≥ c | X ≥ 1) ≤ α}, X ~ Bin(k − 1, n / N); by survey weights: "
        "|G| / Σw of the class for n / N"
    )
    source: ClassVar[str] = (
        "El Emam and Dankar 2008, doi 10.1197/jamia.M2716; Pannekoek 1999, doi "
        "10.1111/1467-9574.00097"
    )
    scope: ClassVar[ModelScope] = ModelScope(whole_rows=True, counts_people=True)
    logic: ClassVar[ModelLogic] = ModelLogic(by_limits=True, by_classes=True)

    #: What is drawn from the population, and counted.
    counted: ClassVar[str] = "rows"

    k: int = integer(
        default=5,
        low=2,
        high=_MOST,
        help="Fewest people of the population behind a class.",
        label="k",
        unit="people",
    )
    share: float = number(
        default=1.0,
        low=1e-6,
        high=1.0,
        help="Share of the population that is in the table, its rows drawn at random: rows / "
        "people. State it; 1 is the population itself.",
        label="Share in the table",
    )
    alpha: float = number(
        default=0.05,
        low=1e-6,
        high=0.5,
        help="Largest chance that a class has fewer people, for each class by itself.",
        label="α",
    )
    weights: str = private_column(
        help="The column with the role weight, to go by the share of each class that its weights "
        "say. The share above is then left as it is.",
        label="By the weights in",
        empty="one share for all",
        quiet=True,
    )

    def __post_init__(self) -> None:
        """Validate; by weights no number of rows decides."""
        super().__post_init__()
        if self.weights:
            object.__setattr__(
                self, "logic", replace(self.logic, by_limits=False, by_classes=False)
            )

    def private_columns(self) -> tuple[str, ...]:
        """Return the column of weights, where it goes by them."""
        return (self.weights,) if self.weights else ()

    def needs(self, columns: ByRole) -> tuple[str, ...]:
        """Return the column of weights, where it goes by them."""
        return self.private_columns()

    def in_people(self, person: str) -> GroupModel:
        """Return the same where a person may have several rows, and is drawn once."""
        return KMapBySizeOfPeople(
            k=self.k, share=self.share, alpha=self.alpha, weights=self.weights, person=person
        )

    def _drawn(self, problem: Problem) -> int:
        """Return how many were drawn from the population."""
        return problem.rows

    def recomputable(
        self, view: View, audience: Audience, reference: Reference, context: Context
    ) -> bool:
        """Return, by weights, whether it is plain which rows are in which class."""
        return not self.weights or plainly_behind(view, audience, reference, context)

    def check(self, problem: Problem, removable: int = 0) -> None:
        """Refuse a share that is not stated, or below the one of a stated population.

        Raises
        ------
        BadPlan
            If the share is 1, or smaller than rows of the table / people of the population; by
            weights, if there is a share, or the column has not the role weight.
        Infeasible
            If k′ is above the rows of the table, or k above the people.
        """
        if self.weights:
            self._check_weights(problem)
            return
        if self.share == 1.0:
            raise BadPlan(
                f"{self.title} needs the share of the population that is in the table; it is 1.",
                remedy="Set share to rows / people, such as 0.1; or require k-anonymity, which "
                "is the same where everyone is in the table.",
            )
        people, held = problem.population and problem.population.size, self._drawn(problem)
        if people is not None:
            drawn = held / people
            if self.share < drawn * 0.95:
                raise BadPlan(
                    f"{self.title}: a share of {self.share:g} is below {held:,} {self.counted} of "
                    f"{people:,} people.",
                    remedy=f"Set share to {math.ceil(drawn * 10_000) / 10_000:g}, or mend the "
                    "population's size.",
                )
            if people < self.k:
                raise Infeasible(
                    f"{self.title} with k = {self.k:,} needs as many people; the population has "
                    f"{people}.",
                    remedy=f"Choose k of at most {people}.",
                    best=float(people),
                    best_of="people",
                )
        if held < self.least_size():
            raise Infeasible(
                f"{self.title} with k = {self.k:,} needs classes of {self.least_size()} "
                f"{self.counted}; the table has {held}.",
                remedy="Choose a smaller k, or load more rows.",
                best=float(held),
                best_of=self.counted,
            )

    def _check_weights(self, problem: Problem) -> None:
        refuse_no_weights(problem, self.weights, self.title)
        if self.share != 1.0:
            raise BadPlan(
                f"{self.title} goes by the weights in '{self.weights}', or by one share for all; "
                f"share is {self.share:g}.",
                remedy="Leave out share, or weights.",
            )
        held = self._drawn(problem)
        chance = self._fewer(np.array([held]), np.array([problem.weighed_people]))
        if not self._within(chance)[0]:  # merging classes never raises it
            raise Infeasible(
                f"{self.title} with k = {self.k} by the weights in '{self.weights}': even all "
                f"rows as one class are of fewer people with a chance of {float(chance[0]):.3g}.",
                remedy="Choose a smaller k, or load more rows.",
                best=float(held),
                best_of=self.counted,
            )

    def _fewer(self, sizes: I64, weights: F64) -> F64:
        return shown_by_fewer(self.k, np.maximum(sizes, 1), np.maximum(weights, 1.0))

    def _within(self, chance: F64) -> B1:
        """Return which estimates are at most α, but for their rounding."""
        return chance <= self.alpha * (1 + _ROUNDING)

    def feasible(self, problem: Problem, removable: int = 0) -> Sequence[Allowed]:
        """Return the largest k of which a class can hold enough rows: all of the table."""
        if self.weights:
            return ()
        held = self._drawn(problem)
        low, high = min(held, _MOST), _MOST  # k′ is never above k, and grows with it
        while low < high:
            middle = (low + high + 1) // 2
            if replace(self, k=middle).least_size() <= held:
                low = middle
            else:
                high = middle - 1
        return (Allowed(parameter="k", low=2, high=float(low)),)

    def per_group(self, stats: GroupStats, reference: Reference) -> npt.NDArray[np.bool_]:
        """Return which groups have k′ rows; by weights, those hardly drawn of fewer people."""
        if self.weights:
            total = weight_of_groups(stats, reference, self.weights)
            return self._within(self._fewer(stats.sizes, total)) | (stats.sizes == 0)
        return stats.sizes >= self.least_size()

    def least_size(self) -> int:
        """Return k′; by weights a class of one row is never enough, and one of two can be."""
        if self.weights:
            return 2
        return least_rows(self.k, self.share, self.alpha)

    def least_class(self, people: Population | None) -> int:
        """Return k′: no smaller class is let pass."""
        return self.least_size()

    def in_words(self, quasi: int, together: str = "class") -> str:
        """Return how many people of the population a class is estimated to hide."""
        if self.weights:
            return (
                f"By the weights in '{self.weights}', every class will most likely be drawn of at "
                f"least {count(self.k, 'person', 'people')} of the population, as estimated."
            )
        return (
            f"Every class will have at least {count(self.least_size(), 'row')}, which "
            f"{count(self.k, 'person', 'people')} of the population or more give by estimate."
        )

    def measure(
        self, view: View, audience: Audience, reference: Reference, context: Context
    ) -> Sequence[Verdict]:
        """Return the smallest published class against k′.

        Raises
        ------
        AnonError
            If the quasi-identifiers are in several link blocks.
        """
        sizes = self._sizes(view, reference)
        if self.weights:
            return [self._by_weights(view, reference, sizes)]
        least, smallest = self.least_size(), int(sizes.min()) if len(sizes) else 0
        return [
            self.verdict(
                not len(sizes) or smallest >= least,
                f"The smallest class has {smallest} {self.counted}; by estimate {least} "
                f"are enough for k = {self.k:,} people.",
                bound=float(least),
                reached=float(smallest),
                per_class=sizes.astype(np.float64),
            )
        ]

    def _sizes(self, view: View, reference: Reference) -> I64:
        """Return what hides someone in each published class, shape (classes,)."""
        return matched(view).sizes

    def _weights_of(self, view: View, reference: Reference) -> F64:
        """Return what each published class weighs, shape (classes,)."""
        return weight_of_classes(view, reference, self.weights)

    def _by_weights(self, view: View, reference: Reference, sizes: I64) -> Verdict:
        """Return the largest chance of fewer people against α."""
        total = self._weights_of(view, reference) if len(sizes) else np.zeros(0)
        chance = self._fewer(sizes, total)
        worst = float(chance.max(initial=0.0))
        return self.verdict(
            self._within(chance).all(),
            f"Estimated from the weights, a class is drawn of fewer than {self.k:,} "
            f"people with a chance of {worst:.3g} at worst; at most {self.alpha:g} was asked for.",
            bound=self.alpha,
            reached=worst,
            per_class=chance,
        )


@dataclass(frozen=True, kw_only=True)
class KMapBySizeOfPeople(KMapBySize):
    """Every class has rows of k′ distinct persons; by weights, each counts once with its own."""

    counted: ClassVar[str] = "people"

    person: str

    def needs(self, columns: ByRole) -> tuple[str, ...]:
        """Return the person column, of which distinct values are counted."""
        return (self.person,)

    def least_distinct(self, problem: Problem) -> Mapping[str, int]:
        """Return k′ for the person column; by weights no number of persons decides."""
        return {} if self.weights else {self.person: self.least_size()}

    def per_group(self, stats: GroupStats, reference: Reference) -> npt.NDArray[np.bool_]:
        """Return which groups have k′ persons; by weights, those hardly drawn of fewer people."""
        people = stats.histograms[self.person].distinct
        if self.weights:
            total = weight_of_people(stats, reference, self.person)
            return self._within(self._fewer(people, total)) | (stats.sizes == 0)
        return people >= self.least_size()

    def _drawn(self, problem: Problem) -> int:
        return problem.people

    def _sizes(self, view: View, reference: Reference) -> I64:
        return crowd_behind(reference, self.title).sizes

    def _weights_of(self, view: View, reference: Reference) -> F64:
        return weight_of_crowd(crowd_behind(reference, self.title), reference)
