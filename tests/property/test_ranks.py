"""Ranks and orders of code columns against sorting, on random input."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from anon_core.data import frequency
from anon_core.data.frequency import (
    dense_rank,
    frequency_set,
    occur_once,
    row_order,
    stable_order,
)

_WIDE = [1, 3, 1 << 9, (1 << 20) + 1, (1 << 31) - 1]


@given(st.lists(st.integers(0, 70_000) | st.integers(0, 1 << 61), max_size=40), st.booleans())
def test_the_order_is_the_stable_one(key: list[int], doubled: bool):
    key = key * 2 if doubled else key
    found = stable_order(np.array(key, np.int64), max(key, default=0) + 1)
    assert found.tolist() == sorted(range(len(key)), key=key.__getitem__)


@given(
    st.data(),
    st.sampled_from([(0,), (1, 1), (2, 1, 2), (3, 3, 3, 1), (4, 4, 2), (1, 3)]),
    st.sampled_from([1, 3, 1 << 16]),
)
def test_rows_are_ranked_by_their_tuples(data: st.DataObject, widths: tuple[int, ...], near: int):
    """Also where the rows are more than are worked on at a time."""
    sizes = [_WIDE[w] for w in widths]
    row = st.tuples(*(st.sampled_from([0, size // 2, size - 1]) for size in sizes))
    rows = data.draw(st.lists(row, min_size=1, max_size=30))
    columns = [np.array([r[d] for r in rows], np.int32) for d in range(len(sizes))]
    with patch.object(frequency, "_NEAR", near):
        rank, first = dense_rank(columns, sizes)
        order, once = row_order(columns, sizes), occur_once(columns, sizes)
        counted = frequency_set([f"c{d}" for d in range(len(sizes))], columns, sizes, quasi=1)
    assert order.tolist() == sorted(range(len(rows)), key=rows.__getitem__)
    assert once.tolist() == [rows.count(r) == 1 for r in rows]
    distinct = sorted(set(rows))
    assert rank.tolist() == [distinct.index(r) for r in rows]
    assert first.tolist() == [rows.index(r) for r in distinct]
    assert counted.codes.tolist() == [list(r) for r in distinct]
    assert counted.count.tolist() == [rows.count(r) for r in distinct]
    runs = sorted({r[0] for r in rows})
    assert counted.run.tolist() == [runs.index(r[0]) for r in distinct]
    assert counted.run_codes.tolist() == [[value] for value in runs]
    assert counted.run_count.tolist() == [sum(r[0] == value for r in rows) for value in runs]


def test_ranks_of_nothing() -> None:
    rank, first = dense_rank([], [])
    assert (len(rank), len(first)) == (0, 0)


def test_keys_of_quasi_identifiers_alone_are_their_own_runs() -> None:
    columns = [np.array([1, 0, 1, 1], np.int32), np.array([0, 2, 0, 1], np.int32)]
    found = frequency_set(["a", "b"], columns, [2, 3], quasi=2)
    assert found.run_codes.tolist() == found.codes.tolist() == [[0, 2], [1, 0], [1, 1]]
    assert found.run_count.tolist() == found.count.tolist() == [1, 2, 1]
    assert found.run.tolist() == found.run_start.tolist() == [0, 1, 2]
