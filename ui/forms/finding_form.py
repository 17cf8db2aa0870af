"""What was found of columns that are published as they are: confirmed, mended or left out."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from anon_core.data.roles.findings import Finding
from ui.components.guard import handled
from ui.forms import role_table
from ui.state import confirmations, state
from ui.words.escaping import plain

PANEL = "Findings to confirm"


def draw() -> None:
    """Draw every finding with what can be done about it; those confirmed can be taken back."""
    waiting, settled, hidden = confirmations.waiting(), confirmations.settled(), state.redacted()
    if waiting:
        named = "One thing was" if len(waiting) == 1 else f"{len(waiting)} things were"
        st.warning(
            f"{named} found that no privacy model covers. Fix or confirm each to enable Run; what "
            "you confirm is written into the recipe and the report.",
            icon=":material/front_hand:",
        )
    text_columns = {one.column for one in confirmations.found() if one.what == "text"}
    for one in waiting:
        _finding(one, coarser=one.what in ("unique", "day") and one.column not in text_columns)
    if not settled and not hidden:
        return
    with st.container(border=True):
        for one in settled:
            left, right = st.columns([4, 1], vertical_alignment="center")
            left.markdown(f":material/done: Confirmed: {plain(one.sentence)}")
            _click(right, "Take back", confirmations.taken_back, one, key=_key("back", one))
        for column, by in hidden.items():
            left, right = st.columns([4, 1], vertical_alignment="center")
            left.markdown(
                f":material/ink_eraser: Words of {plain(', '.join(by))} are redacted in "
                f"**{plain(column)}**."
            )
            _click(right, "Keep them", confirmations.keep_names, column, key=f"redacted/{column}")


def _finding(one: Finding, *, coarser: bool) -> None:
    with st.container(border=True):
        st.markdown(f"**{plain(one.column)}** – {plain(one.sentence)} {plain(one.remedy)}")
        with st.container(horizontal=True):
            here = st.container(horizontal=True)
            if one.what == "repeats":
                _click(here, "It is the person", _become, one, "person", key=_key("person", one))
                _click(
                    here,
                    "Every row is a person of its own",
                    confirmations.confirmed,
                    one,
                    key=_key("confirm", one),
                )
                return
            if one.what == "names":
                _click(
                    here,
                    "Redact these words",
                    confirmations.redact,
                    one.column,
                    one.identifiers,
                    key=_key("redact", one),
                )
            if coarser:
                _click(
                    here, "Make it a quasi-identifier", _become, one, "quasi", key=_key("q", one)
                )
            _click(here, "Leave it out", _become, one, "left_out", key=_key("out", one))
            _click(
                here, "Publish it all the same", confirmations.confirmed, one, key=_key("yes", one)
            )


def _become(one: Finding, choice: str) -> None:
    data = state.dataset()
    names = () if data is None else data.names
    now = role_table.as_choices(state.roles(), state.left_out(), names)
    role_table.take({**now, one.column: choice})


def _key(what: str, one: Finding) -> str:
    return f"finding/{what}/{one.what}/{one.column}"


def _click(
    where: DeltaGenerator, label: str, act: Callable[..., None], *args: object, key: str
) -> None:
    where.button(label, key=key, on_click=handled(PANEL)(act), args=args)
