"""IL1s: how far changed numbers are from what they were, in standard deviations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.base.context import Context
from anon_core.base.registry import register
from anon_core.contracts.metric import Metric, MetricNeeds, MetricScale
from anon_core.release.changed_rows import ChangedColumn, changed_column
from anon_core.release.outcome import Measure
from anon_core.release.problem import Problem
from anon_core.release.release import Release


@register("metric")
@dataclass(frozen=True, kw_only=True)
class Il1s(Metric):
    """The mean over cells, where some software returns the sum (Mateo-Sanz et al. 2004)."""

    name: ClassVar[str] = "il1s"
    title: ClassVar[str] = "Distance from true values (IL1s)"
    summary: ClassVar[str] = (
        "How far the numbers of changed columns moved, in standard deviations of the column."
    )
    formula: ClassVar[str] = "mean over cells of |x − x'| / (√2 s), s of the original column"
    source: ClassVar[str] = (
        "Mateo-Sanz, Domingo-Ferrer and Sebé 2005, doi 10.1007/s10618-005-0011-9"
    )
    scale: ClassVar[MetricScale] = MetricScale(
        unit="standard deviations, over √2", headline="changes"
    )
    needs: ClassVar[MetricNeeds] = MetricNeeds(changed=True)

    def reason_not_applicable(self, problem: Problem) -> str:
        """Return why nothing can be measured, or an empty string."""
        return "" if _numbers(problem) else "It needs a changed column of numbers."

    def measure(self, problem: Problem, release: Release, context: Context) -> Measure:
        """Compare changed numbers with what they were."""
        found = {c.name: loss(c) for c in _numbers(problem)}
        mean = float(np.mean(list(found.values())))
        return Measure(
            metric=self.name,
            value=mean,
            share=min(mean, 1.0),
            per_column={name: min(lost, 1.0) for name, lost in found.items()},
        )


def _numbers(problem: Problem) -> list[ChangedColumn]:
    if problem.before is None:
        return []
    columns = [changed_column(problem.dataset, problem.before, n) for n in problem.replaced]
    return [c for c in columns if c.amount]


def loss(column: ChangedColumn) -> float:
    """Return the mean distance of a column's cells; cells without a value are left out."""
    present = ~np.isnan(column.was) & ~np.isnan(column.now)
    was, now = column.was[present], column.now[present]
    spread = float(np.std(was, ddof=1)) if len(was) > 1 else 0.0
    if spread <= 0:
        return float(np.any(was != now))
    return float(np.mean(np.abs(was - now)) / (np.sqrt(2) * spread))
