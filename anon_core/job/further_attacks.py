"""Attack a finished release further: an attack that no run carries out unless it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..base.context import Context
from ..base.errors import BadPlan
from ..contracts.attack import Attack, not_applicable
from ..release.attack_result import AttackResult
from ..release.truth import truth_of
from .chances import chances
from .result import Result


def attack(result: Result, adversary: Attack, context: Context) -> Sequence[AttackResult]:
    """Attack what a run published, as the run itself would have done.

    Parameters
    ----------
    result : Result
    adversary : Attack
    context : Context
        For progress, cancel and deadline; what is drawn hangs on the plan's seed, the table and the
        attack alone.

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
    """Return the result with what an attack found, in place of what it found before.

    The plan names the attack then, so that a recipe of it attacks likewise.
    """
    name = adversary.name
    others = tuple(a for a in result.plan.attacks if a.name != name)
    kept = tuple(a for a in result.attacks if a.attack != name)
    plan = replace(result.plan, attacks=(*others, adversary))
    return replace(result, plan=plan, attacks=(*kept, *found))
