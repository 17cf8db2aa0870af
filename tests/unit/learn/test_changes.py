"""Changed cells: what is said of everyone is the attack's, and swaps keep every count."""

from __future__ import annotations

from collections import Counter

import pytest

from anon_core.teaching.learn import find_lesson, traced
from anon_core.teaching.learn.lesson_run import attacked, moved, setting_of
from anon_core.teaching.learn.lessons.changes import linked

LESSON = find_lesson("changes")


@pytest.mark.parametrize("shuffle", [0, 1, 2])
@pytest.mark.parametrize("example", LESSON.examples, ids=lambda one: one.name)
def test_links_are_those_of_the_attack(example, shuffle: int) -> None:  # type: ignore[no-untyped-def]
    trace = traced(LESSON, moved(LESSON, example, None, shuffle))
    for name, run in trace.runs.items():
        result = attacked(run, "distance-linkage")
        assert result is not None
        assert sum(linked(trace, name)) == pytest.approx(result.succeeded)
    for name in ("ranks", "swapped"):
        for column in trace[name].result.plan.changes[0].columns:
            assert Counter(trace[name].published(column)) == Counter(trace.texts(column))
    steps = LESSON.steps(trace)
    right = sum(one.endswith("and is right.") for one in steps[1].found)
    question = steps[1].question
    assert question is not None
    assert question.answer == f"number:{right}"


def test_more_noise_leaves_fewer_links() -> None:
    """On average over draws: nothing else is claimed of it."""
    example, rates = LESSON.examples[0], dict[float, float]()
    assert setting_of(LESSON, example) == 0.1
    for alpha in (0.01, 1):
        traces = [traced(LESSON, moved(LESSON, example, alpha, n)) for n in range(8)]
        found = [attacked(trace["noise"], "distance-linkage") for trace in traces]
        rates[alpha] = sum(one.rate for one in found if one) / len(found)
    assert rates[0.01] > rates[1] + 0.2
