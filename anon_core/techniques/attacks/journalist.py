"""Journalist: the attacker does not know who of a population is in the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.base.context import Context
from anon_core.base.errors import AnonError
from anon_core.base.registry import register
from anon_core.contracts.attack import (
    Attack,
    AttackAim,
    AttackNeeds,
    AttackReport,
    AttackUse,
    acceptable_chance,
)
from anon_core.methods.matching.fitting_people import by_columns, linked, why_not, why_not_covered
from anon_core.methods.matching.fitting_rows import BOUNDED
from anon_core.methods.reidentification.population_uniques import unique_estimates
from anon_core.release.attack_result import AttackResult
from anon_core.release.ground_truth import Truth
from anon_core.release.knowledge.audience import Audience
from anon_core.release.release import View


@register("attack")
@dataclass(frozen=True, kw_only=True)
class Journalist(Attack):
    """Match a row against the population and pick one of the people who fit."""

    name: ClassVar[str] = "journalist"
    title: ClassVar[str] = "Journalist re-identification"
    summary: ClassVar[str] = (
        "An attacker who does not know who is in the table picks a published row and names a "
        "person of the population who fits it."
    )
    formula: ClassVar[str] = (
        "1 / F per row, F = people of the population who fit its cells; with a stated size only, "
        "E[1/F | f] under a negative binomial model, f = people of the table who fit"
    )
    source: ClassVar[str] = (
        "El Emam and Dankar 2008, doi 10.1197/jamia.M2716; Benedetti and Franconi 1998; who fits, "
        "where classes overlap: Gionis, Mazza and Tassa 2008; how many of a population of known "
        "size are unique: Dankar et al. 2012, doi 10.1186/1472-6947-12-66"
    )
    aim: ClassVar[AttackAim] = AttackAim(
        discloses="identity", answers=("singling out", "linkability")
    )
    needs: ClassVar[AttackNeeds] = AttackNeeds(from_groups=True, counts_people=True)
    report: ClassVar[AttackReport] = AttackReport(
        place=2,
        achieves="Someone who does not know who is in the table pins a row to the right person",
    )
    use: ClassVar[AttackUse] = AttackUse(at_once=True)

    threshold: float = acceptable_chance()

    def reason_not_applicable(self, view: View, audience: Audience) -> str:
        """Ask for a population, and for rows whose quasi-identifiers are together."""
        if audience.population is None:
            return "It needs a population: a table of it, or its size."
        return why_not(view) or why_not_covered(view, audience)

    def run(
        self, view: View, audience: Audience, truth: Truth, context: Context
    ) -> Sequence[AttackResult]:
        """Attack every published row.

        Raises
        ------
        AnonError
            If the quasi-identifiers are in several link blocks, or there is no population.
        """
        if audience.population is None:
            raise AnonError(
                self.reason_not_applicable(view, audience),
                remedy="State a population under [population], as a size or a file.",
            )
        found = linked(view, audience, truth, context)
        risk = found.risk
        uniques = unique_estimates(view, audience, truth, context)
        # Of two models of the same people the worse one is what is above both.
        chance = risk.chance
        if uniques.chance:
            chance = np.maximum(chance, np.where(uniques.single, uniques.chance, 0.0))
        worst = float(chance.max(initial=0.0))
        model = ", estimated from the population's size" if risk.estimated else ""
        counted = "people" if truth.crowd is not None else "rows"
        gap = (
            f" {risk.unmatched} classes hold more {counted} than the population table has people "
            f"for; they are counted by their {counted}."
            if risk.unmatched
            else ""
        )
        gap += f" {BOUNDED}" if risk.bounded else ""
        return [
            AttackResult(
                attack=self.name,
                attempted=found.attempted,
                eligible=found.eligible,
                succeeded=found.succeeded,
                rate=found.succeeded / found.attempted,
                worst=worst,
                baseline=1.0 / risk.size,
                raw=found.raw,
                at_risk=found.raised(chance).above(self.threshold),
                threshold=self.threshold,
                per_class=chance,
                estimated=risk.estimated,
                upper_bound=risk.bounded,
                sentence=(
                    f"Among {risk.size:,} people, a published row is pinned to the right person "
                    f"with chance {worst:.3g} at worst{model}.{gap}{uniques.sentence}"
                    f"{by_columns(audience)}"
                ),
                details=uniques.details,
            )
        ]
