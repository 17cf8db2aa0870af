"""What a metric must offer: a measure of what a release lost."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, cast

from anon_core.base.context import Context
from anon_core.base.params import Technique
from anon_core.base.registry import family
from anon_core.contracts.model import PrivacyModel
from anon_core.release.outcome import Measure
from anon_core.release.problem import Problem
from anon_core.release.release import Release

#: What a release's one figure of loss is of; empty where a metric is not that.
Headline = Literal["", "cells", "groups", "changes"]


@dataclass(frozen=True, kw_only=True)
class MetricScale:
    """What the value of a metric means.

    Attributes
    ----------
    unit : str
        What one unit of `Measure.value` is.
    more_is_better : bool
        Whether a higher `Measure.value` is better, as a source may have it; a lower share always
        is.
    headline : {'', 'cells', 'groups', 'changes'}
        Where it is what a release lost in one figure: of its cells, of its groups, or of values
        that were changed before.
    size_parameter : str
        The parameter that is the size of a group it counts in; empty where it counts in none.
    counts_links : bool
        Whether it means the same whether cells are coarser or links are cut.
    """

    unit: str = "share"
    more_is_better: bool = False
    headline: Headline = ""
    size_parameter: str = ""
    counts_links: bool = False


@dataclass(frozen=True, kw_only=True)
class MetricNeeds:
    """What a metric is about.

    Attributes
    ----------
    from_groups : bool
        Whether it is the same whatever values are behind a published cell, so that a table which
        was counted at coarser levels shows it.
    changed : bool
        Whether it is about columns that were changed before, and nothing else.
    """

    from_groups: bool = False
    changed: bool = False


@dataclass(frozen=True, kw_only=True)
class MetricUse:
    """When a metric is measured.

    Attributes
    ----------
    by_default : bool
        Whether every run measures it; else it is measured where a recipe names it, since it takes
        its time.
    at_once : bool
        Whether it is fast compared with a search, and so among the first figures of a run.
    """

    by_default: bool = True
    at_once: bool = True


class Metric(Technique):
    """A measure of what a release lost; lower is better, unless its class says otherwise."""

    scale: ClassVar[MetricScale] = MetricScale()
    needs: ClassVar[MetricNeeds] = MetricNeeds()
    use: ClassVar[MetricUse] = MetricUse()

    @abstractmethod
    def measure(self, problem: Problem, release: Release, context: Context) -> Measure:
        """Measure a release."""

    def reason_not_applicable(self, problem: Problem) -> str:
        """Return why the metric has nothing to measure in this table, or an empty string."""
        return ""

    def not_defined_for(self, release: Release) -> str:
        """Return why the metric is not defined for a release of this form, or an empty string."""
        return ""


def not_measured(metric: Metric, problem: Problem, release: Release) -> str:
    """Return why a metric has nothing to measure in a release, or an empty string."""
    if metric.needs.changed and not problem.replaced:
        return "It is about columns whose values were replaced, and there are none."
    if problem.replaced and not metric.needs.changed:
        known = any(n in problem.quasi for n in problem.replaced)
        if known or (
            metric.scale.counts_links and any(n in problem.sensitive for n in problem.replaced)
        ):
            return "Values were replaced, and it would compare them with themselves."
    return metric.reason_not_applicable(problem) or metric.not_defined_for(release)


def in_units_of(metric: type[Metric], models: Sequence[PrivacyModel]) -> Metric:
    """Return a metric as the privacy models set it: C_AVG counts in the k that was asked for."""
    asked = max((model.size_asked for model in models), default=0)
    if asked and metric.scale.size_parameter:
        return metric.from_mapping({metric.scale.size_parameter: asked})
    return metric()


def headline(of: Headline) -> str:
    """Return the name of the metric that says in one figure what a release lost."""
    return next(
        n for n, m in family("metric").items() if cast(type[Metric], m).scale.headline == of
    )
