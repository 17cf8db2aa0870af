"""Interval disclosure: a true number lies near the published one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from anon_core.base.arrays import B1, F64
from anon_core.base.context import Context
from anon_core.base.params import choice, number
from anon_core.base.registry import register
from anon_core.contracts.attack import Attack, AttackAim, AttackNeeds
from anon_core.data.values.kinds import KINDS
from anon_core.methods.changes.closeness import window
from anon_core.release.attack_result import AttackResult
from anon_core.release.changed_rows import ChangedColumn
from anon_core.release.ground_truth import Truth
from anon_core.release.knowledge.audience import Audience
from anon_core.release.outcome import per_cent
from anon_core.release.release import View


@register("attack")
@dataclass(frozen=True, kw_only=True)
class IntervalDisclosure(Attack):
    """Say of a person whose row is known that the true number lies within an interval."""

    name: ClassVar[str] = "interval-disclosure"
    title: ClassVar[str] = "Number interval"
    summary: ClassVar[str] = (
        "An attacker who knows a person's row claims that the true number is within a few ranks, "
        "or a share of a standard deviation, of the published one. For a random row, this is "
        "often true as well."
    )
    formula: ClassVar[str] = (
        "x within w = ⌊p N/100⌋ ranks around x', or |x − x'| ≤ k s' in every changed column"
    )
    source: ClassVar[str] = (
        "Mateo-Sanz, Sebé and Domingo-Ferrer 2004, doi 10.1007/978-3-540-25955-8_16"
    )
    aim: ClassVar[AttackAim] = AttackAim(discloses="inferential", answers=("inference",))
    needs: ClassVar[AttackNeeds] = AttackNeeds(changed=True)

    by: str = choice(
        default="ranks",
        options={"ranks": "Ranks", "deviations": "Standard deviations, all columns at once"},
        help="What the interval is measured in.",
        label="Interval by",
    )
    p: float = number(
        default=5.0,
        low=0.0,
        high=100.0,
        help="Ranks on each side, as a share of the rows.",
        label="Ranks",
        unit="per cent",
    )
    k: float = number(
        default=0.05,
        low=0.0,
        help="Half the interval, in standard deviations of the published column.",
        label="k",
        unit="standard deviations",
    )

    def reason_not_applicable(self, view: View, audience: Audience) -> str:
        """Ask for numbers."""
        kinds = (audience.kinds.get(n) for n in view.replaced)
        if not any(kind is not None and KINDS[kind].amount for kind in kinds):
            return "It needs a column of numbers whose values were replaced."
        return ""

    def run(
        self, view: View, audience: Audience, truth: Truth, context: Context
    ) -> Sequence[AttackResult]:
        """Look at every row; see `Attack.run`."""
        columns = [c for c in truth.changed if c.amount and c.name in view.replaced]
        if self.by == "ranks":
            return [self._result(view, truth, c.name, *self._ranks(c)) for c in columns]
        return [self._result(view, truth, "", *self._deviations(columns))]

    def _ranks(self, column: ChangedColumn) -> tuple[B1, B1, float]:
        present = ~np.isnan(column.was) & ~np.isnan(column.now)
        was, now = column.was[present], column.now[present]
        width = math.floor(Fraction(str(self.p)) * len(now) / 100)
        low, high = window(now, now, width)
        inside = np.zeros(len(present), dtype=np.bool_)
        inside[present] = (low <= was) & (was <= high)
        ordered = np.sort(was)
        others = np.searchsorted(ordered, high, side="right") - np.searchsorted(ordered, low)
        return inside, present, float(others.sum()) / max(len(now) ** 2, 1)

    def _deviations(self, columns: Sequence[ChangedColumn]) -> tuple[B1, B1, float]:
        present = ~np.any([np.isnan(c.was) | np.isnan(c.now) for c in columns], axis=0)
        was = np.stack([c.was[present] for c in columns], axis=1)
        now = np.stack([c.now[present] for c in columns], axis=1)
        reach = self.k * now.std(axis=0, ddof=1) if len(now) > 1 else np.zeros(len(columns))
        inside = np.zeros(len(present), dtype=np.bool_)
        inside[present] = _within(was, now, reach)
        shifts = range(1, min(len(now), 200))  # every row next to rows some places further on
        others = [_within(was, np.roll(now, shift, axis=0), reach).mean() for shift in shifts]
        return inside, present, float(np.mean(others)) if others else 0.0

    def _result(
        self, view: View, truth: Truth, column: str, inside: B1, present: B1, baseline: float
    ) -> AttackResult:
        group = truth.row_group
        shown = present & (group >= 0)
        right = int(np.count_nonzero(inside & shown))
        rows = max(int(np.count_nonzero(shown)), 1)
        size = len(view.group_size)
        of = np.bincount(group[shown], weights=inside[shown], minlength=size)
        share = of / np.maximum(np.bincount(group[shown], minlength=size), 1)
        where = f"of '{column}'" if column else "of every changed column"
        return AttackResult(
            attack=self.name,
            column=column,
            attempted=truth.rows,
            eligible=int(np.count_nonzero(shown)),
            succeeded=float(right),
            rate=right / truth.rows,
            worst=right / rows,
            baseline=baseline,
            raw=1.0,
            at_risk=0,
            threshold=1.0,
            per_class=np.minimum(share, 1 - 1e-12),
            estimated=True,
            sentence=f"The true number {where} lies in the interval for {right:,} of {rows:,} rows "
            f"({per_cent(right / rows)}); in that of a random row, {per_cent(baseline)} do.",
        )


def _within(was: F64, now: F64, reach: F64) -> B1:
    return np.all(np.abs(was - now) <= reach * (1 + 1e-12), axis=1)
