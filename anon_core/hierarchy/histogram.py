"""The line on which a column is cut: its axis, bars of rows along it, and marks to read it by."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

import numpy as np
import numpy.typing as npt

from ..table import Column
from .intervals import Cuts, is_whole, measure_of

#: Of a column whose rows crowd together, this part of the axis goes by rows, the rest by value.
_BY_ROWS = 0.6
#: Rows crowd together where half of them take up less than this part of the range.
_CROWDED = 0.12
_KNOTS = 48


@dataclass(frozen=True, kw_only=True)
class Axis:
    """Where values stand on a line from 0 to 1, and how the rows spread over it.

    Attributes
    ----------
    values, places : tuple of float
        Knots of the line, ascending; between two of them it is straight.
    bars : tuple of int
        Rows of equal parts of the line, exactly.
    marks : tuple of float
        Round values to write below it.
    stretched : bool
        Whether parts with many rows are drawn wider than others.
    step : float
        The smallest move of a cut that makes sense.
    """

    values: tuple[float, ...]
    places: tuple[float, ...]
    bars: tuple[int, ...]
    marks: tuple[float, ...]
    stretched: bool
    step: float


def axis(column: Column, cuts: Cuts, *, bars: int = 60) -> Axis:
    """Return the line for a column of numbers or dates with at least two values.

    It reaches to the cuts next to the data, so that the end intervals are drawn whole.

    Raises
    ------
    BadHierarchy
        If the column has neither numbers nor dates.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.table import encode
    >>> age = encode("age", np.array([0, 1, 2, 2], dtype=np.int32), ["20", "25", "39"])
    >>> line = axis(age, Cuts(levels=((20, 30, 40),)), bars=4)
    >>> line.values, line.bars, line.step, line.marks[:3]
    ((20.0, 40.0), (1, 1, 0, 2), 1.0, (20.0, 25.0, 30.0))
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
    share = np.cumsum(column.counts) / max(int(column.counts.sum()), 1)
    middle = np.interp([0.25, 0.75], share, measure)
    stretched = bool(middle[1] - middle[0] < _CROWDED * (high - low))
    values, places = [low, high], [0.0, 1.0]
    if stretched:
        values, places = _stretched(measure, share, low, high)
    elif whole and high - low <= 2 * bars:
        bars = int(high - low)  # one bar a number, else equal bars would hold unequally many
    at = np.interp(measure, values, places)
    bar = np.minimum((at * bars).astype(np.int64), bars - 1)
    found = np.bincount(bar, weights=column.counts, minlength=bars)
    span = high - low
    return Axis(
        values=tuple(values),
        places=tuple(places),
        bars=tuple(int(rows) for rows in found),
        marks=_marks(values, places, dates=column.kind == "date"),
        stretched=stretched,
        step=1.0 if whole and span < 2000 else max(_round(span / 1000), 1.0 if whole else 0.0),
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


def _marks(values: Sequence[float], places: Sequence[float], *, dates: bool) -> tuple[float, ...]:
    """Return about eight round values, spread over the line."""
    found: list[float] = []
    if len(values) == 2 and not dates:
        step = _round((values[1] - values[0]) / 9)
        first = math.ceil(values[0] / step)
        return tuple(
            float(f"{i * step:.12g}") for i in range(first, math.floor(values[1] / step) + 1)
        )
    last = -1.0
    for place in np.linspace(0.02, 0.98, 9):
        value = float(np.interp(place, places, values))
        near = float(np.interp(min(1.0, place + 0.06), places, values))
        mark = _round_day(value) if dates else _round_near(value, near - value)
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
    day = date.fromordinal(max(1, int(value)))
    return float(day.replace(day=1).toordinal())
