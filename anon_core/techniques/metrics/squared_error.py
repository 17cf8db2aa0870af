"""Squared error within classes, as a share of the table's own spread (SSE/SST)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import F64, weighted_sum
from anon_core.base.context import Context
from anon_core.base.errors import AnonError
from anon_core.base.registry import register
from anon_core.contracts.metric import Metric
from anon_core.data.values.kinds import KINDS
from anon_core.release.outcome import Measure
from anon_core.release.problem import Problem
from anon_core.release.release import Release


@register("metric")
@dataclass(frozen=True, kw_only=True)
class SquaredError(Metric):
    """Squared distance of values from what represents their class; suppressed rows lose all."""

    name: ClassVar[str] = "squared-error"
    title: ClassVar[str] = "Squared error (SSE / SST)"
    summary: ClassVar[str] = (
        "How much of the spread of numeric quasi-identifiers lies within classes. This part is "
        "lost if each number becomes its class's published average, or the mean of a class that "
        "publishes a range."
    )
    formula: ClassVar[str] = (
        "SSE / SST = Σ (x − x̄ of the class)² / Σ (x − x̄)², per column; mean over columns of "
        "numbers. A suppressed row or a suppressed number is taken for the column's mean"
    )
    source: ClassVar[str] = "Domingo-Ferrer and Mateo-Sanz 2002, doi 10.1109/69.979982"

    def reason_not_applicable(self, problem: Problem) -> str:
        """Return why nothing can be measured, or an empty string."""
        return "" if _numbers(problem) else "It needs a quasi-identifier of numbers."

    def measure(self, problem: Problem, release: Release, context: Context) -> Measure:
        """Compare values with what represents them, class by class.

        Raises
        ------
        AnonError
            If no quasi-identifier is a number.
        """
        if self.reason_not_applicable(problem):
            raise AnonError(self.reason_not_applicable(problem), remedy="Choose another metric.")
        found = {name: _share(problem, release, name) for name in _numbers(problem)}
        total = float(np.mean(list(found.values())))
        # Rounded averages can be farther off than the column's mean is.
        return Measure(
            metric=self.name,
            value=total,
            share=min(total, 1.0),
            per_column={name: min(lost, 1.0) for name, lost in found.items()},
        )


def _numbers(problem: Problem) -> list[str]:
    return [n for n in problem.quasi if KINDS[problem.dataset.column(n).kind].amount]


def _share(problem: Problem, release: Release, name: str) -> float:
    hierarchy, frequency = problem.hierarchies[name], problem.frequency
    grouping = release.grouping
    measure = hierarchy.measure
    if measure is None:
        return 0.0
    value = measure[frequency.codes[grouping.key, frequency.columns.index(name)]]
    present = ~np.isnan(value)
    if not present.any():
        return 0.0
    value, count, member = value[present], grouping.count[present], grouping.member[present]
    mean = float(np.average(value, weights=count))
    value = value - mean  # from here on the column's mean is 0
    spread = weighted_sum(value * value, count)
    if spread <= 0:
        return 0.0
    kept = member >= 0
    published = np.zeros(len(value))
    published[kept] = _standing(release, name, value[kept], count[kept], member[kept], mean)[
        member[kept]
    ]
    off = value - published
    return weighted_sum(off * off, count) / spread


def _standing(
    release: Release,
    name: str,
    value: F64,
    count: npt.NDArray[np.int64],
    member: npt.NDArray[np.int64],
    mean: float,
) -> F64:
    """Return the number that represents each class, less the column's mean, shape (classes,)."""
    shown = release.vocabularies[name].shown
    if shown is not None:
        return np.nan_to_num(shown[release.cells[name]] - mean)
    classes = release.grouping.classes
    rows = np.bincount(member, weights=count, minlength=classes)
    total = np.bincount(member, weights=count * value, minlength=classes)
    return total / np.maximum(rows, 1.0)
