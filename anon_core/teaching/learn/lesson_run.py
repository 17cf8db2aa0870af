"""Carry out the runs of a lesson on an example, and measure what they publish."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import numpy as np

from anon_core.base.context import Context, Event
from anon_core.base.errors import BadInput, Infeasible, NotFound, listing
from anon_core.base.registry import find
from anon_core.contracts.attack import Attack, not_applicable
from anon_core.contracts.metric import Metric
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import buckets_of_rows
from anon_core.data.roles.roles import Roles
from anon_core.methods.partition.merging import group_stats
from anon_core.pipeline.compilation import interpreting
from anon_core.pipeline.runner import run
from anon_core.recipe.plan import Plan
from anon_core.release.attack_result import AttackResult
from anon_core.release.ground_truth import truth_of
from anon_core.release.knowledge.audience import audience_of
from anon_core.release.outcome import Measure
from anon_core.release.private_reference import reference_of
from anon_core.teaching.learn.example import Example
from anon_core.teaching.learn.lesson import Lesson, Step
from anon_core.teaching.learn.trace import Run, Trace, texts_of

#: What a lesson says of a run.
_KINDS = ("algorithm", "models", "changes")


def read(lesson: Lesson, example: Example) -> tuple[Trace, tuple[Step, ...]]:
    """Carry out a lesson's runs on an example, and make its steps; see `traced`.

    Tables of lessons are so small that no loop is worth a wait for its compiler: those the disk
    does not keep are interpreted.
    """
    with interpreting():
        trace = traced(lesson, example)
        return trace, tuple(lesson.steps(trace))


def traced(lesson: Lesson, example: Example) -> Trace:
    """Carry out the runs of a lesson on an example, and note every step.

    Raises
    ------
    AnonError
        What a run raises: where privacy models cannot be kept on this table, for example.
    BadInput
        If the lesson cannot be drawn on it.
    """
    runs: dict[str, Run] = {}
    refused: dict[str, str] = {}
    for name in lesson.runs:
        try:
            runs[name] = _run(lesson, plan_of(lesson, example, name), example)
        except (Infeasible, NotFound) as error:
            if name not in lesson.may_refuse or not runs:
                raise
            refused[name] = error.message
    found = Trace(example=example, runs=runs, person=_person(example), refused=refused)
    if why := lesson.refuses(found):
        raise BadInput(why, remedy="Read the lesson on its own example, or load a smaller table.")
    return found


def moved(lesson: Lesson, example: Example, setting: float | None, shuffle: int = 0) -> Example:
    """Return an example with the lesson's dial and its random numbers elsewhere.

    Raises
    ------
    BadInput
        If the dial has no such place.
    """
    read = example.material  # once, wherever the dial is put
    if setting is None or setting == setting_of(lesson, example):
        return replace(example, given=read, setting=None, shuffle=shuffle)
    places = settings_of(lesson, example)
    if setting not in places:
        known = listing([f"{one:g}" for one in places])
        raise BadInput(
            f"The lesson cannot be read with {setting:g}; its settings are {known or 'fixed'}.",
            remedy="Choose one of these." if places else "Leave the setting out of the address.",
        )
    # Of what kind of number the setting is, its place knows: an address has texts.
    return replace(example, given=read, setting=places[places.index(setting)], shuffle=shuffle)


def settings_of(lesson: Lesson, example: Example) -> tuple[float, ...]:
    """Return where the lesson's dial can be put on an example; empty where it has none."""
    own = setting_of(lesson, example)
    if lesson.dial is None or own is None:
        return ()
    return tuple(sorted({*lesson.dial.values, own}))


def setting_of(lesson: Lesson, example: Example) -> float | None:
    """Return where an example has the lesson's dial; None where there is none."""
    if lesson.dial is None:
        return None
    found = (lesson.dial.at(name, _asked(lesson, example, name)) for name in lesson.runs)
    return next((value for value in found if value is not None), lesson.dial.begins)


def shuffles(lesson: Lesson, example: Example) -> bool:
    """Say whether a lesson shows what chance decides, so that it can be drawn again."""
    return lesson.draws or any(plan_of(lesson, example, name).draws for name in lesson.runs)


def _asked(lesson: Lesson, example: Example, name: str) -> dict[str, Any]:
    """Return technique and privacy models of a run as the example has them."""
    asked = lesson.asked(name, example.material)
    technique = asked["algorithm"]["name"]
    given: Mapping[str, Any] = example.runs.get(name) or example.runs.get(technique) or {}
    return {kind: given.get(kind, asked.get(kind, ())) for kind in _KINDS}


def plan_of(lesson: Lesson, example: Example, name: str) -> Plan:
    """Return the plan of one of a lesson's runs."""
    asked = _asked(lesson, example, name)
    if lesson.dial is not None:
        asked = lesson.dial.turned(name, asked, example.setting)
    roles = lesson.roles(name, example.material)
    of = f"lesson {lesson.name}, {name}" + (f", {example.shuffle}" if example.shuffle else "")
    seed = int.from_bytes(hashlib.sha256(of.encode()).digest())
    # Nothing of a lesson is published, so that its chance need not be a secret, but the same.
    return Plan.from_mapping(
        {
            "seed": f"{seed:064x}",
            "types": dict(example.material.types),
            "roles": _named(roles),
            "algorithm": dict(asked["algorithm"]),
            "models": [dict(one) for one in asked["models"]],
            "changes": [dict(one) for one in asked["changes"]],
        }
    )


def _named(roles: Roles) -> dict[str, list[str]]:
    """Return the roles that a lesson needs: what is insensitive is left out of it."""
    found = {
        "identifier": list(roles.identifier),
        "quasi": list(roles.quasi),
        "sensitive": list(roles.sensitive),
    }
    return {role: names for role, names in found.items() if names}


def _run(lesson: Lesson, plan: Plan, example: Example) -> Run:
    events: list[Event] = []
    material = example.material
    named = {*plan.roles.quasi, *plan.roles.sensitive}
    result = run(
        plan,
        material.dataset,
        {name: rows for name, rows in material.levels.items() if name in named},
        population=lesson.population(material) if _needs_public(plan) else None,
        context=Context(listener=events.append),
        assess=False,
    )
    return Run(result=result, events=tuple(events))


def _needs_public(plan: Plan) -> bool:
    return plan.algorithm.needs.public or any(model.scope.public for model in plan.models)


def quiet_run(lesson: Lesson, example: Example, name: str) -> Run:
    """Return one of a lesson's runs where no one listens; what is found must be the same."""
    found = _run(lesson, plan_of(lesson, example, name), example)
    return replace(found, events=())


def _person(example: Example) -> int:
    material = example.material
    for name in material.dataset.names:
        texts = texts_of(material, name)
        if example.person and example.person in texts:
            return texts.index(example.person)
    return example.names.index(example.person) if example.person in example.names else 0


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
