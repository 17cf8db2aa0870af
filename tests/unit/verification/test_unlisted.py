"""Where values that no level table lists stand, as the second computation reads labels."""

from __future__ import annotations

import numpy as np
import pytest

from anon_core.data.column import encode
from anon_core.data.hierarchy import from_rows, unclear_places
from anon_core.verification.rows.people import completed
from anon_core.verification.text.kinds import day_of, number_of
from anon_core.verification.text.texts import Key, Spelling

NUMBERS = ["20-29", "[20, 30)", "(19, 29]", "20..29", "20 to 29", "20–29", "2*"]
MONTH = ["2020-02", "2020-02-01 to 2020-02-29", "[2020-02-01, 2020-03-01)"]


def in_group(label: str, kind: str, listed: str, value: Key | None) -> bool | None:
    """Return whether a value is in the group of a listed one; None where it is unclear."""
    spelling = Spelling(kind=kind, neutralised=True)
    more = [listed, "2020-02-15" if kind == "date" else "22"]
    assert value is not None
    found = completed([[v, label, "*"] for v in more], spelling, [value])
    if found is None:
        return None
    assert found[-1][-1] == "*"
    return found[-1][1] == label


@pytest.mark.parametrize("label", NUMBERS)
def test_numbers(label: str) -> None:
    expected = {
        text: in_group(label, "number", "25", number_of(text)) for text in ("20", "29", "19", "30")
    }
    assert expected == {"20": True, "29": True, "19": False, "30": False}


@pytest.mark.parametrize(
    ("label", "end"), [("20+", "999"), ("≥ 20", "999"), ("20 and over", "999"), ("<30", "-5")]
)
def test_numbers_without_an_end(label: str, end: str) -> None:
    assert in_group(label, "number", "25", number_of(end)) is True


@pytest.mark.parametrize("label", MONTH)
def test_days(label: str) -> None:
    days = ("2020-02-01", "2020-02-29", "2020-01-31", "2020-03-01")
    values = [in_group(label, "date", "2020-02-14", day_of(day)) for day in days]
    assert values == [True, True, False, False]


@pytest.mark.parametrize(
    ("label", "first", "last"),
    [
        ("2020", "2020-01-01", "2020-12-31"),
        ("2020s", "2020-01-01", "2029-12-31"),
        ("2020-Q1", "2020-01-01", "2020-03-31"),
        ("2020 Q1", "2020-01-01", "2020-03-31"),
    ],
)
def test_periods(label: str, first: str, last: str) -> None:
    begin, end = day_of(first), day_of(last)
    assert begin is not None
    assert end is not None
    values = [in_group(label, "date", "2020-02-14", v) for v in (begin, end, begin - 1, end + 1)]
    assert values == [True, True, False, False]


@pytest.mark.parametrize("label", ["about 20", "20-21-29"])
def test_labels_that_may_state_a_range_leave_it_unclear(label: str) -> None:
    assert in_group(label, "number", "25", number_of("29")) is None


def test_words_state_none() -> None:
    assert in_group("young", "number", "25", number_of("29")) is False


def test_what_a_group_holds_the_groups_above_hold() -> None:
    levels = [["10", "0-19", "0+", "*"], ["30", "20-39", "0+", "*"], ["43", "40-59", "40+", "*"]]
    found = completed(levels, Spelling(kind="number", neutralised=True), [number_of("39") or ""])
    assert found is not None
    assert found[-1] == ["39", "20-39", "0+", "*"]


@pytest.mark.parametrize("value", ["18", "19.5", "21", "24", "29", "35"])
@pytest.mark.parametrize("label", [*NUMBERS, "20 and over", "about 20", "20-21-29", "young"])
def test_the_search_refuses_what_is_unclear_here(label: str, value: str) -> None:
    """What is unclear to the second computation is refused before the first, and nothing else."""
    levels = [["20", label, "*"], ["22", label, "*"], ["40", "old", "*"], ["41", "old", "*"]]
    column = encode("age", np.arange(4, dtype=np.int32), ["20", "22", "40", "41"])
    found = unclear_places(from_rows(column, levels), "number", np.array([float(value)]))
    key = number_of(value)
    assert key is not None
    spelling = Spelling(kind="number", neutralised=True)
    assert bool(found[0]) == (completed(levels, spelling, [key]) is None)
