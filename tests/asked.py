"""What a model's `measure` and an attack's `run` are handed of a table and a view of it."""

from __future__ import annotations

from anon_core.release.audience import Audience, audience_of
from anon_core.release.problem import Problem
from anon_core.release.reference import Reference, reference_of
from anon_core.release.release import View
from anon_core.release.truth import Truth, truth_of


def measured(problem: Problem, view: View) -> tuple[View, Audience, Reference]:
    """Return what `PrivacyModel.measure` takes before the context."""
    return view, audience_of(problem), reference_of(problem)


def attacked(problem: Problem, view: View) -> tuple[View, Audience, Truth]:
    """Return what `Attack.run` takes before the context."""
    return view, audience_of(problem), truth_of(problem)
