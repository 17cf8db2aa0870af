"""What is under way, on every page: the work, how far it is, how long it will take, and a stop.

Only while something runs does the sidebar look again; a page on which nothing runs asks nothing.
"""

from __future__ import annotations

from pathlib import PurePosixPath

import streamlit as st

from ui.components.guard import handled
from ui.state import pinning, results
from ui.state.work import jobs, running, sweep
from ui.state.work.jobs import Job
from ui.words.escaping import plain

#: Seconds between two looks at what runs; the work's own page looks more often.
LOOK_EVERY = 1.0


def draw(page: str) -> None:
    """Draw the work of this session, with the way to the page that shows what it comes to.

    Parameters
    ----------
    page : str
        Title of the page that is open: it says itself how far its work is and what came of it.
    """
    # An emptied place takes the drawing away at once, as where a job's own page draws it.
    place = st.empty()
    found = jobs.of_pages()
    if results.first() is not None:  # its figures are there: what is left of it takes no time
        found.pop(running.JOB, None)
    ended = running.unseen()
    if not found and ended is None:
        return
    with place.container(key="under-way"):
        for name, job in found.items():
            if job.state == "running" and _step(job) == page and _in_sight(name):
                continue
            if job.state == "running":
                _running(name, job, page)
            elif _step(job) != page:
                _ended(job)
        if ended is not None and running.JOB not in found:
            _ended(ended)
            if ended.state == "done":
                st.page_link(
                    "pages/5_Results.py", label="See the results", icon=":material/arrow_forward:"
                )


def _running(name: str, job: Job, page: str) -> None:
    @st.fragment(run_every=LOOK_EVERY)
    def drawn() -> None:
        if jobs.current(name) is not job or job.state != "running":
            st.rerun()
            return
        st.progress(job.share, text=plain(f"{job.title}: {job.progress}"))

    drawn()
    if _step(job) != page:
        _link(job)
    st.button(
        "Cancel",
        key=f"under-way/cancel-{name}",
        on_click=handled()(job.cancel.set),
        help=f"Stops “{plain(job.title)}”. The last results stay as they are.",
    )


def _ended(job: Job) -> None:
    how = "stopped with an error" if job.state == "failed" else "is done"
    st.caption(plain(f"{job.title} {how} after {job.seconds:.0f} s."))
    _link(job)


def _in_sight(name: str) -> bool:
    """Say whether its own page draws such work where it is always seen: the rail adds nothing."""
    return name == running.JOB or (name == sweep.JOB and not pinning.pins())


def _step(job: Job) -> str:
    return PurePosixPath(job.page).stem.split("_", 1)[-1]


def _link(job: Job) -> None:
    st.page_link(job.page, label=f"See it on {_step(job)}", icon=":material/arrow_forward:")
