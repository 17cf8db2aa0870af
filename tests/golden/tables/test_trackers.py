"""Trackers against a query box with a minimum set size, on Samarati's twenty children."""

from __future__ import annotations

import pytest

from anon_core.tables.queries import (
    QueryBox,
    Refused,
    determined,
    double_tracker,
    general_tracker,
    individual_property,
    individual_tracker,
    tracker_window,
)
from tests.tabulated import CHILDREN

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
