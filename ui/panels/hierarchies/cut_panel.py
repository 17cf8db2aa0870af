"""Cut points of a column of numbers or dates while they are dragged: what is drawn and asked for.

The cuts are read from the draft's own level table, so that the tree builder, undo and files see
the same hierarchy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, cast

import streamlit as st

from anon_core.base.errors import AnonError, BadHierarchy
from anon_core.base.terms import in_figures
from anon_core.data.column import Column
from anon_core.data.hierarchy import to_rows
from anon_core.data.hierarchy.edit import cutting
from anon_core.data.hierarchy.histogram import axis
from anon_core.data.hierarchy.intervals import Cuts, Interval, cut, intervals
from anon_core.data.hierarchy.propose import starts
from anon_core.data.values.kinds import KINDS
from ui.state import drafts, state

_KEY = "cuts"
#: Most levels that are drawn.
MOST_LEVELS = 8


def can_be_cut(column: Column) -> bool:
    """Return whether a column has at least two values that can be shown on a line."""
    return bool(KINDS[column.kind].line) and len(column.values) > 1


def message(column: Column) -> dict[str, Any]:
    """Return what the component draws.

    Raises
    ------
    AnonError
        If the column's level table is no hierarchy of it.
    """
    work = drafts.work(column)
    draft = work.history.draft
    rows = to_rows(draft)
    cuts = cutting.cuts_of(column, rows)
    line = axis(column, cuts)
    names = cutting.names_of(column, rows)
    kept = _kept(column)
    return {
        "epoch": _epoch(column),
        "rev": kept["rev"],
        "column": column.name,
        "kind": KINDS[column.kind].line,
        "values": line.values,
        "places": line.places,
        "bars": [[b.low, b.high, b.begin, b.end, b.rows, b.height] for b in line.bars],
        "marks": line.marks,
        "stretched": line.stretched,
        "step": line.step,
        "whole": line.step >= 1 and all(value.is_integer() for value in line.values),
        "levels": cuts.levels,
        "intervals": [
            [
                [_end(one.low), _end(one.high), own.get(one.low, one.label), one.rows, one.values]
                for one in level
            ]
            for level, own in zip(intervals(column, cuts, also=draft.leaves), names, strict=True)
        ],
        "open_bottom": cuts.open_bottom,
        "open_top": cuts.open_top,
        "style": cuts.style,
        "rows": int(column.counts.sum()),
        "named": _is_named(column, cuts),
        "undo": bool(work.history.past),
        "redo": bool(work.history.future),
        "said": kept["said"],
        "error": kept["error"],
    }


def edit(column: Column, asked: Mapping[str, Any]) -> None:
    """Carry out what the component asks for; a refusal is kept for it to show."""
    kept = _kept(column)
    rev = asked.get("rev")
    if asked.get("epoch") != _epoch(column) or not isinstance(rev, int) or rev <= kept["rev"]:
        return  # an edit of something that is gone, or one that was answered already
    said, error = "", None
    try:
        said = _edited(column, asked)
    except AnonError as refused:
        error = {"message": refused.message, "remedy": refused.remedy}
    _keep(column, rev=rev, said=said, error=error)


def _edited(column: Column, asked: Mapping[str, Any]) -> str:
    what = asked.get("do")
    work = drafts.work(column)
    if what in ("undo", "redo"):
        drafts.edit(column, {"do": what, "epoch": work.epoch, "rev": work.rev + 1})
        return "Undone." if what == "undo" else "Done again."
    draft = work.history.draft
    rows = to_rows(draft)
    before = cutting.cuts_of(column, rows)
    cuts, said = _changed(column, before, asked, draft.leaves)
    made = cut(column, cuts, also=draft.leaves)
    # Other names are what these three ask for; else what holds the same is called the same.
    drafts.put(
        column, made if what in ("start", "ends", "style") else cutting.with_names_kept(made, rows)
    )
    return said or _words(column, cuts)


def _changed(
    column: Column, cuts: Cuts, asked: Mapping[str, Any], leaves: Sequence[str]
) -> tuple[Cuts, str]:
    """Return the cuts after an edit, and what it did where its intervals do not show that."""
    what = asked.get("do")
    if what == "move":
        old, new = _number(asked, "old"), _number(asked, "new")
        moved = cutting.move_cut(column, cuts, old, new, also=leaves)
        return moved, _both_sides(column, moved, _level(asked, cuts), new, leaves)
    if what == "add":
        level, at = _level(asked, cuts), _number(asked, "at")
        added = cutting.add_cut(column, cuts, level, at, also=leaves)
        return added, _both_sides(column, added, level, at, leaves)
    if what == "remove":
        level, at = _level(asked, cuts), _number(asked, "at")
        return cutting.remove_cut(cuts, level, at), f"Cut removed from level {level}."
    if what == "start":
        return _start(column, cuts, str(asked.get("how"))), ""
    if what == "ends":
        ends = {end: bool(asked.get(end)) for end in ("open_bottom", "open_top")}
        return replace(cuts, **ends), ""
    if what == "style":
        style = "bracket" if asked.get("style") == "bracket" else "range"
        return replace(cuts, style=style), ""
    if what == "add_level":
        return _with_level(column, cuts), "Level added: every second cut of the one below."
    if what == "remove_level":
        level = _level(asked, cuts)
        levels = cuts.levels[: level - 1] + cuts.levels[level:]
        return replace(cuts, levels=levels), f"Level {level} removed."
    raise BadHierarchy("This edit of cuts is unknown.", remedy="Use the buttons or the keys.")


def _start(column: Column, cuts: Cuts, how: str) -> Cuts:
    ends: dict[str, Any] = {"style": cuts.style}
    if cuts.levels:
        ends |= {"open_bottom": cuts.open_bottom, "open_top": cuts.open_top}
    if how == "width":
        return replace(starts.equal_width(column), **ends)
    if how == "rows":
        return replace(starts.quantiles(column), **ends)
    if how == "round":
        return replace(starts.round_numbers(column, top_code=True), style=cuts.style)
    raise BadHierarchy("This start is unknown.", remedy="Use width, rows or round.")


def _with_level(column: Column, cuts: Cuts) -> Cuts:
    """Return the cuts with one more level on top, of every second cut that acts on the last one."""
    if not cuts.levels:
        return starts.quantiles(column, levels=1)
    found = intervals(column, cuts)[-1]
    acting = [b.low for a, b in pairwise(one for one in found if one.values) if a]
    if len(acting) < 2 or len(cuts.levels) >= MOST_LEVELS:
        raise BadHierarchy(
            f"There is no room for a level above level {len(cuts.levels)}.",
            remedy="Cut that level into more groups first.",
        )
    return replace(cuts, levels=(*cuts.levels, tuple(acting[1::2])))


def _words(column: Column, cuts: Cuts) -> str:
    groups = [sum(1 for one in level if one.values) for level in intervals(column, cuts)]
    if not groups:
        return "No cuts."
    each = ", ".join(f"level {i}: {n} groups" for i, n in enumerate(groups, start=1))
    return f"{len(groups)} levels. {each}."


def _both_sides(column: Column, cuts: Cuts, level: int, at: float, leaves: Sequence[str]) -> str:
    """Tell the two intervals that a cut parts."""
    found = intervals(column, cuts, also=leaves)[level - 1]
    sides: list[Interval] = [one for one in found if at in (one.low, one.high)]
    return "; ".join(f"{one.label}: {in_figures(one.rows, 'row')}" for one in sides) + "."


def _level(asked: Mapping[str, Any], cuts: Cuts) -> int:
    level = asked.get("level")
    if not isinstance(level, int) or not 1 <= level <= len(cuts.levels):
        raise BadHierarchy("There is no such level.", remedy="Choose one that is drawn.")
    return level


def _number(asked: Mapping[str, Any], name: str) -> float:
    value = asked.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadHierarchy("A cut must be a number.", remedy="Type a number.")
    return float(value)


def _end(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _is_named(column: Column, cuts: Cuts) -> bool:
    """Return whether groups have names of their own, which a change of cuts would replace."""
    rows = to_rows(drafts.work(column).history.draft)
    if len(rows[0]) < 3:
        return False
    made = cut(column, cuts, also=[row[0] for row in rows])
    return [tuple(row[1:-1]) for row in rows] != [row[1:-1] for row in made]


# ---- what the session remembers ------------------------------------------------------------------


def _epoch(column: Column) -> str:
    data = state.typed_dataset()
    return f"{column.name}/{'' if data is None else data.fingerprint[:16]}"


def _kept(column: Column) -> dict[str, Any]:
    every = cast(dict[str, dict[str, Any]], st.session_state.get(_KEY) or {})
    return every.get(_epoch(column), {"rev": 0, "said": "", "error": None})


def _keep(column: Column, *, rev: int, said: str, error: Mapping[str, Any] | None) -> None:
    every = dict(cast(dict[str, dict[str, Any]], st.session_state.get(_KEY) or {}))
    every[_epoch(column)] = {"rev": rev, "said": said, "error": error}
    st.session_state[_KEY] = every
