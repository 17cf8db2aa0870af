"""δ-presence: nobody of a public table gets too likely, or too unlikely, to be in the release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..context import Context
from ..errors import BadPlan, Infeasible
from ..hierarchy import unclear_places
from ..kinds import GroupModel, GroupStats
from ..membership.presence import Bounds, Presence, presence
from ..membership.view import published_buckets
from ..params import number
from ..population import public_people
from ..problem import Problem
from ..registry import register
from ..release import View
from ..results import Verdict


@register("model")
@dataclass(frozen=True, kw_only=True)
class DeltaPresence(GroupModel):
    """δ_min ≤ P(t ∈ T | T*) ≤ δ_max for everyone of a public table (Nergiz et al. 2007)."""

    name: ClassVar[str] = "delta-presence"
    title: ClassVar[str] = "δ-presence"
    summary: ClassVar[str] = (
        "Whoever has a public table with everyone of the released one cannot tell of anybody there "
        "that they are in it with more than the largest chance, or less than the smallest."
    )
    formula: ClassVar[str] = (
        "δ_min ≤ P(t ∈ T | T*) ≤ δ_max for all t ∈ P; generalized classes: |G ∩ T| / |G ∩ P|; "
        "permuted groups: share of the fillings that hold t"
    )
    source: ClassVar[str] = (
        "Nergiz, Atzori and Clifton 2007, doi 10.1145/1247480.1247554; Toth 2015, definition 6"
    )
    by_limits: ClassVar[bool] = False
    monotone_merge: ClassVar[bool] = False
    monotone_suppress: ClassVar[bool] = False
    closed_under_union: ClassVar[bool] = True
    needs_public: ClassVar[bool] = True
    survives_permutation: ClassVar[bool] = False

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

    def check(self, problem: Problem) -> None:
        """Refuse bounds that cross, a missing public table, and what no release can keep.

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
        public = public_people(problem, self.title)
        for name in problem.quasi:
            self._refuse_unclear(problem, name)
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
                f"The table holds {problem.rows} of {people} public people, so that the mean "
                f"chance of presence is {share:.4g} at most; δ min asks for {self.delta_min:g}.",
                remedy=f"Choose δ min of at most {share:.4g}.",
                best=share,
                best_of="mean chance of presence",
            )

    def _refuse_unclear(self, problem: Problem, name: str) -> None:
        """Refuse public values of which nobody can tell in which group they stand."""
        people, hierarchy = problem.population, problem.hierarchies[name]
        if people is None or hierarchy.measure is None:
            return
        wide = people.hierarchies[name]
        assert wide.measure is not None
        only = np.ones(len(wide.leaves), dtype=np.bool_)
        only[people.place[name]] = False
        only &= ~np.isnan(wide.measure)
        count = int(
            np.count_nonzero(
                unclear_places(hierarchy, problem.dataset.column(name).kind, wide.measure[only])
            )
        )
        if count:
            raise BadPlan(
                f"{self.title}: the public table has {count} "
                f"{'value' if count == 1 else 'values'} of '{name}' that the hierarchy does not "
                "list, beside a group whose label holds a figure but states no range, so that it "
                "is unclear on which side of the group they stand.",
                remedy="List the values in the hierarchy, or write the label as a range, such as "
                "20-29.",
            )

    def per_group(self, stats: GroupStats) -> npt.NDArray[np.bool_]:
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

    def measure(self, problem: Problem, view: View, context: Context) -> Sequence[Verdict]:
        """Return everyone's chance of presence against the bounds."""
        public_people(problem, self.title)
        assert problem.population is not None
        published = published_buckets(view, problem.population, context)
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
