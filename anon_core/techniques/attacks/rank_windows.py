"""Rank windows: rows that lie in the window of every known column, the true one among them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from anon_core.base.context import Context
from anon_core.base.params import integer, number
from anon_core.base.registry import register
from anon_core.contracts.attack import (
    Attack,
    AttackAim,
    AttackNeeds,
    AttackReport,
    AttackUse,
    acceptable_chance,
)
from anon_core.data.values.kinds import KINDS
from anon_core.methods.changes.closeness import attacked, window
from anon_core.methods.inference.prediction_scores import wilson
from anon_core.release.attack_result import AttackResult
from anon_core.release.changed_rows import ChangedColumn
from anon_core.release.ground_truth import Truth
from anon_core.release.knowledge.audience import Audience
from anon_core.release.outcome import per_cent
from anon_core.release.release import View


@register("attack")
@dataclass(frozen=True, kw_only=True)
class RankWindows(Attack):
    """Intersect the windows of rank swapping over the columns known (Nin, Herranz, Torra 2008)."""

    name: ClassVar[str] = "rank-windows"
    title: ClassVar[str] = "Windows of rank swapping"
    summary: ClassVar[str] = (
        "An attacker who knows a person's true numbers and the window of rank swapping keeps the "
        "rows that could be the person's in every column. The right one is always among them."
    )
    formula: ClassVar[str] = "1 / |rows within w ranks of the person in every known column|"
    source: ClassVar[str] = "Nin, Herranz and Torra 2008, doi 10.1016/j.datak.2007.07.006"
    aim: ClassVar[AttackAim] = AttackAim(
        discloses="identity", answers=("singling out", "linkability")
    )
    needs: ClassVar[AttackNeeds] = AttackNeeds(changed=True)
    report: ClassVar[AttackReport] = AttackReport(place=2)
    use: ClassVar[AttackUse] = AttackUse(by_default=False)

    p: float = number(
        default=5.0,
        low=0.0,
        high=100.0,
        help="The window that values were swapped in, as a share of the rows.",
        label="Window",
        unit="per cent of ranks",
    )
    threshold: float = acceptable_chance()
    most: int = integer(
        default=2_000,
        low=10,
        help="People who are attacked; of more as many are drawn.",
        label="People attacked",
        unit="people",
    )

    def reason_not_applicable(self, view: View, audience: Audience) -> str:
        """Ask for quasi-identifiers with an order whose values were replaced."""
        known = [n for n in view.replaced if n in audience.roles.quasi and n in audience.kinds]
        if not any(KINDS[audience.kinds[n]].measured for n in known):
            return "It needs a quasi-identifier of numbers or dates whose values were replaced."
        return ""

    def run(
        self, view: View, audience: Audience, truth: Truth, context: Context
    ) -> Sequence[AttackResult]:
        """Attack every person, or those drawn; see `Attack.run`."""
        names = [
            n
            for n in view.replaced
            if n in audience.roles.quasi and KINDS[audience.kinds[n]].measured
        ]
        columns = [c for c in truth.changed if c.name in names]
        shown = np.flatnonzero(truth.row_group >= 0)
        people, drawn = attacked(shown, self.most, context)
        chance = np.zeros(len(people))
        fits = [_Fits(c, shown, self.p) for c in columns]
        for place, person in enumerate(people.tolist()):
            if not place % 256:
                context.report(place / len(people), "Laying windows over each other")
            held = np.ones(len(shown), dtype=np.bool_)
            for own in fits:
                held &= own.of(person)
            own_row = held[np.searchsorted(shown, person)]
            chance[place] = 1.0 / held.sum() if own_row else 0.0
        rate = float(chance.mean()) if len(chance) else 0.0
        per_class = np.zeros(len(view.group_size))
        np.maximum.at(per_class, truth.row_group[people], chance)
        alone = int(np.count_nonzero(chance >= 1))
        return [
            AttackResult(
                attack=self.name,
                attempted=len(people),
                eligible=len(people),
                succeeded=float(chance.sum()),
                rate=rate,
                worst=float(chance.max(initial=0.0)),
                baseline=1.0 / max(truth.rows, 1),
                raw=1.0,
                at_risk=int(np.count_nonzero(chance > self.threshold)),
                threshold=self.threshold,
                per_class=per_class,
                interval=wilson(float(chance.sum()), len(people)).interval if drawn else None,
                sentence=f"With windows of {self.p:g}% of the ranks in {len(columns)} columns, the "
                f"right row is picked {per_cent(rate)} of the time, and {alone:,} of "
                f"{len(people):,} people have one row alone.",
            )
        ]


class _Fits:
    """Which published rows of a column could be a person's, by its window."""

    def __init__(self, column: ChangedColumn, shown: np.ndarray, p: float) -> None:
        self._was, self._now = column.was, column.now[shown]
        present = self._now[~np.isnan(self._now)]
        width = math.floor(Fraction(str(p)) * len(present) / 100)
        self._low, self._high = window(column.was, present, width)

    def of(self, person: int) -> np.ndarray:
        """Return the rows that fit; a missing value fits missing ones alone."""
        if np.isnan(self._was[person]):
            return np.isnan(self._now)
        return (self._low[person] <= self._now) & (self._now <= self._high[person])
