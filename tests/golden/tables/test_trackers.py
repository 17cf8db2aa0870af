"""Trackers against a query box with a minimum set size, on Samarati's twenty children."""

from __future__ import annotations

import pytest

from anon_core.methods.queries.trackers import (
    Attempt,
    QueryBox,
    Refused,
    attempt,
    determined,
    double_tracker,
    general_tracker,
    individual_property,
    individual_tracker,
    nameable,
    singled_out,
    tracker_window,
)
from tests.tabulated import CHILDREN, dataset_of

SALARY = [int(str(v)) for v in CHILDREN["salary"]]


def where(column: str, value: str) -> frozenset[int]:
    return frozenset(n for n, v in enumerate(CHILDREN[column]) if v == value)


WHITE = where("race", "white")


def test_individual_tracker() -> None:  # TB-80
    box = QueryBox(values=SALARY, least=3)
    medium = where("education", "medium")
    with pytest.raises(Refused, match="allowed are 3 to 17 of 20 records"):
        box.count(WHITE & medium)
    assert individual_tracker(box.count, WHITE, medium) == 1
    assert [step.answer for step in box.log] == [None, 11, 10]
    low_paid = frozenset(n for n, v in enumerate(SALARY) if v < 100)
    assert individual_property(box.count, WHITE, medium, low_paid) == 1


def test_general_tracker() -> None:  # TB-81, TB-82, TB-83
    box = QueryBox(values=SALARY, least=3)
    best = where("education", "very high")
    assert tracker_window(20, 3) == (6, 14)
    assert general_tracker(box.count, box.everyone, best, WHITE) == 1
    assert [step.answer for step in box.log] == [11, 9, 12, 9]
    assert general_tracker(box.total, box.everyone, best, WHITE) == 201
    assert [step.answer for step in box.log[4:]] == [741, 681, 942, 681]
    rest = box.everyone - best
    assert general_tracker(box.count, box.everyone, rest, WHITE, large=True) == 19


def test_double_tracker() -> None:  # TB-84
    box = QueryBox(values=SALARY, least=5)
    low = where("education", "low")
    high = where("education", "high")
    assert double_tracker(box.count, box.everyone, high, low & WHITE, low) == 3
    assert [step.answer for step in box.log] == [15, 11, 8, 15]


def test_when_a_general_tracker_exists() -> None:  # TB-85
    assert tracker_window(20, 5) == (10, 10)
    assert tracker_window(20, 6) is None


def test_sums_determine_records() -> None:  # TB-86
    sets = [frozenset({0, 1, 2}), frozenset({1, 2, 3}), frozenset({0, 3})]
    assert determined(4, sets[:2]) == frozenset()
    assert determined(4, sets) == {0, 3}


VERY_HIGH, MEDIUM = (("education " + v, where("education", v)) for v in ("very high", "medium"))
BY_RACE = ("race white", WHITE)


@pytest.mark.parametrize(
    ("least", "first", "second", "kind", "steps", "answer"),
    [
        (3, BY_RACE, MEDIUM, "Individual tracker", [11, 10], 1),
        (3, VERY_HIGH, None, "General tracker", [11, 9, 12, 9], 1),
        (5, ("high", where("education", "high")), None, "General tracker", [10, 10, 13, 10], 3),
    ],
)
def test_a_refused_query_is_asked_after_all(
    least: int,
    first: tuple[str, frozenset[int]],
    second: tuple[str, frozenset[int]] | None,
    kind: str,
    steps: list[int],
    answer: int,
) -> None:
    box = QueryBox(values=SALARY, least=least)
    names = [BY_RACE] if least < 5 else nameable(dataset_of(CHILDREN))
    found = attempt(box, box.count, first, second, names)
    assert isinstance(found, Attempt)
    assert (found.kind, found.answer) == (kind, answer)
    assert [step.answer for step in found.steps] == steps
    assert len(found.legend) == 2


def test_no_tracker_where_sets_have_to_be_a_third() -> None:
    box = QueryBox(values=SALARY, least=8)
    assert attempt(box, box.count, VERY_HIGH, None, nameable(dataset_of(CHILDREN))) is None


@pytest.mark.parametrize("least", [2, 3, 4, 5])
def test_an_audit_of_all_answers_stops_every_tracker(least: int) -> None:
    box = QueryBox(values=SALARY, least=least, audits=True)
    names = nameable(dataset_of(CHILDREN))
    for n in range(20):
        for ask in (box.count, box.total):
            found = attempt(box, ask, ("one child", frozenset({n})), None, names)
            assert found is None or found.answer is None
    assert box.answered
    assert not singled_out(box.answered)
    assert not determined(20, box.answered)
