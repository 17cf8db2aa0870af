"""A fragment that is drawn again a moment later, as long as it asks to be.

A fragment with `run_every` goes on for as long as the page stands; this one ends by itself.
"""

from __future__ import annotations

import streamlit as st
from streamlit.components.v2 import component

_TURN = "another_look/turn"
_JS = """
export default function ({ data, setTriggerValue }) {
  const waited = setTimeout(() => setTriggerValue("looked", data.turn), data.after);
  return () => clearTimeout(waited);
}
"""


def soon(key: str, *, milliseconds: int = 0) -> None:
    """Draw the fragment that this is called in once more, when the browser has drawn it.

    Parameters
    ----------
    key : str
    milliseconds : int
        To wait after that.
    """
    # A look that a draw of the whole page overtook is lost, so each draw asks for its own.
    turn = st.session_state[_TURN] = int(st.session_state.get(_TURN, 0)) + 1
    component("workbench_another_look", js=_JS, html="<span></span>")(
        key=key,
        data={"turn": turn, "after": milliseconds},
        height=1,
        on_looked_change=lambda: None,
    )
