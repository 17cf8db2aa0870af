"""A bound on the largest risk: no one who looks for a person picks them more often."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import B1, F64, I64
from anon_core.base.context import Context
from anon_core.base.params import number
from anon_core.base.registry import register
from anon_core.base.terms import times
from anon_core.contracts.group_stats import GroupStats
from anon_core.contracts.model import GroupModel, ModelAim, ModelScope, refuse_no_weights
from anon_core.contracts.people_count import crowd_behind, weight_of_crowd, weight_of_people
from anon_core.data.roles.roles import ByRole
from anon_core.methods.matching.fitting_people import matched, people_or_rows
from anon_core.methods.reidentification.reidentification import (
    RiskBound,
    individual_risk,
    least_people,
)
from anon_core.release.knowledge.audience import Audience
from anon_core.release.outcome import Verdict
from anon_core.release.private_reference import Reference
from anon_core.release.problem import Problem
from anon_core.release.release import View


@register("model")
@dataclass(frozen=True, kw_only=True)
class MaximumRisk(RiskBound):
    """1/N ≤ r for every class (El Emam and Dankar 2008): k-anonymity stated as a risk.

    1/N ≤ r exactly where N ≥ ⌈1/r⌉, so that it is decided in whole numbers, and read as written:
    0.09 asks for 12 rows. With a public table N is the people of that table who fit the class
    (journalist), else the rows of the class (prosecutor).

    Merging good classes keeps it, with any class, too, since people only add up; and removing
    classes leaves the others as they are.

    By weights of a survey it bounds `individual_risk`, an estimate, instead: merging never raises
    that either, and it is at most 1/N. The weights are then private values of the classes.
    """

    name: ClassVar[str] = "maximum-risk"
    title: ClassVar[str] = "Maximum risk"
    summary: ClassVar[str] = (
        "An attacker who looks for a person's row is right with at most this chance, for every "
        "person. With a public table, so is one who looks for the person behind a row."
    )
    formula: ClassVar[str] = (
        "1 / |G| ≤ r over all classes G; with a public table P: 1 / |people of P in G| ≤ r; by "
        "survey weights: E[1/F | |G|] ≤ r, with F estimated from the weights in G"
    )
    source: ClassVar[str] = "El Emam and Dankar 2008, doi 10.1197/jamia.M2716"
    aim: ClassVar[ModelAim] = ModelAim(offered_at=2)
    scope: ClassVar[ModelScope] = replace(RiskBound.scope, counts_people=True)

    risk: float = number(
        default=0.2, low=1e-6, high=1.0, help="Largest chance of picking anyone.", label="Risk"
    )

    def in_people(self, person: str) -> GroupModel:
        """Return the bound where only other persons hide a person, whatever rows they have."""
        return MaximumRiskOfPeople(risk=self.risk, weights=self.weights, person=person)

    def per_group(self, stats: GroupStats, reference: Reference) -> npt.NDArray[np.bool_]:
        """Return which groups have enough people; one without rows has no one to be found."""
        if self.weights:
            return self.within(self.estimated(stats, reference))
        least = least_people(self.risk)
        if stats.population is None:
            return stats.sizes >= least
        return (stats.population >= least) | (stats.sizes == 0)

    def in_words(self, quasi: int, together: str = "class") -> str:
        """Return how often anyone is picked right."""
        if self.weights:
            return (
                f"By the weights in '{self.weights}', someone who names the person of a row will "
                f"be right at most {times(self.risk)}, as estimated."
            )
        return f"An attacker who looks for someone will pick right at most {times(self.risk)}."

    def measure(
        self, view: View, audience: Audience, reference: Reference, context: Context
    ) -> Sequence[Verdict]:
        """Return 1 / the fewest people of a class against the bound.

        Raises
        ------
        AnonError
            If the quasi-identifiers are in several link blocks.
        """
        if self.weights:
            return [self._by_weights(view, reference)]
        people, counted = people_or_rows(view, audience, matched(view), context)
        among = "people of the public table" if counted else "published rows"
        return [self._among(people, among)]

    def _among(self, people: I64, among: str) -> Verdict:
        """Return the fewest who look alike against the bound."""
        fewest = int(people.min()) if len(people) else 0
        holds = not len(people) or fewest >= least_people(self.risk)
        return self.verdict(
            holds,
            f"At worst a person is found among {fewest} {among} who look alike; at "
            f"least {least_people(self.risk)} were asked for.",
            bound=self.risk,
            reached=1 / fewest if fewest else 0.0,
            per_class=1.0 / np.maximum(people, 1),
        )

    def _by_weights(self, view: View, reference: Reference) -> Verdict:
        """Return the largest estimated risk of a class against the bound."""
        _, risk = self.estimated_of(view, reference)
        worst = float(risk.max(initial=0.0))
        return self.verdict(
            self.within(risk).all(),
            f"Estimated from the weights, a row is named right with a chance of at most "
            f"{worst:.4g}; at most {self.risk:g} was asked for.",
            bound=self.risk,
            reached=worst,
            per_class=risk,
        )


@dataclass(frozen=True, kw_only=True)
class MaximumRiskOfPeople(MaximumRisk):
    """1 / persons ≤ r for every class; by weights of a survey E[1/F | persons] ≤ r.

    A person with several rows of a class is one of its people, with one weight. A public table is
    not counted: the persons of the release are fewer.
    """

    person: str

    def __post_init__(self) -> None:
        """Validate; people of a public table are not counted."""
        super().__post_init__()
        object.__setattr__(self, "scope", replace(self.scope, may_count_public=False))

    def needs(self, columns: ByRole) -> tuple[str, ...]:
        """Return the person column, of which distinct values are counted."""
        return (self.person,)

    def least_distinct(self, problem: Problem) -> Mapping[str, int]:
        """Return ⌈1/r⌉ for the person column; by weights a single person can be enough."""
        return {} if self.weights else {self.person: self.least_size()}

    def per_group(self, stats: GroupStats, reference: Reference) -> B1:
        """Return which groups have enough persons."""
        if self.weights:
            return self.within(self.estimated(stats, reference)) | (stats.sizes == 0)
        return stats.histograms[self.person].distinct >= self.least_size()

    def estimated(self, stats: GroupStats, reference: Reference) -> F64:
        """Return the individual risk of each group by the weights of its persons."""
        people = stats.histograms[self.person].distinct
        total = weight_of_people(stats, reference, self.person)
        return individual_risk(np.maximum(people, 1), np.maximum(total, 1.0))

    def estimated_of(self, view: View, reference: Reference) -> tuple[I64, F64]:
        """Return persons and individual risk of each published class."""
        crowd = crowd_behind(reference, self.title)
        if not crowd.classes:
            return crowd.sizes, np.zeros(0)
        return crowd.sizes, individual_risk(crowd.sizes, weight_of_crowd(crowd, reference))

    def comes_to(self, stats: GroupStats, reference: Reference) -> str:
        """Return how often anyone of the class with the fewest persons is picked right."""
        fewest = max(int(stats.histograms[self.person].distinct.min()), 1)
        return (
            f"Among the fewest people a guess is right {times(1 / fewest)}; at most "
            f"{times(self.risk)} is allowed."
        )

    def measure(
        self, view: View, audience: Audience, reference: Reference, context: Context
    ) -> Sequence[Verdict]:
        """Return 1 / the fewest persons of a class against the bound.

        Raises
        ------
        AnonError
            If the quasi-identifiers are in several link blocks.
        """
        if self.weights:
            return [self._by_weights(view, reference)]
        return [self._among(crowd_behind(reference, self.title).sizes, "people")]

    def _lowest(self, problem: Problem) -> float:
        """Return the estimated risk of all persons as one class: merging never raises it."""
        refuse_no_weights(problem, self.weights, self.title)
        people = np.array([problem.people])
        return float(individual_risk(people, np.array([problem.weighed_people]))[0])

    def _alike_at_most(self, problem: Problem) -> tuple[int, str]:
        return problem.people, "people of the table"
