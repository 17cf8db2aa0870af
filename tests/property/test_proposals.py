"""Nothing is proposed that the builder would refuse, whatever a column holds."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from contextlib import suppress
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.base.errors import BadHierarchy
from anon_core.data.column import Column, encode
from anon_core.data.hierarchy import draft_of_rows, from_rows, to_rows, unplaced
from anon_core.data.hierarchy.edit.cutting import cuts_of
from anon_core.data.hierarchy.edit.operations import MOST_LEVELS
from anon_core.data.hierarchy.histogram import axis
from anon_core.data.hierarchy.intervals import MOST_CUTS, intervals
from anon_core.data.hierarchy.label_truth import false_labels
from anon_core.data.hierarchy.propose.proposals import Offer, offer
from anon_core.data.values.kinds import ColumnKind


def column(cells: list[str], kind: ColumnKind | None = None, *, missing: int = 0) -> Column:
    values = list(dict.fromkeys(cells))
    generator = np.random.default_rng(len(values))
    more = generator.integers(0, len(values), len(values))
    codes = np.concatenate([np.arange(len(values)), more, np.full(missing, -1)])
    return encode("x", codes.astype(np.int32), values, kind=kind)


def held(own: Column) -> Offer:
    """Return what is offered for a column, after the builder's own code has taken all of it."""
    found = offer(own)
    assert found.proposals[-1].builder == "flat"
    for one in found.proposals:
        assert {row[0] for row in one.rows} == set(own.values)
        from_rows(own, one.rows)  # what a run makes of it
        assert false_labels(one.rows, own.kind) == []
        draft = draft_of_rows(own, one.rows)  # what the builder edits
        assert not unplaced(draft, own)
        assert draft.height <= MOST_LEVELS
        if own.kind in ("number", "date") and len(own.values) > 1:
            cuts = cuts_of(own, to_rows(draft))  # what is dragged
            assert all(len(points) <= MOST_CUTS for points in cuts.levels)
            intervals(own, cuts)
            with suppress(BadHierarchy):  # what no line can hold is drawn as groups
                axis(own, cuts)
    for one in found.withheld:
        assert one.builder != "flat"
        assert one.reason
    return found


def days(low: str, high: str, count: int) -> list[str]:
    first, last = (datetime.date.fromisoformat(one).toordinal() for one in (low, high))
    random = Random(count)
    return [
        datetime.date.fromordinal(random.randint(first, last)).isoformat() for _ in range(count)
    ]


def clocks(count: int) -> list[str]:
    random = Random(count)
    return [
        f"{s // 3600:02}:{s // 60 % 60:02}:{s % 60:02}"
        for s in random.choices(range(86400), k=count)
    ]


COLUMNS: dict[str, Callable[[], Column]] = {
    "births of a century": lambda: column(
        [datetime.date.fromordinal(700_700 + 29 * v).isoformat() for v in range(1300)], "date"
    ),
    "days of all time": lambda: column(days("0001-01-01", "9999-12-31", 700), "date"),
    "first and last day": lambda: column(["0001-01-01", "0033-04-03", "9999-12-31"], "date"),
    "days with missing": lambda: column(days("2020-01-01", "2024-01-01", 90), "date", missing=9),
    "seconds": lambda: column(clocks(600)),
    "stamps": lambda: column([f"2024-01-{i % 28 + 1:02}T{t}" for i, t in enumerate(clocks(400))]),
    "huge": lambda: column([f"{v}e{v % 97}" for v in range(1, 400)], "number"),
    "tiny": lambda: column([f"{v}e-{80 + v % 20}" for v in range(1, 300)], "number"),
    "from end to end": lambda: column(["-1e100", "0", "1e-100", "1e100"], "number"),
    "negative": lambda: column([str(-v * v) for v in range(400)], "number"),
    "even": lambda: column([str(2 * v) for v in range(1500)], "number"),
    "account numbers": lambda: column([str(10**15 + 7 * v) for v in range(400)], "number"),
    "long texts": lambda: column([f"{'very ' * 400}{v}" for v in range(60)]),
    "long heads": lambda: column([f"{'ab'[v % 2] * 1500}-{v}" for v in range(60)]),
    "long numbers": lambda: column([f"Grade {str(v) * 5000}" for v in range(1, 8)]),
    "many parts": lambda: column([".".join(str(v * i % 7) for i in range(70)) for v in range(90)]),
    "unicode": lambda: column(
        [
            "é",
            "e\u0301",
            "ß",
            "\u202eabc",
            "日本",
            "𝔘",
            "٣",
            "²³¹",
            "Ⅷ",
            "a\tb",
            "*",
            "x / y",
            "x",
            "y",
        ]
    ),
    "other digits": lambda: column(["Grade ٣", "Grade ٤", "Grade 5", "Grade ²"]),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_the_builder_takes_every_proposal(name: str) -> None:
    held(COLUMNS[name]())


def test_a_calendar_over_a_century_leaves_out_what_are_no_groups_any_more() -> None:
    found = {one.builder: one for one in held(COLUMNS["births of a century"]()).proposals}
    calendar, weeks = found["calendar"], found["weeks"]
    # Each week holds one of these days, so that weeks would be no level at all.
    assert "left out" not in weeks.reason
    assert "left out" in calendar.reason
    assert calendar.parameters["left_out"] == 1
    assert calendar.rows[0][1:] == ("1919-Q2", "1919", "1910s", "*")
    assert {row[-2] for row in calendar.rows} == {f"{decade}0s" for decade in range(191, 203)}


def test_what_cannot_be_offered_is_told() -> None:
    values = ("0", "5e-324", "1e-323")  # which no number of a table is; another kind may be
    own = Column(
        name="x",
        kind="number",
        codes=np.arange(3, dtype=np.int32),
        values=values,
        measure=np.array(values, dtype=np.float64),
    )
    found = held(own)
    assert [(one.builder, "too close together" in one.reason) for one in found.withheld] == [
        ("round numbers", True)
    ]


cells = st.one_of(
    st.text(min_size=1, max_size=6),
    st.integers(-(10**6), 10**6).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.dates().map(str),
    st.from_regex(r"[A-Z][0-9]{2}(\.[0-9])?", fullmatch=True),
    st.from_regex(r"[0-9]{5}", fullmatch=True),
    st.times().map(str),
    st.from_regex(r"[ab]{1,2}([-/. ][ab]{1,2}){1,2}", fullmatch=True),
)


@settings(max_examples=80)
@given(st.data())
def test_any_column_gets_what_the_builder_takes(data: st.DataObject) -> None:
    of_one_kind = data.draw(st.sampled_from([cells, *cells.original_strategies]))
    texts = data.draw(st.lists(of_one_kind, min_size=1, max_size=25))
    texts = [text.strip() or "x" for text in texts]
    kind = data.draw(st.sampled_from([None, "text", "ordered"]))
    held(column(texts, kind, missing=data.draw(st.integers(0, 2))))


@pytest.mark.long
@pytest.mark.parametrize(
    "cells",
    [
        [f"word{v % 5000} thing{v}" for v in range(100_000)],
        [f"{v:06}" for v in range(100_000)],
        [f"{v // 1000}-{v % 1000}" for v in range(100_000)],
        [str(v * v) for v in range(100_000)],
    ],
    ids=["phrases", "codes", "parts", "numbers"],
)
def test_a_hundred_thousand_labels(cells: list[str]) -> None:
    held(column(cells))
