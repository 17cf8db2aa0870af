"""What a lesson is made of: the runs on its table, each with every step that it reported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Event
from anon_core.data.table import MISSING
from anon_core.pipeline.result import Result
from anon_core.release.problem import Problem
from anon_core.release.release import Release
from anon_core.teaching.learn.example import Example, Material


@dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """A run on the table of a lesson.

    Attributes
    ----------
    events : tuple of Event
        Every step that was reported, in order; `docs/lessons.md` lists their kinds and facts.
    """

    result: Result
    events: tuple[Event, ...]

    @property
    def release(self) -> Release:
        """What is published."""
        return self.result.release

    def events_of(self, *kinds: str) -> tuple[Event, ...]:
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

    def as_printed(self, example: str) -> bool:
        """Say whether this is that example, with the settings that its source has."""
        return self.example.name == example and self.example.as_given

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


def rows_of_tuples(run: Run) -> list[npt.NDArray[np.int64]]:
    """Return the rows of the table that are behind each tuple that cuts are reported in.

    Rows that are alike in every column are behind tuples of one key, in some order; they are
    those of the part that the tuple ends in.
    """
    (event,) = run.events_of("tuples")
    frequency, group = run.result.problem.frequency, run.result.row_group
    key = frequency.row_key
    if "runs" in event.facts:
        runs: Any = event.facts["runs"]
        of_row = frequency.run[key]
        return [np.flatnonzero(of_row == r) for r in np.asarray(runs).tolist()]
    keys = np.asarray(event.facts["keys"])
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
    (listed,) = run.events_of("tuples")
    numbered: Any = listed.facts.get("runs", listed.facts.get("keys"))
    parts: list[frozenset[int]] = [frozenset(range(len(numbered)))]
    for event in run.events_of("cut"):
        pieces: Any = event.facts["pieces"]
        new = [frozenset(np.asarray(piece).tolist()) for piece in pieces]
        parts.remove(frozenset().union(*new))
        parts += new
    return [sorted(part) for part in parts]
