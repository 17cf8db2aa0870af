"""What attacks of the workbench find in a run of a lesson: none is computed for show."""

from __future__ import annotations

from typing import cast

from anon_core.base.context import Context
from anon_core.base.registry import find
from anon_core.contracts.attack import Attack, not_applicable
from anon_core.release.attack_result import AttackResult
from anon_core.release.audience import audience_of
from anon_core.release.ground_truth import truth_of
from anon_core.teaching.learn.trace import Run


def attacked(run: Run, attack: str, **parameters: object) -> AttackResult | None:
    """Return what an attack finds in what a run publishes, of the first sensitive column.

    None where it cannot be tried, as where nothing says which values are alike.

    Parameters
    ----------
    attack : str
        Its name in the registry.
    **parameters : object
        Its parameters, as a recipe has them.
    """
    tried = cast(Attack, find("attack", attack)(**parameters))
    problem = run.result.problem
    view, audience = run.release.view, audience_of(problem)
    if not_applicable(tried, view, audience):
        return None
    found = tried.run(view, audience, truth_of(problem, run.release), Context())
    return found[0] if found else None
