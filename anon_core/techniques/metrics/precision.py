"""Precision (Prec): how much of the height of the hierarchies the cells have kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, cast

from anon_core.base.context import Context
from anon_core.base.registry import find, register
from anon_core.contracts.metric import Metric, MetricNeeds, MetricScale
from anon_core.release.outcome import Measure
from anon_core.release.problem import Problem
from anon_core.release.release import Release


@register("metric")
@dataclass(frozen=True, kw_only=True)
class Precision(Metric):
    """One minus the mean share of their hierarchies that cells climbed: higher is better."""

    name: ClassVar[str] = "precision"
    title: ClassVar[str] = "Precision"
    summary: ClassVar[str] = (
        "How much of the height of the hierarchies is left: 1 is unchanged, 0 is every cell at "
        "the top. More is better, as in its source; the common scale from 0 to 1 reverses it."
    )
    formula: ClassVar[str] = (
        "Prec = 1 − mean over cells of level / height; a suppressed row counts as the top. 0–1 "
        "form: 1 − Prec"
    )
    source: ClassVar[str] = "Sweeney 2002, doi 10.1142/S021848850200165X"
    scale: ClassVar[MetricScale] = MetricScale(unit="kept (more is better)", more_is_better=True)
    needs: ClassVar[MetricNeeds] = MetricNeeds(from_groups=True)

    def measure(self, problem: Problem, release: Release, context: Context) -> Measure:
        """Return Prec as the value, and what it lacks to 1 as the share."""
        kind = cast(type[Metric], find("metric", "generalization-height"))
        climbed = kind().measure(problem, release, context)
        return Measure(
            metric=self.name,
            value=1.0 - climbed.share,
            share=climbed.share,
            per_class=climbed.per_class,
            per_column=climbed.per_column,
        )
