"""Prosecutor: the attacker knows that the victim is in the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ..context import Context
from ..kinds import Attack
from ..overlap import BOUNDED, HIDDEN, fits, published_people
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
        "picks one of the rows that fit."
    )
    formula: ClassVar[str] = (
        "1 / published rows whose cells cover the person's values; where classes do not overlap "
        "1 / |G|, mean = classes / n, worst = 1 / min |G|"
    )
    source: ClassVar[str] = (
        "El Emam and Dankar 2008, doi 10.1197/jamia.M2716; rows that fit, where classes overlap: "
        "Gionis, Mazza and Tassa 2008"
    )

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
        """Attack every person of the table.

        Exhaustive, so the figures are exact but where it is left open who is hidden.

        Raises
        ------
        AnonError
            If the quasi-identifiers stand in several link blocks.
        """
        found = fits(problem, view, matched(view), context)
        known = published_people(problem, view, found)
        fewest = int(found.fewest_rows.min(initial=problem.rows))
        succeeded = min(chances.expected for chances in known)
        if found.rows_of_person is None:  # one a class, without a rounding
            succeeded = float(len(found.fewest_rows))
        rate = succeeded / problem.rows
        doubt = BOUNDED if found.bounded else "" if known[0].exact else HIDDEN
        return [
            AttackResult(
                attack=self.name,
                attempted=problem.rows,
                eligible=view.rows,
                succeeded=succeeded,
                rate=rate,
                worst=1.0 / fewest if view.rows else 0.0,
                baseline=1.0 / problem.rows,
                raw=len(problem.frequency.run_count) / problem.rows,
                at_risk=min(chances.above(self.threshold) for chances in known),
                threshold=self.threshold,
                per_class=1.0 / found.fewest_rows,
                upper_bound=bool(doubt),
                sentence=(
                    "Someone who knows these columns picks the right row "
                    f"{'every time' if fewest == 1 else f'1 time in {fewest}'}, "
                    f"at worst; {per_cent(rate)} of the time on average."
                    f"{f' {doubt}' if doubt else ''}"
                    if view.rows
                    else "No row is published, so nobody can be matched."
                ),
            )
        ]
