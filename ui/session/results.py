"""The last good result of a session, and the one before it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypedDict, cast

import streamlit as st

from . import pinning, state

if TYPE_CHECKING:
    from anon_core.job.dialect import Dialect
    from anon_core.job.result import Result


class MadeOf(TypedDict):
    """What was chosen when a run began: its fingerprint, and the choices themselves."""

    fingerprint: str
    choices: dict[str, Any]


def now() -> MadeOf:
    """Return what is chosen now."""
    return {"fingerprint": state.fingerprint(), "choices": state.choices()}


def last() -> Result | None:
    """Return the last good result; it stays until another one replaces it."""
    return st.session_state.get(state.RESULT)


def keep(result: Result, *, made_of: MadeOf | None = None) -> None:
    """Keep a result, and the one that it replaces.

    Parameters
    ----------
    result : Result
    made_of : MadeOf, optional
        `now()` when the run began; now, if it is not given.
    """
    if last() is not None:
        st.session_state[state.RESULT_BEFORE] = (last(), st.session_state[state.MADE_OF])
    st.session_state[state.RESULT] = result
    st.session_state[state.MADE_OF] = now() if made_of is None else made_of


def renew(made_of: MadeOf) -> None:
    """Say what the last result was made of."""
    st.session_state[state.MADE_OF] = made_of


def exchange(before: Result, now: Result) -> None:
    """Put a result of which more is known now in the place of itself, pinned or not."""
    if last() is before:
        st.session_state[state.RESULT] = now
    pinning.exchange(before, now)


def with_export(result: Result, dialect: Dialect | None, formats: tuple[str, ...]) -> Result:
    """Return the result with other files beside the release, and keep it as the last.

    What is published stays the same, so nothing is run again.
    """
    current = is_current()
    made = replace(result, plan=replace(result.plan, dialect=dialect, formats=formats))
    exchange(result, made)
    state.update_draft(export=made.plan.as_mapping()["export"])
    if current:
        st.session_state[state.MADE_OF] = now()
    return made


def made_of() -> MadeOf | None:
    """Return what was chosen when the run of the last result began."""
    return st.session_state.get(state.MADE_OF)


def is_current() -> bool:
    """Return whether the result belongs to the table and the choices as they are now."""
    made_of = cast(MadeOf | None, st.session_state.get(state.MADE_OF))
    return (
        last() is not None and made_of is not None and made_of["fingerprint"] == state.fingerprint()
    )


def before() -> Result | None:
    """Return the result that the last one replaced."""
    kept = st.session_state.get(state.RESULT_BEFORE)
    return None if kept is None else kept[0]


def back() -> None:
    """Exchange the last result for the one before it, with the choices that it was made of."""
    kept = cast("tuple[Result, MadeOf] | None", st.session_state.get(state.RESULT_BEFORE))
    if kept is None:
        return
    result, made_of = kept
    keep(result, made_of=made_of)
    state.set_choices(made_of["choices"])
