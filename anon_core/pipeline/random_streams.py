"""The random streams of a run: what the plan's seed gives on a table, a stream per use."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_core.base.secret import key, stream
from anon_core.data.frequency import dense_rank
from anon_core.recipe.plan import Plan
from anon_core.release.problem import Problem, paired


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
    has no part, nor has what persons are called.
    """
    named = plan.as_mapping()
    recipe = json.dumps([named[key] for key in ("algorithm", "models")], sort_keys=True)
    seen = hashlib.sha256()
    for part in _content(problem):
        seen.update(np.ascontiguousarray(part).data)
    return recipe, seen.hexdigest()


def _content(problem: Problem) -> tuple[npt.NDArray[Any], ...]:
    """Return what the frequency set says, whatever persons are called.

    Where persons have several rows, it is how many rows there are of each key and which keys belong
    to one person: a sum of hashes per person, in ascending order.
    """
    frequency = problem.frequency
    if not problem.person:
        return frequency.codes, frequency.count
    of_person = paired(problem.person, "")
    others = [
        d
        for d, name in enumerate(frequency.columns)
        if name != problem.person and not name.startswith(of_person)
    ]
    codes = [frequency.codes[:, d] for d in others]
    tuples, first = dense_rank(codes, [int(one.max(initial=0)) + 1 for one in codes])
    count = np.bincount(tuples, frequency.count, len(first)).astype(np.int64)
    hashed = _mixed(tuples * (frequency.count.max(initial=0) + 1) + frequency.count)
    own = np.zeros(int(problem.key_person.max(initial=0)) + 1, dtype=np.uint64)
    np.add.at(own, problem.key_person, hashed)
    return frequency.codes[first][:, others], count, np.sort(own)


def _mixed(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    """Return a hash of each number (SplitMix64; Steele, Lea and Flood 2014)."""
    found = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    found = (found ^ (found >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    found = (found ^ (found >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return found ^ (found >> np.uint64(31))
