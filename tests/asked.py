"""What a model's `measure` and an attack's `run` are handed, and what one metric finds."""

from __future__ import annotations

from typing import cast

from anon_core.base.context import Context
from anon_core.base.registry import find
from anon_core.contracts.metric import Metric
from anon_core.pipeline.result import Result
from anon_core.release.ground_truth import Truth, truth_of
from anon_core.release.knowledge.audience import Audience, audience_of
from anon_core.release.private_reference import Reference, reference_of
from anon_core.release.problem import Problem
from anon_core.release.release import View


def measured(problem: Problem, view: View) -> tuple[View, Audience, Reference]:
    """Return what `PrivacyModel.measure` takes before the context."""
    return view, audience_of(problem), reference_of(problem)


def attacked(problem: Problem, view: View) -> tuple[View, Audience, Truth]:
    """Return what `Attack.run` takes before the context."""
    return view, audience_of(problem), truth_of(problem)


def lost(result: Result, metric: str = "loss") -> float:
    """Return the value of one metric, of a run that did not assess its release."""
    asked = cast(Metric, find("metric", metric)())
    return asked.measure(result.problem, result.release, Context()).value
