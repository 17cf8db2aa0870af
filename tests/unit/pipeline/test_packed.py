"""Columns packed into words: in the order of the rows, and found again."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from anon_core.engines.sql_release import packed_fields


@given(st.lists(st.integers(1, 2**31), min_size=1, max_size=12), st.integers(0, 2**32))
def test_words_are_in_the_order_of_rows_and_give_the_numbers_back(
    sizes: list[int], seed: int
) -> None:
    chance = np.random.default_rng(seed)
    columns = [chance.integers(0, min(size, chance.integers(1, size + 1)), 40) for size in sizes]
    found = packed_fields(sizes)
    words = [np.zeros(40, dtype=np.int64) for _ in range(1 + found[-1].word)]
    for field, column in zip(found, columns, strict=True):
        words[field.word] += column << field.shift
    rows = list(zip(*(c.tolist() for c in columns), strict=True))
    packed = list(zip(*(w.tolist() for w in words), strict=True))
    assert [rows[i] for i in sorted(range(40), key=packed.__getitem__)] == sorted(rows)
    assert min(min(word) for word in packed) >= 0
    for field, column in zip(found, columns, strict=True):
        assert field.of(words[field.word]).tolist() == column.tolist()
