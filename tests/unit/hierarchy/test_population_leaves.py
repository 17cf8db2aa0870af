"""Values that only the population has: leaves that do not count, where the hierarchy puts them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from anon_core.data.column import encode
from anon_core.data.hierarchy import Hierarchy, beyond_root, flat, from_rows, read_range, widened
from anon_core.data.values.kinds import ColumnKind, as_day, as_number

INF = math.inf


@pytest.mark.parametrize(
    ("label", "low", "high"),
    [
        ("20-29", 20, 29),
        ("20 – 29.5", 20, 29.5),
        ("-5--1", -5, -1),
        ("-5-1", -5, 1),
        ("20..29", 20, 29),
        ("20 to 29", 20, 29),
        ("[20, 29]", 20, 29),
        ("[20; 29]", 20, 29),
        ("[20,29]", 20, 29),
        ("(20, 29]", math.nextafter(20, INF), 29),
        ("[20, 30)", 20, math.nextafter(30, 0)),
        ("[80, ∞)", 80, INF),
        ("(-inf, 20)", -INF, math.nextafter(20, 0)),
        ("[80, )", 80, INF),
        ("<20", -INF, math.nextafter(20, 0)),
        ("≤ 20", -INF, 20),
        (">20", math.nextafter(20, INF), INF),
        (">=80", 80, INF),
        ("≥80", 80, INF),
        ("80+", 80, INF),
        ("9413*", 94130, 94139),
        ("94***", 94000, 94999),
    ],
)
def test_labels_that_state_a_range_of_numbers(label: str, low: float, high: float) -> None:
    assert read_range(label, "number") == (low, high)


@pytest.mark.parametrize(
    "label", ["*", "young", "29-20", "25", "[20]", "[a, b]", "[∞, 20]", "<young", "+", "20-x", ""]
)
def test_labels_that_state_none(label: str) -> None:
    assert read_range(label, "number") is None


@pytest.mark.parametrize(
    ("label", "low", "high"),
    [
        ("2020", "2020-01-01", "2020-12-31"),
        ("2020-02", "2020-02-01", "2020-02-29"),
        ("2020-Q4", "2020-10-01", "2020-12-31"),
        ("2020 Q1", "2020-01-01", "2020-03-31"),
        ("1990s", "1990-01-01", "1999-12-31"),
        ("[2020-01-05, 2020-03-01]", "2020-01-05", "2020-03-01"),
        ("2020-01-05 - 2020-03-01", "2020-01-05", "2020-03-01"),
        ("05.01.2020–01.03.2020", "2020-01-05", "2020-03-01"),
    ],
)
def test_labels_that_state_a_range_of_days(label: str, low: str, high: str) -> None:
    assert read_range(label, "date") == (as_day(low), as_day(high))


def test_years_that_are_none() -> None:
    assert read_range("0000", "date") is None
    assert read_range("0000s", "date") is None
    assert read_range("winter", "date") is None
    assert read_range("20-29", "text") is None


def numbers(values: list[str], rows: list[tuple[str, ...]]) -> Hierarchy:
    codes = np.arange(len(values), dtype=np.int32)
    return from_rows(encode("age", codes, values, kind="number"), rows)


def add(hierarchy: Hierarchy, *values: str, kind: ColumnKind = "number") -> Hierarchy:
    wide, place = widened(hierarchy, kind, values, np.array([as_number(v) for v in values]))
    assert [wide.leaves[p] for p in place] == [*hierarchy.leaves, *values]
    return wide


def path(hierarchy: Hierarchy, value: str) -> tuple[str, ...]:
    """Return the labels above a value; a group of its own is called as the value."""
    return next(row[1:] for row in hierarchy.rows() if row[0] == value)


AGES = [
    ("22", "20-29", "20-39", "*"),
    ("25", "20-29", "20-39", "*"),
    ("33", "30-39", "20-39", "*"),
    ("41", "40-49", "40-59", "*"),
]


def test_numbers_lie_where_ranges_say() -> None:
    wide = add(numbers(["22", "25", "33", "41"], AGES), "20", "24", "29.5", "39", "60", "5")
    assert wide.leaves == ("5", "20", "22", "24", "25", "29.5", "33", "39", "41", "60")
    assert path(wide, "20") == ("20-29", "20-39", "*")
    assert path(wide, "24") == ("20-29", "20-39", "*")
    assert path(wide, "29.5") == ("29.5", "20-39", "*")  # between the two, closed as published
    assert path(wide, "39") == ("30-39", "20-39", "*")
    assert path(wide, "60") == ("60", "60", "*")
    assert path(wide, "5") == ("5", "5", "*")
    assert wide.counted.tolist() == [v in ("22", "25", "33", "41") for v in wide.leaves]
    assert wide.size == 4


def test_half_open_ranges_meet_without_overlap() -> None:
    rows = [("22", "[20, 30)", "*"), ("33", "[30, 40)", "*")]
    wide = add(numbers(["22", "33"], rows), "29.99", "30", "40")
    assert [path(wide, v)[0] for v in ("29.99", "30", "40")] == ["[20, 30)", "[30, 40)", "40"]


def test_what_two_ranges_hold_belongs_to_neither() -> None:
    rows = [("22", "20-30", "20-40", "*"), ("33", "30-40", "20-40", "*"), ("50", "50", "50", "*")]
    wide = add(numbers(["22", "33", "50"], rows), "29", "30", "31")
    assert [path(wide, v)[0] for v in ("29", "30", "31")] == ["20-30", "30", "30-40"]
    assert path(wide, "30")[1] == "20-40"


def test_labels_that_are_no_ranges_hold_what_lies_between_their_leaves() -> None:
    rows = [("22", "young", "*"), ("28", "young", "*"), ("41", "old", "*")]
    wide = add(numbers(["22", "28", "41"], rows), "25", "30", "20")
    assert [path(wide, v)[0] for v in ("25", "30", "20")] == ["young", "30", "20"]


def test_a_label_that_contradicts_its_leaves_is_no_range() -> None:
    rows = [("22", "30-39", "*"), ("25", "30-39", "*"), ("41", "20-60", "*")]
    wide = add(numbers(["22", "25", "41"], rows), "24", "30", "50")
    assert [path(wide, v)[0] for v in ("24", "30", "50")] == ["30-39", "30", "50"]


def test_a_group_keeps_what_its_parts_hold() -> None:
    rows = [("22", "20-29", "20-25", "*"), ("41", "40-49", "40-49", "*")]
    wide = add(numbers(["22", "41"], rows), "28")
    assert path(wide, "28") == ("20-29", "20-25", "*")


def test_a_root_may_state_a_range() -> None:
    rows = [("22", "20-29"), ("25", "20-29")]
    hierarchy = numbers(["22", "25"], rows)
    measure = np.array([19.0, 20.0, 30.0])
    assert beyond_root(hierarchy, "number", measure).tolist() == [True, False, True]
    assert not beyond_root(numbers(["22"], [("22", "*")]), "number", measure).any()
    # It says something else of its leaves, so it says nothing.
    assert not beyond_root(numbers(["22"], [("22", "50-59")]), "number", measure).any()


def test_days_lie_where_the_calendar_says() -> None:
    values = ["2020-01-10", "2020-03-05"]
    rows = [("2020-01-10", "2020-01", "2020-Q1", "*"), ("2020-03-05", "2020-03", "2020-Q1", "*")]
    column = encode("day", np.arange(2, dtype=np.int32), values, kind="date")
    new = ["2020-01-31", "2020-02-02", "2020-04-01"]
    days = np.array([as_day(v) for v in new])
    wide, _ = widened(from_rows(column, rows), "date", new, days)
    assert path(wide, "2020-01-31") == ("2020-01", "2020-Q1", "*")
    assert path(wide, "2020-02-02") == ("2020-02-02", "2020-Q1", "*")
    assert path(wide, "2020-04-01") == ("2020-04-01", "2020-04-01", "*")


def test_unknown_categories_hang_under_the_root() -> None:
    rows = [("94138", "9413*", "*"), ("94139", "9413*", "*"), ("94142", "9414*", "*")]
    column = encode("zip", np.array([0, -1], dtype=np.int32), ["94138"], kind="text")
    hierarchy = from_rows(column, rows)
    wide, place = widened(hierarchy, "text", ["94131", "x"], missing=True)
    assert wide.leaves == ("94138", "94139", "94142", "94131", "x", "")
    assert place.tolist() == [0, 1, 2, 5, 3, 4]
    assert path(wide, "94131") == ("94131", "*")
    assert path(wide, "94139") == ("9413*", "*")
    assert wide.counted.tolist() == [True, True, True, False, False, True]


def test_a_missing_value_of_the_population_alone() -> None:
    wide, _ = widened(
        numbers(["22"], [("22", "20-29", "*")]), "number", [], np.zeros(0), missing=True
    )
    assert wide.rows() == [("22", "20-29", "*"), ("", "", "*")]
    assert wide.has_missing
    assert wide.counted.tolist() == [True, False]
    assert wide.measure is not None
    assert math.isnan(wide.measure[-1])


def test_a_column_without_any_value() -> None:
    column = encode("age", np.array([-1], dtype=np.int32), [], kind="text")
    wide, _ = widened(flat(column), "text", ["22"])
    assert wide.rows() == [("22", "*"), ("", "*")]


def test_nothing_new_changes_nothing() -> None:
    hierarchy = numbers(["22", "25", "33", "41"], AGES)
    wide, place = widened(hierarchy, "number", [], np.zeros(0))
    assert wide.rows() == hierarchy.rows()
    assert place.tolist() == [0, 1, 2, 3]


def test_random_ranges_hold_what_they_say() -> None:
    rng = np.random.default_rng(40)
    for _ in range(100):
        cuts = np.unique(rng.integers(0, 40, int(rng.integers(1, 6)))) * 2.5
        ends = list(zip([-INF, *cuts.tolist()], [*cuts.tolist(), INF], strict=True))
        names = [f"<{b}" if a == -INF else f">={a}" if b == INF else f"[{a}, {b})" for a, b in ends]
        values = np.unique(rng.integers(0, 100, 12)).astype(float)
        rows = [
            (f"{v:g}", next(n for n, (a, b) in zip(names, ends, strict=True) if a <= v < b), "*")
            for v in values.tolist()
        ]
        hierarchy = numbers([row[0] for row in rows], rows)
        new = np.setdiff1d(np.round(rng.uniform(-10, 110, 30), 1), values)
        wide = add(hierarchy, *[f"{v:g}" for v in new.tolist()])
        assert wide.measure is not None
        assert np.all(np.diff(wide.measure) > 0)
        present = {row[1] for row in rows}
        for v in new.tolist():
            said = next(n for n, (a, b) in zip(names, ends, strict=True) if a <= v < b)
            # A range that no leaf is under is no group.
            assert path(wide, f"{v:g}")[0] == (said if said in present else f"{v:g}")
        # No node gains or loses a leaf that counts.
        for level in range(hierarchy.height + 1):
            assert set(hierarchy.labels[level]) <= set(wide.labels[level])
            counts = dict(
                zip(
                    hierarchy.labels[level],
                    hierarchy.leaf_count(*hierarchy.bounds(level)).tolist(),
                    strict=True,
                )
            )
            wider = dict(
                zip(wide.labels[level], wide.leaf_count(*wide.bounds(level)).tolist(), strict=True)
            )
            assert wider == dict.fromkeys(wide.labels[level], 0) | counts
