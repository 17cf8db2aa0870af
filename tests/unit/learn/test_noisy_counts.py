"""Counts with noise: chances, the factor between them, and what an attacker believes."""

from __future__ import annotations

from math import exp

import pytest

from anon_core.teaching.learn import find_lesson, traced
from anon_core.teaching.learn.lesson_run import moved, setting_of, settings_of, shuffles
from anon_core.teaching.learn.lessons.noisy_counts import (
    answers,
    chance,
    deviation,
    epsilon_of,
    odds,
)

LESSON = find_lesson("noisy-counts")
EXAMPLE = LESSON.examples[0]


@pytest.mark.parametrize("epsilon", settings_of(LESSON, EXAMPLE))
def test_noise_is_what_differential_privacy_asks_for(epsilon: float) -> None:
    span = range(-400, 401)
    assert sum(chance(x, epsilon) for x in span) == pytest.approx(1)
    variance = sum(x * x * chance(x, epsilon) for x in span)
    assert deviation(epsilon) ** 2 == pytest.approx(variance)
    factors = [chance(x, epsilon) / chance(x + 1, epsilon) for x in range(-20, 20)]
    assert max(factors) == pytest.approx(exp(epsilon))
    assert min(factors) == pytest.approx(exp(-epsilon))
    trace = traced(LESSON, moved(LESSON, EXAMPLE, epsilon))
    assert epsilon_of(trace) == epsilon
    count = trace.texts("Disease").count(trace.texts("Disease")[trace.person])
    values = [one - count for one in answers(trace)]
    assert abs(sum(values) / len(values)) < 4 * deviation(epsilon) / len(values) ** 0.5
    for person in range(trace.rows):
        assert exp(-epsilon) - 1e-9 <= odds(trace, person, 1) <= exp(epsilon) + 1e-9
        if trace.texts("Disease")[person] != trace.texts("Disease")[trace.person]:
            assert odds(trace, person, 256) == 1  # anyone who is not counted changes nothing


def test_many_answers_tell_what_one_does_not() -> None:
    assert setting_of(LESSON, EXAMPLE) == 0.5
    assert shuffles(LESSON, EXAMPLE)
    traces = [traced(LESSON, moved(LESSON, EXAMPLE, None, n)) for n in range(4)]
    assert len({answers(trace)[0] for trace in traces}) > 1
    for trace in traces:
        assert odds(trace, trace.person, 256) > 100
