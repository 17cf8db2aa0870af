"""Long work in a thread of its own: progress to look at, a wish to stop, one value or one error.

A page starts a job, draws it from a fragment that runs again by itself, and collects it once.
Stopping takes effect at once: whatever the thread still brings is thrown away.
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any, Literal

import streamlit as st

from anon_core.base.context import Context, SoFar
from anon_core.base.errors import AnonError, Cancelled
from ui.components.guard import BrokenDown, handled
from ui.journal import here
from ui.state import limits, session_owner, state
from ui.state.work import best_so_far, precompile_status
from ui.state.work.precompile_status import Warming
from ui.state.work.time_left import Pace, duration
from ui.words.escaping import plain

State = Literal["running", "done", "failed", "cancelled"]
Work = Callable[[Context], Any]
_JOBS = "jobs"
#: Work that no one waits for: it stops as soon as any other begins.
BACKGROUND = "background"
#: Rows of a table whose results are worth a look through all of memory once they are replaced.
LARGE = 100_000
#: Seconds between two looks at a running job.
LOOK_EVERY = 0.3
#: Seconds that work which is replaced has for its end, before it counts next to the new.
STOP_WITHIN = 3.0
_PREPARING = "Preparing: the fast routines are compiled, at the first start only"


@dataclass(kw_only=True, eq=False)
class Job:
    """One piece of work in a thread.

    Attributes
    ----------
    title : str
        What is done, in words.
    page : str
        The page that shows what it comes to; empty where every page does.
    large : bool
        Whether what it replaces may be large.
    cancel : threading.Event
        Set when the person stopped it.
    so_far : SoFar
        The best that it found so far, where it can tell, and whether the person takes that.
    share, stage : float, str
        How far it is, and with what.
    value, error : object
        What it came to, once `state` says so.
    began, over : float
        When it began and ended, in seconds of `time.monotonic`; `over` is 0 before.
    """

    title: str
    page: str = ""
    large: bool = False
    cancel: threading.Event = field(default_factory=threading.Event)
    so_far: SoFar = field(default_factory=SoFar)
    share: float = 0.0
    stage: str = "Starting"
    value: Any = None
    error: AnonError | None = None
    began: float = field(default_factory=time.monotonic)
    over: float = 0.0
    _pace: Pace = field(default_factory=Pace)
    _ended: threading.Event = field(default_factory=threading.Event)

    @property
    def state(self) -> State:
        """Say how the job is; a stopped job counts as stopped before its thread has ended."""
        if self.cancel.is_set():
            return "cancelled"
        if not self._ended.is_set():
            return "running"
        return "failed" if self.error is not None else "done"

    @property
    def prepares(self) -> bool:
        """Whether it waits until its algorithms are compiled."""
        return self.stage == _PREPARING

    @property
    def seconds(self) -> float:
        """Seconds since it was started, up to its end."""
        return (self.over or time.monotonic()) - self.began

    @property
    def progress(self) -> str:
        """Say with what it is, how long it has taken, and about how long it still will."""
        left = self._pace.left()
        more = "" if left is None else f", {duration(left)} left"
        return f"{self.stage} … ({self.seconds:.0f} s{more})"

    def wait(self, seconds: float) -> bool:
        """Wait for the thread; say whether it ended in time."""
        return self._ended.wait(seconds)

    def note(self, share: float, stage: str) -> None:
        """Take down how far it is."""
        self.share, self.stage = min(max(share, 0.0), 1.0), stage
        self._pace.note(self.share)

    def carry_out(
        self,
        work: Work,
        needs: Collection[str] = (),
        ready: Warming | None = None,
        over: Callable[[Job], None] | None = None,
    ) -> None:
        """Do the work, in the job's own thread, once the algorithms it `needs` are compiled.

        `over` is reported just before its end.
        """
        try:
            if needs and ready is not None and not ready.is_ready(needs):
                ready.ask_for(needs)
            while needs and ready is not None and not ready.is_ready(needs):
                self.note(0.0, _PREPARING)
                ready.over.wait(0.1)
                if self.cancel.is_set():
                    return
            self.value = work(Context(progress=self.note, cancel=self.cancel, so_far=self.so_far))
        except Cancelled:
            self.cancel.set()
        except AnonError as error:
            self.error = error
        except Exception as error:  # noqa: BLE001 - the one outermost handler; nothing may pass silently
            # The text of an unforeseen error may hold cell values; its type does not.
            self.error = BrokenDown(
                f"{self.title} failed with an unexpected error ({type(error).__name__}).",
                remedy="Nothing was released. Please report it with the recipe.",
            )
        finally:
            try:
                if over is not None:
                    over(self)
            finally:
                self.over = time.monotonic()
                self._ended.set()
                if self.large:
                    gc.collect()  # nothing collects after each page; of small tables it is slow


def start(
    name: str,
    title: str,
    work: Work,
    *,
    page: str = "",
    needs: Collection[str] = (),
    awaited: bool = True,
    limited: bool = True,
) -> Job:
    """Start work under a name of this session; a running job of that name is stopped first.

    Parameters
    ----------
    name, title : str
    work : callable
    page : str
        The page that shows what it comes to.
    needs : collection of str
        Algorithms it runs, which may still have to be compiled; a large table waits for that.
    awaited : bool
        Whether a person waits for it. Other work needs its algorithms compiled for a small table
        too: as Python it would take the pages' time.
    limited : bool
        Whether it is among the work of which a person may do so much at a time.

    Raises
    ------
    TooMuch
        If as much is under way as one person may have on this host.
    """
    jobs = _jobs()
    if name != BACKGROUND and BACKGROUND in jobs:
        jobs.pop(BACKGROUND).cancel.set()
    if name in jobs:
        jobs[name].cancel.set()
        if limited and session_owner.is_shared():
            jobs[name].wait(STOP_WITHIN)
    data = state.dataset()
    job = Job(title=title, page=page, large=data is not None and data.rows >= LARGE)
    if limited:
        limits.enter(job)
    jobs[name] = job
    waits = bool(needs) and (not awaited or precompile_status.waits(data))
    ready = precompile_status.begin() if waits else None
    given = work, needs, ready, _noting(needs) if limited else None
    threading.Thread(target=job.carry_out, args=given, daemon=True, name=title).start()
    return job


def _noting(needs: Collection[str]) -> Callable[[Job], None]:
    """Return what notes in this session's journal how a job ended."""
    journal, data = here(), state.dataset()

    def over(job: Job) -> None:
        journal.note(
            "work",
            technique=next(iter(needs), ""),
            rows=None if data is None else data.rows,
            seconds=job.seconds,
            outcome="cancelled" if job.cancel.is_set() else "failed" if job.error else "done",
            error=None if job.error is None else type(job.error),
        )

    return over


def stop_all() -> None:
    """Stop everything that the session does."""
    for job in _jobs().values():
        job.cancel.set()


def current(name: str) -> Job | None:
    """Return the session's job of that name, running or not yet collected."""
    return _jobs().get(name)


def of_session() -> dict[str, Job]:
    """Return the session's jobs by name: under way, stopped, or not collected yet."""
    return dict(_jobs())


def of_pages() -> dict[str, Job]:
    """Return the session's jobs that belong to a page, by name: under way, or not looked at yet."""
    return {name: job for name, job in _jobs().items() if job.page and job.state != "cancelled"}


def collect(name: str) -> Job | None:
    """Take an ended job away and return it; None while it runs or if there is none."""
    job = _jobs().get(name)
    if job is None or job.state == "running":
        return None
    return _jobs().pop(name)


def watch(name: str, news: Callable[[], bool] = lambda: False) -> None:
    """Draw a running job, if there is one: its stage, how far it is, and a button that stops it.

    Where a search shows its best so far, that is drawn with its bound and a button that takes it.

    The drawing renews itself; once the job has ended the whole page runs again. The button is
    outside of what is renewed and stops the job before anything is drawn, so one run shows it.

    Parameters
    ----------
    name : str
    news : callable
        Says whether the whole page is to run again though the job has not ended.
    """
    # An emptied place takes the drawing away at once, also where the page's own clean-up of what a
    # run no longer draws is overtaken by the next renewal.
    place = st.empty()
    job = current(name)
    if job is None:
        return
    if job.state != "running":  # it ended while this page was drawn; the next run collects it
        st.rerun()

    @st.fragment(run_every=LOOK_EVERY)
    def drawn() -> None:
        if current(name) is not job or job.state != "running" or news():
            st.rerun()
            return
        st.progress(job.share, text=plain(f"{job.title}: {job.progress}"))
        best_so_far.draw(name, job.so_far)

    # In one row with what a search offers to take, which comes and goes.
    with place.container(key=f"watched-{name}", horizontal=True, vertical_alignment="bottom"):
        drawn()
        st.button(
            "Cancel", key=f"cancel-{name}", shortcut="Esc", on_click=handled()(job.cancel.set)
        )


def _jobs() -> dict[str, Job]:
    return st.session_state.setdefault(_JOBS, {})
