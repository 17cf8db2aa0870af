"""What a lesson is made of: the runs on its table, each with every step that it told."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..base.context import Context, Event
from ..base.errors import BadInput, Infeasible, NotFound
from ..data.roles import Roles
from ..data.table import MISSING
from ..job.plan import Plan
from ..job.result import Result
from ..job.runner import run
from ..release.problem import Problem
from ..release.release import Release
from .example import Example, Material
from .lesson import Lesson


@dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """A run on the table of a lesson.

    Attributes
    ----------
    result : Result
    events : tuple of Event
        Every step that was told, in order; `docs/lessons.md` lists their kinds and facts.
    """

    result: Result
    events: tuple[Event, ...]

    @property
    def release(self) -> Release:
        """What is published."""
        return self.result.release

    def told(self, *kinds: str) -> tuple[Event, ...]:
        """Return the events of some kinds, in order."""
        return tuple(event for event in self.events if event.kind in kinds)

    @cached_property
    def together(self) -> tuple[int, ...]:
        """Group of every row of the table, -1 where it is suppressed."""
        return tuple(self.result.row_group.tolist())

    def published(self, column: str) -> tuple[str, ...]:
        """Return what each row of the table publishes in a column, `*` where it is suppressed.

        For releases whose rows stay whole.
        """
        release = self.release
        if column not in release.cells:
            return texts_of(release.problem, column)
        texts = release.vocabularies[column].texts
        _, classes = np.unique(release.seen_group, return_index=True)
        said = [texts[code] for code in release.cells[column][classes].tolist()]
        return tuple("*" if group < 0 else said[group] for group in self.together)


@dataclass(frozen=True, kw_only=True, eq=False)
class Trace:
    """The runs of a lesson on one example.

    Attributes
    ----------
    example : Example
    runs : mapping of str to Run
        By the names that the lesson gives them.
    person : int
        The row that is followed first.
    refused : mapping of str to str
        Runs that found nothing to publish, by name, with what was said.
    """

    example: Example
    runs: Mapping[str, Run]
    person: int
    refused: Mapping[str, str] = field(default_factory=dict[str, str])

    def __getitem__(self, name: str) -> Run:
        """Return a run by its name."""
        return self.runs[name]

    @property
    def material(self) -> Material:
        """The table and what is said of it."""
        return self.example.material

    @cached_property
    def problem(self) -> Problem:
        """The table as the first run searched it."""
        return next(iter(self.runs.values())).result.problem

    @property
    def rows(self) -> int:
        """Rows of the table."""
        return self.material.dataset.rows

    @property
    def quasi(self) -> tuple[str, ...]:
        """Quasi-identifiers of the first run."""
        return self.problem.quasi

    @property
    def sensitive(self) -> tuple[str, ...]:
        """Sensitive columns of the first run."""
        return self.problem.sensitive

    def texts(self, column: str) -> tuple[str, ...]:
        """Return a column of the table as it was read."""
        return texts_of(self.material, column)

    def name_of(self, row: int) -> str:
        """Return what a row is called: by its identifier where there is one, else by its number."""
        identifier, names = self.material.roles.identifier, self.example.names
        if row < len(names) and names[row]:
            return names[row]
        return self.texts(identifier[0])[row] if identifier else f"row {row + 1}"

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What every row is called."""
        return tuple(self.name_of(row) for row in range(self.rows))


def texts_of(of: Material | Problem, column: str) -> tuple[str, ...]:
    """Return a column as texts, shape (rows,); missing values as they are published."""
    return tuple(MISSING if t is None else str(t) for t in of.dataset.column(column).texts())


def traced(lesson: Lesson, example: Example) -> Trace:
    """Carry out the runs of a lesson on an example, and note every step.

    Raises
    ------
    AnonError
        What a run raises: where promises cannot be kept on this table, for example.
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
    return plan.algorithm.needs_public or any(model.needs_public for model in plan.models)


def quiet_run(lesson: Lesson, example: Example, name: str) -> Run:
    """Return one of a lesson's runs where nobody listens; what is found must be the same."""
    found = _run(lesson, plan_of(lesson, example, name), example)
    return replace(found, events=())


def _person(example: Example) -> int:
    material = example.material
    for name in material.dataset.names:
        texts = texts_of(material, name)
        if example.person and example.person in texts:
            return texts.index(example.person)
    return example.names.index(example.person) if example.person in example.names else 0


def rows_of_tuples(run: Run) -> list[npt.NDArray[np.int64]]:
    """Return the rows of the table that stand behind each tuple that cuts are told in.

    Rows that are alike in every column stand behind tuples of one key, in some order; they are
    those of the part that the tuple ends in.
    """
    (told,) = run.told("tuples")
    frequency, group = run.result.problem.frequency, run.result.row_group
    key = frequency.row_key
    if "runs" in told.facts:
        runs: Any = told.facts["runs"]
        of_row = frequency.run[key]
        return [np.flatnonzero(of_row == r) for r in np.asarray(runs).tolist()]
    keys = np.asarray(told.facts["keys"])
    left = {g: np.flatnonzero(group == g).tolist() for g in np.unique(group).tolist()}
    parts = list(final_parts(run))
    own = _groups_of(
        [Counter(keys[p].tolist()) for p in parts],
        {g: Counter(key[rows].tolist()) for g, rows in left.items()},
    )
    found: list[npt.NDArray[np.int64]] = [np.empty(0, dtype=np.int64)] * len(keys)
    for part, g in zip(parts, own, strict=True):
        for place in part:
            row = next(r for r in left[g] if key[r] == keys[place])
            left[g].remove(row)
            found[place] = np.array([row], dtype=np.int64)
    return found


def _groups_of(parts: Sequence[Counter[int]], groups: Mapping[int, Counter[int]]) -> list[int]:
    """Return the group that holds each part: parts that publish the same are one group.

    The keys of a group's parts are those of the group, so that one choice uses up all of them.
    """
    if not parts:
        return []
    for g, keys in groups.items():
        if parts[0] <= keys:
            with suppress(LookupError):
                rest = {**groups, g: keys - parts[0]}
                return [g, *_groups_of(parts[1:], rest)]
    raise LookupError


def final_parts(run: Run) -> Sequence[list[int]]:
    """Return the tuples of every part that cuts leave."""
    (told,) = run.told("tuples")
    numbered: Any = told.facts.get("runs", told.facts.get("keys"))
    parts: list[frozenset[int]] = [frozenset(range(len(numbered)))]
    for event in run.told("cut"):
        pieces: Any = event.facts["pieces"]
        new = [frozenset(np.asarray(piece).tolist()) for piece in pieces]
        parts.remove(frozenset().union(*new))
        parts += new
    return [sorted(part) for part in parts]
