"""The line on which a column is cut: exact bars, ascending knots, round marks."""

from __future__ import annotations

from datetime import date
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.base.errors import BadHierarchy
from anon_core.data.column import Column, encode
from anon_core.data.hierarchy.histogram import axis
from anon_core.data.hierarchy.intervals import Cuts, grid_of
from anon_core.data.hierarchy.propose.starts import quantiles, round_numbers
from anon_core.data.profile import distribution
from tests.often import often


def column(cells: list[str]) -> Column:
    pool = list(dict.fromkeys(cells))
    codes = np.array([pool.index(cell) for cell in cells], dtype=np.int32)
    return encode("x", codes, pool)


@often(100)
@given(st.lists(st.integers(-100, 100_000), min_size=2, max_size=60, unique=True), st.booleans())
def test_bars_are_exact_and_the_line_ascends(values: list[int], cut: bool) -> None:
    own = column([str(v) for v in values])
    cuts = round_numbers(own) if cut else quantiles(own)
    line = axis(own, cuts)
    assert sum(bar.rows for bar in line.bars) == len(values)
    assert line.bars[0].begin == 0
    assert abs(line.bars[-1].end - 1) < 1e-9
    assert all(a.end == b.begin and a.high == b.low for a, b in pairwise(line.bars))
    for bar in line.bars:
        assert bar.rows == sum(bar.low <= v < bar.high for v in values)
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


def day(number: int) -> str:
    return date.fromordinal(730_000 + number).isoformat()


#: Columns in which every value of a grid is in as many rows.
EVEN = {
    "ages 17 to 90": [str(v) for v in range(17, 91)],
    "whole numbers": [str(v) for v in range(3, 203)],
    "steps of five": [str(v) for v in range(100, 2000, 5)],
    "steps of seven from two": [str(v) for v in range(2, 1500, 7)],
    "tenths": [f"{v / 10}" for v in range(-77, 321)],
    "quarters": [f"{v / 4}" for v in range(500)],
    "cents": [f"{v / 100}" for v in range(1999, 2999)],
    "days": [day(v) for v in range(500)],
    "Mondays": [day(7 * v) for v in range(300)],
}


@pytest.mark.parametrize("name", EVEN)
@pytest.mark.parametrize("cut", [False, True])
def test_even_values_have_even_bars(name: str, cut: bool) -> None:
    own = column(EVEN[name])
    line = axis(own, round_numbers(own) if cut and own.kind == "number" else Cuts(levels=()))
    assert not line.stretched
    rows = [bar.rows for bar in line.bars]
    # Only what lies half beyond the data may hold less.
    inner = [n for n in rows if n][1:-1]
    assert len(set(inner)) == 1, rows
    assert max(rows) == inner[0]
    assert len({round(bar.end - bar.begin, 9) for bar in line.bars}) == 1
    if len(own.values) > 24:
        shown = [bar.rows for bar in distribution(own).bars]
        assert len(set(shown[1:-1])) == 1, shown
        assert max(shown) == shown[1]


def test_even_values_stay_even_where_the_line_is_stretched() -> None:
    own = column([str(v) for v in range(100)] + ["1000000"])
    line = axis(own, Cuts(levels=()))
    assert line.stretched
    # Bars hold two values or three; what is drawn is the rows of each.
    inner = [bar for bar in line.bars if bar.high < 95]
    assert len(inner) > 20
    assert {round(bar.height, 6) for bar in inner} == {1.0}
    assert all(bar.rows == bar.high - bar.low for bar in inner)


@often(100)
@given(
    st.lists(st.integers(-10_000, 10_000), min_size=2, max_size=30, unique=True),
    st.sampled_from([1, 3, 5, 10]),
    st.integers(0, 4),
)
def test_a_grid_holds_every_value(places: list[int], step: int, decimals: int) -> None:
    measure = np.array(sorted({p * step / 10**decimals for p in places}))
    grid = grid_of(measure)
    assert grid is not None
    assert np.allclose(grid.first + grid.places * grid.step, measure)
    assert np.gcd.reduce(grid.places) == 1
    assert grid_of(np.array([0.0, 1 / 3, 2**0.5])) is None


@pytest.mark.parametrize(
    "cells",
    [
        ["-1.7e308", "0", "1.7e308"],
        ["5e-324", "1e-323", "1.5e-323"],
        ["0", "5e-324"],
        [f"{v}e-322" for v in range(40)],
        [f"{v / 20}e308" for v in range(-30, 30)],
    ],
)
def test_what_no_line_can_hold_is_refused(cells: list[str]) -> None:
    assert column(cells).kind == "text"  # nobody's numbers; another kind may measure what it likes
    values = sorted(cells, key=float)
    own = Column(
        name="x",
        kind="number",
        codes=np.arange(len(values), dtype=np.int32),
        values=tuple(values),
        measure=np.array(values, dtype=np.float64),
    )
    with pytest.raises(BadHierarchy, match="too distant or too close"):
        axis(own, Cuts(levels=()))
    assert sum(bar.rows for bar in distribution(own).bars) == len(own.codes)
