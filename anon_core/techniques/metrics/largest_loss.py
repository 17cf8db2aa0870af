"""Largest loss: the loss of the column that lost most, where none may be worse than so much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, cast

from anon_core.base.context import Context
from anon_core.base.registry import find, register
from anon_core.contracts.metric import Metric, MetricUse
from anon_core.release.outcome import Measure
from anon_core.release.problem import Problem
from anon_core.release.release import Release


@register("metric")
@dataclass(frozen=True, kw_only=True)
class LargestLoss(Metric):
    """Maximum over columns of the loss metric; a mean hides a column of which nothing is left."""

    name: ClassVar[str] = "largest-loss"
    title: ClassVar[str] = "Largest loss of a column"
    summary: ClassVar[str] = (
        "The loss of the column that lost most. 0 is unchanged, 1 is a column with nothing left."
    )
    formula: ClassVar[str] = "max over columns j of L_j, L_j the mean loss of its cells"
    source: ClassVar[str] = (
        "Iyengar 2002, doi 10.1145/775047.775089; the maximum of columns as in ARX: Prasser et al. "
        "2020, doi 10.1002/spe.2812"
    )
    use: ClassVar[MetricUse] = MetricUse(by_default=False)

    def measure(self, problem: Problem, release: Release, context: Context) -> Measure:
        """Return the largest of the columns' losses, with all of them."""
        loss = cast(Metric, find("metric", "loss")())
        each = loss.measure(problem, release, context).per_column
        value = max(each.values(), default=0.0)
        return Measure(metric=self.name, value=value, share=value, per_column=each)
