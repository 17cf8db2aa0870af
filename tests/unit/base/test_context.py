"""Progress, the deadline and the wish to stop."""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np
import pytest

from anon_core.base import context as context_module
from anon_core.base import secret
from anon_core.base.context import Context, clock_stopped, now, part_of
from anon_core.base.errors import Cancelled
from anon_core.base.secret import stream
from anon_core.kernels.compilation import compiled
from anon_core.methods.partition import best_gain as gain
from anon_core.techniques.algorithms.anytime import Anytime
from anon_core.techniques.models.k_anonymity import KAnonymity
from tests.making import random_case


def test_a_plain_context_does_nothing() -> None:
    context = Context()
    context.check()
    context.report(0.5, "anything")
    assert not context.out_of_time()


def test_without_a_generator_chance_comes_from_the_operating_system(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []

    def randbits(bits: int) -> int:
        asked.append(bits)
        return 1 << 200

    monkeypatch.setattr(secret.secrets, "randbits", randbits)
    assert Context().generator.random() == stream(1 << 200, "context").random()
    assert asked == [256]


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
    assert Context(deadline=now() - 1).out_of_time()
    assert not Context(deadline=now() + 60).out_of_time()


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


class _Told:
    """A clock that shows what it is shown."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def monotonic(self) -> float:
        return self.seconds


def test_the_clock_stands_still_while_kernels_are_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = _Told()
    monkeypatch.setattr(context_module, "time", answer)
    monkeypatch.setattr(context_module, "_CLOCK", context_module.WorkClock())
    assert now() == 100
    with clock_stopped():
        answer.seconds += 50
        assert now() == 100
        with clock_stopped():  # one kernel that calls another
            answer.seconds += 50
        answer.seconds += 50
    assert now() == 100
    answer.seconds += 3
    assert now() == 103
    assert Context(deadline=102.0).out_of_time()
    assert not Context(deadline=104.0).out_of_time()


@pytest.mark.usefixtures("nobody_compiles_ahead")
@pytest.mark.skipif(bool(os.environ.get("NUMBA_DISABLE_JIT")), reason="nothing is compiled")
def test_compiling_a_kernel_takes_no_time_off_a_box() -> None:
    def doubled(number: int) -> int:
        return 2 * number

    kernel = compiled(doubled)
    before, began = now(), time.monotonic()
    assert kernel(21) == 42
    counted, passed = now() - before, time.monotonic() - began
    assert counted < passed / 2  # compiled, or loaded where it was kept


def test_a_search_in_a_time_box_finds_the_same_when_kernels_are_cold(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    case = random_case(np.random.default_rng(3), rows=24, quasi=2)
    problem, models = case.problem(), [KAnonymity(k=3)]
    answer = _Told()
    monkeypatch.setattr(context_module, "time", answer)
    monkeypatch.setattr(context_module, "_CLOCK", context_module.WorkClock())
    technique = Anytime(seconds=1.0)
    warm = technique.run(problem, models, Context())
    inner = gain.split_by_gain

    def cold(*given: Any) -> Any:
        with clock_stopped():  # as the first call of every kernel does
            answer.seconds += 1000.0
        return inner(*given)

    monkeypatch.setattr(gain, "split_by_gain", cold)
    found = technique.run(problem, models, Context())
    assert answer.seconds > 1000
    assert found.account.cost == warm.account.cost
    assert found.account.steps == warm.account.steps
