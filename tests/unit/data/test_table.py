"""The table: distinct texts behind integer codes, and what a frame becomes."""

from __future__ import annotations

import datetime
import math
from collections.abc import Sequence
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.base.errors import BadInput
from anon_core.data.column import Column, encode
from anon_core.data.frames import plain_text
from anon_core.data.table import MISSING_TOKENS, Dataset, check_kinds, check_names
from anon_core.data.values.kinds import ColumnKind, as_day, as_number, detect_kind
from anon_core.verification.text.cells import Cells
from anon_core.verification.text.kinds import kind_of
from anon_core.verification.text.texts import read_private_column

SECRET = "Zebulon"


def column(cells: Sequence[str | None], kind: ColumnKind | None = None) -> Column:
    pool = list(dict.fromkeys(c for c in cells if c is not None))
    codes = [-1 if c is None else pool.index(c) for c in cells]
    return encode("x", np.array(codes, dtype=np.int32), pool, kind=kind)


def dataset(**cells: Sequence[str | None]) -> Dataset:
    return Dataset.from_frame(pd.DataFrame({n: list(c) for n, c in cells.items()}))


# Texts


@pytest.mark.parametrize(
    ("text", "number"),
    [("39", 39), (" -1.5 ", -1.5), ("1,5", 1.5), (".5", 0.5), ("+2.", 2), ("1e3", 1000)],
)
def test_numbers(text: str, number: float) -> None:
    assert as_number(text) == number


@pytest.mark.parametrize("text", ["", "x", "1.2.3", "1_000", "0x1", "inf", "nan", "1e999"])
def test_texts_that_are_no_numbers(text: str) -> None:
    assert math.isnan(as_number(text))


@pytest.mark.parametrize("text", ["1964-09-27", "1964/09/27", " 27.09.1964"])
def test_days(text: str) -> None:
    assert as_day(text) == datetime.date(1964, 9, 27).toordinal()


@pytest.mark.parametrize("text", ["", "64/09/27", "1964-13-01", "27.9", "2020-01-01 05:00"])
def test_texts_that_are_no_days(text: str) -> None:
    assert math.isnan(as_day(text))


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([], "text"),
        (["1", "2.5", "-3"], "number"),
        (["0", "0.5"], "number"),
        (["01234", "22345"], "text"),
        (["1", "x"], "text"),
        (["12,500", "950"], "text"),
        (["-12,500", "950.5"], "number"),
        (["12,500", "12.500"], "text"),
        (["1.5", "2,5", "12.500"], "text"),
        (["1.164,09", "2.5"], "text"),
        (["1.164,09", "12.500", "3,5", "1.234.567,8"], "number"),
        (["12.500", "950"], "number"),
        (["1 164", "980"], "text"),
        (["1 164,09", "1\u202f164", "980"], "number"),
        (["1'164.09", "2’164", "3.5"], "number"),
        (["1'164.09", "3,5"], "text"),
        (["1.164,09", "01234"], "text"),
        (["1.164,09", "none"], "text"),
        (["12,500", "4,1"], "number"),
        (["1,250", "4,11", "0"], "number"),
        (["0,125", "1,250"], "number"),
        (["1250,000"], "number"),
        (["1,234,567", "950"], "number"),
        (["2020-01-01", "2020/02/01"], "date"),
        (["2020-01-01", "1"], "text"),
    ],
)
def test_the_kind_of_values(values: list[str], kind: str) -> None:
    assert detect_kind(values) == kind
    assert kind_of(values) == kind  # as the second computation reads them


_CELLS = st.from_regex(r"[+-]?[0-9]{0,4}[.,]?[0-9]{0,4}", fullmatch=True) | st.from_regex(
    r"-?[0-9]{1,3}([.,' \u00a0’][0-9]{3}){1,2}([.,][0-9]{1,3})?", fullmatch=True
)


@given(st.lists(_CELLS, max_size=4))
def test_both_computations_find_the_same_kind(texts: list[str]) -> None:
    values = [text for text in dict.fromkeys(texts) if text]
    kind = detect_kind(values)
    assert kind_of(values) == kind
    column = encode("a", np.arange(len(values), dtype=np.int32), values)
    again = read_private_column(Cells.of(values), None, [""], neutralised=False, ordered=True)
    if kind == "number":
        assert column.thousands == again.thousands
        assert set(column.values) <= set(again.texts)
        assert [as_number(v) for v in column.values] == [float(k) for k in again.keys]


@given(
    st.sampled_from([(".", ","), (",", "."), (" ", ","), (" ", "."), ("'", "."), ("\u202f", ",")]),
    st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=8, unique=True),
)
def test_numbers_written_in_one_style_are_read_back(
    style: tuple[str, str], hundredths: list[int]
) -> None:
    numbers = [n / 100 for n in hundredths]
    swap = str.maketrans(dict(zip(",.", style, strict=True)))
    texts = [f"{n:,.2f}".translate(swap) for n in numbers]
    column = encode("a", np.arange(len(texts), dtype=np.int32), texts)
    assert column.kind == "number"
    assert column.measure is not None
    assert column.measure[column.codes].tolist() == numbers
    assert column.texts().tolist() == texts
    assert [as_number(v) for v in column.values] == column.measure.tolist()
    again = read_private_column(Cells.of(texts), None, [""], neutralised=False, ordered=True)
    assert [float(again.keys[code]) for code in again.codes] == numbers


def test_the_whole_column_decides_what_a_dot_marks_whichever_rows_are_left() -> None:
    codes = np.arange(3, dtype=np.int32)
    column = encode("a", codes, ["1.164,09", "12.500", "950"])
    assert column.values == ("950", "1164,09", "12500")
    assert "Dots were read as marks between thousands" in " ".join(column.notes)
    left = column.take(np.array([False, True, True]))
    assert left.values == ("950", "12500")
    assert left.texts().tolist() == ["12.500", "950"]
    data = Dataset(columns=(column,), rows=3).with_kinds({"a": "text"})
    assert data.column("a").values == ("1.164,09", "12.500", "950")
    fewer = replace(data, columns=(data.column("a").take(np.array([False, True, True])),), rows=2)
    assert fewer.with_kinds({"a": "number"}).column("a").values == ("950", "12500")


@pytest.mark.parametrize(
    "texts", [["1.164,09", "2.5"], ["12.500", "1,164"], ["1.5", "2,5", "1.164"]]
)
def test_marks_that_contradict_each_other_are_refused_as_numbers(texts: list[str]) -> None:
    codes = np.arange(len(texts), dtype=np.int32)
    assert encode("a", codes, texts).kind == "text"
    with pytest.raises(BadInput, match="for thousands") as refused:
        encode("a", codes, texts, kind="number")
    assert not any(text in str(refused.value) for text in texts)


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (39.0, "39"),
        (np.float64(-2), "-2"),
        (0.1, "0.1"),
        (np.float32(0.1), "0.1"),
        (7, "7"),
        (True, "True"),
        ("1.0", "1.0"),
        (datetime.date(2020, 1, 2), "2020-01-02"),
        (datetime.datetime(2020, 1, 2), "2020-01-02 00:00:00"),
        (pd.Timestamp("2020-01-02"), "2020-01-02 00:00:00"),
        (pd.Timestamp("2020-07-02 01:30", tz="Europe/Berlin"), "2020-07-01 23:30:00+00:00"),
        (datetime.datetime(2020, 1, 2, 3, 4), "2020-01-02 03:04:00"),
    ],
)
def test_the_text_of_a_typed_cell(cell: object, text: str) -> None:
    assert plain_text(cell) == text


# Encoding


def test_texts_are_in_alphabetical_order() -> None:
    c = column(["b", "a", None, "b"])
    assert (c.kind, c.values, c.measure) == ("text", ("a", "b"), None)
    assert c.codes.tolist() == [1, 0, -1, 1]
    assert c.codes.dtype == np.int32
    assert c.counts.tolist() == [1, 2]
    assert c.missing == 1
    assert c.texts().tolist() == ["b", "a", None, "b"]


def test_numbers_are_in_order_of_size() -> None:
    c = column(["10", "9", "-1", "9"])
    assert c.values == ("-1", "9", "10")
    assert c.measure is not None
    assert c.measure.tolist() == [-1, 9, 10]


def test_spellings_of_one_number_are_one_value() -> None:
    c = column(["1.0", "1", "2", "1.00", "0", "-0"])
    assert c.values == ("0", "1", "2")
    assert c.codes.tolist() == [1, 1, 2, 1, 0, 0]
    assert "3 spellings" in c.notes[0]


def test_decimal_commas_are_noted_once() -> None:
    c = column(["1,5", "2"])
    assert (c.kind, len(c.notes)) == ("number", 1)
    assert "Decimal commas" in c.notes[0]
    assert c.take(np.array([True, False])).notes == c.notes


def test_spellings_of_one_day_are_one_value() -> None:
    c = column(["2020-02-01", "01.02.2020", "2020-01-01"])
    assert (c.kind, c.values) == ("date", ("2020-01-01", "01.02.2020"))


def test_texts_do_not_merge() -> None:
    assert column(["1.0", "1"], "text").values == ("1", "1.0")
    assert column(["b", "a"], "ordered").values == ("a", "b")


def test_a_pool_with_unused_and_equal_texts() -> None:
    c = encode("x", np.array([0, 2, 3], dtype=np.int32), ["b", "unused", "a", "b"])
    assert c.values == ("a", "b")
    assert c.codes.tolist() == [1, 0, 1]


def test_a_column_without_values() -> None:
    for kind in (None, "text", "number", "date"):
        c = column([None, None], kind)
        assert (c.values, c.codes.tolist(), c.missing) == ((), [-1, -1], 2)
        assert c.counts.tolist() == []


@pytest.mark.parametrize(("kind", "good"), [("number", "1"), ("date", "2020-01-01")])
def test_values_that_are_not_of_the_declared_kind(kind: ColumnKind, good: str) -> None:
    with pytest.raises(BadInput) as caught:
        column([good, None, SECRET, good, SECRET], kind)
    error = caught.value
    assert "Column 'x'" in error.message
    assert "1 distinct value is" in error.message
    assert "first in row 3" in error.message
    assert "as text" in error.remedy
    assert SECRET not in str(error)
    assert error.values == (SECRET,)


def test_several_values_that_are_not_of_the_declared_kind() -> None:
    with pytest.raises(BadInput, match="7 distinct values are") as caught:
        column(["1", *(f"{SECRET}{i}" for i in range(7))], "number")
    assert len(caught.value.values) == 5


def test_take_drops_values_that_no_row_has() -> None:
    c = column(["b", "a", None, "c"]).take(np.array([True, False, True, False]))
    assert (c.values, c.codes.tolist()) == (("b",), [0, -1])


def test_take_keeps_the_kind() -> None:
    c = column(["1", "x"]).take(np.array([True, False]))
    assert c.kind == "text"


@given(st.lists(st.one_of(st.none(), st.text(max_size=3)), min_size=1, max_size=30))
def test_texts_come_back(cells: list[str | None]) -> None:
    c = column(cells, "text")
    assert c.texts().tolist() == cells
    assert list(c.values) == sorted(set(c.values))
    assert int(c.counts.sum()) + c.missing == len(cells)


# Datasets


def test_columns_by_name() -> None:
    d = dataset(age=["1", "2"], zip=["a", "b"])
    assert d.names == ("age", "zip")
    assert d.column("zip").values == ("a", "b")
    with pytest.raises(BadInput) as caught:
        d.column("agee")
    assert "'agee'" in caught.value.message
    assert "'age', 'zip'" in caught.value.message
    assert "Did you mean 'age'?" in caught.value.remedy


def test_a_dataset_does_not_change() -> None:
    d = dataset(a=["1"])
    with pytest.raises(FrozenInstanceError):
        d.rows = 2  # type: ignore[misc]


def test_one_cell_changes_the_fingerprint() -> None:
    base = dataset(a=["x", "y", "x"], b=["1", "2", None])
    assert base.fingerprint == dataset(a=["x", "y", "x"], b=["1", "2", None]).fingerprint
    others = [
        dataset(a=["x", "y", "y"], b=["1", "2", None]),
        dataset(a=["x", "y", "x"], b=["1", "2", "2"]),
        dataset(a=["x", "y", "x"], b=["1", "3", None]),
        dataset(a=["x", "x", "y"], b=["1", "2", None]),
        dataset(a=["x", "y", "x"], c=["1", "2", None]),
        dataset(b=["1", "2", None], a=["x", "y", "x"]),
        base.with_kinds({"b": "text"}),
        base.with_kinds({"a": "ordered"}),
    ]
    assert len({base.fingerprint, *(d.fingerprint for d in others)}) == len(others) + 1


def test_notes_and_source_are_not_content() -> None:
    d = dataset(a=["x"])
    assert replace(d, source="other", notes=("n",)).fingerprint == d.fingerprint


def test_rows_without_missing_values() -> None:
    d = dataset(a=["x", None, "y", "z"], b=["1", "2", None, "4"], c=[None, "p", "q", "r"])
    kept = d.without_missing(["a", "b"])
    assert (kept.rows, kept.dropped) == (2, 2)
    assert kept.column("a").values == ("x", "z")
    assert kept.column("c").texts().tolist() == [None, "r"]
    again = kept.without_missing(["c"])
    assert (again.rows, again.dropped) == (1, 3)
    assert again.without_missing(["a", "b", "c"]) is again
    assert (d.rows, d.dropped) == (4, 0)
    with pytest.raises(BadInput, match="no column 'd'"):
        d.without_missing(["d"])


def test_other_kinds() -> None:
    d = dataset(a=["1", "2"], b=["1", "1.0"])
    as_text = d.with_kinds({"a": "text"})
    assert (as_text.column("a").kind, as_text.column("a").measure) == ("text", None)
    assert as_text.column("b") is d.column("b")
    assert d.with_kinds({"a": "number"}).column("a") is d.column("a")
    with pytest.raises(BadInput, match="'c'"):
        d.with_kinds({"c": "text"})
    with pytest.raises(BadInput, match="unknown type 'float'"):
        d.with_kinds({"a": "float"})  # type: ignore[dict-item]
    with pytest.raises(BadInput, match="declared as date"):
        d.with_kinds({"a": "date"})


def test_a_frame_of_texts() -> None:
    d = dataset(a=["x", None, "y"], b=["1", "2", "3"])
    frame = d.frame()
    assert list(frame.columns) == ["a", "b"]
    assert frame["b"].tolist() == ["1", "2", "3"]
    assert frame["a"].isna().tolist() == [False, True, False]
    assert len(d.frame(2)) == 2
    assert len(d.frame(9)) == 3
    assert Dataset.from_frame(frame).fingerprint == d.fingerprint


# Frames


def test_the_index_plays_no_part() -> None:
    frame = pd.DataFrame({"a": ["x", "y", "x"], "b": [1, 2, 3], "c": [True, 1, "x"]})
    plain = Dataset.from_frame(frame)
    for index in ([2, 1, 0], [0, 0, 0], list("pqr")):
        moved = frame.set_axis(index, axis=0)
        assert Dataset.from_frame(moved).fingerprint == plain.fingerprint
    turned = Dataset.from_frame(frame.iloc[::-1])
    assert turned.column("a").texts().tolist() == ["x", "y", "x"]
    assert turned.column("b").texts().tolist() == ["3", "2", "1"]


def test_a_frame_is_not_changed() -> None:
    frame = pd.DataFrame(
        {"a": ["x", None], "b": [1.0, None], "c": pd.Series([1, "y"], dtype=object)}
    )
    before = frame.copy(deep=True)
    Dataset.from_frame(frame)
    pd.testing.assert_frame_equal(frame, before)


def test_typed_columns() -> None:
    frame = pd.DataFrame(
        {
            "whole": [3, 1, 3],
            "gap": [39.0, None, 0.5],
            "nullable": pd.array([1, None, 2], dtype="Int64"),
            "flag": [True, False, True],
            "cat": pd.Categorical(["b", None, "a"], categories=["c", "b", "a"]),
            "day": pd.to_datetime(["2020-01-02", None, "2020-01-01"]),
            "time": pd.to_datetime(["2020-01-02 03:04", None, "2020-01-01 00:00"]),
            "text": pd.array(["x", None, "?"], dtype="string"),
            "mixed": pd.Series([True, 1, 1.0], dtype=object),
            "other": pd.Series(["p", None, 2.5], dtype=object),
            "object": pd.Series(["p", None, "NA"], dtype=object),
            "none": [None, None, None],
        }
    )
    d = Dataset.from_frame(frame)
    assert {c.name: c.texts().tolist() for c in d.columns} == {
        "whole": ["3", "1", "3"],
        "gap": ["39", None, "0.5"],
        "nullable": ["1", None, "2"],
        "flag": ["True", "False", "True"],
        "cat": ["b", None, "a"],
        "day": ["2020-01-02 00:00:00", None, "2020-01-01 00:00:00"],
        "time": ["2020-01-02 03:04:00", None, "2020-01-01 00:00:00"],
        "text": ["x", None, None],
        "mixed": ["True", "1", "1"],
        "other": ["p", None, "2.5"],
        "object": ["p", None, None],
        "none": [None, None, None],
    }


def test_declared_kinds_missing_texts_and_source() -> None:
    frame = pd.DataFrame({"a": ["1", "-9"], 5: ["x", ""]})
    d = Dataset.from_frame(frame, kinds={"a": "text"}, missing=["-9"], source="people")
    assert d.names == ("a", "5")
    assert d.source == "people"
    assert d.column("a").kind == "text"
    assert d.column("a").texts().tolist() == ["1", None]
    assert d.column("5").texts().tolist() == ["x", None]  # as in a file, empty is missing
    assert MISSING_TOKENS[0] == ""


def test_bad_frames() -> None:
    with pytest.raises(BadInput, match="no rows"):
        Dataset.from_frame(pd.DataFrame({"a": []}))
    with pytest.raises(BadInput, match="Two columns are called 'a'"):
        Dataset.from_frame(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(BadInput, match="no name"):
        Dataset.from_frame(pd.DataFrame([[1, 2]], columns=["a", " "]))
    with pytest.raises(BadInput, match="'b'"):
        Dataset.from_frame(pd.DataFrame({"a": [1]}), kinds={"b": "text"})


@given(
    st.lists(st.sampled_from([None, "", "x", "y ", "NA ", "1", "1.0", 1, 2.5, True]), min_size=1)
)
def test_a_frame_reads_as_its_cells_do(cells: list[object]) -> None:
    d = Dataset.from_frame(pd.DataFrame({"a": pd.Series(cells, dtype=object)}), kinds={"a": "text"})
    plain = [None if c is None else plain_text(c).strip() for c in cells]
    assert d.column("a").texts().tolist() == [None if t in MISSING_TOKENS else t for t in plain]


def test_names_and_kinds_that_are_fine() -> None:
    check_names(["a", "A", "b c"])
    check_kinds({"a": "ordered"}, ["a", "b"])


LONG = ["9007199254740992", "9007199254740993"]


@pytest.mark.parametrize("values", [LONG, ["0.1", "0.10000000000000001"], ["1", "1e999"]])
def test_numbers_that_floats_cannot_tell_apart_stay_text(values: list[str]) -> None:
    assert detect_kind(values) == "text"
    column = encode("account", np.array([0, 1], dtype=np.int32), values)
    assert (column.kind, column.values) == ("text", tuple(sorted(values)))


def test_such_numbers_declared_as_number_are_refused_with_the_remedy() -> None:
    with pytest.raises(BadInput) as caught:
        encode("account", np.array([0, 1], dtype=np.int32), LONG, kind="number")
    assert "Column 'account'" in caught.value.message
    assert "Declare 'account' as text" in caught.value.remedy
    assert LONG[1] not in str(caught.value)
