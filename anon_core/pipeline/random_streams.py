"""The random streams of a run: what the plan's seed gives on a table, a stream per use."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from anon_core.base.secret import key, stream
from anon_core.recipe.plan import Plan
from anon_core.release.problem import Problem


@dataclass(frozen=True, kw_only=True)
class Chances:
    """What a run draws from: what was drawn for one says nothing of another.

    Attributes
    ----------
    secret : bytes
        See `Context`. What is drawn with it is keyed by plan and table once more.
    attack : callable
        Given an attack's name, returns the `numpy.random.Generator` that it draws from: the same
        whether others run before it or not.
    """

    search: np.random.Generator
    measure: np.random.Generator
    publish: np.random.Generator
    secret: bytes
    attack: Callable[[str], np.random.Generator]


def chances(plan: Plan, problem: Problem) -> Chances:
    """Return what a plan draws from on a table."""
    of = drawn_for(plan, problem)
    return Chances(
        search=stream(plan.seed, "search", *of),
        measure=stream(plan.seed, "measure", *of),
        publish=stream(plan.seed, "publish", *of),
        secret=key(plan.seed, "protection"),
        attack=lambda name: stream(plan.seed, f"attack {name}", *of),
    )


def drawn_for(plan: Plan, problem: Problem) -> tuple[str, str]:
    """Return what has a part in all that is drawn: technique and privacy models, and the table.

    A seed that is used again, for the table of the next month or for another k, so gives draws
    that have nothing in common, and two releases cannot be laid over each other. The order of rows
    has no part.
    """
    named = plan.as_mapping()
    told = json.dumps([named[key] for key in ("algorithm", "models")], sort_keys=True)
    seen = hashlib.sha256(np.ascontiguousarray(problem.frequency.codes).data)
    seen.update(np.ascontiguousarray(problem.frequency.count).data)
    return told, seen.hexdigest()
