"""Panels side by side where the window has room for them, and one at a time where it has not."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

#: Pixels of the window from which on panels stand side by side, two by two, then all in a row.
WIDE, VERY_WIDE = 1200, 2400
_LOOK = """<style>
@media (min-width: WIDEpx) {
  [data-testid="stLayoutWrapper"]:has(> .st-key-NAME-tabs) {display: none;}
  .st-key-NAME-panels {display: grid !important; align-items: stretch;
    grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 1rem;}
  .st-key-NAME-panels > * {min-width: 0;}
  .st-key-NAME-panels > :has(> [class*="st-key-NAME-row-"]) {grid-column: 1 / -1;}
}
@media (min-width: VERYpx) {
  .st-key-NAME-panels:not(:has(> * > [class*="st-key-NAME-row-"])) {
    grid-template-columns: repeat(COUNT, minmax(0, 1fr));}
}
@media (max-width: BELOWpx) {
  .st-key-NAME-panels > :not(:has(> [class*="st-key-NAME-"][class*="-place-AT"])) {display: none;}
}
</style>"""


def places(name: str, titles: Sequence[str], *, rows: Sequence[int] = ()) -> list[DeltaGenerator]:
    """Return a bordered place for every panel, and draw the tabs that a narrow window needs.

    Parameters
    ----------
    name : str
        Of the panels together; part of their keys.
    titles : sequence of str
        At least two.
    rows : sequence of int
        Places of panels that need a whole row for themselves.
    """
    with st.container(key=f"{name}-tabs"):
        chosen = st.segmented_control(
            "Panel",
            list(titles),
            default=titles[0],
            required=True,
            key=f"{name}-tab",
            label_visibility="collapsed",
        )
    at = titles.index(chosen) if chosen in titles else 0
    look = {"NAME": name, "VERY": VERY_WIDE, "BELOW": WIDE - 0.02, "WIDE": WIDE}
    look |= {"AT": at, "COUNT": len(titles)}
    style = _LOOK
    for word, value in look.items():
        style = style.replace(word, str(value))
    st.html(style)
    with st.container(key=f"{name}-panels"):
        return [
            st.container(
                border=True,
                height="stretch",
                key=f"{name}-{'row' if place in rows else 'cell'}-place-{place}",
            )
            for place in range(len(titles))
        ]
