"""An attack on the last result that is run when asked for: started in a thread, collected once."""

from __future__ import annotations

from typing import cast

import streamlit as st

from anon_core.base.context import Context
from anon_core.base.errors import AnonError, Cancelled
from anon_core.contracts.attack import Attack
from anon_core.job.further_attacks import attack, attacked
from anon_core.job.result import Result

from . import jobs, results

JOB = "attack"
_ERROR = "attacking/error"


def start(result: Result, adversary: Attack) -> None:
    """Attack a result in a thread."""

    def work(context: Context) -> tuple[Result, Result]:
        found = attack(result, adversary, context)
        return result, attacked(result, adversary, found)

    st.session_state.pop(_ERROR, None)
    jobs.start(JOB, adversary.title, work)


def is_running() -> bool:
    """Say whether an attack is under way."""
    job = jobs.current(JOB)
    return job is not None and job.state == "running"


def settle() -> None:
    """Take over what an ended attack found, where the result it attacked is kept."""
    job = jobs.collect(JOB)
    if job is None:
        return
    if job.state == "done":
        before, now = cast(tuple[Result, Result], job.value)
        results.exchange(before, now)
    elif job.state == "cancelled":
        st.session_state[_ERROR] = Cancelled(
            f"{job.title} was cancelled; nothing was learned of the release.",
            remedy="The other figures are still there.",
        )
    else:
        st.session_state[_ERROR] = job.error


def error() -> AnonError | None:
    """Return what stopped the last attack, until the next one starts."""
    return st.session_state.get(_ERROR)
