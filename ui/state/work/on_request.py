"""Work on the last result that is done when asked for: started in a thread, collected once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import streamlit as st

from anon_core.base.context import Context
from anon_core.base.errors import AnonError, Cancelled, NotVerified
from anon_core.pipeline.result import Result
from ui.state import results
from ui.state.work import jobs


@dataclass(frozen=True, kw_only=True)
class Further:
    """One kind of such work; a session does one piece of it at a time.

    Attributes
    ----------
    job : str
        Distinguishes its jobs from others.
    nothing : str
        What is left where it was cancelled.
    """

    job: str
    nothing: str

    @property
    def _error(self) -> str:
        return f"further/{self.job}/error"

    def start(self, result: Result, title: str, work: Callable[[Context], Result]) -> None:
        """Begin; `work` returns the result with what it found.

        Raises
        ------
        NotVerified
            If the result is a run's first figures, which another one is about to replace.
        """
        if result.pending:
            raise NotVerified(
                "The second computation has not ended yet.", remedy="Try again once it has."
            )

        def both(context: Context) -> tuple[Result, Result]:
            return result, work(context)

        st.session_state.pop(self._error, None)
        jobs.start(self.job, title, both, page="pages/5_Results.py")

    def is_running(self) -> bool:
        """Say whether such work is under way."""
        job = jobs.current(self.job)
        return job is not None and job.state == "running"

    def settle(self) -> None:
        """Take over what ended work found, where the result it began with is kept."""
        job = jobs.collect(self.job)
        if job is None:
            return
        if job.state == "done":
            before, now = cast(tuple[Result, Result], job.value)
            results.exchange(before, now)
        elif job.state == "cancelled":
            st.session_state[self._error] = Cancelled(
                f"{job.title} was cancelled; {self.nothing}.",
                remedy="The other figures are still available.",
            )
        else:
            st.session_state[self._error] = job.error

    def error(self) -> AnonError | None:
        """Return what stopped the last work, until the next one starts."""
        return st.session_state.get(self._error)


ATTACKING = Further(job="attack", nothing="nothing was learned of the release")
MEASURING = Further(job="measure", nothing="nothing was measured")
