"""Settings that every quasi-identifier has by itself, written as one text of a recipe."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from ui import state
from ui.explain import plain
from ui.forms import follow

#: What draws a text of single columns, by the parameter's name.
Draw = Callable[[str, Sequence[str], str], str]


def can_be_drawn(quasi: Sequence[str]) -> bool:
    """Say whether every name can stand in such a text without being taken for more than a name."""
    return bool(quasi) and not any("|" in name or name != name.strip() for name in quasi)


def written(text: str) -> dict[str, str]:
    """Return what a text says of each column.

    Examples
    --------
    >>> written("age = 2 | sex = 0.5")
    {'age': '2', 'sex': '0.5'}
    """
    parts = [part.rpartition("=") for part in text.split("|") if "=" in part]
    return {name.strip(): value.strip() for name, _, value in parts}


def levels(text: str, quasi: Sequence[str], key: str) -> str:
    """Draw a choice of level for every quasi-identifier; return them all."""
    told = written(text)
    found: list[str] = []
    with st.container(horizontal=True, vertical_alignment="bottom"):
        for name in quasi:
            words = _level_words(name)
            wanted = told.get(name, "")
            at = int(wanted) if wanted.isdecimal() else len(words) - 1
            widget = f"{key}/{name}"
            with st.container(key=f"half-{widget}"):
                level = st.selectbox(
                    plain(name),
                    range(len(words)),
                    index=follow(widget, min(at, len(words) - 1)),
                    format_func=words.__getitem__,
                    key=widget,
                )
            found.append(f"{name} = {level}")
    return " | ".join(found)


def weights(text: str, quasi: Sequence[str], key: str) -> str:
    """Draw a weight for every quasi-identifier, closed at first; return those that are not 1."""
    told = written(text)
    found: list[str] = []
    with (
        st.expander("Weights of single columns", expanded=bool(told)),
        st.container(horizontal=True, vertical_alignment="bottom"),
    ):
        for name in quasi:
            widget = f"{key}/{name}"
            weight = st.number_input(
                plain(name),
                min_value=0.01,
                max_value=999_999.0,
                value=follow(widget, _weight(told.get(name, ""))),
                step=0.5,
                format="%g",
                key=widget,
                help="Above 1 more of the column's detail is kept than of others, below 1 less.",
            )
            if weight != 1:
                found.append(f"{name} = {weight:g}")
    return " | ".join(found)


def _weight(told: str) -> float:
    try:
        return min(max(float(told), 0.01), 999_999.0)
    except ValueError:
        return 1.0


def _level_words(column: str) -> list[str]:
    """Return every level in words, the exact values first."""
    rows = state.levels().get(column) or [["", "*"]]
    height = len(rows[0]) - 1
    found = ["exact"]
    for level in range(1, height + 1):
        labels = list(dict.fromkeys(row[level] for row in rows if row[level]))
        example = labels[len(labels) // 2] if labels else "(missing)"
        found.append(f"{level}: {example}{', …' if len(labels) > 1 else ''}")
    return found
