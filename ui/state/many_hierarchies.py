"""Hierarchies of many columns at once: from files by name, or proposed; one step to undo."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePath

import streamlit as st

from anon_core.base.errors import AnonError
from anon_core.base.terms import in_figures
from anon_core.data.hierarchy import parse_levels, propose_all
from anon_core.data.hierarchy.files.level_files import match_files
from anon_core.data.table import Dataset
from anon_core.recipe.plan import LevelTable
from ui.state import drafts, loading, state

_SAID = "hierarchies/many"
_MADE = "hierarchies/many_made"


@dataclass(frozen=True, kw_only=True)
class Line:
    """What became of one column or one file.

    Attributes
    ----------
    column, source : str
        Empty where there is none.
    height : int
        Levels above the values; 0 where nothing was taken over.
    why : str
        The reason, or what is wrong, as a sentence.
    """

    column: str
    source: str
    height: int
    why: str


def load(files: Sequence[loading.Opened]) -> None:
    """Give every column that a file is named after the hierarchy of that file."""
    data = state.typed_dataset()
    if data is None:
        return
    content = {PurePath(one.name).name: one for one in files}
    matched = match_files(tuple(content), data.names)
    lines: list[Line] = []

    def take() -> None:
        for column, name in matched.files.items():
            lines.append(_taken(data, column, name, lambda n=name, c=column: _read(content[n], c)))

    _as_one(lines, take)
    lines += [
        Line(column=column, source=", ".join(names), height=0, why="Several files fit; none taken.")
        for column, names in matched.unclear.items()
    ]
    lines += [
        Line(column="", source=name, height=0, why="No column is named like that.")
        for name in matched.left
    ]
    keep(lines)


def propose(columns: Sequence[str]) -> None:
    """Give these columns the best proposal for each."""
    data = state.typed_dataset()
    if data is None:
        return
    lines: list[Line] = []

    def take() -> None:
        for column, one in propose_all(data, columns).items():
            rows = [list(row) for row in one.rows]
            line = _taken(data, column, one.builder, lambda rows=rows: rows)
            lines.append(line if line.why else _with_reason(line, one.reason))

    _as_one(lines, take)
    keep(lines)


def said() -> tuple[Line, ...]:
    """Return what became of the last import or proposal, until it is put away."""
    return st.session_state.get(_SAID, ())


def keep(lines: Sequence[Line] = ()) -> None:
    """Keep what became of an import or proposal; nothing puts it away."""
    st.session_state[_SAID] = tuple(lines)


def can_undo() -> bool:
    """Return whether nothing was changed since, so that `undo` takes back what was said."""
    return st.session_state.get(_MADE) is state.choices()


def undo() -> None:
    """Take the last import or proposal back, for all columns together."""
    if can_undo() and state.undo():
        keep()


def _as_one(lines: list[Line], take: Callable[[], None]) -> None:
    before = state.choices()
    with state.one_change():
        take()
    st.session_state[_MADE] = state.choices() if state.choices() is not before else None
    lines.sort(key=lambda line: line.height == 0)


def _taken(data: Dataset, column: str, source: str, rows: Callable[[], LevelTable]) -> Line:
    try:
        of = data.column(column)
        drafts.put(of, table := rows())
        lacking = len(drafts.waiting(of))
    except AnonError as error:
        return Line(column=column, source=source, height=0, why=f"{error.message} {error.remedy}")
    verb = "waits" if lacking == 1 else "wait"
    wait = f"{in_figures(lacking, 'value')} {verb} in the builder for a place." if lacking else ""
    return Line(column=column, source=source, height=max(len(table[0]) - 1, 1), why=wait)


def _with_reason(line: Line, reason: str) -> Line:
    return Line(column=line.column, source=line.source, height=line.height, why=reason)


def _read(opened: loading.Opened, column: str) -> LevelTable:
    return parse_levels(loading.text_of(opened), column)
