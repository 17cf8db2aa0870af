"""Attribute inference: guess the sensitive value that is most common in a person's group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import F64, I64
from anon_core.base.context import Context
from anon_core.base.registry import register
from anon_core.contracts.attack import (
    Attack,
    AttackAim,
    AttackNeeds,
    AttackUse,
)
from anon_core.contracts.group_stats import sensitive_histogram
from anon_core.contracts.people_count import commonest, crowd_histogram
from anon_core.release.attack_result import AttackResult, Details
from anon_core.release.ground_truth import Truth
from anon_core.release.knowledge.audience import Audience
from anon_core.release.outcome import per_cent
from anon_core.release.release import View


@register("attack")
@dataclass(frozen=True, kw_only=True)
class AttributeInference(Attack):
    """Guess the most common sensitive value of everyone's group: right with chance c(v)/|G|."""

    name: ClassVar[str] = "attribute-inference"
    title: ClassVar[str] = "Attribute inference"
    summary: ClassVar[str] = (
        "An attacker who knows a person's group guesses its most common sensitive value. "
        "Permuting quasi-identifiers inside the group does not make the guess worse."
    )
    formula: ClassVar[str] = (
        "Pr[t.S = v] = c(v) / |G|, rows without a value left out; rate = Σ max c(v) over groups / n"
    )
    source: ClassVar[str] = (
        "Li et al. 2015, theorem 1, corrected: its product over distinct values has no basis"
    )
    aim: ClassVar[AttackAim] = AttackAim(discloses="inferential", answers=("inference",))
    needs: ClassVar[AttackNeeds] = AttackNeeds(from_groups=True, counts_people=True)
    use: ClassVar[AttackUse] = AttackUse(at_once=True)

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
        # Nothing can be guessed of whom a value is missing, and rows without one hide no one.
        known = truth.known_rows(column)
        if truth.crowd is None or truth.raw_crowd_in_groups is None:
            _, counted = sensitive_histogram(view, column)
            right, raw = int(counted.most.sum()), int(_most(truth.raw_in_groups, column).sum())
            certain = int(counted.known[counted.most == counted.known].sum())
            attempted, eligible = truth.rows, int(counted.known.sum())
        else:  # a person may have rows in several classes, and counts once
            counted = crowd_histogram(truth.crowd, column)
            right = truth.crowd.having(column, value=commonest(counted))
            raw = truth.raw_crowd_in_groups.having(
                column, value=commonest(crowd_histogram(truth.raw_crowd_in_groups, column))
            )
            certain = truth.crowd.having(column, counted.most == counted.known)
            attempted, eligible = truth.crowd.total, truth.crowd.having(column)
            known = truth.raw_crowd_in_groups.people_of_values(column)
        chance = counted.most / np.maximum(counted.known, 1)
        worst = float(chance.max(initial=0.0))
        return AttackResult(
            attack=self.name,
            column=column,
            attempted=attempted,
            eligible=eligible,
            succeeded=float(right),
            rate=right / attempted,
            worst=worst,
            baseline=int(known.max(initial=0)) / attempted,
            raw=float(raw) / attempted,
            at_risk=certain,
            threshold=1.0,
            per_class=chance,
            sentence=(
                f"No published row has a value of '{column}', so there is nothing to guess."
                if not known.size
                else f"Guessing the most common '{column}' of everyone's group is right for "
                f"{right:,} of {attempted:,} people ({per_cent(right / attempted)}), at "
                f"worst with a chance of {per_cent(worst)}."
            ),
            details=(_by_chance(column, chance, counted.known),),
        )


def _by_chance(column: str, chance: F64, known: I64) -> Details:
    """Return how large a share of everyone is in classes that allow as sure a guess."""
    everyone = max(int(known.sum()), 1)
    return Details(
        title=f"People by the chance that the commonest '{column}' of their group is theirs",
        rows=tuple(
            {
                "chance of at least": at / 10,
                "people": int(known[chance >= at / 10 - 1e-9].sum()) / everyone,
            }
            for at in range(11)
        ),
        x="chance of at least",
        y=("people",),
        note="Of those who have a value, in every class they belong to.",
    )


def _most(view: View, column: str) -> npt.NDArray[np.int64]:
    """Return the rows of each class that have its most common value, shape (classes,)."""
    return sensitive_histogram(view, column)[1].most
