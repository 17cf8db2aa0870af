"""The cut points of numbers and dates: a histogram, and under it each level with draggable cuts.

Where a cut acts, what an interval is called and how many rows it has is Python's to say
(`anon_core.hierarchy.intervals`); the browser draws, and asks for edits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.components.v2 import component

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

_HERE = Path(__file__).resolve().parent
#: In this order; what a file defines, the later ones use.
SCRIPTS = ("view.js", "hands.js", "main.js")


def script() -> str:
    """Return the component's code."""
    return "\n".join((_HERE / name).read_text(encoding="utf-8") for name in SCRIPTS)


def style() -> str:
    """Return the component's style sheet."""
    return (_HERE / "cuts.css").read_text(encoding="utf-8")


def draw(
    message: Mapping[str, Any], *, key: str, edited: Callable[[Mapping[str, Any]], None]
) -> None:
    """Draw the component.

    Parameters
    ----------
    message : mapping
        What `ui.cuts.message` returns.
    key : str
    edited : callable
        Gets each edit as plain values, before the page is drawn again.
    """

    def told() -> None:
        asked = st.session_state[key].get("edit")
        if isinstance(asked, Mapping):
            edited(asked)

    _cuts()(key=key, data=dict(message), on_edit_change=told)


@cache
def _cuts() -> ComponentRenderer:
    return component("workbench_cuts", js=script(), css=style())
