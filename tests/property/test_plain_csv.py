"""The quick reader and the quick order of groups against the plain ones, on random input."""

from __future__ import annotations

import csv
import io
import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.pipeline.publish.published_table import (  # pyright: ignore[reportPrivateUsage]
    _group_numbers,
)
from anon_core.verification.files import csv_files
from anon_core.verification.files.csv_files import _split_plain
from anon_core.verification.rows import tables
from anon_core.verification.rows.permutation import _steps  # pyright: ignore[reportPrivateUsage]
from anon_core.verification.rows.tables import joined, numbered

_CELL = st.text(alphabet='ab",\n é\r\0', max_size=5) | st.sampled_from(
    ["NA", "null", "", "1", "'="]
)


def _slow(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode(), newline=""), strict=True))


def _shown(content: bytes) -> list[list[str]] | None:
    found = _split_plain(content, ",")
    if found is None:
        return None
    rows = list(zip(*(column.row_texts() for column in found.columns), strict=True))
    assert len(rows) == found.rows
    return [found.header, *map(list, rows)]


@given(st.integers(1, 3).flatmap(lambda n: st.lists(st.lists(_CELL, min_size=n, max_size=n))))
def test_a_well_formed_table_reads_alike_or_is_left_to_the_slow_reader(rows: list[list[str]]):
    made = io.StringIO(newline="")
    names = ["a", "b", "c"][: len(rows[0]) if rows else 1]
    csv.writer(made, lineterminator="\n").writerows([names, *rows])
    content = made.getvalue().encode()
    shown = _shown(content)
    assert shown is None or shown == _slow(content)
    special = any(not "".join(row) or set("\r\0\n") & set("".join(row)) for row in rows)
    assert shown is not None or special


@given(
    st.lists(st.lists(_CELL, min_size=2, max_size=2), min_size=1, max_size=12), st.integers(1, 40)
)
def test_a_table_reads_alike_in_blocks_of_any_size(rows: list[list[str]], size: int):
    made = io.StringIO(newline="")
    csv.writer(made, lineterminator="\n").writerows([["a", "b"], *rows])
    content = made.getvalue().encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_files, "_BLOCK", size)
        shown = _shown(content)
    assert shown is None or shown == _slow(content)


@given(st.text(alphabet='a,"\n', max_size=14))
def test_what_the_quick_reader_takes_every_strict_reader_reads_alike(text: str):
    content = ("x,y\n" + text).encode()
    shown = _shown(content)
    assert shown is None or shown == _slow(content)


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,2\n3\n",
        'a,b\n"1"x,2\n',
        "a\n1\n\n2\n",
        "a,b\r\n1,2\r\n",
        'a,b\n1,"2',
        "",
        "\na\n1\n",
    ],
)
def test_what_readers_differ_about_is_left_to_the_slow_one(text: str):
    assert _split_plain(text.encode(), ",") is None


def test_bytes_that_are_no_utf8_are_left_to_the_slow_reader():
    assert _split_plain(b"a\n\xff\n", ",") is None


@given(
    st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=12), min_size=1, max_size=12),
    st.randoms(use_true_random=False),
)
def test_groups_are_numbered_by_their_sorted_rows(groups: list[list[int]], shuffled: random.Random):
    other = [[shuffled.randrange(2) for _ in rows] for rows in groups]
    owner = np.repeat(np.arange(len(groups)), [len(rows) for rows in groups])
    ranks = [np.array([v for rows in part for v in rows], np.int64) for part in (groups, other)]
    number = _group_numbers(owner, ranks)
    contents = [(sorted(a), sorted(b)) for a, b in zip(groups, other, strict=True)]
    placed = np.empty(len(groups), np.int64)
    placed[number] = owner
    assert [contents[i] for i in placed] == sorted(contents)
    assert sorted(set(number.tolist())) == list(range(len(groups)))


@given(st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=6), min_size=1, max_size=9))
def test_steps_between_groups_are_those_of_lists(groups: list[list[int]]):
    rank = np.array([v for rows in groups for v in rows], np.int64)
    found = np.sign(_steps(rank, np.array([len(rows) for rows in groups])))
    assert found.tolist() == [
        (after > before) - (after < before) for before, after in pairwise(groups)
    ]


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 4), st.integers(0, 3)), max_size=30),
    st.sampled_from([1, 1000, 1 << 31, 1 << 50]),
    st.sampled_from([0, 1, 4]),
)
def test_tuples_are_numbered_as_they_come(rows: list[tuple[int, int, int]], wide: int, tabled: int):
    columns = [np.array([row[d] * wide for row in rows], np.int64) for d in range(3)]
    with pytest.MonkeyPatch.context() as patch:  # sorted, looked up in a table, or both
        patch.setattr(tables, "_TABLED", tabled)
        joint, first = joined(columns, len(rows))
    place = {row: i for i, row in enumerate(dict.fromkeys(rows))}
    assert joint.tolist() == [place[row] for row in rows]
    assert first.tolist() == [rows.index(row) for row in place]


@pytest.mark.parametrize("size", [10, 1 << 40])
def test_codes_are_numbered_in_their_order(size: int):
    codes = np.array([7, 2, 9, 2], np.int64)
    assert numbered(codes, size).tolist() == [1, 0, 2, 0]
