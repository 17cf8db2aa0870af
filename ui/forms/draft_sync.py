"""Widgets that follow the draft, and keep what was typed since."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import streamlit as st

_T = TypeVar("_T")


def follow(widget: str, wanted: _T) -> _T:
    """Put `wanted` into the widget when it is new to it; what was typed since is kept.

    Parameters
    ----------
    widget : str
        The widget's key.
    wanted : object
        The draft's value.

    Returns
    -------
    object
        What the widget will show, to be given to it as its default as well: where the message of
        one run is overtaken by the next run, the browser has nothing else to show, and would send
        back the widget's own first or smallest value as if it had been chosen.
    """
    before, shown = f"{widget}/before", f"{widget}/shown"
    # A draft that has what the widget showed last has followed it, and not the other way round.
    known = [st.session_state[key] for key in (before, shown) if key in st.session_state]
    # What it shows already is not put again: the browser may have gone on since, by quick steps.
    elsewhere = wanted not in known and st.session_state.get(widget) != wanted
    if widget not in st.session_state or elsewhere:
        put(widget, wanted)
    st.session_state[before] = wanted
    st.session_state[shown] = st.session_state[widget]
    return st.session_state[widget]


def shows(widget: str, wanted: object) -> bool:
    """Say whether a widget shows the draft's value already, and note that it does."""
    if widget not in st.session_state or st.session_state[widget] != wanted:
        return False
    follow(widget, wanted)
    return True


def put(widget: str, wanted: object) -> None:
    """Let a widget show a value, whatever it shows."""
    st.session_state[widget] = wanted


def place(options: Sequence[object], value: object) -> int:
    """Return where a value is among the options; the first where it is none of them."""
    return options.index(value) if value in options else 0
