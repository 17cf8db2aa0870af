"""Journalist: the attacker does not know who of a population is in the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ..context import Context
from ..errors import AnonError
from ..kinds import Attack
from ..overlap import BOUNDED
from ..params import number
from ..population import linked, why_not, why_not_covered
from ..problem import Problem
from ..registry import register
from ..release import View
from ..results import AttackResult


@register("attack")
@dataclass(frozen=True, kw_only=True)
class Journalist(Attack):
    """Match a row against the population and pick one of the people who fit."""

    name: ClassVar[str] = "journalist"
    title: ClassVar[str] = "Journalist re-identification"
    summary: ClassVar[str] = (
        "Someone picks a published row and names a person of the population who fits it, without "
        "knowing who is in the table."
    )
    formula: ClassVar[str] = (
        "1 / F per row, F = people of the population who fit its cells; with a stated size only, "
        "E[1/F | f] under a negative binomial model, f = people of the table who fit"
    )
    source: ClassVar[str] = (
        "El Emam and Dankar 2008, doi 10.1197/jamia.M2716; Benedetti and Franconi 1998; who fits, "
        "where classes overlap: Gionis, Mazza and Tassa 2008"
    )

    threshold: float = number(
        default=0.2,
        low=0.0,
        high=1.0,
        help="Chance above which a person counts as at risk: 0.2 is 1 in 5, 0.0909 is 1 in 11.",
        label="Acceptable chance",
    )

    def applies(self, problem: Problem, view: View) -> str:
        """Ask for a population, and for rows whose quasi-identifiers stand together."""
        if problem.population is None:
            return "It needs a population: a table of it, or its size."
        return why_not(view) or why_not_covered(problem, view)

    def run(self, problem: Problem, view: View, context: Context) -> Sequence[AttackResult]:
        """Attack every published row.

        Raises
        ------
        AnonError
            If the quasi-identifiers stand in several link blocks, or there is no population.
        """
        if problem.population is None:
            raise AnonError(
                self.applies(problem, view),
                remedy="State a population under [population], as a size or a file.",
            )
        found = linked(problem, view, context)
        persons, risk = found.persons, found.risk
        worst = float(risk.chance.max(initial=0.0))
        model = ", estimated from the population's size" if risk.estimated else ""
        gap = (
            f" {risk.unmatched} classes hold more rows than the population table has people for; "
            "they are counted by their rows."
            if risk.unmatched
            else ""
        )
        gap += f" {BOUNDED}" if risk.bounded else ""
        return [
            AttackResult(
                attack=self.name,
                attempted=problem.rows,
                eligible=view.rows,
                succeeded=found.succeeded,
                rate=found.succeeded / problem.rows,
                worst=worst,
                baseline=1.0 / risk.size,
                raw=found.raw,
                at_risk=int(persons.sizes[risk.chance > self.threshold].sum()),
                threshold=self.threshold,
                per_class=risk.chance,
                estimated=risk.estimated,
                upper_bound=risk.bounded,
                sentence=(
                    f"Among {risk.size:,} people, a published row is pinned to the right person "
                    f"with chance {worst:.3g} at worst{model}.{gap}"
                ),
            )
        ]
