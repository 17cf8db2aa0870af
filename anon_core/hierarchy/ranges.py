"""What a group's label says of its values, where it states a range: ``20-29``, ``[20, 30)``."""

from __future__ import annotations

import calendar
import datetime
import math
import re
from collections.abc import Callable

from ..data.kinds import KINDS, ColumnKind
from ..data.moments import HOUR, as_day, begin_of

Range = tuple[float, float]

_BRACKETS = re.compile(r"([\[(])(.*)([\])])")
_BETWEEN = re.compile(r"\s*(?:\.\.\.?|…|[-–—]|\bto\b)\s*")
_ONE_SIDED = re.compile(r"(<=|>=|[<>≤≥])\s*(.+)")
_OR_MORE = re.compile(r"(.+?)\s*\+")
_MASK = re.compile(r"(\d+)(\*+)")
_YEARS = re.compile(r"(\d{3})0s")
_MONTHS = re.compile(r"(\d{4})(?:-(0[1-9]|1[0-2])|[- ]?Q([1-4]))?")
_WEEKS = re.compile(r"(\d{4})-W(\d\d)(?:\s+to\s+(?:(\d{4})-)?W(\d\d))?")
_HOUR = re.compile(r"(\d{4}-\d{2}-\d{2}) (\d{1,2})h")
_ENDLESS = {"": 0, "∞": 1, "inf": 1, "+∞": 1, "+inf": 1, "-∞": -1, "-inf": -1, "−∞": -1}


def read_range(label: str, kind: ColumnKind) -> Range | None:
    """Return the least and the greatest value a label admits; None where it states no range.

    An open end is the float next to the one that is written. A label is only a candidate: whoever
    asks checks that it agrees with the values that are known to stand under it.

    Examples
    --------
    >>> from anon_core.data.moments import as_day
    >>> read_range("20-29", "number"), read_range(">= 80", "number")
    ((20.0, 29.0), (80.0, inf))
    >>> read_range("[20, 30)", "number") == (20.0, math.nextafter(30.0, 0.0))
    True
    >>> read_range("9413*", "number"), read_range("young", "number")
    ((94130.0, 94139.0), None)
    >>> read_range("2020-02", "date") == (as_day("2020-02-01"), as_day("2020-02-29"))
    True
    """
    read = KINDS[kind].read
    if read is None:
        return None
    label = label.strip()
    for form in (_bracketed, _between, _one_sided):
        found = form(label, read)
        if found is not None:
            return found if found[0] <= found[1] else None
    own = _OWN_FORMS.get(kind)
    return None if own is None else own(label)


def _bracketed(label: str, read: Callable[[str], float]) -> Range | None:
    match = _BRACKETS.fullmatch(label)
    if match is None:
        return None
    for separator in ("; ", ", ", ";", ","):
        ends = match[2].split(separator)
        if len(ends) == 2:
            low, high = _end(ends[0], read, -math.inf), _end(ends[1], read, math.inf)
            if math.isnan(low) or math.isnan(high):
                return None
            if match[1] == "(" and low > -math.inf:
                low = math.nextafter(low, math.inf)
            if match[3] == ")" and high < math.inf:
                high = math.nextafter(high, -math.inf)
            return low, high
    return None


def _end(text: str, read: Callable[[str], float], endless: float) -> float:
    """Return one end of a bracketed range; NaN where it is none."""
    sign = _ENDLESS.get(text.strip().lower())
    if sign is None:
        return read(text)
    return endless if sign == 0 or math.copysign(1, endless) == sign else math.nan


def _between(label: str, read: Callable[[str], float]) -> Range | None:
    """Read ``20-29``, also with negative numbers and dates, if it can be read in one way only."""
    found: list[Range] = []
    for match in _BETWEEN.finditer(label):
        low, high = read(label[: match.start()]), read(label[match.end() :])
        if not math.isnan(low) and not math.isnan(high):
            found.append((low, high))
    return found[0] if len(found) == 1 else None


def _one_sided(label: str, read: Callable[[str], float]) -> Range | None:
    match = _ONE_SIDED.fullmatch(label)
    sign, text = (match[1], match[2]) if match else (">=", "")
    more = _OR_MORE.fullmatch(label)
    if match is None and more is not None:
        text = more[1]
    end = read(text)
    if math.isnan(end):
        return None
    if sign in ("<", "<=", "≤"):
        return -math.inf, math.nextafter(end, -math.inf) if sign == "<" else end
    return math.nextafter(end, math.inf) if sign == ">" else end, math.inf


def _masked(label: str) -> Range | None:
    """Read ``9413*``: every number that begins so and has as many digits."""
    match = _MASK.fullmatch(label)
    if match is None:
        return None
    return tuple(float(match[1] + digit * len(match[2])) for digit in "09")  # type: ignore[return-value]


def _calendar(label: str) -> Range | None:
    """Read a decade, year, quarter, month or ISO weeks, as days."""
    decade = _YEARS.fullmatch(label)
    if decade is not None:
        first, last = int(decade[1]) * 10, int(decade[1]) * 10 + 9
        return _days(first, 1, last, 12) if first else None
    weeks = _WEEKS.fullmatch(label)
    if weeks is not None:
        return _iso_weeks(int(weeks[1]), int(weeks[2]), weeks[3], weeks[4])
    match = _MONTHS.fullmatch(label)
    if match is None or match[1] == "0000":
        return None
    year = int(match[1])
    if match[2]:
        return _days(year, int(match[2]), year, int(match[2]))
    if match[3]:
        return _days(year, int(match[3]) * 3 - 2, year, int(match[3]) * 3)
    return _days(year, 1, year, 12)


def _moments(label: str) -> Range | None:
    """Read an hour, or what `_calendar` and ranges of dates say, as moments: all of each day."""
    label = label.removesuffix("UTC").strip()
    hour = _HOUR.fullmatch(label)
    if hour is not None:
        day = as_day(hour[1])
        first = begin_of(day) + int(hour[2]) * HOUR if not math.isnan(day) else math.nan
        known = int(hour[2]) < 24 and not math.isnan(first)
        return (first, first + HOUR - 1) if known else None
    day = as_day(label)
    days = read_range(label, "date") if math.isnan(day) else (day, day)
    if days is None:
        return None
    low, high = days
    # An open end is the float next to a day: before or after all of it.
    if math.isfinite(low):
        low = begin_of(low) if low.is_integer() else begin_of(math.floor(low) + 1)
    if math.isfinite(high):
        high = begin_of(math.floor(high) + 1) - 1
    return low, high


def _iso_weeks(year: int, week: int, to_year: str | None, to_week: str | None) -> Range | None:
    """Return the days from the Monday of one week to the Sunday of another, or of the same one."""
    try:
        first = datetime.date.fromisocalendar(year, week, 1).toordinal()
        monday = datetime.date.fromisocalendar(int(to_year or year), int(to_week or week), 1)
    except ValueError:
        return None
    return float(first), float(monday.toordinal() + 6)


def _days(first_year: int, first_month: int, last_year: int, last_month: int) -> Range:
    last = calendar.monthrange(last_year, last_month)[1]
    return (
        float(datetime.date(first_year, first_month, 1).toordinal()),
        float(datetime.date(last_year, last_month, last).toordinal()),
    )


#: Forms of labels that values of one kind alone have.
_OWN_FORMS: dict[ColumnKind, Callable[[str], Range | None]] = {
    "number": _masked,
    "date": _calendar,
    "datetime": _moments,
    "instant": _moments,
}
