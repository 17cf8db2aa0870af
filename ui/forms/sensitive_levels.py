"""At which level of its hierarchy each sensitive column is published."""

from __future__ import annotations

from typing import Any

import streamlit as st

from anon_core.recipe.readers import SEARCH
from ui.forms.draft_sync import follow, place
from ui.state import state
from ui.state.work.fragments import folded
from ui.words.escaping import changed, plain

_EXACT = "Its values, as they are"
_LEAST = "The lowest level at which the privacy models can hold"


def draw() -> dict[str, int | str]:
    """Draw a drawer with each sensitive column that has a hierarchy; return the recipe's table."""
    if not _columns():
        return {}
    return folded(
        lambda now: f"Sensitive values · {changed(held(now), usual='published as they are')}",
        lambda: _each(state.draft()),
        lambda: held(state.draft()),
        key="run/sensitive-levels",
    )


def held(draft: dict[str, Any]) -> dict[str, int | str]:
    """Return what `draw` returns where no one changes anything."""
    present: dict[str, int | str] = draft.get("sensitive_levels", {})
    return {name: present[name] for name in _columns() if present.get(name)}


def _columns() -> list[str]:
    roles, tables = state.roles(), state.levels()
    return [
        name
        for name in roles.sensitive
        if name not in roles.quasi and name in tables and len(tables[name][0]) >= 2
    ]


def _each(draft: dict[str, Any]) -> dict[str, int | str]:
    tables = state.levels()
    present: dict[str, int | str] = draft.get("sensitive_levels", {})
    found: dict[str, int | str] = {}
    for name in _columns():
        rows = tables[name]
        levels = [_words(rows, level) for level in range(1, len(rows[0]))]
        options = [_EXACT, *levels, _LEAST]
        given = present.get(name, 0)
        now = _LEAST if given == SEARCH else options[min(int(given), len(levels))]
        key = f"sensitive-level/{name}"
        chosen = st.selectbox(
            f"'{plain(name)}' is published as",
            options,
            index=place(options, follow(key, now)),
            key=key,
            help="Similar values, such as three stomach diseases, count as different values; at "
            "a level that groups them they count as one. Privacy models and attacks count the "
            "published values. The lowest level is found by runs, from the values up.",
        )
        if chosen == _LEAST:
            found[name] = SEARCH
        elif level := options.index(chosen):
            found[name] = level
    return found


def _words(rows: list[list[str]], level: int) -> str:
    """Return a level with examples of its labels."""
    labels = list(dict.fromkeys(row[level] for row in rows))
    shown = ", ".join(labels[:3])
    return f"Level {level}: {shown}{', …' if len(labels) > 3 else ''}"
