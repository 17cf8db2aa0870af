"""What was said on Run of the release before a technique was chosen, kept with the session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import streamlit as st

from anon_core.base.thresholds import RELEASE_MODELS, ReleaseModel
from anon_core.contracts.algorithm import Purpose
from anon_core.contracts.model import Stops
from anon_core.explain.advice.recommendations import CONCEALED, PURPOSES

#: Part of what is asked → its widget on Run, and where its answer is kept while another page is
#: open.
WIDGETS: Mapping[str, str] = {
    "purpose": "advice/purpose",
    "recipient": "advice/recipient",
    "concealed": "advice/concealed",
}


def purpose() -> Purpose:
    """Return what the release is for."""
    return cast(Purpose, answers().get("purpose", "sharing"))


def recipient() -> ReleaseModel:
    """Return who gets it."""
    return cast(ReleaseModel, answers().get("recipient", "public"))


def concealed(usual: Sequence[Stops]) -> list[Stops]:
    """Return what must not be learned; `usual` where no one said it yet."""
    return cast(list[Stops], list(answers().get("concealed", usual)))


def keep(part: str, answer: object) -> None:
    """Keep what was answered."""
    st.session_state[_kept(part)] = answer


def answers() -> dict[str, Any]:
    """Return all that was answered, as plain values."""
    found = {part: st.session_state.get(_kept(part)) for part in WIDGETS}
    return {part: answer for part, answer in found.items() if answer is not None}


def checked(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return answers from a file.

    Raises
    ------
    ValueError
        If one of them is none that can be given.
    """
    known = {"purpose": PURPOSES, "recipient": RELEASE_MODELS, "concealed": CONCEALED}
    for part, answer in given.items():
        for one in answer if part == "concealed" else [answer]:
            if one not in known[part]:
                raise ValueError(part)
    return dict(given)


def take_over(given: Mapping[str, Any]) -> None:
    """Put answers instead of those there are; what is not answered is as at first."""
    for part, widget in WIDGETS.items():
        for key in (widget, f"{widget}/before", f"{widget}/shown", _kept(part)):
            st.session_state.pop(key, None)
        if part in given:
            keep(part, given[part])


def _kept(part: str) -> str:
    return f"{WIDGETS[part]}/kept"
