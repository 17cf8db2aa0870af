"""Days and moments as texts write them: 2026-12-31, 31.12.2026 14:30, 2026-12-31T14:30:05.25+01:00.

A moment without an offset from UTC is counted as it is; one with an offset is counted in UTC,
so that equal moments are equal wherever their clocks stood.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Sequence

import numpy as np

#: Microseconds, in which moments are counted from the first of January 1970.
SECOND = 1_000_000
HOUR = 3600 * SECOND
DAY = 24 * HOUR
_FIRST = datetime.date(1970, 1, 1).toordinal()
_LEAST = (1 - _FIRST) * DAY
_GREATEST = (datetime.date.max.toordinal() + 1 - _FIRST) * DAY - 1
#: The greatest moment that can be written, to the second: floats have no place for more.
LAST_MOMENT = float(_GREATEST // SECOND * SECOND)

_ISO_DAY = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})\Z")
_DAY = r"(?:(\d{4})([-/])(\d{1,2})\2(\d{1,2})|(\d{1,2})\.(\d{1,2})\.(\d{4}))"
_ANY_DAY = re.compile(_DAY + r"\Z")
_MIDNIGHT = re.compile(
    _DAY + r"(?:[Tt]|,?\s+)0?0:00(?::00(?:[.,]0{1,9})?)?(?:\s*(?:[Zz]|UTC|GMT|[+-]00(?::?00)?))?\Z"
)
_MOMENT = re.compile(
    _DAY
    + r"(?:[Tt]|,?\s+)(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(?:\s*([AaPp])\.?[Mm]\.?)?"
    r"(?:\s*([Zz]|UTC|GMT|([+-])(\d{2})(?::?(\d{2}))?))?\Z"
)


def as_day(text: str) -> float:
    """Return a date as days since 0001-01-01; NaN if the text is no date in a known form.

    It may have the time of midnight, without an offset or in UTC, as databases write dates.
    """
    plain = _ISO_DAY.match(text)  # what nearly all dates are
    if plain is not None:
        return _ordinal(int(plain[1]), int(plain[2]), int(plain[3]))
    found = _ANY_DAY.match(without_midnight(text.strip()))
    return math.nan if found is None else _ordinal(*_parts(found))


def without_midnight(text: str) -> str:
    """Return a date without the time of midnight behind it; any other text as it is.

    Examples
    --------
    >>> without_midnight("2026-12-31 00:00:00"), without_midnight("2026-12-31 00:01")
    ('2026-12-31', '2026-12-31 00:01')
    """
    found = _MIDNIGHT.match(text) if len(text) > 10 else None
    if found is None or math.isnan(_ordinal(*_parts(found))):
        return text
    return text[: max(found.end(4), found.end(7))]


def as_moment(text: str) -> float:
    """Return a date with a time of day in microseconds since 1970; NaN for any other text.

    NaN as well for a moment with an offset from UTC; see `as_instant`.
    """
    found = _nanoseconds(text)
    return math.nan if found is None or found[1] else float(found[0] // 1000)


def as_instant(text: str) -> float:
    """Return a date with time and offset in microseconds since 1970 in UTC; NaN for any other."""
    found = _nanoseconds(text)
    return float(found[0] // 1000) if found is not None and found[1] else math.nan


def confused_moments(values: Sequence[str]) -> list[str]:
    """Return texts of moments that differ and are equal as 64-bit floats of microseconds."""
    first: dict[float, int] = {}
    exact = {value: found[0] for value in values if (found := _nanoseconds(value)) is not None}
    return [v for v, at in exact.items() if first.setdefault(float(at // 1000), at) != at]


def day(value: float) -> str:
    """Write a day that `as_day` returned."""
    return datetime.date.fromordinal(int(value)).isoformat()


def any_day(value: float) -> str:
    """Write a day that may lie before or after all dates, as ends of a chart's bars do."""
    return str(np.datetime64("0001-01-01", "D") + np.timedelta64(int(value) - 1, "D"))


def moment(value: float) -> str:
    """Write a moment that `as_moment` returned.

    Examples
    --------
    >>> moment(as_moment("2026-12-31T14:30")), moment(as_moment("1.2.2026 14:30:05,25"))
    ('2026-12-31 14:30', '2026-02-01 14:30:05.250000')
    """
    days, rest = divmod(min(int(value), _GREATEST), DAY)
    seconds, below = divmod(rest, SECOND)
    minutes, second = divmod(seconds, 60)
    clock = f"{minutes // 60:02}:{minutes % 60:02}"
    if second or below:
        clock += f":{second:02}"
    return f"{day(days + _FIRST)} {clock}" + (f".{below:06}" if below else "")


def instant(value: float) -> str:
    """Write a moment that `as_instant` returned, in UTC."""
    return moment(value) + "Z"


def any_moment(value: float) -> str:
    """Write a moment that may lie before or after all dates, to the second."""
    return str(np.datetime64(int(value) // SECOND, "s")).replace("T", " ")


def any_instant(value: float) -> str:
    """Write the same in UTC."""
    return any_moment(value) + "Z"


def day_of(value: float) -> int:
    """Return the day, as `as_day` counts, in which a moment lies."""
    return int(value) // DAY + _FIRST


def begin_of(days: float) -> float:
    """Return the first moment of a day, as `as_day` counts."""
    return float((int(days) - _FIRST) * DAY)


def _parts(found: re.Match[str]) -> tuple[int, int, int]:
    """Return year, month and day of what `_DAY` matched."""
    if found[1]:
        return int(found[1]), int(found[3]), int(found[4])
    return int(found[7]), int(found[6]), int(found[5])


def _ordinal(year: int, month: int, day_of_month: int) -> float:
    try:
        return float(datetime.date(year, month, day_of_month).toordinal())
    except ValueError:
        return math.nan


def _nanoseconds(text: str) -> tuple[int, bool] | None:
    """Return a moment in nanoseconds, and whether it has an offset; None where it is none."""
    found = _MOMENT.match(text.strip())
    if found is None:
        return None
    days = _ordinal(*_parts(found))
    hour, minute, second = int(found[8]), int(found[9]), int(found[10] or 0)
    fraction = (found[11] or "").ljust(9, "0")
    if found[12]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if found[12] in "pP" else 0)
    if math.isnan(days) or hour > 23 or minute > 59 or second > 59:
        return None
    ahead = int(found[15] or 0) * 60 + int(found[16] or 0)
    if ahead >= 24 * 60 or int(found[16] or 0) > 59:
        return None
    minutes = hour * 60 + minute - (-ahead if found[14] == "-" else ahead)
    at = (int(days) - _FIRST) * DAY + (minutes * 60 + second) * SECOND
    if not _LEAST <= at <= _GREATEST:
        return None
    return at * 1000 + int(fraction), found[13] is not None
