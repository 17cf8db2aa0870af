"""Homogeneity: a class in which everyone has the same sensitive value shows it of everyone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context
from anon_core.base.registry import register
from anon_core.contracts.attack import (
    Attack,
    AttackAim,
    AttackNeeds,
    AttackReport,
    AttackUse,
)
from anon_core.contracts.group_stats import sensitive_histogram
from anon_core.contracts.people_count import crowd_histogram
from anon_core.release.attack_result import AttackResult
from anon_core.release.ground_truth import Truth
from anon_core.release.knowledge.audience import Audience
from anon_core.release.knowledge.person_counts import Crowd
from anon_core.release.outcome import per_cent
from anon_core.release.release import View


@register("attack")
@dataclass(frozen=True, kw_only=True)
class Homogeneity(Attack):
    """Read the sensitive value of everyone whose class shows a single one."""

    name: ClassVar[str] = "homogeneity"
    title: ClassVar[str] = "Homogeneity"
    summary: ClassVar[str] = (
        "An attacker who finds a person's class learns the sensitive value for certain if the "
        "whole class has the same one. No row needs to be re-identified."
    )
    formula: ClassVar[str] = "people in classes with one sensitive value / n"
    aim: ClassVar[AttackAim] = AttackAim(discloses="attribute", answers=("inference",))
    needs: ClassVar[AttackNeeds] = AttackNeeds(from_groups=True, counts_people=True)
    report: ClassVar[AttackReport] = AttackReport(certain_only=True)
    use: ClassVar[AttackUse] = AttackUse(at_once=True)
    source: ClassVar[str] = "Machanavajjhala et al. 2007, doi 10.1145/1217299.1217302"

    def reason_not_applicable(self, view: View, audience: Audience) -> str:
        """Ask for a sensitive column that is not itself known to the attacker."""
        if not audience.secret:
            return "It needs a sensitive column that is not also a quasi-identifier."
        return ""

    def run(
        self, view: View, audience: Audience, truth: Truth, context: Context
    ) -> Sequence[AttackResult]:
        """Attack every person, for every sensitive column."""
        return [self._attack(view, truth, column) for column in audience.secret]

    def _attack(self, view: View, truth: Truth, column: str) -> AttackResult:
        known, top = _most_common(view, truth.crowd, column)
        raw_known, raw_top = _most_common(truth.raw_in_groups, truth.raw_crowd_in_groups, column)
        share = top / np.maximum(known, 1)
        everyone = truth.known_rows(column)
        if truth.crowd is None or truth.raw_crowd_in_groups is None:
            attempted, eligible = truth.rows, int(known.sum())
            certain = int(known[top == known].sum())
            raw = float(raw_known[raw_top == raw_known].sum())
        else:  # a person may have rows in several classes, and counts once
            attempted = truth.crowd.total
            eligible = truth.crowd.having(column)
            certain = truth.crowd.having(column, top == known)
            raw = float(truth.raw_crowd_in_groups.having(column, raw_top == raw_known))
            everyone = truth.raw_crowd_in_groups.people_of_values(column)
        return AttackResult(
            attack=self.name,
            column=column,
            attempted=attempted,
            eligible=eligible,
            succeeded=float(certain),
            rate=certain / attempted,
            worst=float(share.max(initial=0.0)),
            # Without the release a value is certain only where the column has a single one, and
            # of those who have it.
            baseline=int(everyone[0]) / attempted if len(everyone) == 1 else 0.0,
            raw=raw / attempted,
            at_risk=certain,
            threshold=1.0,
            per_class=share,
            sentence=(
                f"No published row has a value of '{column}', so there is nothing to learn of it."
                if not known.sum()
                else f"The value of '{column}' is certain for {certain:,} of {attempted:,} "
                "people "
                f"({per_cent(certain / attempted)})."
            ),
        )


def _most_common(
    view: View, crowd: Crowd | None, column: str
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return each class's rows that have a sensitive value, and those with the most common one.

    Persons instead of rows, where a column distinguishes them.
    """
    if crowd is not None:
        of_people = crowd_histogram(crowd, column)
        return of_people.known, of_people.most
    _, counted = sensitive_histogram(view, column)
    return counted.known, counted.most
