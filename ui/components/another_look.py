"""A fragment that is drawn again a moment later, as long as it asks to be.

A fragment with `run_every` goes on for as long as the page stands; this one ends by itself.
"""

from __future__ import annotations

from streamlit.components.v2 import component

_JS = """
export default function ({ data, setTriggerValue }) {
  const waited = setTimeout(() => setTriggerValue("looked", data.turn), data.after);
  return () => clearTimeout(waited);
}
"""


def soon(key: str, turn: int, *, milliseconds: int = 0) -> None:
    """Draw the fragment that this is called in once more, when the browser has drawn it.

    Parameters
    ----------
    key : str
    turn : int
        Another one each time.
    milliseconds : int
        To wait after that.
    """
    component("workbench_another_look", js=_JS, html="<span></span>")(
        key=key,
        data={"turn": turn, "after": milliseconds},
        height=1,
        on_looked_change=lambda: None,
    )
