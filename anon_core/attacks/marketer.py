"""Marketer: the attacker links everyone and cares for the share that comes out right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ..context import Context
from ..kinds import Attack
from ..overlap import BOUNDED
from ..params import number
from ..population import linked, why_not, why_not_covered
from ..problem import Problem
from ..registry import register
from ..release import View
from ..results import AttackResult, per_cent


@register("attack")
@dataclass(frozen=True, kw_only=True)
class Marketer(Attack):
    """Link every published row to a register and count the expected share of right links."""

    name: ClassVar[str] = "marketer"
    title: ClassVar[str] = "Marketer re-identification"
    summary: ClassVar[str] = (
        "Someone links all rows to a register at once and is content if enough of the links are "
        "right."
    )
    formula: ClassVar[str] = (
        "(1/n) Σ f / F over classes, F = people who fit the class's cells; where no population is "
        "stated those of the table, which gives classes / n where classes do not overlap"
    )
    source: ClassVar[str] = (
        "Dankar and El Emam 2010, doi 10.1145/1754239.1754271; who fits, where classes overlap: "
        "Gionis, Mazza and Tassa 2008"
    )

    threshold: float = number(
        default=0.05,
        low=0.0,
        high=1.0,
        help="Share of right links above which the release counts as at risk.",
        label="Acceptable share",
    )

    def applies(self, problem: Problem, view: View) -> str:
        """Ask for rows whose quasi-identifiers stand together."""
        return why_not(view) or why_not_covered(problem, view)

    def run(self, problem: Problem, view: View, context: Context) -> Sequence[AttackResult]:
        """Link every published row.

        Raises
        ------
        AnonError
            If the quasi-identifiers stand in several link blocks.
        """
        found = linked(problem, view, context)
        risk, succeeded = found.risk, found.succeeded
        rate = succeeded / problem.rows
        return [
            AttackResult(
                attack=self.name,
                attempted=problem.rows,
                eligible=view.rows,
                succeeded=succeeded,
                rate=rate,
                worst=rate,
                baseline=1.0 / risk.size,
                raw=found.raw,
                at_risk=view.rows if rate > self.threshold else 0,
                threshold=self.threshold,
                per_class=risk.chance,
                estimated=risk.estimated,
                upper_bound=risk.bounded,
                sentence=(
                    f"Linking all rows gets {per_cent(rate)} of them right on average "
                    f"({succeeded:,.0f} of {problem.rows:,})."
                    f"{f' {BOUNDED}' if risk.bounded else ''}"
                ),
            )
        ]
