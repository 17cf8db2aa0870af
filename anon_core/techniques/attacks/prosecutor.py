"""Prosecutor: the attacker knows that the victim is in the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.base.context import Context
from anon_core.base.registry import register
from anon_core.contracts.attack import (
    Attack,
    AttackAim,
    AttackNeeds,
    AttackReport,
    AttackUse,
    acceptable_chance,
)
from anon_core.methods.matching.fitting_people import matched, why_not
from anon_core.methods.matching.fitting_rows import BOUNDED, HIDDEN, fits, published_people
from anon_core.release.attack_result import AttackResult
from anon_core.release.ground_truth import Truth
from anon_core.release.knowledge.audience import Audience
from anon_core.release.knowledge.person_counts import Crowd
from anon_core.release.outcome import per_cent
from anon_core.release.release import View


@register("attack")
@dataclass(frozen=True, kw_only=True)
class Prosecutor(Attack):
    """Match a known person by the quasi-identifiers and pick one row of the class."""

    name: ClassVar[str] = "prosecutor"
    title: ClassVar[str] = "Prosecutor re-identification"
    summary: ClassVar[str] = (
        "An attacker who knows a person's quasi-identifiers, and that the person is in the table,"
        " picks one of the rows that fit."
    )
    formula: ClassVar[str] = (
        "1 / published rows whose cells cover the person's values; where classes do not overlap "
        "1 / |G|, mean = classes / n, worst = 1 / min |G|"
    )
    source: ClassVar[str] = (
        "El Emam and Dankar 2008, doi 10.1197/jamia.M2716; rows that fit, where classes overlap: "
        "Gionis, Mazza and Tassa 2008"
    )
    aim: ClassVar[AttackAim] = AttackAim(
        discloses="identity", answers=("singling out", "linkability")
    )
    needs: ClassVar[AttackNeeds] = AttackNeeds(from_groups=True, counts_people=True)
    report: ClassVar[AttackReport] = AttackReport(
        place=1,
        worst_case=True,
        achieves="Someone who knows these columns, and that the person is in the table, picks "
        "the right row",
        also="and with it the person's group; what the group reveals is shown below",
    )
    use: ClassVar[AttackUse] = AttackUse(at_once=True)

    threshold: float = acceptable_chance()

    def reason_not_applicable(self, view: View, audience: Audience) -> str:
        """Ask for rows whose quasi-identifiers are together."""
        return why_not(view)

    def run(
        self, view: View, audience: Audience, truth: Truth, context: Context
    ) -> Sequence[AttackResult]:
        """Attack every person of the table.

        Exhaustive, so the figures are exact but where it is left open who is hidden.

        Raises
        ------
        AnonError
            If the quasi-identifiers are in several link blocks.
        """
        if truth.crowd is not None and truth.raw_crowd_in_groups is not None:
            return [self._of_people(truth.crowd, truth.raw_crowd_in_groups)]
        found = fits(truth.frequency, view, matched(view), context)
        known = published_people(truth.frequency, view, found)
        fewest = int(found.fewest_rows.min(initial=truth.rows))
        succeeded = min(chances.expected for chances in known)
        if found.rows_of_person is None:  # one a class, without a rounding
            succeeded = float(len(found.fewest_rows))
        rate = succeeded / truth.rows
        doubt = BOUNDED if found.bounded else "" if known[0].exact else HIDDEN
        return [
            AttackResult(
                attack=self.name,
                attempted=truth.rows,
                eligible=view.rows,
                succeeded=succeeded,
                rate=rate,
                worst=1.0 / fewest if view.rows else 0.0,
                baseline=1.0 / truth.rows,
                raw=len(truth.frequency.run_count) / truth.rows,
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
                    else "No row is published, so no one can be matched."
                ),
            )
        ]

    def _of_people(self, crowd: Crowd, raw: Crowd) -> AttackResult:
        """Attack every person where one has several rows, in their most exposed class.

        Of the P persons of a class each is the right one once in P: a row picked blindly is that
        of a person with n of N rows with chance n / N, on average over the persons 1 / P.
        """
        chance = 1.0 / crowd.sizes
        highest = crowd.highest(chance)
        succeeded = float(highest.sum())
        rate, fewest = succeeded / crowd.total, int(crowd.sizes.min(initial=crowd.total))
        return AttackResult(
            attack=self.name,
            attempted=crowd.total,
            eligible=crowd.published,
            succeeded=succeeded,
            rate=rate,
            worst=1.0 / fewest if crowd.published else 0.0,
            baseline=1.0 / crowd.total,
            raw=float(raw.highest(1.0 / raw.sizes).sum()) / crowd.total,
            at_risk=int(np.count_nonzero(highest > self.threshold)),
            threshold=self.threshold,
            per_class=chance,
            sentence=(
                "Someone who knows these columns picks the right person "
                f"{'every time' if fewest == 1 else f'1 time in {fewest}'}, "
                f"at worst; {per_cent(rate)} of the time on average."
                if crowd.published
                else "No row is published, so no one can be matched."
            ),
        )
