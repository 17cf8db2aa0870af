"""What models, metrics and attacks find in the run of a lesson: nothing is computed for show."""

from __future__ import annotations

from typing import cast

import numpy as np

from anon_core.base.context import Context
from anon_core.base.registry import find
from anon_core.contracts.attack import Attack, not_applicable
from anon_core.contracts.metric import Metric
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import buckets_of_rows
from anon_core.methods.partition.merging import group_stats
from anon_core.release.attack_result import AttackResult
from anon_core.release.ground_truth import truth_of
from anon_core.release.knowledge.audience import audience_of
from anon_core.release.outcome import Measure
from anon_core.release.private_reference import reference_of
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


def measured(run: Run, metric: str, **parameters: object) -> Measure:
    """Return what a metric measures of a run, by its name in the registry."""
    found = cast(Metric, find("metric", metric)(**parameters))
    return found.measure(run.result.problem, run.release, Context())


def classes_that_keep(run: Run, model: str, **parameters: object) -> tuple[bool, ...]:
    """Say of every class of a run whether it keeps a model, as searches ask it of the model."""
    asked = cast(GroupModel, find("model", model)(**parameters))
    problem = run.result.problem
    group = np.asarray(run.together, dtype=np.int64)
    kept = group >= 0
    buckets = buckets_of_rows(problem.frequency.row_key[kept], group[kept])
    stats = group_stats(problem, [asked], buckets)
    return tuple(asked.per_group(stats, reference_of(problem)).tolist())
