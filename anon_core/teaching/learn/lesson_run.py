"""Carry out the runs of a lesson on an example, and note every step."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from anon_core.base.compilation import interpreting
from anon_core.base.context import Context, Event
from anon_core.base.errors import BadInput, Infeasible, NotFound
from anon_core.data.roles.roles import Roles
from anon_core.pipeline.runner import run
from anon_core.recipe.plan import Plan
from anon_core.teaching.learn.example import Example
from anon_core.teaching.learn.lesson import Lesson, Step
from anon_core.teaching.learn.trace import Run, Trace, texts_of


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


def plan_of(lesson: Lesson, example: Example, name: str) -> Plan:
    """Return the plan of one of a lesson's runs."""
    asked = lesson.asked(name, example.material)
    technique = asked["algorithm"]["name"]
    given: Mapping[str, Any] = example.runs.get(name) or example.runs.get(technique) or {}
    roles = lesson.roles(name, example.material)
    seed = int.from_bytes(hashlib.sha256(f"lesson {lesson.name}, {name}".encode()).digest())
    # Nothing of a lesson is published, so that its chance need not be a secret, but the same.
    return Plan.from_mapping(
        {
            "seed": f"{seed:064x}",
            "types": dict(example.material.types),
            "roles": _named(roles),
            "algorithm": dict(given.get("algorithm", asked["algorithm"])),
            "models": [dict(one) for one in given.get("models", asked["models"])],
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
    return plan.algorithm.needs.public or any(model.needs_public for model in plan.models)


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
