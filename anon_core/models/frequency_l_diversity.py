"""Frequency l-diversity: no sensitive value fills more than 1/l of a group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..context import Context
from ..kinds import sensitive_histogram
from ..most_share import MostShare
from ..params import integer
from ..problem import Problem
from ..registry import register
from ..release import View
from ..results import Verdict


@register("model")
@dataclass(frozen=True, kw_only=True)
class FrequencyLDiversity(MostShare):
    """The chance of guessing a sensitive value from the group is at most 1/l (Li et al. 2015)."""

    name: ClassVar[str] = "frequency-l-diversity"
    title: ClassVar[str] = "Frequency l-diversity"
    summary: ClassVar[str] = (
        "Whoever finds a person's group guesses the sensitive value right at most 1 time in l."
    )
    formula: ClassVar[str] = "max c(v) / |G| ≤ 1 / l over all groups G and values v"
    source: ClassVar[str] = "Xiao and Tao 2006; Li et al. 2015, definition 2"
    by_limits: ClassVar[bool] = True

    l: int = integer(  # noqa: E741 - the field's own letter
        default=4,
        low=2,
        help="No value may fill more than one l-th of a group.",
        label="l",
    )

    def measure(self, problem: Problem, view: View, context: Context) -> Sequence[Verdict]:
        """Return, per sensitive column, |G| / max c(v) of the worst group against l."""
        return [self._measure(view, column) for column in self.needs(problem)]

    def _measure(self, view: View, column: str) -> Verdict:
        persons, counted = sensitive_histogram(view, column)
        reached = persons.sizes / np.maximum(counted.most, 1)
        worst = float(reached.min()) if len(reached) else 0.0
        # Decided in whole numbers, not by the quotient.
        holds = bool(np.all(counted.most * self.l <= persons.sizes))
        return Verdict(
            model=self.name,
            parameters=self.as_mapping(),
            state="holds" if holds else "broken",
            bound=float(self.l),
            reached=worst,
            per_class=reached,
            column=column,
            sentence=(
                f"In the worst group a value of '{column}' is right 1 time in {worst:.3g}; 1 in "
                f"{self.l} was allowed."
                if len(reached)
                else "No row is published."
            ),
        )
