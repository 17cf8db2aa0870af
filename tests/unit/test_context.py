"""Progress, the deadline and the wish to stop."""

from __future__ import annotations

import time

import numpy as np
import pytest

from anon_core.context import Context, part_of
from anon_core.errors import Cancelled


def test_a_plain_context_does_nothing() -> None:
    context = Context()
    context.check()
    context.report(0.5, "anything")
    assert not context.out_of_time()
    assert context.generator.random() == np.random.default_rng(0).random()


def test_a_cancelled_context_stops_before_it_reports() -> None:
    seen: list[tuple[float, str]] = []
    context = Context(progress=lambda share, stage: seen.append((share, stage)))
    context.report(0.25, "first")
    context.cancel.set()
    for work in (context.check, lambda: context.report(0.5, "second")):
        with pytest.raises(Cancelled) as stopped:
            work()
    assert "nothing was released" in stopped.value.message
    assert seen == [(0.25, "first")]


def test_contexts_are_cancelled_apart() -> None:
    Context().cancel.set()
    Context().check()


def test_a_deadline_passes() -> None:
    assert Context(deadline=time.monotonic() - 1).out_of_time()
    assert not Context(deadline=time.monotonic() + 60).out_of_time()


def test_a_part_shows_as_a_share_of_the_whole() -> None:
    seen: list[float] = []
    whole = Context(progress=lambda share, _: seen.append(share))
    part = part_of(whole, 0.2, 0.6)
    for share in (0.0, 0.5, 1.0, -1.0, 7.0):
        part.report(share, "part")
    assert seen == pytest.approx([0.2, 0.4, 0.6, 0.2, 0.6])
    inner = part_of(part, 0.5, 1.0)
    inner.report(0.5, "inner")
    assert seen[-1] == pytest.approx(0.5)
    assert inner.cancel is whole.cancel
    assert inner.generator is whole.generator
    whole.cancel.set()
    with pytest.raises(Cancelled):
        inner.report(0.9, "late")
