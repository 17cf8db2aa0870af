"""Which links a release keeps, weakens and cuts, next to the attacks that go along them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import streamlit as st

from anon_core.base.terms import few
from anon_core.pipeline.figures import links_as_rows
from ui.charts.attack_plots import title_of
from ui.words.escaping import plain

if TYPE_CHECKING:
    from anon_core.pipeline.result import Result

_LINKS = {
    "identity–quasi": "A person and what they are known by",
    "quasi–sensitive": "What they are known by and the sensitive values",
    "quasi–quasi": "What they are known by, among each other",
}
_STATES = ("kept", "weakened", "cut")
_MOST = 4  # pairs that are named


def draw(result: Result) -> None:
    """Draw a line for each kind of link: words wrap where a table would be cut off."""
    st.markdown("##### Which links are left?")
    st.caption(
        "Attacks follow links between columns. A link cut inside groups still reveals the values "
        "of the group as a whole."
    )
    for row in links_as_rows(result):
        attacks = ", ".join(title_of(name) for name in row["attacks"]) or "none of this run"
        with st.container(gap=None):
            words = left({state: row[state] for state in _STATES})
            st.markdown(f"**{plain(_LINKS[row['link']])}** – {plain(words)}")
            st.caption(plain(f"Attacks along it: {attacks}."))


def left(found: dict[str, Sequence[Sequence[str]]]) -> str:
    """Return what is left of a link, in words.

    Examples
    --------
    >>> left({"kept": [["age"]], "weakened": [], "cut": [["sex"], ["zip"]]})
    'kept: age; cut: sex, zip'
    >>> left({"kept": [], "weakened": [], "cut": [["age", "illness"], ["sex", "illness"]]})
    'all cut'
    """
    here = {state: pairs for state, pairs in found.items() if pairs}
    if not here:
        return "none to keep"
    if len(here) == 1 and len(next(iter(here.values()))) > 1:
        return f"all {next(iter(here))}"
    return "; ".join(f"{state}: {_named(pairs)}" for state, pairs in here.items())


def _named(pairs: Sequence[Sequence[str]]) -> str:
    return few([" + ".join(pair) for pair in pairs], _MOST)
