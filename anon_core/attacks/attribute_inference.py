"""Attribute inference: guess the sensitive value that is most common in a person's group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..context import Context
from ..kinds import Attack, sensitive_histogram
from ..problem import Problem
from ..registry import register
from ..release import View, raw_view
from ..results import AttackResult, per_cent


@register("attack")
@dataclass(frozen=True, kw_only=True)
class AttributeInference(Attack):
    """Guess the most common sensitive value of everyone's group: right with chance c(v)/|G|."""

    name: ClassVar[str] = "attribute-inference"
    title: ClassVar[str] = "Attribute inference"
    summary: ClassVar[str] = (
        "Someone who knows which group a person is in guesses the sensitive value that most rows "
        "of the group have; permuting quasi-identifiers inside the group does not make the guess "
        "worse."
    )
    formula: ClassVar[str] = "Pr[t.S = v] = c(v) / |G|; rate = Σ max c(v) over groups / n"
    source: ClassVar[str] = (
        "Li et al. 2015, theorem 1, corrected: its product over distinct values has no basis"
    )

    def applies(self, problem: Problem, view: View) -> str:
        """Ask for a sensitive column that is not itself known to the attacker."""
        if all(name in problem.quasi for name in problem.sensitive):
            return "It needs a sensitive column that is not also a quasi-identifier."
        return ""

    def run(self, problem: Problem, view: View, context: Context) -> Sequence[AttackResult]:
        """Attack every person, for every sensitive column."""
        raw = raw_view(problem)
        columns = [name for name in problem.sensitive if name not in problem.quasi]
        return [self._attack(problem, view, raw, column) for column in columns]

    def _attack(self, problem: Problem, view: View, raw: View, column: str) -> AttackResult:
        persons, counted = sensitive_histogram(view, column)
        chance = counted.most / np.maximum(persons.sizes, 1)
        right = int(counted.most.sum())
        most = int(np.bincount(problem.leaf_codes(column)).max(initial=0))
        worst = float(chance.max(initial=0.0))
        return AttackResult(
            attack=self.name,
            column=column,
            attempted=problem.rows,
            eligible=view.rows,
            succeeded=float(right),
            rate=right / problem.rows,
            worst=worst,
            baseline=most / problem.rows,
            raw=float(sensitive_histogram(raw, column)[1].most.sum()) / problem.rows,
            at_risk=int(persons.sizes[counted.most == persons.sizes].sum()),
            threshold=1.0,
            per_class=chance,
            sentence=(
                f"Guessing the most common '{column}' of everyone's group is right for {right:,} "
                f"of {problem.rows:,} people ({per_cent(right / problem.rows)}), at worst with a "
                f"chance of {per_cent(worst)}."
            ),
        )
