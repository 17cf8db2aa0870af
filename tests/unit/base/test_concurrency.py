"""Work next to other work: both end, and the failure of one stops the other."""

from __future__ import annotations

import threading

import pytest

from anon_core.base.concurrency import run_alongside
from anon_core.base.context import Context
from anon_core.base.errors import BadInput, Cancelled


def until_cancelled(context: Context) -> None:
    while not context.cancel.wait(0.001):
        context.check()
    context.check()


def test_both_are_done_at_the_end() -> None:
    done: list[str] = []
    with run_alongside(lambda _: done.append("beside"), Context()):
        done.append("here")
    assert sorted(done) == ["beside", "here"]


def test_what_fails_here_stops_what_runs_beside() -> None:
    before = threading.active_count()
    with pytest.raises(BadInput, match="here"), run_alongside(until_cancelled, Context()):
        raise BadInput("here", remedy="")
    assert threading.active_count() == before


def test_what_fails_beside_is_told_after_what_is_done_here() -> None:
    def fail(context: Context) -> None:
        raise BadInput("beside", remedy="")

    done: list[str] = []
    with pytest.raises(BadInput, match="beside"), run_alongside(fail, Context()):
        done.append("here")
    assert done == ["here"]


def test_who_cancels_the_whole_cancels_both() -> None:
    context = Context()
    with pytest.raises(Cancelled), run_alongside(until_cancelled, context):
        context.cancel.set()
