"""What would stop an attack: changes of the last result's plan, tried in a thread, kept for it."""

from __future__ import annotations

from typing import cast

import streamlit as st

from anon_core.base.context import Context
from anon_core.base.errors import AnonError
from anon_core.explain.advice.countermeasures import Inputs, Tried, what_stops
from anon_core.pipeline.result import Result
from anon_core.release.attack_result import AttackResult
from ui.state import state
from ui.state.work import jobs, running

JOB = "stopping"
_FOUND, _NEXT, _ERROR, _OF = (f"stopping/{part}" for part in ("found", "next", "error", "of"))

#: The result, the attack and the sensitive column that changes were tried for.
Of = tuple[Result, str, str]


def start(result: Result, against: AttackResult) -> None:
    """Begin to try what would stop an attack on this result; an error is kept for `error`."""
    st.session_state.pop(_ERROR, None)
    try:
        table, people = running.inputs(result.plan)
        released = running.earlier(result.plan)
    except AnonError as error:
        st.session_state[_ERROR] = error
        return
    named = result.plan.hierarchies
    levels = {name: rows for name, rows in state.levels().items() if name in named}
    given = Inputs(dataset=table, levels=levels, population=people, earlier=released)
    found: list[Tried] = []
    st.session_state[_NEXT] = found
    st.session_state[_OF] = (result, against.attack, against.column)

    def work(context: Context) -> list[Tried]:
        return what_stops(result, against, given, context, found.append)

    jobs.start(JOB, "What would stop it", work, page="pages/5_Results.py")


def settle() -> None:
    """Take over what ended work found; what was stopped keeps what it came to."""
    job = jobs.collect(JOB)
    if job is None:
        return
    tried = cast(list[Tried], list(st.session_state.pop(_NEXT, [])))
    if job.state == "failed":
        st.session_state[_ERROR] = job.error
    of = cast(Of, st.session_state.get(_OF))
    st.session_state[_FOUND] = (of, tried)


def is_running() -> bool:
    """Say whether changes are being tried."""
    job = jobs.current(JOB)
    return job is not None and job.state == "running"


def is_about(result: Result, against: AttackResult) -> bool:
    """Say whether the last changes were tried against this attack on this result."""
    of = cast(Of | None, st.session_state.get(_OF))
    return of is not None and of[0] is result and of[1:] == (against.attack, against.column)


def tried(result: Result, against: AttackResult) -> list[Tried] | None:
    """Return what was tried against an attack on a result; None where nothing was."""
    held = cast(tuple[Of, list[Tried]] | None, st.session_state.get(_FOUND))
    if held is None or held[0][0] is not result:
        return None
    return held[1] if held[0][1:] == (against.attack, against.column) else None


def error() -> AnonError | None:
    """Return what stopped the last attempt, until the next one starts."""
    return st.session_state.get(_ERROR)


def use(one: Tried) -> None:
    """Set the plan with a change; it is carried out on Run, and can be undone there."""
    if one.plan is not None:
        recipe = one.plan.as_mapping()
        state.update_draft(algorithm=recipe["algorithm"], models=recipe["models"])
