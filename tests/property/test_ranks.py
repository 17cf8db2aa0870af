"""Ranks and orders of code columns against sorting, on random input."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from anon_core.frequency import dense_rank, stable_order

_WIDE = [3, 1 << 9, (1 << 20) + 1]


@given(st.lists(st.integers(0, 70_000) | st.integers(0, 1 << 40), max_size=40), st.booleans())
def test_the_order_is_the_stable_one(key: list[int], doubled: bool):
    key = key * 2 if doubled else key
    found = stable_order(np.array(key, np.int64), max(key, default=0) + 1)
    assert found.tolist() == sorted(range(len(key)), key=key.__getitem__)


@given(st.data(), st.sampled_from([(0, 0), (1, 0, 1), (2, 2, 2, 2), (0, 2)]))
def test_rows_are_ranked_by_their_tuples(data: st.DataObject, widths: tuple[int, ...]):
    sizes = [_WIDE[w] for w in widths]
    row = st.tuples(*(st.sampled_from([0, size // 2, size - 1]) for size in sizes))
    rows = data.draw(st.lists(row, min_size=1, max_size=30))
    columns = [np.array([r[d] for r in rows], np.int32) for d in range(len(sizes))]
    rank, first = dense_rank(columns, sizes)
    distinct = sorted(set(rows))
    assert rank.tolist() == [distinct.index(r) for r in rows]
    assert first.tolist() == [rows.index(r) for r in distinct]
