"""What a person has said of the release for its report, kept with the session as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st

from anon_core.explain.report.context import Alternative, ReleaseContext
from anon_core.explain.text.tiles import standing
from anon_core.pipeline.result import Result
from ui.state import pinning, session_owner, state

_CONTEXT = "state/context"
_REASONS = "state/reasons"
_NOTES = "judgement"


def stated() -> ReleaseContext:
    """Return what was said of the release, except for judgement, reasons and alternatives."""
    found: Mapping[str, Any] = st.session_state.get(_CONTEXT, {})
    return ReleaseContext.from_mapping(found)


def state_it(context: ReleaseContext) -> None:
    """Keep what was said of the release."""
    st.session_state[_CONTEXT] = context.as_mapping()


def reasons(result: Result) -> Mapping[str, str]:
    """Return why a release goes out although checks do not hold, by what they are about."""
    return dict(_reasons().get(_key(result), {}))


def give_reason(result: Result, about: str, reason: str) -> None:
    """Keep a reason for one check of a release."""
    _reasons().setdefault(_key(result), {})[about] = reason


def judgement(result: Result) -> str:
    """Return the judgement written down for a result."""
    return str(_notes().get(_key(result), ""))


def judge(result: Result, text: str) -> None:
    """Write a judgement down for a result."""
    _notes()[_key(result)] = text


def words_of(result: Result | None) -> str:
    """Return everything that was written down: on a result, and on the release."""
    text = str(st.session_state.get(_CONTEXT, ""))
    return text if result is None else f"{text}{judgement(result)}{reasons(result)}"


def context_of(result: Result, judgement: str) -> ReleaseContext:
    """Return everything that the report of a release says next to what was computed."""
    said = stated()
    decision = said.decision
    if (person := session_owner.person()) is not None and decision.author != person.shown:
        # A session that someone else kept: what they approved is not this author's.
        decision = replace(decision, author=person.shown, approver="")
    return replace(
        said,
        decision=decision,
        title=said.title or state.dataset_title(),
        judgement=judgement,
        reasons={**said.reasons, **reasons(result)},
        alternatives=(*said.alternatives, *_pinned(result)),
    )


def _pinned(result: Result) -> tuple[Alternative, ...]:
    """Return the pinned runs that are not released, each with how it stood."""
    return tuple(
        Alternative(name=f"{pin.letter}: {pin.title}", figures=standing(pin.result))
        for pin in pinning.pins()
        if pin.result.release is not result.release
    )


def _notes() -> dict[str, str]:
    return st.session_state.setdefault(_NOTES, {})


def _reasons() -> dict[str, dict[str, str]]:
    return st.session_state.setdefault(_REASONS, {})


def _key(result: Result) -> str:
    return f"{id(result.release)}"  # stays when more is found out about the release
