"""Swap detection: rows whose combination of values is rarest are accused of having been swapped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.base.context import Context
from anon_core.base.registry import register
from anon_core.contracts.attack import Attack, AttackAim, AttackNeeds
from anon_core.methods.changes.closeness import lifts
from anon_core.release.attack_result import AttackResult
from anon_core.release.ground_truth import Truth
from anon_core.release.knowledge.audience import Audience
from anon_core.release.outcome import per_cent
from anon_core.release.release import View


@register("attack")
@dataclass(frozen=True, kw_only=True)
class SwapDetection(Attack):
    """The least lift n n_ab / (n_a n_b) of a changed column's value with any other column's."""

    name: ClassVar[str] = "swap-detection"
    title: ClassVar[str] = "Swap detection"
    summary: ClassVar[str] = (
        "An attacker who knows how many cells of a column were exchanged accuses as many rows: "
        "those whose value fits the rest of the row least, such as a married child."
    )
    formula: ClassVar[str] = "least lift n n_ab/(n_a n_b) over pairs; right against share changed"
    source: ClassVar[str] = "Brin, Motwani, Ullman and Tsur 1997, doi 10.1145/253260.253325 (lift)"
    aim: ClassVar[AttackAim] = AttackAim(discloses="inferential", answers=("inference",))
    needs: ClassVar[AttackNeeds] = AttackNeeds(changed=True)

    def run(
        self, view: View, audience: Audience, truth: Truth, context: Context
    ) -> Sequence[AttackResult]:
        """Accuse rows of each changed column; see `Attack.run`."""
        shown = truth.row_group >= 0
        changes = {c.name: c for c in truth.changed}
        codes = {
            n: np.unique(c.now[shown], return_inverse=True)[1].astype(np.int64)
            for n, c in changes.items()
        }
        found: list[AttackResult] = []
        for name in (n for n in view.replaced if n in changes):
            column = changes[name]
            was, now = column.was[shown], column.now[shown]
            changed = (was != now) & ~(np.isnan(was) & np.isnan(now))
            others = [lifts(codes[name], codes[n]) for n in codes if n != name]
            rows = max(len(changed), 1)
            accused = np.zeros(len(changed), dtype=np.bool_)
            if others:
                least = np.min(others, axis=0)
                accused[np.argsort(least, kind="stable")[: int(changed.sum())]] = True
            right = int(np.count_nonzero(accused & changed))
            of = max(int(accused.sum()), 1)
            found.append(
                AttackResult(
                    attack=self.name,
                    column=name,
                    attempted=of,
                    eligible=int(accused.sum()),
                    succeeded=float(right),
                    rate=right / of,
                    worst=right / of,
                    baseline=float(changed.sum()) / rows,
                    raw=0.0,
                    at_risk=0,
                    threshold=1.0,
                    per_class=np.zeros(len(view.group_size)),
                    estimated=True,
                    sentence=f"Of {int(accused.sum()):,} rows accused in '{name}', {right:,} were "
                    f"changed ({per_cent(right / of)}), where {per_cent(changed.sum() / rows)} of "
                    "all rows are.",
                )
            )
        return found
