"""The line on which a column is cut: exact bars, ascending knots, round marks."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.hierarchy.histogram import axis
from anon_core.hierarchy.intervals import Cuts
from anon_core.hierarchy.starts import quantiles, round_numbers
from anon_core.table import Column, encode


def column(cells: list[str]) -> Column:
    pool = list(dict.fromkeys(cells))
    codes = np.array([pool.index(cell) for cell in cells], dtype=np.int32)
    return encode("x", codes, pool)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(-100, 100_000), min_size=2, max_size=60, unique=True), st.booleans())
def test_bars_are_exact_and_the_line_ascends(values: list[int], cut: bool) -> None:
    own = column([str(v) for v in values])
    cuts = round_numbers(own) if cut else quantiles(own)
    line = axis(own, cuts)
    assert sum(line.bars) == len(values)
    assert line.places[0] == 0
    assert abs(line.places[-1] - 1) < 1e-9
    for knots in (line.values, line.places, line.marks):
        assert all(a < b for a, b in pairwise(knots))
    assert line.step >= 1
    assert line.values[0] <= min(values)
    assert line.values[-1] > max(values)


def test_a_crowd_gets_room() -> None:
    own = column([str(v) for v in range(100)] + ["1000000"])
    line = axis(own, Cuts(levels=()))
    assert line.stretched
    assert np.interp(99, line.values, line.places) > 0.5
    assert not axis(column([str(v) for v in range(100)]), Cuts(levels=())).stretched


def test_dates_are_marked_by_months() -> None:
    own = column([f"2024-{month:02}-17" for month in range(1, 13)])
    import datetime

    marks = axis(own, Cuts(levels=())).marks
    assert len(marks) > 5
    assert all(datetime.date.fromordinal(int(m)).day == 1 for m in marks)
