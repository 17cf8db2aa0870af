"""Orders by digits against sorting, on random input."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.data import frequency
from anon_core.data.frequency import stable_order
from anon_core.kernels.lines import in_digit_order
from tests import naive_kernels

pytestmark = pytest.mark.kernels


@given(
    st.lists(st.integers(0, 9) | st.integers(0, (1 << 62) - 1), max_size=40),
    st.integers(0, 40),
    st.integers(0, 62),
)
def test_words_are_ordered_by_their_bits(words: list[int], low: int, high: int) -> None:
    made = np.array(words, dtype=np.int64)
    found = in_digit_order(made, np.empty_like(made), low, max(low, high))
    assert found.tolist() == naive_kernels.by_bits(words, low, max(low, high))


@given(st.lists(st.integers(0, 5) | st.integers(0, 1 << 40), max_size=40))
def test_the_order_is_that_of_sorting(key: list[int]) -> None:
    codes, size = np.array(key, dtype=np.int64), max(key, default=0) + 1
    usual = stable_order(codes, size)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(frequency, "_MANY", 0)
        assert stable_order(codes, size).tolist() == usual.tolist()
