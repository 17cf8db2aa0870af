"""Prosecutor: the attacker knows that the victim is in the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ..context import Context
from ..kinds import Attack
from ..params import number
from ..population import matched, why_not
from ..problem import Problem
from ..registry import register
from ..release import View
from ..results import AttackResult, per_cent


@register("attack")
@dataclass(frozen=True, kw_only=True)
class Prosecutor(Attack):
    """Match a known person by the quasi-identifiers and pick one row of the class."""

    name: ClassVar[str] = "prosecutor"
    title: ClassVar[str] = "Prosecutor re-identification"
    summary: ClassVar[str] = (
        "Someone who knows a person's quasi-identifiers, and that the person is in the table, "
        "picks one of the matching rows."
    )
    formula: ClassVar[str] = "1 / |G| per person; mean = classes / n, worst = 1 / min |G|"
    source: ClassVar[str] = "El Emam and Dankar 2008, doi 10.1197/jamia.M2716"

    threshold: float = number(
        default=0.2,
        low=0.0,
        high=1.0,
        help="Chance above which a person counts as at risk: 0.2 is 1 in 5, 0.0909 is 1 in 11.",
        label="Acceptable chance",
    )

    def applies(self, problem: Problem, view: View) -> str:
        """Ask for rows whose quasi-identifiers stand together."""
        return why_not(view)

    def run(self, problem: Problem, view: View, context: Context) -> Sequence[AttackResult]:
        """Attack every person of the table; exhaustive, so the figures are exact.

        Raises
        ------
        AnonError
            If the quasi-identifiers stand in several link blocks.
        """
        sizes = matched(view).sizes
        chance = 1.0 / sizes
        worst = float(chance.max(initial=0.0))
        rate = len(sizes) / problem.rows
        risky = int(sizes[chance > self.threshold].sum())
        return [
            AttackResult(
                attack=self.name,
                attempted=problem.rows,
                eligible=view.rows,
                succeeded=float(len(sizes)),
                rate=rate,
                worst=worst,
                baseline=1.0 / problem.rows,
                raw=len(problem.frequency.run_count) / problem.rows,
                at_risk=risky,
                threshold=self.threshold,
                per_class=chance,
                sentence=(
                    "Someone who knows these columns picks the right row "
                    f"{'every time' if sizes.min() == 1 else f'1 time in {int(sizes.min())}'}, "
                    f"at worst; {per_cent(rate)} of the time on average."
                    if len(sizes)
                    else "No row is published, so nobody can be matched."
                ),
            )
        ]
