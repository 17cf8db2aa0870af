"""Clicks that are not lost: whatever else happens at that moment, each one is carried out once.

Streamlit gives a click to one run of the script. If that run ends before it comes to the button,
because of another change or because work has ended, the click is gone.
"""

from __future__ import annotations

from typing import Any

import streamlit as st

from ui.components.guard import handled

_ASKED = "clicks/asked"
_PAGE = "clicks/page"


def clicked(label: str, *, key: str, disabled: bool = False, **settings: Any) -> bool:
    """Draw a button, and say once for each click that it was clicked.

    For what needs the fields of the page as they are drawn with the click; everything else is done
    by an ``on_click`` that `handled` guards.

    Parameters
    ----------
    label, key, disabled, settings
        As for `st.button`.
    """
    st.button(label, key=key, disabled=disabled, on_click=handled()(_ask), args=(key,), **settings)
    asked: set[str] = st.session_state.get(_ASKED, set())
    if key not in asked:
        return False
    st.session_state[_ASKED] = asked - {key}
    return not disabled


def begin_page(title: str) -> None:
    """Forget what was clicked on another page; called as a page begins to be drawn."""
    if st.session_state.get(_PAGE) != title:
        st.session_state[_PAGE] = title
        st.session_state[_ASKED] = set()


def _ask(key: str) -> None:
    st.session_state[_ASKED] = st.session_state.get(_ASKED, set()) | {key}
