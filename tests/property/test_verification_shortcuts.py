"""What the second computation does once for many rows, against doing it for every row."""

from __future__ import annotations

import csv
import io
from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core import Dataset
from anon_core.pipeline.runner import texts_of
from anon_core.verification.checks import verify
from anon_core.verification.files.csv_files import _split_plain
from anon_core.verification.files.published import (
    PublishedTable,
    check_order,
    split_cells,
    split_release,
)
from anon_core.verification.findings import Rows, Verification
from anon_core.verification.rows import matching
from anon_core.verification.rows.matching import beyond, sole_text
from anon_core.verification.text import kinds
from anon_core.verification.text.cells import Cells, TextTable
from anon_core.verification.text.texts import MISSING_TOKENS, Spelling, read_private_column

Row = tuple[str, ...]

LEVELS = {
    "age": [[str(n), f"{n // 2 * 2}-{n // 2 * 2 + 1}", "*"] for n in range(6)],
    "sex": [["F", "*"], ["M", "*"]],
}
_ROW = st.tuples(
    st.integers(0, 5).map(str), st.sampled_from(["F", "M"]), st.sampled_from(["flu", "cold"])
)
_CELL = st.sampled_from(["0", "1", "5", "0-1", "2-3", "4-5", "*", "[0, 3]", "[2, 4]"])
_SHOWN = st.tuples(_CELL, st.sampled_from(["F", "M", "*"]), st.sampled_from(["flu", "cold"]))


def written(header: Row, rows: list[Row]) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue().encode()


def checked(table: list[Row], shown: list[Row]) -> Verification:
    plan: dict[str, Any] = {
        "roles": {"quasi": ["age", "sex"], "sensitive": ["ill"]},
        "algorithm": {"name": "optimal", "max_suppression": 1},
        "models": [{"name": "k-anonymity", "k": 1}],
    }
    header = ("age", "sex", "ill")
    frame = pd.DataFrame(table, columns=list(header))
    return verify(plan, frame, LEVELS, {"release.csv": written(header, sorted(shown))})


@given(st.lists(_ROW, min_size=1, max_size=12), st.lists(_SHOWN, max_size=10))
def test_comparing_counts_finds_the_rows_that_matching_finds(table: list[Row], shown: list[Row]):
    quick = checked(table, shown)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matching, "sole_text", lambda runs, size: None)
        slow = checked(table, shown)
    assert quick.as_json() == slow.as_json()


@given(
    st.lists(
        st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), max_size=2).map(
            lambda runs: tuple((a, min(a + more, 9)) for a, more in runs)
        ),
        max_size=4,
    )
)
def test_a_code_has_one_text_or_the_shortcut_is_not_taken(runs: list[tuple[tuple[int, int], ...]]):
    covers = [[c for a, b in own for c in range(a, b + 1)] for own in runs]
    every = [code for own in covers for code in own]
    found = sole_text(runs, 10)
    if len(set(every)) < len(every):
        assert found is None
    else:
        assert found is not None
        assert found.tolist() == [
            next((i for i, own in enumerate(covers) if code in own), -1) for code in range(10)
        ]


@given(
    st.lists(st.tuples(st.integers(0, 4), st.integers(1, 3)), max_size=9),
    st.lists(st.tuples(st.integers(0, 6), st.integers(1, 3)), max_size=9),
)
def test_rows_beyond_what_there_is_are_the_last_of_their_kind(
    own: list[tuple[int, int]], lines: list[tuple[int, int]]
):
    left, expected = Counter(code for code, rows in own for _ in range(rows)), list[int]()
    for code, count in lines:
        expected.append(max(count - max(left[code], 0), 0))
        left[code] -= count
    codes, counts = np.array(lines, np.int64).reshape(-1, 2).T
    kinds, rows = np.array(own, np.int64).reshape(-1, 2).T
    found = beyond(kinds, rows, codes, counts)
    assert found.tolist() == expected


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xy")), min_size=1, max_size=12),
    st.data(),
)
def test_the_rows_of_lines_are_found_again(rows: list[tuple[str, str]], drawn: st.DataObject):
    spelling = Spelling(kind="text", neutralised=False)
    content = written(("p", "q"), rows)
    file = PublishedTable(split_release(content), ("p",), lambda _: spelling)
    lines = file.lines
    assert lines.rows == len(rows)
    shown = [
        tuple(lines.texts[d][int(codes[i])] for d, codes in enumerate(lines.codes))
        for i in range(len(lines))
    ]
    assert dict(zip(shown, lines.count.tolist(), strict=True)) == Counter(rows)
    assert shown == list(dict.fromkeys(rows))
    wanted = [drawn.draw(st.integers(0, int(n))) for n in lines.count]
    left = dict(zip(shown, wanted, strict=True))
    expected: list[int] = []
    for i in range(len(rows), 0, -1):
        if left[rows[i - 1]]:
            left[rows[i - 1]] -= 1
            expected.append(i)
    found = lines.last_rows_of(np.array(wanted, np.int64))
    assert (len(found), list(found.first)) == (len(expected), expected[::-1])
    marked = np.array([n > 0 for n in wanted])
    chosen = {line for line, own in zip(shown, marked.tolist(), strict=True) if own}
    assert list(lines.rows_of(marked).first) == [i for i, r in enumerate(rows, 1) if r in chosen]


@given(
    rows=st.lists(st.tuples(*[st.sampled_from(["a", "b", "é", ""])] * 3), min_size=1, max_size=12),
    sort=st.booleans(),
    more=st.lists(st.tuples(*[st.sampled_from(["a", "b"])] * 3), max_size=2),
)
def test_rows_out_of_order_are_found_as_row_by_row(rows: list[Row], sort: bool, more: list[Row]):
    rows = [*(sorted(rows) if sort else rows), *more]
    columns = [Cells.of(list(column)) for column in zip(*rows, strict=True)]
    # Equal texts of unlike values stand twice among a column's texts.
    twice = Cells(codes=columns[0].codes, texts=columns[0].texts)
    odd = np.arange(len(rows)) % 2 == 1
    twice = Cells(codes=twice.codes + odd * len(twice.texts), texts=[*twice.texts, *twice.texts])
    table = TextTable.of(("x", "y", "z"), [twice, *columns[1:]], len(rows))
    spelling = Spelling(kind="text", neutralised=False)
    found = split_cells(table)
    assert found is not None
    file = PublishedTable(found, (), lambda _: spelling)
    below = [i for i, (one, two) in enumerate(pairwise(rows), start=2) if two < one]
    check = check_order(file.rank)
    assert list(check.rows) == below[: len(check.rows)]
    assert np.array_equal(file.rank, file.lines.ranked()[file.line_of_row])
    lines = list(dict.fromkeys(rows))
    if not below:  # rows out of order are lines by their codes, of which equal texts may have two
        assert [lines[at] for at in file.line_of_row] == rows
        assert file.lines.count.tolist() == [rows.count(line) for line in lines]
    assert check.holds == (not below)


def test_a_quoted_line_break_is_no_end_of_a_row():
    rows: list[Row] = [("a\nb", "c")] * 3 + [("b", '"\n"')] * 3
    found = _split_plain(written(("x", "y"), rows), ",")
    assert found is not None
    assert list(zip(*(column.row_texts() for column in found.columns), strict=True)) == rows


def test_a_cell_tampered_with_is_found_in_whichever_equal_row_it_stands():
    table: list[Row] = [("0", "F", "flu")] * 4 + [("1", "F", "cold")] * 4 + [("4", "M", "flu")] * 4
    shown: list[Row] = [("0-1", "F", "flu")] * 4 + [("0-1", "F", "cold")] * 4
    shown += [("4-5", "M", "flu")] * 4
    assert checked(table, shown).holds
    for place in range(len(shown)):
        for column, lie in ((0, "2-3"), (0, "9"), (1, "M" if place < 8 else "F"), (2, "gout")):
            cells = list(shown[place])
            cells[column] = lie
            lied = [*shown[:place], tuple(cells), *shown[place + 1 :]]
            found = [check for check in checked(table, lied).broken if check.name == "coverage"]
            assert len(found) == 1
            assert [sorted(lied)[row - 1] for row in found[0].rows] == [tuple(cells)]
    # One row more of a kind than the table has, though each of its values is true.
    assert not checked(table, [*shown[1:], ("0-1", "F", "cold")]).holds


def test_a_row_of_other_length_is_found_among_equal_ones():
    good = b"age,sex,ill\n" + b"0-1,F,flu\n" * 6
    assert _split_plain(good, ",") is not None
    for bad in (b"0-1,F\n", b"0-1,F,flu,\n", b'0-1,"F"x,flu\n', b"\n"):
        assert _split_plain(good + bad + b"0-1,F,flu\n" * 6, ",") is None


@given(
    st.lists(
        st.tuples(st.sampled_from(["1", "1.0", "2", "NA", "x "]), st.sampled_from(["é", "", "b"])),
        min_size=1,
        max_size=9,
    )
)
def test_a_run_hands_on_the_texts_that_were_read(rows: list[Row]):
    dataset = Dataset.from_frame(pd.DataFrame(rows, columns=["x", "y"]))
    handed, read = texts_of(dataset), TextTable.of_frame(dataset.frame())
    assert (handed.names, len(handed)) == (read.names, len(read)) == (("x", "y"), len(rows))
    for name in handed.names:
        assert handed.column(name).row_texts() == read.column(name).row_texts()


_NUMBERS = st.integers(0, 120).map(str)
_ODD_NUMBERS = st.sampled_from(["007", "1.0", "1,5", "-2", "+3", "1e2", "", "?", " 4", "n", "٣"])


@given(
    st.lists(_NUMBERS, max_size=9) | st.lists(_NUMBERS | _ODD_NUMBERS, max_size=9),
    st.sampled_from([None, "number", "text", "ordered"]),
    st.booleans(),
    st.booleans(),
    st.lists(_NUMBERS | _ODD_NUMBERS, max_size=9),
)
def test_digits_are_read_at_once_as_one_by_one(
    texts: list[str], kind: str | None, ordered: bool, twice: bool, asked: list[str]
):
    cells = Cells.of(texts)
    if twice:  # equal texts of unlike values
        cells = Cells(codes=cells.codes, texts=[*cells.texts, *cells.texts])
    expected = {"neutralised": False, "ordered": ordered}
    quick = read_private_column(cells, kind, MISSING_TOKENS, **expected)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kinds, "are_digits", lambda texts: False)
        slow = read_private_column(cells, kind, MISSING_TOKENS, **expected)
    assert tuple(quick.keys) == tuple(slow.keys)
    for own in ("spelling", "measured", "code_of", "code_of_own", "texts", "thousands"):
        assert getattr(quick, own) == getattr(slow, own), own
    assert [type(key) for key in quick.keys] == [type(key) for key in slow.keys]
    assert quick.code_of_cell.tolist() == slow.code_of_cell.tolist()
    assert quick.gone.tolist() == slow.gone.tolist()
    one_by_one = [slow.code_of_text(text) for text in asked]
    assert quick.codes_of_texts(asked).tolist() == one_by_one


@given(
    st.lists(st.tuples(st.integers(1, 12).map(str), _CELL, _CELL), max_size=14),
    st.sampled_from(["by text", "by number", "as they come", "first together"]),
    st.randoms(use_true_random=False),
)
def test_equal_rows_are_one_line_in_any_order(rows: list[Row], order: str, random: Any):
    if order == "by number":
        rows = sorted(rows, key=lambda row: (int(row[0]), row[1:]))
    elif order == "by text":
        rows = sorted(rows)
    elif order == "first together":
        rows = sorted(rows, key=lambda row: row[0])
    else:
        random.shuffle(rows)
    text = Spelling(kind="text", neutralised=False)
    table = PublishedTable(
        split_release(written(("g", "a", "b"), rows)), ("a",), lambda _name: text
    )
    lines = table.lines
    values = [tuple(t[c] for t, c in zip(lines.texts, code, strict=True)) for code in _per(lines)]
    assert len(set(values)) == len(values)
    assert Counter(dict(zip(values, lines.count.tolist(), strict=True))) == Counter(rows)
    assert [values[line] for line in table.line_of_row.tolist()] == rows
    wrong = np.array([n for n in range(1, len(rows)) if rows[n] < rows[n - 1]], dtype=np.int64)
    check = check_order(lines.ranked()[table.line_of_row])
    assert (check.holds, check.rows) == (not len(wrong), Rows.of(wrong).first)


def _per(lines: Any) -> list[tuple[int, ...]]:
    return list(zip(*(codes.tolist() for codes in lines.codes), strict=True))
