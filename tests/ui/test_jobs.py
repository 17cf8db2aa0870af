"""Jobs: progress, one value or one error, and a stop that takes effect at once."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from anon_core.base.context import Context
from anon_core.base.errors import Infeasible
from tests.ui.sessions import PATIENCE, carried_out, load, open_page
from ui.state import state
from ui.state.work import jobs, precompile_status, sweep
from ui.state.work.precompile_status import Warming
from ui.state.work.time_left import Pace


@pytest.fixture(autouse=True)
def session(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Any]]:
    held: dict[str, Any] = {}
    monkeypatch.setattr(st, "session_state", held)
    yield held
    for job in held.get("jobs", {}).values():
        job.cancel.set()


def test_a_job_brings_its_value_once() -> None:
    job = jobs.start("one", "Sum", lambda context: 41 + 1)
    assert job.wait(PATIENCE)
    collected = jobs.collect("one")
    assert collected is job
    assert (collected.state, collected.value) == ("done", 42)
    assert jobs.collect("one") is None


def test_progress_is_seen_from_outside() -> None:
    go_on, reported = threading.Event(), threading.Event()

    def work(context: Context) -> None:
        context.report(0.5, "Half way")
        reported.set()
        go_on.wait(PATIENCE)

    job = jobs.start("one", "Walk", work)
    assert reported.wait(PATIENCE)
    assert (job.state, job.share, job.stage) == ("running", 0.5, "Half way")
    assert jobs.collect("one") is None
    go_on.set()
    assert job.wait(PATIENCE)


def test_a_refusal_of_the_core_is_kept_as_it_is() -> None:
    def work(context: Context) -> None:
        raise Infeasible("No choice keeps it.", remedy="Ask for less.", best=0.3)

    job = jobs.start("one", "Run", work)
    job.wait(PATIENCE)
    assert job.state == "failed"
    assert isinstance(job.error, Infeasible)
    assert job.error.best == 0.3


def test_an_unforeseen_error_names_its_type_and_no_value() -> None:
    def work(context: Context) -> None:
        raise KeyError("Clara, 5370")

    job = jobs.start("one", "Run", work)
    job.wait(PATIENCE)
    assert job.state == "failed"
    assert "KeyError" in str(job.error)
    assert "Clara" not in str(job.error)


@pytest.mark.parametrize("polite", [True, False], ids=["checks", "never checks"])
def test_a_stop_takes_effect_while_the_work_goes_on(polite: bool) -> None:
    begun, release = threading.Event(), threading.Event()

    def work(context: Context) -> str:
        begun.set()
        while not release.wait(0.01):
            if polite:
                context.check()
        return "too late"

    job = jobs.start("one", "Run", work)
    assert begun.wait(PATIENCE)
    job.cancel.set()
    collected = jobs.collect("one")
    assert collected is not None
    assert collected.state == "cancelled"
    release.set()
    assert job.wait(PATIENCE)
    assert job.state == "cancelled"


def test_a_second_job_of_the_name_stops_the_first() -> None:
    first = jobs.start("one", "Run", lambda context: context.cancel.wait(PATIENCE))
    second = jobs.start("one", "Run", lambda context: "second")
    assert first.state == "cancelled"
    assert second.wait(PATIENCE)
    found = jobs.collect("one")
    assert found is second


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the session's table be one whose runs are not interpreted."""
    monkeypatch.setattr(
        state, "dataset", lambda: SimpleNamespace(rows=precompile_status.MOST_ROWS + 1)
    )


def test_a_job_on_a_small_table_waits_for_no_routine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precompile_status, "begin", lambda: Warming(compiling=True))
    monkeypatch.setattr(state, "dataset", lambda: SimpleNamespace(rows=precompile_status.MOST_ROWS))
    job = jobs.start("one", "Run", lambda context: "at once", needs=("optimal",))
    assert job.wait(PATIENCE)
    assert job.value == "at once"


def test_what_nobody_waits_for_is_not_interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Warming(compiling=True)
    monkeypatch.setattr(precompile_status, "begin", lambda: found)
    monkeypatch.setattr(state, "dataset", lambda: SimpleNamespace(rows=12))
    work = Mock(return_value="ready")
    job = jobs.start("one", "Looking ahead", work, needs=("optimal",), awaited=False)
    assert not job.wait(0.3)
    work.assert_not_called()
    found.ready.add("optimal")
    assert job.wait(PATIENCE)
    assert job.value == "ready"


@pytest.mark.usefixtures("large")
def test_a_job_on_a_large_table_waits_for_the_routines_it_needs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = Warming(compiling=True)
    found.process = Mock()
    monkeypatch.setattr(precompile_status, "begin", lambda: found)
    noted = threading.Event()
    genuine = jobs.Job.note

    def note(self: jobs.Job, share: float, stage: str) -> None:
        genuine(self, share, stage)
        noted.set()

    monkeypatch.setattr(jobs.Job, "note", note)
    free = jobs.start("other", "Run", lambda context: "at once")
    assert free.wait(PATIENCE)
    job = jobs.start("one", "Run", lambda context: "ready", needs=("optimal",))
    assert noted.wait(PATIENCE)
    assert job.stage.startswith("Preparing")
    assert found.process.stdin.write.call_args.args == ("optimal\n",)
    assert job.state == "running"
    found.ready.add("mondrian")
    assert not job.wait(0.3)
    found.ready.add("optimal")
    assert job.wait(PATIENCE)
    assert job.value == "ready"


@pytest.mark.usefixtures("large")
def test_a_job_that_waits_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precompile_status, "begin", lambda: Warming(compiling=True))
    job = jobs.start("one", "Run", lambda context: "never", needs=("optimal",))
    job.cancel.set()
    assert job.wait(PATIENCE)
    assert (job.state, job.value) == ("cancelled", None)


def test_time_left_follows_the_later_pace_and_is_not_told_too_early() -> None:
    clock = iter([0.0, 2.0, 2.0, 10.0, 12.0, 20.0, 100.0])
    pace = Pace(clock=lambda: next(clock))
    pace.note(0.0)
    pace.note(0.4)
    assert pace.left() is None  # two seconds say nothing
    pace.note(0.5)
    # 0.1 came in the ten seconds since half of twelve: 0.5 is left.
    assert pace.left() == pytest.approx(0.5 / 0.1 * 10)
    pace.note(0.6)
    assert pace.left() is None  # nothing has moved for most of the time


def test_work_is_seen_on_every_page_until_its_own_page_takes_it(session: dict[str, Any]) -> None:
    go_on = threading.Event()
    job = jobs.start("run", "Run", lambda context: go_on.wait(PATIENCE), page="pages/4_Run.py")
    jobs.start("facts", "Looking", lambda context: None, limited=False).wait(PATIENCE)
    try:
        app = open_page("app.py", session)
        shown: Any = app.sidebar
        assert ["Starting" in one.proto.text for one in shown.get("progress")] == [True]
        assert "See it on Run" in [link.proto.label for link in shown.get("page_link")]
        own: Any = open_page("pages/4_Run.py", load()).sidebar
        assert not own.get("progress")  # the page draws it itself
        assert "See it on Run" not in [link.proto.label for link in own.get("page_link")]
        go_on.set()
        assert job.wait(PATIENCE)
        app.run()
        assert any("Run is done after" in caption.value for caption in app.sidebar.caption)
        assert not [b for b in app.sidebar.button if b.key == "under-way/cancel-run"]
    finally:
        go_on.set()


def test_a_run_that_ends_elsewhere_opens_results_at_once(session: dict[str, Any]) -> None:
    held = load()
    made = carried_out(held)
    for key in (state.RESULT, state.MADE_OF):
        held.pop(key)
    session.update(held)
    assert jobs.start("run", "Run", lambda context: made, page="pages/4_Run.py").wait(PATIENCE)
    app = open_page("app.py", session)
    sidebar: Any = app.sidebar
    links = {link.proto.label: link.proto for link in sidebar.get("page_link")}
    assert not links["Results"].disabled
    assert "See the results" in links
    assert session[state.RESULT] is made
    app.switch_page("pages/5_Results.py").run()
    sidebar = app.sidebar
    assert "See the results" not in [one.proto.label for one in sidebar.get("page_link")]


def test_the_best_so_far_is_told_and_taken(session: dict[str, Any]) -> None:
    loaded = threading.Event()

    def work(context: Context) -> None:
        context.found(0.4, 0.3, "Loss")
        loaded.set()
        context.so_far.taken.wait(PATIENCE)

    def watching() -> None:
        from ui.state.work import jobs

        jobs.collect("run")  # as pages do: it may have ended before they are drawn
        jobs.watch("run")

    job = jobs.start("run", "Run", work)
    assert loaded.wait(PATIENCE)
    app = AppTest.from_function(watching, default_timeout=PATIENCE)
    app.session_state["jobs"] = session["jobs"]
    app.run()
    assert [text.value.replace("\\", "") for text in app.markdown] == [
        "Best so far: loss 0.4. No choice can have less than 0.3: a gap of 25%."
    ]
    next(b for b in app.button if b.key == "take-run").click().run()
    assert job.wait(PATIENCE)
    assert job.state == "done"


def test_work_is_stopped_from_another_page(session: dict[str, Any]) -> None:
    job = jobs.start(
        "run", "Run", lambda context: context.cancel.wait(PATIENCE), page="pages/4_Run.py"
    )
    app = open_page("app.py", session)
    next(b for b in app.sidebar.button if b.key == "under-way/cancel-run").click().run()
    assert job.state == "cancelled"
    assert not [b for b in app.sidebar.button if b.key == "under-way/cancel-run"]


def test_a_sweep_is_told_once_where_its_own_page_shows_it(session: dict[str, Any]) -> None:
    session.update(load())
    job = jobs.start(
        sweep.JOB, "Sweep", lambda context: context.cancel.wait(PATIENCE), page="pages/6_Compare.py"
    )
    in_rail = f"under-way/cancel-{sweep.JOB}"
    try:
        drawn = [button.key for button in open_page("pages/6_Compare.py", session).button]
        assert f"cancel-{sweep.JOB}" in drawn
        assert in_rail not in drawn  # the form is in sight
        carried_out(session, pinned=1)
        drawn = [button.key for button in open_page("pages/6_Compare.py", session).button]
        assert in_rail in drawn  # pinned runs push the form below the screen
    finally:
        job.cancel.set()
