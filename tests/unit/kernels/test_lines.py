"""Lines put together of cells against joining them one by one, on random input."""

from __future__ import annotations

from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.kernels.lines import joined_lines
from tests import naive_kernels

pytestmark = pytest.mark.kernels


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[list[int]], list[list[bytes]]]:
    """Draw columns of places, few of them different, and the texts of each."""
    texts = draw(st.lists(st.lists(st.binary(max_size=9), min_size=1, max_size=3), min_size=1))
    rows = draw(st.integers(0, 12))
    places = [
        draw(st.lists(st.integers(0, len(own) - 1), min_size=rows, max_size=rows)) for own in texts
    ]
    return places, texts


@given(tables())
def test_lines_are_the_texts_of_their_cells(
    drawn: tuple[list[list[int]], list[list[bytes]]],
) -> None:
    places, texts = drawn
    codes = np.array(places, dtype=np.int32).reshape(len(texts), -1)
    every = [text for own in texts for text in own]
    first = np.cumsum([0, *map(len, texts[:-1])])
    ends = np.array([0, *accumulate(map(len, every))])
    text = np.frombuffer(b"".join(every), dtype=np.uint8)
    ends.setflags(write=False)  # as Arrow hands them out
    expected = naive_kernels.joined_texts(places, texts)
    assert joined_lines(codes, first, ends, text).tobytes() == expected
