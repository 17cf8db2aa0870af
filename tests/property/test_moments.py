"""Dates with a time of day: both readers agree on every text, and calendars hold and verify."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import xlsxwriter
from hypothesis import given
from hypothesis import strategies as st

from anon_core import run
from anon_core.__main__ import main
from anon_core.base.errors import BadInput
from anon_core.data.column import encode
from anon_core.data.hierarchy.label_truth import false_labels
from anon_core.data.hierarchy.propose.dates_and_times import moments as calendar
from anon_core.data.hierarchy.propose.proposals import offer
from anon_core.data.hierarchy.ranges import read_range
from anon_core.data.reading import read_table
from anon_core.data.values import moments
from anon_core.data.values.kinds import KINDS, detect_kind
from anon_core.verification.text import kinds as again
from anon_core.verification.text import kinds as recomputed
from anon_core.verification.text.labels import ranges_of, untrue
from anon_core.verification.text.texts import Spelling
from tests.making import Case
from tests.often import often

READERS: list[tuple[Callable[[str], float], Callable[[str], int | None]]] = [
    (moments.as_day, again.day_of),
    (moments.as_moment, again.local_of),
    (moments.as_instant, again.instant_of),
]
_DAYS = [
    "2024-02-29",
    "2024/2/9",
    "29.02.2024",
    "2024-02-30",
    "0001-01-01",
    "9999-12-31",
    "2024-1- 2",
]
_CLOCKS = [
    *("00:00", "0:00:00", "00:00:00.000", "7:08", "07:08:09", "23:59:59,5", "24:00", "07:60"),
    *("12:00:00.123456789", "7", "07:8", "7:08:9", "13:00", "12:30:00."),
]
_HALVES = ["", "", "", " PM", "am", " p.m.", " pm."]
_ZONES = [
    "",
    "",
    "Z",
    " UTC",
    "+00",
    "+00:00",
    "-0000",
    "+0130",
    " -05:30",
    "+24:00",
    "+01:60",
    "+1",
]
_TEXT = st.tuples(
    st.sampled_from(_DAYS),
    st.sampled_from([" ", "T", "t", "  ", ", ", "", " T", "\t"]),
    st.sampled_from(_CLOCKS),
    st.sampled_from(_HALVES),
    st.sampled_from(_ZONES),
).map("".join)
_AT = st.datetimes(datetime.datetime(1700, 1, 1), datetime.datetime(2200, 1, 1)) | st.datetimes(
    datetime.datetime(2024, 2, 27), datetime.datetime(2024, 3, 2)
)
_FORMS = ["%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S", "%d.%m.%Y %H:%M:%S.%f"]


@often(8000)
@given(text=_TEXT | st.sampled_from(_DAYS))
def test_both_readers_find_the_same_in_every_text(text: str) -> None:
    for read, other in READERS:
        found, same = read(text), other(text)
        assert math.isnan(found) == (same is None)
        if same is not None:
            assert found == float(same)
    assert moments.without_midnight(text) == again.bare_day(text)


@often(400)
@given(at=_AT)
def test_what_is_written_is_read_as_what_it_was(at: datetime.datetime) -> None:
    values = (at - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1)
    for kind, text in (("datetime", str(at)), ("instant", f"{at}+00:00")):
        assert KINDS[kind].measure(text) == values
        assert KINDS[kind].measure(KINDS[kind].write(values)) == values
        assert recomputed.KINDS[kind].write(values) == KINDS[kind].write(values)


@often(60)
@given(at=st.lists(_AT, min_size=6, max_size=24), form=st.sampled_from(_FORMS), zone=st.booleans())
def test_labels_of_every_proposal_are_true_on_both_sides(
    at: list[datetime.datetime], form: str, zone: bool
) -> None:
    texts = sorted({one.strftime(form) + ("+01:00" if zone else "") for one in at})
    kind = detect_kind(texts)
    if kind == "date":  # all of them at midnight
        return
    assert kind == ("instant" if zone else "datetime")
    column = encode("seen", np.arange(len(texts), dtype=np.int32), texts)
    for one in offer(column).proposals:
        assert false_labels(one.rows, kind) == []
        labels = {label for row in one.rows for label in row[1:]}
        assert untrue(one.rows, Spelling(kind=kind, neutralised=False), labels) == set()
        assert all((" UTC" in row[1]) == zone for row in one.rows if row[1].endswith(("h", "UTC")))


def test_the_calendar_goes_from_the_hour_to_the_decade() -> None:
    texts = ["1999-12-31 23:30", "2001-02-03 04:05", "2001-02-03 04:06", "2001-02-03 05:00"]
    texts += ["2001-02-04 05:00", "2001-03-04 05:00", "2001-04-04 05:00", "2002-04-04 05:00"]
    rows = calendar(encode("at", np.arange(len(texts), dtype=np.int32), texts))
    assert rows[1] == (
        "2001-02-03 04:05",
        "2001-02-03 04h",
        "2001-02-03",
        "2001-02",
        "2001-Q1",
        "2001",
        "2000s",
        "*",
    )


def test_moments_of_several_offsets_stand_in_the_order_of_time() -> None:
    texts = ["2024-03-31T01:30:00+01:00", "2024-03-31T01:15:00Z", "2024-03-31T02:30:00+02:00"]
    column = encode("at", np.arange(3, dtype=np.int32), texts)
    assert column.kind == "instant"
    assert column.values == (texts[0], texts[1])  # half past one and half past two are one moment
    assert column.codes.tolist() == [0, 1, 0]
    assert {row[1] for row in calendar(column)} <= {"2024-03-31 00h UTC", "2024-03-31 01h UTC", "*"}


@pytest.mark.parametrize(
    ("label", "first", "last"),
    [
        ("2024-02-29 07h", "2024-02-29 07:00", "2024-02-29 07:59:59.999999"),
        ("2024-02-29", "2024-02-29 00:00", "2024-02-29 23:59:59.999999"),
        ("2024-02", "2024-02-01 00:00", "2024-02-29 23:59:59.999999"),
        ("2024-Q1", "2024-01-01 00:00", "2024-03-31 23:59:59.999999"),
        ("2020s", "2020-01-01 00:00", "2029-12-31 23:59:59.999999"),
        ("2024-02-01 to 2024-02-03", "2024-02-01 00:00", "2024-02-03 23:59:59.999999"),
        ("[2024-02-01, 2024-02-03)", "2024-02-01 00:00", "2024-02-02 23:59:59.999999"),
        ("(2024-02-01, 2024-02-03]", "2024-02-02 00:00", "2024-02-03 23:59:59.999999"),
        ("2024-W09", "2024-02-26 00:00", "2024-03-03 23:59:59.999999"),
    ],
)
def test_labels_of_days_hold_all_of_each_day(label: str, first: str, last: str) -> None:
    low, high = moments.as_moment(first), moments.as_moment(last)
    for text, kind in ((label, "datetime"), (label + " UTC", "instant")):
        found = read_range(text, kind)
        assert found is not None
        # An open end is the float next to a moment, which is a whole number.
        assert (math.ceil(found[0]), math.floor(found[1])) == (low, high)
        (inside,) = ranges_of(text, Spelling(kind=kind, neutralised=False))
        held = [inside(int(moment)) for moment in (low - 1, low, high, high + 1)]
        assert held == [False, True, True, False]


@pytest.mark.parametrize(
    "algorithm",
    [
        {"name": "optimal", "max_suppression": 0.2},
        {"name": "mondrian"},
        {"name": "microaggregation"},
        {"name": "local-recoding", "max_suppression": 0.5},
        {"name": "top-bottom-coding", "bottom": 0.3, "top": 0.3},
        {"name": "top-down"},
        {"name": "anatomy"},
    ],
    ids=lambda a: str(a["name"]),
)
@pytest.mark.parametrize("zone", ["", "Z", "+05:30"])
def test_every_release_of_moments_is_verified(algorithm: dict[str, object], zone: str) -> None:
    rng = np.random.default_rng([len(zone), len(str(algorithm))])
    begin = datetime.datetime(2024, 2, 20)
    at = [begin + datetime.timedelta(minutes=int(m)) for m in rng.integers(0, 40_000, 60)]
    case = Case(
        columns={
            "seen": [f"{one:%Y-%m-%d %H:%M:%S}{zone}" for one in at],
            "ill": [str(i) for i in rng.permutation(60) % 4],
        },
        quasi=("seen",),
        sensitive=("ill",),
        kinds={},
    )
    column = case.dataset.column("seen")
    models: list[dict[str, object]] = [{"name": "k-anonymity", "k": 3}]
    if algorithm["name"] == "anatomy":
        models = [{"name": "frequency-l-diversity", "l": 2}]
    plan = case.plan(algorithm=algorithm, models=models)
    result = run(plan, case.dataset, {"seen": calendar(column)}, assess=False)
    assert result.verification.holds
    assert result.kinds["seen"] == ("instant" if zone else "datetime")


def test_a_workbook_of_moments_is_released_and_verified(tmp_path: Path) -> None:
    recipe, data, out = tmp_path / "r.toml", tmp_path / "t.xlsx", tmp_path / "out"
    shown = {"num_format": "dd.mm.yyyy hh:mm"}
    with xlsxwriter.Workbook(data) as book:
        form = book.add_format(shown)
        sheet = book.add_worksheet("visits")
        sheet.write_row(0, 0, ["seen", "born", "ill"])
        for row in range(1, 31):
            at = datetime.datetime(2024, 2, 27) + datetime.timedelta(hours=6 * row)
            sheet.write_datetime(row, 0, at, form)  # every fourth is at midnight
            sheet.write_datetime(row, 1, datetime.datetime(1980, 1, row), form)
            sheet.write_string(row, 2, "ab"[row % 2])
    recipe.write_text(
        '[roles]\nquasi = ["seen", "born"]\nsensitive = ["ill"]\n[algorithm]\nname = "mondrian"\n'
        '[[models]]\nname = "k-anonymity"\nk = 10\n'
    )
    read = read_table(data)
    assert [c.kind for c in read.columns] == ["datetime", "date", "text"]
    assert "2024-02-28 00:00:00" in read.column("seen").values
    assert read.column("born").values[0] == "1980-01-01"
    given = [str(recipe), "--data", str(data)]
    assert main(["run", *given, "--out", str(out)]) == 0
    assert main(["verify", *given, "--release", str(out)]) == 0
    first = (out / "release.csv").read_text().splitlines()[1]
    assert first.startswith(
        '"[2024-02-27 06:00:00, 2024-03-01 18:00:00]","[1980-01-01, 1980-01-15]'
    )


def test_declared_as_text_or_date_a_column_is_read_so_or_refused(tmp_path: Path) -> None:
    data = tmp_path / "t.csv"
    data.write_text(
        "a,b\n2024-02-29 00:00:00,2024-02-29 10:30\n2024-03-01 00:00:00,2024-03-01 0:00\n"
    )
    read = read_table(data)
    assert [c.kind for c in read.columns] == ["date", "datetime"]
    assert read.column("a").values == ("2024-02-29", "2024-03-01")
    assert "Every time of day is midnight" in read.column("a").notes[0]
    assert read.with_kinds({"a": "text"}).column("a").values[0] == "2024-02-29 00:00:00"
    assert read.with_kinds({"a": "datetime"}).column("a").values[0] == "2024-02-29 00:00:00"
    with pytest.raises(BadInput, match="'b' as datetime or text") as refused:
        read.with_kinds({"b": "date"})
    assert "1 distinct value is not a date (first in row 1)" in str(refused.value)
    with pytest.raises(BadInput, match="need an offset from UTC"):
        read.with_kinds({"b": "instant"})
