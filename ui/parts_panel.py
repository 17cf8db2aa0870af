"""Cuts over any two columns, for results that form groups of rows."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from anon_core.parts_picture import parts_picture
from anon_core.runner import Result
from ui.charts import Chart, Palette, Series, kept, palette, show
from ui.parts_plot import parts_chart

_ACROSS, _UP = "parts/across", "parts/up"


def applies(result: Result) -> bool:
    """Say whether a result parts its rows, and has two columns to draw."""
    return result.account.partition is not None and len(result.problem.quasi) > 1


@st.fragment
def draw(run: Series) -> None:
    """Draw what the parts of a result cover over two columns."""
    problem = run.facts.result.problem
    with st.container(border=True, key="parts-panel"):
        st.subheader("Cuts", anchor=False)
        # Numbers tell most about cuts: they come first.
        names = sorted(problem.quasi, key=lambda n: problem.dataset.column(n).kind != "number")
        with st.container(horizontal=True):
            across = _column("Across", names, _ACROSS)
            up = _column("Up", [name for name in names if name != across], _UP)
        show(kept(_chart, [run], palette(), across, up), key="parts")


def _column(words: str, names: Sequence[str], key: str) -> str:
    if st.session_state.get(key) not in names:
        st.session_state[key] = names[0]
    return st.selectbox(words, names, key=key)


def _chart(runs: Sequence[Series], colours: Palette, across: str, up: str) -> Chart:
    facts = runs[0].facts
    picture = parts_picture(facts.result.problem, facts.result.release, across, up)
    return parts_chart(facts.result.problem, picture, facts.noun, colours)
