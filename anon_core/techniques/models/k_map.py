"""k-map: every published class fits at least k people of a register."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context
from anon_core.base.errors import Infeasible
from anon_core.base.params import integer
from anon_core.base.registry import register
from anon_core.base.terms import count
from anon_core.contracts.feasibility import Allowed
from anon_core.contracts.group_stats import GroupStats
from anon_core.contracts.model import GroupModel, ModelLogic, ModelScope
from anon_core.methods.matching.fitting_people import (
    matched,
    people_of_classes,
    public_people,
    refuse_unclear,
)
from anon_core.release.knowledge.audience import Audience
from anon_core.release.knowledge.people import Population
from anon_core.release.outcome import Verdict
from anon_core.release.private_reference import Reference
from anon_core.release.problem import Problem
from anon_core.release.release import View


@register("model")
@dataclass(frozen=True, kw_only=True)
class KMap(GroupModel):
    """Rows of the register in each published class ≥ k (Sweeney 2001).

    Weaker than k-anonymity where the register holds more people than the table: who is in the
    table is taken to be unknown. Classes of the register without a published row play no part.

    Merging classes keeps it, with any class, since people only add up. Removing classes leaves the
    others as they are: the register does not change.

    Weak k-anonymity (Atzori 2006) is not offered by that name. Its paper could not be had, and what
    others report of it, that candidates are counted with both the private and the public table, is
    what is counted here.
    """

    name: ClassVar[str] = "k-map"
    title: ClassVar[str] = "k-map"
    summary: ClassVar[str] = (
        "Every published row fits at least k people of a public table that contains everyone "
        "released. Weak k-anonymity (Atzori 2006) is the same as far as others report it; we "
        "could not obtain the paper."
    )
    formula: ClassVar[str] = "|people of the public table in G| ≥ k for every published class G"
    source: ClassVar[str] = (
        "Sweeney 2001, Computational disclosure control; El Emam and Dankar 2008, "
        "doi 10.1197/jamia.M2716"
    )
    scope: ClassVar[ModelScope] = ModelScope(whole_rows=True, public=True)
    logic: ClassVar[ModelLogic] = ModelLogic(by_limits=True)

    k: int = integer(
        default=5,
        low=2,
        help="Fewest people of the public table that every published class fits.",
        label="k",
        unit="people",
    )

    def check(self, problem: Problem, removable: int = 0) -> None:
        """Refuse a k above the people of the register whom cells can cover: one class of all.

        Raises
        ------
        BadPlan
            If there is no register, or a row of the table has no person of its own in it.
        Infeasible
            If the register has fewer than k people.
        """
        people = public_people(problem.population, problem.frequency, self.title)
        refuse_unclear(problem, self.title)
        among = people.size - people.beyond
        if among < self.k:
            raise Infeasible(
                f"{self.title} with k = {self.k:,} needs at least {self.k:,} people in the public "
                f"table; it has {among:,} whom a published cell can cover.",
                remedy=f"Choose k of at most {among:,}, or give a larger public table.",
                best=float(among),
                best_of="people",
            )

    def feasible(self, problem: Problem, removable: int = 0) -> Sequence[Allowed]:
        """Return the largest k: everyone of the register whom cells can cover."""
        people = public_people(problem.population, problem.frequency, self.title)
        return (Allowed(parameter="k", high=float(people.size - people.beyond)),)

    def per_group(self, stats: GroupStats, reference: Reference) -> npt.NDArray[np.bool_]:
        """Return which groups have k people; everyone of the table is one of them."""
        people = stats.sizes if stats.population is None else stats.population
        return (people >= self.k) | (stats.sizes == 0)

    def comes_to(self, stats: GroupStats, reference: Reference) -> str:
        """Return how many public people the rarest group fits."""
        people = stats.sizes if stats.population is None else stats.population
        fits = count(int(people.min()), "person", "people")
        return f"The class fits {fits} of the public table; at least {self.k} are asked for."

    def least_size(self) -> int:
        """Return k: so many rows are so many people."""
        return self.k

    def least_class(self, people: Population | None) -> int:
        """Return 1: the people need not be in the table."""
        return 1

    def in_words(self, quasi: int, together: str = "class") -> str:
        """Return how many people of the register every row fits."""
        return (
            f"Every published row will fit at least {count(self.k, 'person', 'people')} of the "
            "public table."
        )

    def measure(
        self, view: View, audience: Audience, reference: Reference, context: Context
    ) -> Sequence[Verdict]:
        """Return the fewest people who fit a published class against k.

        Raises
        ------
        AnonError
            If the quasi-identifiers are in several link blocks.
        BadPlan
            If there is no register that holds everyone of the table.
        """
        public_people(audience.population, reference.frequency, self.title)
        assert audience.population is not None
        people = people_of_classes(audience.population, view, matched(view), context)
        fewest = int(people.min()) if len(people) else 0
        return [
            self.verdict(
                not len(people) or fewest >= self.k,
                f"The rarest published class fits {fewest} people of the public table; at "
                f"least {self.k} were asked for.",
                bound=float(self.k),
                reached=float(fewest),
                per_class=people.astype(np.float64),
            )
        ]
