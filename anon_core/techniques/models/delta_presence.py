"""δ-presence: no one of a public table gets too likely, or too unlikely, to be in the release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, Infeasible
from anon_core.base.params import number
from anon_core.base.registry import register
from anon_core.base.terms import count
from anon_core.contracts.feasibility import Allowed
from anon_core.contracts.group_stats import GroupStats
from anon_core.contracts.model import GroupModel, ModelAim, ModelLogic, ModelScope
from anon_core.methods.bucketized.slice_chances import exact_cells
from anon_core.methods.matching.fitting_people import public_people, refuse_unclear
from anon_core.methods.membership.equations_from_view import published_buckets
from anon_core.methods.membership.presence import Bounds, Presence, presence
from anon_core.release.knowledge.audience import Audience
from anon_core.release.outcome import Verdict, per_cent
from anon_core.release.private_reference import Reference
from anon_core.release.problem import Problem
from anon_core.release.release import View


@register("model")
@dataclass(frozen=True, kw_only=True)
class DeltaPresence(GroupModel):
    """δ_min ≤ P(t ∈ T | T*) ≤ δ_max for everyone of a public table (Nergiz et al. 2007)."""

    name: ClassVar[str] = "delta-presence"
    title: ClassVar[str] = "δ-presence"
    summary: ClassVar[str] = (
        "For everyone in a public table that covers the release, the chance of being in the "
        "release stays between the smallest and the largest that you allow."
    )
    formula: ClassVar[str] = (
        "δ_min ≤ P(t ∈ T | T*) ≤ δ_max for all t ∈ P; generalized classes: |G ∩ T| / |G ∩ P|; "
        "permuted groups: share of the fillings that hold t"
    )
    source: ClassVar[str] = (
        "Nergiz, Atzori and Clifton 2007, doi 10.1145/1247480.1247554; Toth 2015, definition 6"
    )
    aim: ClassVar[ModelAim] = ModelAim(stops="presence", offered_at=1)
    scope: ClassVar[ModelScope] = ModelScope(public=True)
    logic: ClassVar[ModelLogic] = ModelLogic(
        by_limits=False,
        monotone_merge=False,
        monotone_suppress=False,
        closed_under_union=True,
        survives_permutation=False,
    )

    delta_min: float = number(
        default=0.0,
        low=0.0,
        high=1.0,
        help="Smallest allowed chance that someone of the public table is in the release.",
        label="δ min",
    )
    delta_max: float = number(
        default=0.5,
        low=0.0,
        high=1.0,
        help="Largest allowed chance that someone of the public table is in the release.",
        label="δ max",
    )

    @classmethod
    def at_chance(cls, chance: float, share: Fraction) -> Self | None:
        """Return a largest chance of presence that a release can keep.

        No release keeps less than the share of the public people who are in the table, and one
        twice that large leaves room for detail. None where everyone is in it, or no one is known.
        """
        if not 0 < share < 1:
            return None
        room = min(2 * share, (1 + share) / 2)
        return cls(delta_max=max(chance, ceil(100 * room) / 100 if room < 0.99 else float(room)))

    def in_words(self, quasi: int, together: str = "class") -> str:
        """Return between which chances presence lies."""
        least = f" and at least {per_cent(self.delta_min)}" if self.delta_min > 0 else ""
        return (
            "An attacker who asks whether someone in the public table is also in this one will "
            "find a "
            f"chance of at most {per_cent(self.delta_max)}{least}."
        )

    @property
    def bounds(self) -> Bounds:
        """The bounds as they were written."""
        return Bounds.of(self.delta_min, self.delta_max)

    def presence_bounds(self) -> tuple[float, float]:
        """Return both bounds."""
        return self.delta_min, self.delta_max

    def allows_removal(self) -> bool:
        """Return whether a chance of 0 is allowed: that is what the people of a gap have."""
        return self.delta_min <= 0

    def check(self, problem: Problem, removable: int = 0) -> None:
        """Refuse bounds that cross, a missing public table, and what no release can keep.

        Removing rows only lowers the mean chance, and leaves people whom nothing covers at 0.

        Raises
        ------
        BadPlan
            If δ min lies above δ max, or the public table is missing or does not fit.
        Infeasible
            If too few of the public people are in the table.
        """
        if self.delta_min > self.delta_max:
            raise BadPlan(
                f"δ-presence: delta_min is {self.delta_min:g} and delta_max {self.delta_max:g}; "
                "no chance is at least the one and at most the other.",
                remedy="Set delta_min to at most delta_max.",
            )
        public = public_people(problem.population, problem.frequency, self.title)
        refuse_unclear(problem, self.title)
        people = public.size
        if public.beyond and self.delta_min > 0:
            raise Infeasible(
                f"{public.beyond} people of the public table have values that no published cell "
                "can cover, so their chance of presence is 0.",
                remedy="Choose δ min of 0, or widen the range of the hierarchy's top.",
                best=0.0,
                best_of="lowest chance of presence",
            )
        # Chances add up to the published rows, so their mean is fixed by their number.
        share = problem.rows / people
        if not self.bounds.hold(np.array([problem.rows]), np.array([people]))[0] and (
            share < self.delta_min
        ):
            raise Infeasible(
                f"The table holds {problem.rows:,} of {people} public people, so that the mean "
                f"chance of presence is {share:.4g} at most; δ min asks for {self.delta_min:g}.",
                remedy=f"Choose δ min of at most {share:.4g}.",
                best=share,
                best_of="mean chance of presence",
            )

    def feasible(self, problem: Problem, removable: int = 0) -> Sequence[Allowed]:
        """Return the share of public people who are in the table as the largest δ min."""
        people = public_people(problem.population, problem.frequency, self.title)
        share = 0.0 if people.beyond else problem.rows / people.size
        return [Allowed(parameter="delta_min", low=0.0, high=min(share, 1.0))]

    def per_group(self, stats: GroupStats, reference: Reference) -> npt.NDArray[np.bool_]:
        """Return which groups have a share of public people within the bounds.

        Raises
        ------
        BadPlan
            If the search does not count public people.
        """
        if stats.population is None:
            raise BadPlan(
                f"This technique cannot be steered by {self.title}: it does not count the public "
                "people of its groups.",
                remedy="Choose MPALM, CombinedAlg or the optimal search.",
            )
        return self.bounds.hold(stats.sizes, stats.population)

    def comes_to(self, stats: GroupStats, reference: Reference) -> str:
        """Return the chance that someone of the public table in the group is in the release."""
        assert stats.population is not None
        rows, people = int(stats.sizes[0]), int(stats.population[0])
        return (
            f"Of {count(people, 'person', 'people')} of the public table who fit, {rows} "
            f"{'is' if rows == 1 else 'are'} in the release: a chance of {rows / people:.3g}; "
            f"{self.delta_min:g} to {self.delta_max:g} is asked for."
        )

    def recomputable(
        self, view: View, audience: Audience, reference: Reference, context: Context
    ) -> bool:
        """Return whether no one of the public table fits several classes, of whole cells.

        Where someone does, the classes are one system of equations. It is solved here, but not a
        second time from the texts. Exact quasi-identifiers that stay linked are such classes
        whatever else is permuted separately.
        """
        if len(view.blocks) > 1:
            return view.whole_quasi() is not None and exact_cells(view)
        assert audience.population is not None
        joint = published_buckets(view, audience.population, context).joint
        return int(np.bincount(joint.types).max(initial=0)) <= 1

    def measure(
        self, view: View, audience: Audience, reference: Reference, context: Context
    ) -> Sequence[Verdict]:
        """Return everyone's chance of presence against the bounds."""
        public_people(audience.population, reference.frequency, self.title)
        assert audience.population is not None
        published = published_buckets(view, audience.population, context)
        found = presence(published, self.bounds, context)
        broken_low = found.state == "broken" and found.highest <= self.delta_max
        return [
            Verdict(
                model=self.name,
                parameters=self.as_mapping(),
                state=found.state,
                bound=self.delta_min if broken_low else self.delta_max,
                reached=found.lowest if broken_low else found.highest,
                per_class=found.per_bucket,
                sentence=self._sentence(found),
            )
        ]

    def _sentence(self, found: Presence) -> str:
        asked = f"{self.delta_min:g} to {self.delta_max:g} were asked for"
        words = (
            f"Chances of presence lie between {found.lowest:.4g} and {found.highest:.4g}; {asked}."
        )
        if found.open:
            words += (
                f" Of {found.open:,} people the chance was not counted, and they are treated as "
                "exposed."
            )
        return words
