"""The hierarchy builder: what the browser draws, and what it tells.

The rules of a hierarchy live in Python (`anon_core.hierarchy.editing`); the browser draws a draft
and asks for edits. A Streamlit component takes its code as one text, so the files are joined.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import streamlit as st
from streamlit.components.v2 import component

if TYPE_CHECKING:
    from streamlit.components.v2.types import ComponentRenderer

_HERE = Path(__file__).resolve().parent
#: In this order; what a file defines, the later ones use.
SCRIPTS = ("model.js", "view.js", "choosing.js", "pointer.js", "keys.js", "names.js", "main.js")


def script() -> str:
    """Return the builder's code."""
    return "\n".join((_HERE / name).read_text(encoding="utf-8") for name in SCRIPTS)


def style() -> str:
    """Return the builder's style sheet."""
    return (_HERE / "tree.css").read_text(encoding="utf-8")


def draw(
    message: Mapping[str, Any], *, key: str, edited: Callable[[Mapping[str, Any]], None]
) -> None:
    """Draw the builder.

    Parameters
    ----------
    message : mapping
        What `ui.drafts.message` returns.
    key : str
    edited : callable
        Gets each edit as plain values, before the page is drawn again.
    """

    def told() -> None:
        asked = st.session_state[key].get("edit")
        if isinstance(asked, Mapping):
            edited(cast(Mapping[str, Any], asked))

    _tree()(key=key, data=dict(message), on_edit_change=told)


@cache
def _tree() -> ComponentRenderer:
    return component("workbench_tree", js=script(), css=style())
