"""Cut points to start from: equal width, equal rows, round numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from datetime import date

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import BadHierarchy
from anon_core.data.column import Column
from anon_core.data.hierarchy.intervals import Cuts, is_whole, measure_of, settled
from anon_core.data.values.kinds import ColumnKind
from anon_core.data.values.moments import HOUR, begin_of, day_of

#: Groups of the finest level that round numbers aim at.
_GROUPS = 20
#: How uneven two halves may be for the sake of a round number: their difference as a share.
_UNEVEN = 0.3
#: Powers of ten between which numbers can be distinguished and multiplied.
_SMALLEST, _LARGEST = -300, 307


def equal_width(column: Column, *, groups: int = 16, levels: int = 3) -> Cuts:
    """Return cuts that part the range into equal intervals, twice as wide on each level up.

    Parameters
    ----------
    groups : int
        Intervals on level 1.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.data.column import encode
    >>> age = encode("age", np.arange(3, dtype=np.int32), ["0", "3", "8"])
    >>> equal_width(age, groups=4, levels=2).levels
    ((2.0, 4.0, 6.0), (4.0,))
    """
    measure = measure_of(column)
    if len(measure) < 2:
        return Cuts(levels=((),))
    low, high = float(measure[0]), float(measure[-1])
    finest = [low * (1 - i / groups) + high * (i / groups) for i in range(groups)]
    found: list[tuple[float, ...]] = []
    for level in range(levels):
        points = {settled(column, float(f"{p:.12g}")) for p in finest[:: 2**level][1:]}
        found.append(tuple(sorted(points)))
    return _without_idle(column, Cuts(levels=tuple(found)))


def quantiles(column: Column, *, levels: int = 4, rounded: bool = False) -> Cuts:
    """Return cuts that halve the rows, and halve the halves: 2 ** levels groups at most.

    A frequent value stays a group of its own.

    Parameters
    ----------
    rounded : bool
        Cut at the roundest number near the middle rather than in the middle.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.data.column import encode
    >>> gain = encode("gain", np.array([0, 0, 0, 1, 2, 3], dtype=np.int32), ["0", "7", "8", "9"])
    >>> quantiles(gain, levels=2).levels
    ((7.0, 8.0), (7.0,))
    """
    measure = measure_of(column)
    upto = np.concatenate([[0], np.cumsum(column.counts)])
    parts = [(0, len(measure))]
    by_depth: list[list[float]] = []
    for _ in range(levels):
        next_parts: list[tuple[int, int]] = []
        points: list[float] = []
        for lo, hi in parts:
            if hi - lo < 2:
                continue
            middle, point = _halved(measure, upto, lo, hi, column, rounded=rounded)
            points.append(point)
            next_parts += [(lo, middle), (middle, hi)]
        by_depth.append(points)
        parts = next_parts
    nested: list[tuple[float, ...]] = [()]
    for points in by_depth:
        nested.append(tuple(sorted((*nested[-1], *points))))
    return _without_idle(column, Cuts(levels=tuple(reversed(nested[1:]))))


def _halved(
    measure: npt.NDArray[np.float64],
    upto: npt.NDArray[np.int64],
    lo: int,
    hi: int,
    column: Column,
    *,
    rounded: bool,
) -> tuple[int, float]:
    """Return the place that halves the rows of values lo..hi-1, and the number to cut at."""
    places = np.arange(lo + 1, hi)
    uneven = np.abs(2 * upto[places] - upto[lo] - upto[hi])
    best = int(np.argmin(uneven))
    first = last = best
    if rounded:
        near = uneven <= _UNEVEN * (upto[hi] - upto[lo])
        while first > 0 and near[first - 1]:
            first -= 1
        while last + 1 < len(places) and near[last + 1]:
            last += 1
        below, above = float(measure[places[first] - 1]), float(measure[places[last]])
        rounded_at = _ROUNDEST.get(column.kind, _roundest)
        point = rounded_at(below, above, is_whole(column))
    else:
        point = float(measure[places[best]])
    return int(np.searchsorted(measure, point, side="left")), point


def _roundest(below: float, upto: float, whole: bool) -> float:
    """Return the number in (below, upto] with the fewest digits, multiples of 5 before others."""
    size = 10.0 ** min(math.ceil(math.log10(max(abs(upto), abs(below), 1e-300)) + 1), _LARGEST)
    while size > (0.5 if whole else (upto - below) / 1e6):
        for part in (1.0, 0.5, 0.2):
            point = float(f"{math.floor(upto / (size * part)) * size * part:.12g}")
            if below < point <= upto and (not whole or point.is_integer()):
                return point
        size /= 10
    return upto


def _round_day(below: float, upto: float, _whole: bool) -> float:
    """Return the first of January, else the first of a month, in (below, upto], else the day."""
    last = date.fromordinal(int(upto))
    for first in (date(last.year, 1, 1), date(last.year, last.month, 1)):
        if first.toordinal() > below:
            return float(first.toordinal())
    return upto


def _round_moment(below: float, upto: float, whole: bool) -> float:
    """Return what is round in (below, upto]: January, a month, a day, an hour; else `upto`."""
    day = float(day_of(upto))
    first = begin_of(_round_day(day_of(below), day, whole))
    hour = upto // HOUR * HOUR
    return next((at for at in (first, begin_of(day), hour) if below < at <= upto), upto)


#: What is round among values of a kind; of any other kind, the number with the fewest digits.
_ROUNDEST: dict[ColumnKind, Callable[[float, float, bool], float]] = {
    "date": _round_day,
    "datetime": _round_moment,
    "instant": _round_moment,
}


def round_numbers(column: Column, *, top_code: bool = False) -> Cuts:
    """Return cuts at multiples of 1, 2 or 5 times a power of ten, twice as wide on each level up.

    Parameters
    ----------
    top_code : bool
        Leave out the cuts that part only few rows from the rest at either end (fewer than a quarter
        of a group's fair share), and write those ends open.

    Raises
    ------
    BadHierarchy
        If the numbers span more, or less, than can be reckoned with.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.data.column import encode
    >>> ages = [str(age) for age in range(17, 91)]
    >>> age = encode("age", np.arange(74, dtype=np.int32), ages)
    >>> from anon_core.data.hierarchy.intervals import cut
    >>> [row[1:] for row in cut(age, round_numbers(age)) if row[0] == "42"]
    [('40-44', '40-49', '40-59', '40-79', '*')]
    """
    measure = measure_of(column)
    if len(measure) < 2:
        return Cuts(levels=((),))
    low, high = float(measure[0]), float(measure[-1])
    within = measure
    if top_code:
        upto = np.cumsum(column.counts)
        few = upto[-1] / 200
        within = measure[(upto > few) & (upto[-1] - upto + column.counts > few)]
    span = float(within[-1]) - float(within[0]) if len(within) > 1 else high - low
    if not _SMALLEST < math.log10(span or 1e-320) < _LARGEST:
        raise BadHierarchy(
            f"The numbers of '{column.name}' are too distant or too close together for round "
            "intervals.",
            remedy="Cut them into groups of equal rows.",
        )
    width = _round_width(span / min(_GROUPS, max(2, len(measure) // 2)), whole=is_whole(column))
    widths = [width]
    while span / (widths[-1] * 2) > 1.2:
        widths.append(widths[-1] * 2)
    begin = math.floor(low / widths[-1]) * widths[-1]
    end = math.ceil(math.nextafter(high, math.inf) / widths[-1]) * widths[-1]
    if end == high:
        end += widths[-1]
    if top_code and len(within):
        begin = max(begin, math.floor(float(within[0]) / widths[-1]) * widths[-1])
        end = min(end, math.ceil(float(within[-1]) / widths[-1]) * widths[-1])
    found: list[tuple[float, ...]] = []
    for wide in widths:
        steps = round((end - begin) / wide)
        points = [float(f"{begin + i * wide:.12g}") for i in range(steps + 1)]
        if top_code:
            below = set(found[-1]) if found else set(points)
            points = _coded(column, [p for p in points if p in below])
        found.append(tuple(points))
    cuts = Cuts(levels=tuple(found), open_bottom=top_code, open_top=top_code)
    return _without_idle(column, cuts)


def _coded(column: Column, points: list[float]) -> list[float]:
    """Leave out cuts at both ends until the end groups have a quarter of a fair share."""
    place = np.searchsorted(points, measure_of(column), side="right")
    rows = np.bincount(place, weights=column.counts, minlength=len(points) + 1).tolist()
    total = sum(rows)
    while len(rows) > 2 and min(rows[0], rows[-1]) * 4 * np.count_nonzero(rows) < total:
        end = 0 if rows[0] <= rows[-1] else -1
        gone = rows.pop(end)
        rows[end] += gone
        points = points[1:] if end == 0 else points[:-1]
    return points


def _round_width(width: float, *, whole: bool) -> float:
    """Return the smallest of 1, 2, 5 × 10ⁿ that is at least `width`."""
    if whole and width <= 1:
        return 1.0
    size = 10.0 ** math.floor(math.log10(width))
    found = next(size * part for part in (1.0, 2.0, 5.0, 10.0) if size * part >= width * (1 - 1e-9))
    return float(f"{found:.12g}")


def _without_idle(column: Column, cuts: Cuts) -> Cuts:
    """Leave out levels that are one group, or no coarser than the one below."""
    measure = measure_of(column)
    kept: list[tuple[float, ...]] = []
    groups = len(measure)
    for points in cuts.levels:
        found = len(np.unique(np.searchsorted(points, measure, side="right")))
        if 1 < found < groups or not kept:
            kept.append(points)
            groups = found
    return replace(cuts, levels=tuple(kept))
