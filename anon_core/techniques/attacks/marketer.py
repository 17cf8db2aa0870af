"""Marketer: the attacker links everyone and cares for the share that comes out right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from anon_core.base.context import Context
from anon_core.base.params import number
from anon_core.base.registry import register
from anon_core.contracts.attack import (
    Attack,
    AttackAim,
    AttackNeeds,
    AttackReport,
    AttackUse,
)
from anon_core.methods.matching.fitting_people import by_columns, linked, why_not, why_not_covered
from anon_core.methods.matching.fitting_rows import BOUNDED
from anon_core.release.attack_result import AttackResult
from anon_core.release.ground_truth import Truth
from anon_core.release.knowledge.audience import Audience
from anon_core.release.outcome import per_cent
from anon_core.release.release import View


@register("attack")
@dataclass(frozen=True, kw_only=True)
class Marketer(Attack):
    """Link every published row to a register and count the expected share of right links."""

    name: ClassVar[str] = "marketer"
    title: ClassVar[str] = "Marketer re-identification"
    summary: ClassVar[str] = (
        "An attacker links all rows to a register at once, and is content if enough of the links "
        "are right."
    )
    formula: ClassVar[str] = (
        "(1/n) Σ f / F over classes, F = people who fit the class's cells; where no population is "
        "stated those of the table, which gives classes / n where classes do not overlap"
    )
    source: ClassVar[str] = (
        "Dankar and El Emam 2010, doi 10.1145/1754239.1754271; who fits, where classes overlap: "
        "Gionis, Mazza and Tassa 2008"
    )
    aim: ClassVar[AttackAim] = AttackAim(discloses="identity", answers=("linkability",))
    needs: ClassVar[AttackNeeds] = AttackNeeds(from_groups=True, counts_people=True)
    report: ClassVar[AttackReport] = AttackReport(place=3, of_the_release=True)
    use: ClassVar[AttackUse] = AttackUse(at_once=True)

    threshold: float = number(
        default=0.05,
        low=0.0,
        high=1.0,
        help="Share of right links above which the release counts as at risk.",
        label="Acceptable share",
    )

    def reason_not_applicable(self, view: View, audience: Audience) -> str:
        """Ask for rows whose quasi-identifiers are together."""
        return why_not(view) or why_not_covered(view, audience)

    def run(
        self, view: View, audience: Audience, truth: Truth, context: Context
    ) -> Sequence[AttackResult]:
        """Link every published row.

        Raises
        ------
        AnonError
            If the quasi-identifiers are in several link blocks.
        """
        found = linked(view, audience, truth, context)
        risk, succeeded = found.risk, found.succeeded
        rate = succeeded / found.attempted
        of = "them" if truth.crowd is None else "people"
        return [
            AttackResult(
                attack=self.name,
                attempted=found.attempted,
                eligible=found.eligible,
                succeeded=succeeded,
                rate=rate,
                worst=rate,
                baseline=1.0 / risk.size,
                raw=found.raw,
                at_risk=found.eligible if rate > self.threshold else 0,
                threshold=self.threshold,
                per_class=risk.chance,
                estimated=risk.estimated,
                upper_bound=risk.bounded,
                sentence=(
                    f"Linking all rows gets {per_cent(rate)} of {of} right on average "
                    f"({succeeded:,.0f} of {found.attempted:,})."
                    f"{f' {BOUNDED}' if risk.bounded else ''}{by_columns(audience)}"
                ),
            )
        ]
