"""Measure a finished release further: by a metric that no run measures unless it is asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from anon_core.base.context import Context
from anon_core.base.errors import BadPlan
from anon_core.base.registry import family
from anon_core.contracts.metric import Metric
from anon_core.pipeline.result import Result


def waiting_metrics(result: Result) -> dict[str, str]:
    """Return the metrics that are measured when asked for: why one cannot be, by name, or ""."""
    known = cast(dict[str, type[Metric]], family("metric"))
    return {
        name: _why_not(metric(), result) for name, metric in known.items() if not metric.by_default
    }


def measured_further(result: Result, metric: Metric, context: Context) -> Result:
    """Return the result with what a metric measures, in place of what it measured before.

    The plan names the metric then, so that a recipe of it measures likewise.

    Raises
    ------
    BadPlan
        If the metric is not defined here.
    AnonError
        If what it needs is not installed.
    """
    why = _why_not(metric, result)
    if why:
        raise BadPlan(
            f"{metric.title} cannot be measured on this release: {why}",
            remedy="Choose another metric.",
        )
    found = metric.measure(result.problem, result.release, context)
    others = tuple(m for m in result.plan.metrics if m.name != metric.name)
    plan = replace(result.plan, metrics=(*others, metric))
    return replace(result, plan=plan, measures={**result.measures, metric.name: found})


def _why_not(metric: Metric, result: Result) -> str:
    return metric.reason_not_applicable(result.problem) or metric.not_defined_for(result.release)
