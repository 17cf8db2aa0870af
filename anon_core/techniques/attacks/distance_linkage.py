"""Distance-based linkage: changed rows linked to the people they are nearest to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.base.context import Context
from anon_core.base.params import choice, integer
from anon_core.base.registry import register
from anon_core.contracts.attack import (
    Attack,
    AttackAim,
    AttackNeeds,
    AttackReport,
    acceptable_chance,
)
from anon_core.methods.changes.closeness import (
    Points,
    assigned,
    attacked,
    nearest_chances,
    points_of,
)
from anon_core.methods.inference.prediction_scores import wilson
from anon_core.release.attack_result import AttackResult
from anon_core.release.ground_truth import Truth
from anon_core.release.knowledge.audience import Audience
from anon_core.release.outcome import per_cent
from anon_core.release.release import View

#: Rows that an assignment is found for.
_MOST_ASSIGNED = 1_500


@register("attack")
@dataclass(frozen=True, kw_only=True)
class DistanceLinkage(Attack):
    """Link each published row to its nearest row of a register that holds everyone."""

    name: ClassVar[str] = "distance-linkage"
    title: ClassVar[str] = "Linkage by distance"
    summary: ClassVar[str] = (
        "An attacker with a register of everyone's true quasi-identifiers links each published "
        "row to the nearest person, and picks at random among several equally near."
    )
    formula: ClassVar[str] = (
        "argmin Σ ((x' − x)/s)², texts 0 if equal, else 1; ties 1/t; or the assignment of least "
        "total distance, one to one"
    )
    source: ClassVar[str] = "Domingo-Ferrer and Torra 2001; Pagliuca and Seri 1999"
    aim: ClassVar[AttackAim] = AttackAim(
        discloses="identity", answers=("singling out", "linkability")
    )
    needs: ClassVar[AttackNeeds] = AttackNeeds(changed=True)
    report: ClassVar[AttackReport] = AttackReport(
        place=2,
        worst_case=True,
        achieves="Someone who knows these columns of everyone links a row rightly",
    )

    threshold: float = acceptable_chance()
    matching: str = choice(
        default="nearest",
        options={"nearest": "Each row its nearest person", "one-to-one": "One to one"},
        help="An assignment gives each person one row; it is found for up to 1,500 people.",
        label="Links",
    )
    most: int = integer(
        default=1_000,
        low=10,
        help="Published rows that are linked; of more as many are drawn.",
        label="Rows linked",
        unit="rows",
    )

    def reason_not_applicable(self, view: View, audience: Audience) -> str:
        """Ask for a quasi-identifier whose values were replaced."""
        if not any(n in audience.roles.quasi for n in view.replaced):
            return "It needs a quasi-identifier whose values were replaced."
        return ""

    def run(
        self, view: View, audience: Audience, truth: Truth, context: Context
    ) -> Sequence[AttackResult]:
        """Link published rows; see `Attack.run`."""
        points = points_of([c for c in truth.changed if c.name in audience.roles.quasi])
        shown = np.flatnonzero(truth.row_group >= 0)
        most = min(self.most, _MOST_ASSIGNED) if self.matching == "one-to-one" else self.most
        rows, drawn = attacked(shown, most, context)
        chance = self._chances(points, rows, context)
        succeeded = float(chance.sum())
        rate = succeeded / max(len(rows), 1)
        bare = Points(was=points.was, now=points.was, amount=points.amount)
        per_class = np.zeros(len(view.group_size))
        np.maximum.at(per_class, truth.row_group[rows], chance)
        others = len(rows) if self.matching == "one-to-one" else truth.rows
        return [
            AttackResult(
                attack=self.name,
                attempted=len(rows),
                eligible=len(rows),
                succeeded=succeeded,
                rate=rate,
                worst=float(chance.max(initial=0.0)),
                baseline=1.0 / max(others, 1),
                raw=float(nearest_chances(bare, rows, context).sum()) / max(len(rows), 1),
                at_risk=int(np.count_nonzero(chance > self.threshold)),
                threshold=self.threshold,
                per_class=per_class,
                interval=wilson(succeeded, len(rows)).interval if drawn else None,
                sentence=f"Linked to the nearest of {others:,} people, {per_cent(rate)} of "
                f"{len(rows):,} {'drawn ' if drawn else ''}rows are linked rightly.",
            )
        ]

    def _chances(self, points: Points, rows: np.ndarray, context: Context) -> np.ndarray:
        if self.matching == "one-to-one":
            return assigned(points, rows).astype(np.float64)
        return nearest_chances(points, rows, context)
