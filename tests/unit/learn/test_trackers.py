"""What trackers find out is what a plain count of the rows says, and no small set is answered."""

from __future__ import annotations

from contextlib import suppress

import pytest

from anon_core.base.errors import BadInput
from anon_core.teaching.learn import Trace, find_lesson, traced
from anon_core.teaching.learn.lesson_run import moved, settings_of
from anon_core.teaching.learn.lessons.trackers import learned

LESSON = find_lesson("trackers")


def read(example, k: float | None = None) -> Trace:  # type: ignore[no-untyped-def]
    return traced(LESSON, moved(LESSON, example, k))


def same(trace: Trace, person: int, columns: tuple[str, ...]) -> set[int]:
    texts = [trace.texts(name) for name in columns]
    return {r for r in range(trace.rows) if all(t[r] == t[person] for t in texts)}


def compared(trace: Trace) -> int:
    """Hold what trackers find of everyone against the rows; return of how many."""
    steps = LESSON.steps(trace)
    secret = next(step for step in steps if step.title.startswith("The secret"))
    for person in range(trace.rows):
        fit = same(trace, person, trace.quasi)
        having = same(trace, person, (*trace.quasi, trace.sensitive[0]))
        assert learned(trace, person) == (len(fit), len(having))
        assert ("so it is known" in secret.found[person]) == (fit == having)
    return trace.rows


@pytest.mark.parametrize("example", LESSON.examples, ids=lambda one: one.name)
def test_counts_by_trackers_are_those_of_the_rows(example) -> None:  # type: ignore[no-untyped-def]
    checked = 0
    for k in settings_of(LESSON, example):
        with suppress(BadInput):  # no general tracker may exist
            checked += compared(read(example, k))
    assert checked


def test_the_twenty_children_are_the_golden_ones() -> None:
    """TB-80 and TB-81: 11 − 10 = 1 by an individual tracker; q(T), q(not T), and q(C)."""
    trace = read(LESSON.examples[0])
    steps = {step.title: step for step in LESSON.steps(trace)}
    assert "3 to 17 are allowed: the box refuses" in steps["Asked about Ramesh"].words
    assert "11 − 10 = 1" in steps["An individual tracker"].words
    assert "T needs 6 to 14 of the 20" in steps["A general tracker asks anything"].words
    assert "row 5 follows" in steps["An audit of the answers"].words
