"""Homogeneity: a class in which everyone has the same sensitive value tells it of everyone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..context import Context
from ..kinds import Attack, sensitive_histogram
from ..problem import Problem
from ..registry import register
from ..release import View, raw_view
from ..results import AttackResult, per_cent


@register("attack")
@dataclass(frozen=True, kw_only=True)
class Homogeneity(Attack):
    """Read the sensitive value of everyone whose class shows a single one."""

    name: ClassVar[str] = "homogeneity"
    title: ClassVar[str] = "Homogeneity"
    summary: ClassVar[str] = (
        "Someone who finds a person's class learns the sensitive value for certain where the whole "
        "class has the same one; no row needs to be re-identified."
    )
    formula: ClassVar[str] = "people in classes with one sensitive value / n"
    source: ClassVar[str] = "Machanavajjhala et al. 2007, doi 10.1145/1217299.1217302"

    def applies(self, problem: Problem, view: View) -> str:
        """Ask for a sensitive column that is not itself known to the attacker."""
        if not _columns(problem):
            return "It needs a sensitive column that is not also a quasi-identifier."
        return ""

    def run(self, problem: Problem, view: View, context: Context) -> Sequence[AttackResult]:
        """Attack every person, for every sensitive column."""
        raw = raw_view(problem)
        return [self._attack(problem, view, raw, column) for column in _columns(problem)]

    def _attack(self, problem: Problem, view: View, raw: View, column: str) -> AttackResult:
        sizes, top = _most_common(view, column)
        raw_sizes, raw_top = _most_common(raw, column)
        certain = int(sizes[top == sizes].sum())
        share = top / np.maximum(sizes, 1)
        values = np.unique(problem.leaf_codes(column))
        return AttackResult(
            attack=self.name,
            column=column,
            attempted=problem.rows,
            eligible=view.rows,
            succeeded=float(certain),
            rate=certain / problem.rows,
            worst=float(share.max(initial=0.0)),
            # Without the release a value is certain only where the column has a single one.
            baseline=1.0 if len(values) == 1 else 0.0,
            raw=float(raw_sizes[raw_top == raw_sizes].sum()) / problem.rows,
            at_risk=certain,
            threshold=1.0,
            per_class=share,
            sentence=(
                f"The value of '{column}' is certain for {certain:,} of {problem.rows:,} people "
                f"({per_cent(certain / problem.rows)})."
            ),
        )


def _columns(problem: Problem) -> list[str]:
    return [name for name in problem.sensitive if name not in problem.quasi]


def _most_common(view: View, column: str) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return each class's size and the count of its most common sensitive value."""
    persons, counted = sensitive_histogram(view, column)
    return persons.sizes, counted.most
