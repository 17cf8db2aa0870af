"""The figures of an earlier run, kept with the session: what a decided recipe is compared with."""

from __future__ import annotations

import streamlit as st

_KEPT = "reuse/figures"


def keep(title: str, figures: object) -> None:
    """Keep the figures of an earlier run, instead of those kept before."""
    st.session_state[_KEPT] = (title, figures)


def last() -> object | None:
    """Return the figures that were kept; None where there are none."""
    kept = st.session_state.get(_KEPT)
    return None if kept is None else kept[1]


def title() -> str:
    """Return the name of the file they came from; empty where there is none."""
    kept = st.session_state.get(_KEPT)
    return "" if kept is None else str(kept[0])
