"""The lowest and highest level that each quasi-identifier may be published at, as two handles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from anon_core.contracts.algorithm import Algorithm
from anon_core.data.hierarchy.model import TOP
from ui.forms.draft_sync import follow
from ui.state import state
from ui.state.work.fragments import folded
from ui.words.escaping import changed, plain

#: Recipe's table: by column ``least``, ``most`` or both.
Table = dict[str, dict[str, int]]
#: Letters of an example.
_MOST = 18


def draw(draft: dict[str, Any], technique: Algorithm) -> Table:
    """Draw a drawer with the levels of each quasi-identifier; return the recipe's table.

    A technique that has no level for a whole column is refused with bounds: there is nothing
    to set then but to remove them.
    """
    present = held(draft)
    if not state.roles().quasi or not (technique.keeps_level_bounds() or present):
        return present
    return folded(
        lambda now: f"Levels of columns · {changed(list(held(now)), usual='any')}",
        lambda: _each(state.draft()),
        lambda: held(state.draft()),
        key="run/level-bounds",
    )


def held(draft: dict[str, Any]) -> Table:
    """Return what `draw` returns where no one changes anything."""
    present: Table = draft.get("level_bounds") or {}
    return {name: dict(ends) for name, ends in present.items() if name in state.roles().quasi}


def _each(draft: dict[str, Any]) -> Table:
    st.caption(
        "Level 0 is the values themselves. The search chooses a level between the two handles; "
        "drag one to keep a column fine or coarse enough."
    )
    present, tables = held(draft), state.levels()
    found: Table = {}
    for name in state.roles().quasi:
        rows = tables.get(name, [])
        height = max(len(rows[0]) - 1, 1) if rows else 1
        low, high = handles(name, rows, height, present.get(name, {}), key=f"level-bounds/{name}")
        if ends := bounds(low, high, height):
            found[name] = ends
    return found


def bounds(low: int, high: int, height: int) -> dict[str, int]:
    """Return what a recipe says of a column: the ends that leave something out."""
    return {**({"least": low} if low else {}), **({"most": high} if high < height else {})}


def handles(
    name: str,
    rows: Sequence[Sequence[str]],
    height: int,
    ends: dict[str, int],
    *,
    key: str,
    now: int | None = None,
    on_change: Callable[..., None] | None = None,
) -> tuple[int, int]:
    """Draw the two handles of a column; return its lowest and highest level.

    Parameters
    ----------
    name : str
    rows : sequence of sequences of str
        The column's level table; what its first value becomes represents a level.
    height : int
        The highest level there is.
    ends : dict of str to int
        As the recipe has them.
    key : str
        The widget's.
    now : int, optional
        The level of the result that is shown.
    on_change : callable, optional
        Called with the column's name.
    """
    high = min(ends.get("most", height), height)
    shown = follow(key, (min(ends.get("least", 0), high), high))
    label = plain(name) if now is None else f"{plain(name)} · now {level_named(now, rows, height)}"
    chosen = st.select_slider(
        label,
        range(height + 1),
        value=shown,
        format_func=lambda level: level_named(level, rows, height),
        key=key,
        on_change=on_change,
        args=(name,) if on_change is not None else None,
    )
    return int(chosen[0]), int(chosen[1])


def level_named(level: int, rows: Sequence[Sequence[str]], height: int) -> str:
    """Return a level with what the first value becomes there."""
    first = [*(rows[0] if rows else ()), *[TOP] * (height + 1)]
    of = {0: "exact", height: "hidden"}.get(level, first[level])
    return f"{level} · {of[:_MOST]}{'…' if len(of) > _MOST else ''}"
