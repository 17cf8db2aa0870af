"""Hierarchies: the papers' own, every level table that is refused, and interval arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.base.errors import AnonError, BadHierarchy, InputChanged
from anon_core.data.column import Column, encode
from anon_core.data.hierarchy import (
    Hierarchy,
    flat,
    from_rows,
    parse_levels,
    read_hierarchy,
    read_levels,
)
from anon_core.data.values.kinds import ColumnKind
from tests.often import often

SECRET = "Zebulon"


def column(
    cells: Sequence[str | None], kind: ColumnKind | None = "text", name: str = "x"
) -> Column:
    pool = list(dict.fromkeys(c for c in cells if c is not None))
    codes = [-1 if c is None else pool.index(c) for c in cells]
    return encode(name, np.array(codes, dtype=np.int32), pool, kind=kind)


def rows(text: str) -> list[list[str]]:
    return [line.split(";") for line in text.split()]


def refused(
    kind: type[AnonError], of: Column, table: Sequence[Sequence[str]], *words: str, remedy: str
) -> AnonError:
    with pytest.raises(kind) as caught:
        from_rows(of, table)
    for word in (f"'{of.name}'", *words):
        assert word in caught.value.message
    assert remedy in caught.value.remedy
    assert SECRET not in str(caught.value)
    return caught.value


# The papers' hierarchies

TOTH_ZIP = rows("5370;537* 5371;537* 5372;537* 5373;537*")
SAMARATI_ZIP = rows("94138;9413*;941** 94139;9413*;941** 94141;9414*;941** 94142;9414*;941**")
SAMARATI_MARITAL = rows(
    "divorced;been_married;not_released married;been_married;not_released "
    "widow;been_married;not_released single;never_married;not_released"
)


def test_the_zip_codes_of_toth() -> None:
    h = from_rows(column(["5370", "5371", "5372", "5373"], "number"), TOTH_ZIP)
    assert h.height == 1
    assert h.leaves == ("5370", "5371", "5372", "5373")
    assert h.labels == (h.leaves, ("537*",))
    assert [s.tolist() for s in h.starts] == [[0, 1, 2, 3], [0]]


def test_the_ages_of_toth() -> None:
    table = [[str(a), "21-30" if a <= 30 else "31-40"] for a in (40, 31, 25, 27)]
    with pytest.raises(BadHierarchy, match="2 tops: '31-40', '21-30'"):
        from_rows(column(["25", "27"], "number"), table)
    h = from_rows(column(["25", "27"], "number"), [[*row, "*"] for row in table])
    assert h.leaves == ("25", "27", "31", "40")
    assert h.labels[1:] == (("21-30", "31-40"), ("*",))
    assert h.first_leaf.tolist() == [[0, 1, 2, 3], [0, 0, 2, 2], [0, 0, 0, 0]]


def test_the_zip_codes_of_samarati() -> None:
    h = from_rows(column(["94142", "94138", "94139"]), SAMARATI_ZIP)
    assert h.height == 2
    assert h.leaves == ("94138", "94139", "94141", "94142")
    assert h.size == 4
    assert h.labels[1:] == (("9413*", "9414*"), ("941**",))
    assert h.node(1).tolist() == [0, 0, 1, 1]
    assert h.rows() == [tuple(row) for row in SAMARATI_ZIP]
    lo, hi = h.bounds(1)
    assert (lo.tolist(), hi.tolist()) == ([0, 2], [1, 3])
    assert h.code["94141"] == 2
    assert h.measure is None


def test_the_marital_status_of_samarati() -> None:
    of = column(["single", "married", "divorced", "widow"])
    h = from_rows(of, SAMARATI_MARITAL)
    assert h.leaves == ("divorced", "married", "widow", "single")
    lo, hi = np.array([0, 0, 3], dtype=np.int32), np.array([2, 3, 3], dtype=np.int32)
    assert h.smallest_node(lo, hi).tolist() == [1, 2, 0]


def test_the_births_of_samarati() -> None:
    days = ["64/04/12", "64/09/13", "64/09/15", "65/10/23"]
    table = [[d, d[:5], d[:2], "*"] for d in days]
    h = from_rows(column(days), table)
    assert h.labels[1:] == (("64/04", "64/09", "65/10"), ("64", "65"), ("*",))


def test_the_races_of_samarati() -> None:
    h = from_rows(column(["asian", "black"]), rows("asian;person black;person white;person"))
    assert h.labels[1] == ("person",)
    assert h.size == 3  # |A| counts the hierarchy's leaves, seen in the data or not


def test_no_hierarchy_is_a_flat_one() -> None:
    h = flat(column(["M", "F", "M"]))
    assert (h.leaves, h.labels[1], h.height) == (("F", "M"), ("*",), 1)
    ages = flat(column(["9", "10"], "number"))
    assert ages.leaves == ("9", "10")
    assert ages.measure is not None
    assert ages.measure.tolist() == [9, 10]
    for values, kind in ((["b", "a", None], "text"), (["9", None, "1.5"], "number")):
        of = column(values, kind)
        short, long = flat(of), from_rows(of, [[value, "*"] for value in of.values])
        assert (short.leaves, short.labels, short.rows()) == (long.leaves, long.labels, long.rows())
        assert np.array_equal(short.nodes, long.nodes)
        assert str(short.measure) == str(long.measure)


# Order


def test_groups_that_lie_apart_in_the_file_are_one_run() -> None:
    table = rows("a;odd;* b;even;* c;odd;* d;even;*")
    h = from_rows(column(["a", "b"]), table)
    assert h.leaves == ("a", "c", "b", "d")
    assert h.labels[1] == ("odd", "even")


def test_numbers_are_ordered_by_value_and_spelled_as_in_the_data() -> None:
    of = column(["10", "9.0", "9.5"], "number")
    h = from_rows(of, rows("10.0;high;* 9.50;low;* 9;low;*"))
    assert h.leaves == ("9.0", "9.5", "10")
    assert h.labels[1] == ("low", "high")
    assert h.measure is not None
    assert h.measure.tolist() == [9, 9.5, 10]


def test_dates_are_ordered_by_day() -> None:
    of = column(["2020-02-01", "2019-12-31"], "date")
    h = from_rows(of, rows("01.02.2020;2020;* 31.12.2019;2019;* 2021-01-01;2021;*"))
    assert h.leaves == ("2019-12-31", "2020-02-01", "2021-01-01")


def test_values_that_only_the_file_has_are_kept() -> None:
    h = from_rows(column(["94138"]), SAMARATI_ZIP)
    assert len(h.leaves) == 4
    assert h.counted.all()


def test_cells_are_trimmed_and_one_column_gets_a_top() -> None:
    h = from_rows(column(["a", "b"]), [[" a "], ["b"]])
    assert h.rows() == [("a", "*"), ("b", "*")]


# Missing values


def test_missing_hangs_directly_under_the_root() -> None:
    h = from_rows(column(["94138", None, "94142"]), SAMARATI_ZIP)
    assert h.has_missing
    assert h.leaves[-1] == ""
    assert h.size == 5
    assert [names[-1] for names in h.labels] == ["", "", "941**"]
    assert h.first_leaf[:, -1].tolist() == [4, 4, 0]
    assert h.node(2).tolist() == [0] * 5


def test_what_the_file_says_of_missing_is_left_out() -> None:
    table = [["?", "unknown", "941**"], *SAMARATI_ZIP, ["", "none", "other"]]
    assert from_rows(column(["94138", None]), table).leaves[-1] == ""
    without = from_rows(column(["94138"]), table)
    assert not without.has_missing
    assert len(without.leaves) == 4


def test_a_token_that_is_a_value_of_the_data_stays() -> None:
    of = encode("x", np.array([0, 1], dtype=np.int32), ["NA", "EU"])
    assert from_rows(of, rows("NA;* EU;*")).leaves == ("NA", "EU")


@pytest.mark.parametrize("kind", ["text", "ordered", "number", "date"])
def test_a_column_that_is_missing_throughout(kind: ColumnKind) -> None:
    of = column([None, None], kind)
    for h in (flat(of), from_rows(of, [["?", "*"]])):
        assert h.leaves == ("",)
        assert h.labels == (("",), ("*",))
        assert [s.tolist() for s in h.starts] == [[0], [0]]


def test_a_column_of_numbers_that_is_missing_throughout_keeps_its_hierarchy() -> None:
    h = from_rows(column([None], "number"), rows("2;* 1;*"))
    assert h.leaves == ("1", "2", "")


def test_missing_in_a_column_of_numbers() -> None:
    h = flat(column(["1", None], "number"))
    assert h.measure is not None
    assert np.isnan(h.measure[-1])


# Refused


def test_an_empty_table() -> None:
    for table in ([], [[]]):
        refused(BadHierarchy, column(["a"]), table, "is empty", remedy="one line per value")


def test_a_ragged_line() -> None:
    refused(
        BadHierarchy,
        column(["a", "b"]),
        [["a", "x", "*"], [SECRET, "*"]],
        "line 2: 2 cells where line 1 has 3",
        remedy="one label for every level",
    )


def test_a_value_twice() -> None:
    table = [["?", "*"], [SECRET, "*"], ["b", "*"], [SECRET, "*"]]
    error = refused(
        BadHierarchy, column(["b"]), table, "line 2", "line 4", remedy="List every value once"
    )
    assert error.values == (SECRET,)


def test_a_number_twice_in_two_spellings() -> None:
    table = rows("1;low;* 2;low;* 1.0;high;*")
    error = refused(
        BadHierarchy, column(["1"], "number"), table, "another spelling", remedy="every value once"
    )
    assert error.values == ("1", "1.0")


def test_two_tops() -> None:
    refused(BadHierarchy, column(["a"]), rows("a;x b;y"), "2 tops: 'x', 'y'", remedy="last level")
    many = [[f"v{i}", f"top{i}"] for i in range(7)]
    refused(BadHierarchy, column(["v0"]), many, "7 tops", "3 more", remedy="last level")


def test_levels_that_do_not_nest() -> None:
    table = [["?", "?", "?", "*"], *rows("a;x;p;* b;y;q;* c;x;q;*")]
    refused(
        BadHierarchy,
        column(["a"]),
        table,
        "a label on level 1",
        "in line 2",
        "in line 4",
        "'x', 'p', 'q'",
        remedy="must nest",
    )


@pytest.mark.parametrize(
    "table",
    [
        [[SECRET, SECRET], ["b", "b"]],
        [[SECRET, SECRET, "p", "*"], ["b", SECRET, "q", "*"]],
    ],
)
def test_labels_that_are_values_stay_out_of_messages(table: list[list[str]]) -> None:
    with pytest.raises(BadHierarchy) as error:
        from_rows(column([SECRET, "b"]), table)
    assert SECRET not in str(error.value)
    assert SECRET in error.value.values


def test_a_group_with_the_text_of_a_value_outside_of_it() -> None:
    table = rows("a;x;* b;x;* c;a;* d;a;*")
    refused(BadHierarchy, column(list("abcd")), table, "line 3", "level 1", remedy="label")
    assert from_rows(column(list("ab")), rows("a;a;* b;a;*")).labels[1] == ("a",)


def test_an_empty_label() -> None:
    table = [["a", "x", "*"], [SECRET, "", "*"]]
    refused(BadHierarchy, column(["a"]), table, "line 2", "level 1", remedy="separator")


def test_values_of_the_data_that_are_not_covered() -> None:
    of = column([None, "94138", SECRET, "94138", "b", SECRET])
    error = refused(
        InputChanged,
        of,
        SAMARATI_ZIP,
        "2 of the column's 3 values",
        "3 rows",
        "row 3",
        remedy="Add",
    )
    assert set(error.values) == {SECRET, "b"}
    of = column(["1", "3"], "number")
    refused(InputChanged, of, rows("1;* 2;*"), "1 of the column's 2", "row 2", remedy="Add")


def test_a_group_of_numbers_that_is_no_interval() -> None:
    of = column(["1", "2", "3"], "number")
    table = rows("1;odd;* 2;even;* 3;odd;*")
    refused(BadHierarchy, of, table, "level 1", "not intervals", "'odd'", remedy="intervals")
    assert from_rows(replace(of, kind="text", measure=None), table).leaves == ("1", "3", "2")


@pytest.mark.parametrize(("kind", "value"), [("number", "1"), ("date", "2020-01-01")])
def test_texts_in_the_hierarchy_of_numbers(kind: ColumnKind, value: str) -> None:
    of = column([value], kind)
    error = refused(
        BadHierarchy, of, [[value, "*"], [SECRET, "*"]], "1 values", kind, remedy="as text"
    )
    assert error.values == (SECRET,)


# Files


@pytest.mark.parametrize(
    "text",
    [
        "a;x, y;*\nb;z;*\n",
        'a,"x, y",*\nb,z,*\n',
        '"a";"x, y";"*"\r\n"b";"z";"*"\r\n',
        "\ufeffa;x, y;*\n\nb;z;*",
        "\n\na;x, y;*\nb;z;*\n",
    ],
)
def test_level_files(text: str, tmp_path: Path) -> None:
    assert parse_levels(text, "x") == [["a", "x, y", "*"], ["b", "z", "*"]]
    path = tmp_path / "x.csv"
    path.write_bytes(text.encode())
    assert read_levels(path, "x") == parse_levels(text, "x")
    assert read_hierarchy(path, column(["a"])).leaves == ("a", "b")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "levels.csv"
    with pytest.raises(BadHierarchy) as caught:
        read_levels(path, "zip")
    assert "'zip'" in caught.value.message
    assert "levels.csv" in caught.value.message
    assert "relative to the recipe" in caught.value.remedy
    assert str(tmp_path) not in str(caught.value)
    path.write_bytes(b"a;\xff")
    with pytest.raises(BadHierarchy, match=r"'zip' is not UTF-8 text \(levels.csv, byte 2\)"):
        read_levels(path, "zip")
    path.write_bytes(b"\n\n")
    with pytest.raises(BadHierarchy, match="'zip' is empty"):
        read_levels(path, "zip")


# Interval arithmetic against plain loops


@st.composite
def hierarchies(draw: st.DrawFn) -> tuple[Hierarchy, list[list[str]]]:
    size = draw(st.integers(1, 14))
    starts = [list(range(size))]
    for _ in range(draw(st.integers(0, 3))):
        starts.append([0, *(s for s in starts[-1][1:] if draw(st.booleans()))])
    starts.append([0])
    table = [
        [f"L{level}:{max(s for s in starts[level] if s <= leaf)}" for level in range(len(starts))]
        for leaf in range(size)
    ]
    shuffled = draw(st.permutations(table))
    cells: list[str | None] = [row[0] for row in shuffled if draw(st.booleans())]
    if draw(st.booleans()):
        cells.append(None)
    built = from_rows(column(cells), shuffled)
    counted = np.array([draw(st.booleans()) for _ in built.leaves], dtype=np.bool_)
    return replace(built, counted=counted), table


@often(200)
@given(hierarchies())
def test_intervals_agree_with_plain_loops(drawn: tuple[Hierarchy, list[list[str]]]) -> None:
    h, table = drawn
    path = {row[0]: row for row in table}
    if h.has_missing:
        path[""] = ["" for _ in table[0][:-1]] + [table[0][-1]]
    assert sorted(h.leaves) == sorted(path)
    assert h.size == sum(h.counted.tolist())
    assert h.rows() == [tuple(path[leaf]) for leaf in h.leaves]
    count = len(h.leaves)
    for level in range(h.height + 1):
        under = [path[leaf][level] for leaf in h.leaves]
        for leaf in range(count):
            assert h.first_leaf[level, leaf] == under.index(under[leaf])
            assert h.labels[level][h.node(level)[leaf]] == under[leaf]
        lo, hi = h.bounds(level)
        found = {h.labels[level][i]: (lo[i], hi[i]) for i in range(len(lo))}
        for label, (first, last) in found.items():
            assert {i for i in range(count) if under[i] == label} == set(range(first, last + 1))
    pairs = [(i, j) for i in range(count) for j in range(i, count)]
    lo = np.array([i for i, _ in pairs], dtype=np.int32)
    hi = np.array([j for _, j in pairs], dtype=np.int32)
    counts, levels = h.leaf_count(lo, hi), h.smallest_node(lo, hi)
    for (i, j), counted, level in zip(pairs, counts, levels, strict=True):
        assert counted == sum(h.counted[i : j + 1].tolist())
        same = [n for n in range(h.height + 1) if path[h.leaves[i]][n] == path[h.leaves[j]][n]]
        assert level == min(same)
