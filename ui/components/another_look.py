"""A fragment that is drawn again a moment later, as long as it asks to be.

A fragment with `run_every` goes on for as long as the page is open; this one ends by itself.
"""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st
from streamlit.components.v2 import component

_TURN = "another_look/turn"
#: It asks only where nothing else was asked for. A browser sends all that happens in one moment for
#: one fragment, and a fragment of a page that is being left empties the page that comes.
SCRIPT = """
const RESTS = 150, ACTED = 1000, HEARD = ["pointerdown", "click", "keydown", "input"];
export default function ({ data, setTriggerValue }) {
  let from = 0, over = false;
  const not_before = (milliseconds) => { from = Math.max(from, performance.now() + milliseconds); };
  const leaves = () => { over = true; };
  const acts = (event) => {
    not_before(ACTED);
    const opens = event.type === "click" && !event.ctrlKey && !event.metaKey;
    if (opens && event.target.closest?.("a")) leaves();
  };
  const look = () => {
    const app = document.querySelector('[data-testid="stApp"]');
    if (app?.dataset.testScriptState !== "notRunning") not_before(RESTS);
    const left = data.after ? from - performance.now() : 0;
    if (over) return;
    if (left > 0) waits = setTimeout(look, left);
    else setTriggerValue("looked", data.turn);
  };
  let waits = setTimeout(look, data.after);
  HEARD.forEach(name => window.addEventListener(name, acts, true));
  window.addEventListener("popstate", leaves);
  return () => {
    clearTimeout(waits);
    HEARD.forEach(name => window.removeEventListener(name, acts, true));
    window.removeEventListener("popstate", leaves);
  };
}
"""


def soon(key: str, *, milliseconds: int = 0, on_look: Callable[[], None] | None = None) -> None:
    """Draw the fragment that this is called in once more, when the browser has drawn it.

    Parameters
    ----------
    key : str
    milliseconds : int
        To wait after that, and until no one does anything. Nothing waits where it is 0.
    on_look : callable, optional
        Called then, before anything is drawn.
    """
    # A look that a draw of the whole page overtook is lost, so each draw asks for its own.
    turn = st.session_state[_TURN] = int(st.session_state.get(_TURN, 0)) + 1
    component("workbench_another_look", js=SCRIPT, html="<span></span>")(
        key=key,
        data={"turn": turn, "after": milliseconds},
        height=1,
        on_looked_change=on_look or _nothing,
    )


def _nothing() -> None:
    return None
