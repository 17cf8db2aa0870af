"""The line on which a column is cut: its axis, bars of rows along it, and marks to read it by."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import BadHierarchy
from anon_core.data.column import Column
from anon_core.data.hierarchy.intervals import Cuts, Grid, grid_of, is_whole, measure_of
from anon_core.data.values.kinds import ColumnKind

#: Of a column whose rows crowd together, this part of the axis goes by rows, the rest by value.
_BY_ROWS = 0.6
#: Rows crowd together where half of them take up less than this part of the range.
_CROWDED = 0.12
_KNOTS = 48
#: What a line may span: such numbers can still be distinguished, multiplied and divided.
_LEAST, _MOST = 1e-290, 1e300


@dataclass(frozen=True, kw_only=True)
class Bar:
    """The rows between two places of the line.

    Attributes
    ----------
    low, high : float
        From the one up to, and without, the other.
    begin, end : float
        Their places on the line, from 0 to 1.
    rows : int
        Exactly.
    height : float
        Rows per possible value, as a share of the highest bar's: on a line that is stretched,
        bars cover unequally many values.
    """

    low: float
    high: float
    begin: float
    end: float
    rows: int
    height: float


@dataclass(frozen=True, kw_only=True)
class Axis:
    """Where values are on a line from 0 to 1, and how the rows spread over it.

    Attributes
    ----------
    values, places : tuple of float
        Knots of the line, ascending; between two of them it is straight.
    bars : tuple of Bar
        They part the line. Unless it is stretched, all cover equally many values of the grid that
        the column's own are on.
    marks : tuple of float
        Round values to write below it.
    stretched : bool
        Whether parts with many rows are drawn wider than others.
    step : float
        The smallest move of a cut that makes sense.
    """

    values: tuple[float, ...]
    places: tuple[float, ...]
    bars: tuple[Bar, ...]
    marks: tuple[float, ...]
    stretched: bool
    step: float


def axis(column: Column, cuts: Cuts, *, bars: int = 60) -> Axis:
    """Return the line for a column of numbers or dates with at least two values.

    It reaches to the cuts next to the data, so that the end intervals are drawn whole.

    Raises
    ------
    BadHierarchy
        If the column has neither numbers nor dates, or they lie too far from each other or too
        close together for a line.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.data.column import encode
    >>> age = encode("age", np.array([0, 1, 2, 2], dtype=np.int32), ["20", "25", "39"])
    >>> line = axis(age, Cuts(levels=((20, 30, 40),)), bars=4)
    >>> line.values, [bar.rows for bar in line.bars], line.step, line.marks[:3]
    ((20.0, 40.0), [1, 1, 0, 2], 1.0, (20.0, 25.0, 30.0))
    """
    measure = measure_of(column)
    whole = is_whole(column)
    low, high = float(measure[0]), float(measure[-1]) + (1.0 if whole else 0.0)
    every = cuts.levels[0] if cuts.levels else ()
    if not cuts.open_bottom:
        low = max((p for p in every if p <= low), default=low)
    if not cuts.open_top:
        high = min((p for p in every if p >= high), default=high)
    if high <= low:
        high = low + 1.0
    if not _LEAST < high / 2 - low / 2 < _MOST:
        raise BadHierarchy(
            f"The values of '{column.name}' are too distant or too close together to be drawn on "
            "a line.",
            remedy="Group them by hand, or take a proposal.",
        )
    share = np.cumsum(column.counts) / max(int(column.counts.sum()), 1)
    middle = np.interp([0.25, 0.75], share, measure)
    stretched = bool(middle[1] - middle[0] < _CROWDED * (high - low))
    found = grid_of(measure)
    edges = np.linspace(low, high, bars + 1)
    if found is not None and not stretched:
        edges = _equal_edges(found, low, high, bars)
        high = float(edges[-1])
    values, places = [low, high], [0.0, 1.0]
    if stretched:
        values, places = _stretched(measure, share, low, high)
        edges = np.interp(np.linspace(0, 1, bars + 1), places, values)
        if found is not None:
            edges = _on_grid(found, edges, low)
        edges = np.unique(edges)
    span = high - low
    return Axis(
        values=tuple(values),
        places=tuple(places),
        bars=_bars(column, found, edges, np.interp(edges, values, places)),
        marks=_marks(values, places, round_to=_ROUND.get(column.kind)),
        stretched=stretched,
        step=1.0 if whole and span < 2000 else max(_round(span / 1000), 1.0 if whole else 0.0),
    )


def _equal_edges(grid: Grid, low: float, high: float, bars: int) -> npt.NDArray[np.float64]:
    """Return the ends of bars of equally many points of a grid; the last one may end beyond."""
    points = max(1, math.ceil((high - low) / grid.step - 1e-9))
    wide = 1 if points <= 2 * bars else math.ceil(points / bars)
    # A value at the upper end needs a bar as wide as all others.
    last = (grid.first - low) / grid.step + int(grid.places[-1])
    count = max(math.ceil(points / wide), math.floor((last + 1e-9) / wide) + 1)
    return low + np.arange(count + 1, dtype=np.float64) * (wide * grid.step)


def _on_grid(grid: Grid, edges: npt.NDArray[np.float64], low: float) -> npt.NDArray[np.float64]:
    """Move the inner ends of bars to points of a grid; the outer ones stay."""
    steps = np.rint((edges - grid.first) / grid.step)
    moved = grid.first + steps * grid.step
    inside = (moved > low) & (moved < edges[-1])
    return np.concatenate([edges[:1], moved[inside], edges[-1:]])


def _bars(
    column: Column,
    grid: Grid | None,
    edges: npt.NDArray[np.float64],
    places: npt.NDArray[np.float64],
) -> tuple[Bar, ...]:
    """Return the bars between `edges`, which are at `places`."""
    measure = measure_of(column)
    # An end that is a value but for the last digit is that value.
    near = 0.0 if grid is None else grid.step * 1e-6
    place = np.searchsorted(edges - near, measure, side="right") - 1
    place = np.clip(place, 0, len(edges) - 2)
    rows = np.bincount(place, weights=column.counts, minlength=len(edges) - 1)
    wide = np.diff(edges)
    if grid is not None:  # at the ends of the line a bar may reach beyond the last point
        wide = np.maximum(np.rint(wide / grid.step), 1.0)
    each = rows / wide * wide.min()
    highest = float(each.max()) or 1.0
    return tuple(
        Bar(low=low, high=high, begin=begin, end=end, rows=int(count), height=float(one / highest))
        for (low, high), (begin, end), count, one in zip(
            pairwise(edges.tolist()), pairwise(places.tolist()), rows, each, strict=True
        )
    )


def _stretched(
    measure: npt.NDArray[np.float64], share: npt.NDArray[np.float64], low: float, high: float
) -> tuple[list[float], list[float]]:
    """Return knots of a line that goes partly by rows."""
    chosen = np.unique(np.interp(np.linspace(0, 1, _KNOTS), share, np.arange(len(share))).round())
    knots = measure[chosen.astype(np.int64)]
    by_rows = share[chosen.astype(np.int64)]
    inside = (knots > low) & (knots < high)
    values = [low, *knots[inside].tolist(), high]
    rows = [0.0, *by_rows[inside].tolist(), 1.0]
    return values, [
        _BY_ROWS * part + (1 - _BY_ROWS) * (value - low) / (high - low)
        for value, part in zip(values, rows, strict=True)
    ]


def _marks(
    values: Sequence[float], places: Sequence[float], *, round_to: Callable[[float], float] | None
) -> tuple[float, ...]:
    """Return about eight round values, spread over the line."""
    found: list[float] = []
    if len(values) == 2 and round_to is None:
        step = _round((values[1] - values[0]) / 9)
        first = math.ceil(values[0] / step)
        return tuple(
            float(f"{i * step:.12g}") for i in range(first, math.floor(values[1] / step) + 1)
        )
    last = -1.0
    for place in np.linspace(0.02, 0.98, 9) if round_to is None else np.linspace(0.03, 0.97, 7):
        value = float(np.interp(place, places, values))
        near = float(np.interp(min(1.0, place + 0.06), places, values))
        mark = _round_near(value, near - value) if round_to is None else round_to(value)
        at = float(np.interp(mark, values, places))
        if values[0] <= mark <= values[-1] and at - last > 0.07:
            found.append(mark)
            last = at
    return tuple(found)


def _round(width: float) -> float:
    size = 10.0 ** math.floor(math.log10(width))
    return float(f"{next(size * p for p in (1, 2, 5, 10) if size * p >= width * (1 - 1e-9)):.12g}")


def _round_near(value: float, width: float) -> float:
    if width <= 0:
        return value
    step = _round(width)
    return float(f"{round(value / step) * step:.12g}")


def _round_day(value: float) -> float:
    day = date.fromordinal(min(max(1, int(value)), date.max.toordinal()))
    return float(day.replace(day=1).toordinal())


#: What is round among values of a kind; of any other kind, multiples of 1, 2 or 5.
_ROUND: dict[ColumnKind, Callable[[float], float]] = {"date": _round_day}
