"""Attack a finished release further: an attack that no run carries out unless it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from anon_core.base.context import Context, part_of
from anon_core.base.errors import BadPlan
from anon_core.base.registry import family
from anon_core.contracts.attack import Attack, not_applicable
from anon_core.contracts.metric import Metric, not_measured
from anon_core.data.table import Dataset
from anon_core.pipeline.random_streams import chances
from anon_core.pipeline.result import Result
from anon_core.recipe.earlier_release import EarlierFile, with_earlier
from anon_core.release.attack_result import AttackResult
from anon_core.release.ground_truth import truth_of


def attack(result: Result, adversary: Attack, context: Context) -> Sequence[AttackResult]:
    """Attack what a run published, as the run itself would have done.

    Parameters
    ----------
    context : Context
        For progress, cancel and deadline; draws depend on the plan's seed, the table and the attack
        alone.

    Raises
    ------
    BadPlan
        If the attack does not apply to what is published.
    """
    view = result.release.view
    why = not_applicable(adversary, view, result.audience)
    if why:
        raise BadPlan(
            f"{adversary.title} cannot be run on this release: {why}",
            remedy="Choose another attack, or another technique.",
        )
    truth = truth_of(result.problem, result.release)
    drawn = chances(result.plan, result.problem).attack(adversary.name)
    return adversary.run(view, result.audience, truth, replace(context, generator=drawn))


def attacked(result: Result, adversary: Attack, found: Sequence[AttackResult]) -> Result:
    """Return the result with what an attack found, instead of what it found before.

    The plan names the attack then, so that a recipe of it attacks likewise.
    """
    name = adversary.name
    others = tuple(a for a in result.plan.attacks if a.name != name)
    kept = tuple(a for a in result.attacks if a.attack != name)
    plan = replace(result.plan, attacks=(*others, adversary))
    return replace(result, plan=plan, attacks=(*kept, *found))


def against_earlier(
    result: Result, earlier: EarlierFile, table: Dataset, context: Context
) -> Result:
    """Lay an earlier release next to what a run published, and attack both together.

    Parameters
    ----------
    earlier : EarlierFile
        How a recipe names it.
    table : Dataset
        Its published table.

    Raises
    ------
    BadInput
        If its texts cannot be read.
    BadPlan
        If no attack on two releases applies to what is published.
    """
    plan = replace(result.plan, earlier=earlier)
    found = replace(result, plan=plan, problem=with_earlier(plan.earlier, result.problem, table))
    known = cast(dict[str, type[Attack]], family("attack"))
    asked = {a.name: a for a in plan.attacks}
    both = [asked.get(n) or kind() for n, kind in known.items() if kind.needs.earlier]
    reasons = {a.name: not_applicable(a, found.release.view, found.audience) for a in both}
    if all(reasons.values()):
        raise BadPlan(
            f"The two releases cannot be laid together: {next(iter(reasons.values()))}",
            remedy="Choose another file, or another technique.",
        )
    for number, one in enumerate(both):
        if not reasons[one.name]:
            part = part_of(context, number / len(both), (number + 1) / len(both))
            attacked = attack(found, one, part)
            kept = tuple(a for a in found.attacks if a.attack != one.name)
            found = replace(found, attacks=(*kept, *attacked))
    return found


# Measure a finished release further: by a metric that no run measures unless it is asked for.


def waiting_metrics(result: Result) -> dict[str, str]:
    """Return the metrics that are measured when asked for: why one cannot be, by name, or ""."""
    known = cast(dict[str, type[Metric]], family("metric"))
    return {
        name: _why_not(metric(), result)
        for name, metric in known.items()
        if not metric.use.by_default
    }


def measured_further(result: Result, metric: Metric, context: Context) -> Result:
    """Return the result with what a metric measures, instead of what it measured before.

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
    return not_measured(metric, result.problem, result.release)
