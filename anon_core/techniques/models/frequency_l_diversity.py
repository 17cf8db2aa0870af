"""Frequency l-diversity: no sensitive value fills more than 1/l of a group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar, Self

import numpy as np

from anon_core.base.context import Context
from anon_core.base.params import integer
from anon_core.base.registry import register
from anon_core.base.terms import times
from anon_core.base.thresholds import least_size
from anon_core.contracts.feasibility import Allowed
from anon_core.contracts.model import (
    GroupModel,
    ModelAim,
    ModelLogic,
    ModelScope,
    named,
    sensitive_columns,
)
from anon_core.contracts.people_count import MostPeopleShare, crowd_behind, crowd_histogram
from anon_core.contracts.sensitive_share import (
    MostShare,
    diverse,
    known_rows,
    largest_share,
    refuse_ineligible,
)
from anon_core.contracts.sensitive_values import Seen, others_known, whole
from anon_core.release.knowledge.audience import Audience
from anon_core.release.outcome import Verdict
from anon_core.release.private_reference import Reference
from anon_core.release.problem import Problem
from anon_core.release.release import View


@register("model")
@dataclass(frozen=True, kw_only=True)
class FrequencyLDiversity(MostShare):
    """The chance of guessing a sensitive value from the group is at most 1/l (Li et al. 2015).

    Shares are of the rows that have a value, and at least one must have one: a missing value is no
    example that anybody could be mistaken for.
    """

    name: ClassVar[str] = "frequency-l-diversity"
    title: ClassVar[str] = "Frequency l-diversity"
    summary: ClassVar[str] = (
        "An attacker who finds a person's group guesses the sensitive value right at most 1 time "
        "in l."
    )
    formula: ClassVar[str] = (
        "max c(v) / |G| ≤ 1 / l over all groups G and values v; a missing value does not count, "
        "since one diagnosis and one gap reveal the diagnosis: its rows are in neither count"
    )
    source: ClassVar[str] = "Xiao and Tao 2006; Li et al. 2015, definition 2"
    aim: ClassVar[ModelAim] = replace(MostShare.aim, offered_at=1, replaces_whole_rows=True)
    scope: ClassVar[ModelScope] = ModelScope(counts_people=True)
    logic: ClassVar[ModelLogic] = replace(MostShare.logic, by_limits=True, by_classes=True)

    l: int = integer(  # noqa: E741 - the field's own letter
        default=4,
        low=2,
        help="No value may fill more than one l-th of a group.",
        label="l",
    )
    others_known: bool = others_known()

    @classmethod
    def at_chance(cls, chance: float, share: Fraction) -> Self | None:
        """Return an l for the chance, at most half of what the table allows at all.

        Nearer to it little but one group of all rows remains. None where that is below 2.
        """
        wanted = least_size(chance)
        size = min(wanted, int(1 / (2 * share))) if share else wanted
        return cls(l=size) if size >= 2 else None

    def in_words(self, quasi: int, together: str = "class") -> str:
        """Return how often a guess from the group is right."""
        return (
            f"An attacker who finds a person's {together} will guess the value of "
            f"{named(self.column)} "
            f"right at most {times(1 / self.l)}{self.also()}."
        )

    def in_people(self, person: str) -> GroupModel:
        """Return the privacy model of persons: each counts once for every value they have."""
        return FrequencyLDiversityOfPeople(l=self.l, column=self.column, person=person)

    def check(self, problem: Problem, removable: int = 0) -> None:
        """Refuse an l the table is not eligible for; see `refuse_ineligible`."""
        for column in self.protects(problem):
            refuse_ineligible(problem, column, self.l, removable)

    def feasible(self, problem: Problem, removable: int = 0) -> Sequence[Allowed]:
        """Return the largest l that every column is eligible for; see `largest_share`."""
        return [
            Allowed(
                parameter="l",
                column=column,
                low=2,
                high=float(largest_share(known_rows(problem, column), removable)),
            )
            for column in self.protects(problem)
        ]

    def measure(
        self, view: View, audience: Audience, reference: Reference, context: Context
    ) -> Sequence[Verdict]:
        """Return, per sensitive column, |G| / max c(v) of the worst group against l."""
        return [self._measure(view, column) for column in self.protects(audience)]

    def _measure(self, view: View, column: str) -> Verdict:
        return self.verdict_of(self.seen(view, column), column)

    def verdict_of(self, seen: Seen, column: str) -> Verdict:
        """Return |G| / max c(v) of the worst group against l."""
        counted = seen.counted
        reached = seen.worst(counted.known / np.maximum(counted.most, 1), least=True)
        worst = float(reached.min()) if len(reached) else 0.0
        # Decided in whole numbers, not by the quotient.
        holds = bool(np.all(diverse(counted, self.l)))
        return self.verdict(
            holds,
            f"In the worst group a value of '{column}' is right 1 time in {worst:.3g}; 1 in "
            f"{self.l} was allowed.",
            bound=float(self.l),
            reached=worst,
            per_class=reached,
            column=column,
        )


@dataclass(frozen=True, kw_only=True)
class FrequencyLDiversityOfPeople(MostPeopleShare, FrequencyLDiversity):
    """No value is had by more than 1/l of the distinct persons of a class."""

    logic: ClassVar[ModelLogic] = replace(MostPeopleShare.logic, by_classes=True)

    def measure(
        self, view: View, audience: Audience, reference: Reference, context: Context
    ) -> Sequence[Verdict]:
        """Return, per sensitive column, the worst class against l."""
        crowd = crowd_behind(reference, self.title)
        columns = sensitive_columns(audience, self.column, self.title)
        return [self.verdict_of(whole(crowd_histogram(crowd, name)), name) for name in columns]
