"""Days and moments, as the second computation reads them, and what labels say of moments.

Days are counted as Python does; moments in microseconds since 1970, in UTC where they have an
offset from it, else as their clocks stood.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Sequence

from anon_core.verification.text.label_forms import month_range

_YEAR_FIRST = re.compile(r"(\d{4})([-/])(\d{1,2})\2(\d{1,2})")
_DAY_FIRST = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})")
_PERIOD = re.compile(r"(\d{3})0(?:s|er|er Jahre)|(\d{4})(?:-(0[1-9]|1[0-2])|[- ]?Q([1-4]))?")
_WEEKS = re.compile(r"(\d{4})-W(\d\d)(?:\s+to\s+(?:(\d{4})-)?W(\d\d))?")
_APART = re.compile(r"[Tt]|,?\s+")
_OFFSET = re.compile(r"([+-])(\d\d):?(\d\d)?")
_SECOND = 10**6
_HOUR, _DAY = 3600 * _SECOND, 86400 * _SECOND
_EPOCH = datetime.date(1970, 1, 1).toordinal()
_LAST = datetime.date.max.toordinal()

#: The least and the greatest of what a label says, both of them within.
Between = tuple[int, int]


def day_of(text: str) -> int | None:
    """Return the day a text writes (2024-02-29, 2024/02/29, 29.02.2024), counted, or None.

    The time of midnight may follow, with no offset from UTC but none at all.

    Examples
    --------
    >>> day_of("2024-02-29 00:00:00") == day_of("29.02.2024"), day_of("2024-02-29 00:01")
    (True, None)
    """
    text = text.strip()
    if len(text) > 10:
        date, midnight = _parted(text)
        return _date(date) if midnight else None
    return _date(text)


def bare_day(text: str) -> str:
    """Return a date without the time of midnight that follows it; any other text as it is."""
    date, midnight = _parted(text.strip())
    return date if midnight else text


def _parted(text: str) -> tuple[str, bool]:
    """Return what stands before a time of day, and whether that is midnight in UTC or anywhere."""
    date, *rest = _APART.split(text, maxsplit=1)
    if not rest or _date(date) is None:
        return date, False
    clock, offset = _without_offset(rest[0])
    if offset or re.fullmatch("0?0:00(:00([.,]0{1,9})?)?", clock) is None:
        return date, False
    return date, True


def local_of(text: str) -> int | None:
    """Return the moment that a date with a time of day writes, if no offset follows; else None."""
    found = _nanoseconds(text)
    return None if found is None or found[1] else found[0] // 1000


def instant_of(text: str) -> int | None:
    """Return the moment that a date with time and offset writes; None where it has none."""
    found = _nanoseconds(text)
    return found[0] // 1000 if found is not None and found[1] else None


def are_moments(texts: Sequence[str], read: Callable[[str], int | None]) -> bool:
    """Say whether texts are all moments that can be told apart in 64-bit floats."""
    exact: set[int] = set()
    for text in texts:
        found = _nanoseconds(text)
        if found is None or read(text) is None:
            return False
        exact.add(found[0])
    return len({float(at // 1000) for at in exact}) == len(exact)


def written_day(value: object) -> str:
    """Write a day."""
    return datetime.date.fromordinal(int(str(value))).isoformat()


def written_local(value: object) -> str:
    """Write a moment."""
    days, rest = divmod(int(str(value)), _DAY)
    seconds, fraction = divmod(rest, _SECOND)
    clock = str(datetime.timedelta(seconds=seconds)).rjust(8, "0")
    if fraction:
        clock += f".{fraction:06}"
    elif clock.endswith(":00"):
        clock = clock[:-3]
    return f"{written_day(days + _EPOCH)} {clock}"


def written_instant(value: object) -> str:
    """Write a moment of UTC."""
    return written_local(value) + "Z"


def period(label: str) -> Between | None:
    """Return the first and last day of a decade, year, half, quarter or month."""
    found = _PERIOD.fullmatch(label)
    if found is None:
        return month_range(label)
    decade, year, month, quarter = found.groups()
    first = int(year) if year else int(decade or 0) * 10
    begin, months = 1, 12 if year else 120
    if month or quarter:
        begin, months = (int(month), 1) if month else (3 * int(quarter or 1) - 2, 3)
    if first < 1:
        return None
    after = first * 12 + begin - 1 + months
    if after // 12 > datetime.MAXYEAR:
        end = _LAST
    else:
        end = datetime.date(after // 12, after % 12 + 1, 1).toordinal() - 1
    return datetime.date(first, begin, 1).toordinal(), end


def moments_of(label: str) -> Between | None:
    """Return the first and last moment of an hour, a day, or what else a label of days says.

    Examples
    --------
    >>> first, last = moments_of("2024-02-29 07h UTC")
    >>> written_local(first), written_local(last)
    ('2024-02-29 07:00', '2024-02-29 07:59:59.999999')
    """
    label = label.strip().removesuffix("UTC").strip()
    if found := re.fullmatch(r"(\d{4}-\d\d-\d\d) (\d{1,2})h", label):
        day, hour = _date(found[1]), int(found[2])
        if day is None or hour > 23:
            return None
        first = (day - _EPOCH) * _DAY + hour * _HOUR
        return first, first + _HOUR - 1
    days = _days_of(label)
    if days is None:
        return None
    return (days[0] - _EPOCH) * _DAY, (days[1] + 1 - _EPOCH) * _DAY - 1


def stretch(label: str) -> Between | None:
    """Return the first and last day of weeks or of another period that a label says.

    Examples
    --------
    >>> stretch("KW 1/2020") == stretch("2020-KW01") == stretch("2020-W01")
    True
    """
    if "KW" in label:
        begin, _, end = map(str.strip, label.partition("KW"))
        week_first = [part for part in re.split(r"[ /.-]+", end) if part]
        told = week_first if not begin else [*week_first, begin.rstrip(" /.-")]
        if len(told) != 2 or [*map(str.isdigit, told)] != [True, True]:
            return None
        label = f"{told[1]}-W{told[0]:0>2}"
    if found := _WEEKS.fullmatch(label):
        try:
            year, week = int(found[1]), int(found[2])
            first = datetime.date.fromisocalendar(year, week, 1)
            last = datetime.date.fromisocalendar(int(found[3] or year), int(found[4] or week), 7)
        except ValueError:
            return None
        return (first.toordinal(), last.toordinal()) if first <= last else None
    return period(label)


def _days_of(label: str) -> Between | None:
    """Return the first and last day that a label says: a day, a period, or weeks."""
    if (day := _date(label)) is not None:
        return day, day
    return stretch(label)


def _date(text: str) -> int | None:
    if found := _YEAR_FIRST.fullmatch(text):
        year, month, day = found[1], found[3], found[4]
    elif found := _DAY_FIRST.fullmatch(text):
        day, month, year = found[1], found[2], found[3]
    else:
        return None
    try:
        return datetime.date(int(year), int(month), int(day)).toordinal()
    except ValueError:
        return None


def _without_offset(clock: str) -> tuple[str, int | None]:
    """Return a time of day without what follows, and minutes ahead of UTC, None without any."""
    for name in ("Z", "z", "UTC", "GMT"):
        if clock.endswith(name):
            return clock[: -len(name)].rstrip(), 0
    place = max(clock.rfind("+"), clock.rfind("-"))
    found = _OFFSET.fullmatch(clock[place:]) if place > 0 else None
    if found is None:
        return clock, None
    ahead = int(found[2]) * 60 + int(found[3] or 0)
    if int(found[2]) > 23 or int(found[3] or 0) > 59:
        return "", None  # no time of day at all
    return clock[:place].rstrip(), -ahead if found[1] == "-" else ahead


def _nanoseconds(text: str) -> tuple[int, bool] | None:
    """Return a moment, and whether it has an offset; None where a text writes none."""
    date, *rest = _APART.split(text.strip(), maxsplit=1)
    day = _date(date)
    if day is None or not rest:
        return None
    clock, ahead = _without_offset(rest[0])
    half = re.search(r"\s*([AaPp])\.?[Mm]\.?$", clock)
    if half is not None:
        clock = clock[: half.start()]
    hour, *more = clock.split(":")
    if len(more) not in (1, 2) or re.fullmatch(r"\d{1,2}", hour) is None:
        return None
    second, _, fraction = re.sub(",", ".", more[1]).partition(".") if len(more) > 1 else ("00",) * 3
    if len(more) > 1 and re.fullmatch(r"\d\d([.,]\d{1,9})?", more[1]) is None:
        return None
    if re.fullmatch(r"\d\d", more[0]) is None or int(more[0]) > 59 or int(second) > 59:
        return None
    hours = int(hour)
    if half is not None:
        if not 1 <= hours <= 12:
            return None
        hours = hours % 12 + 12 * (half[1] in "pP")
    if hours > 23:
        return None
    minutes = (day - _EPOCH) * 1440 + hours * 60 + int(more[0]) - (ahead or 0)
    if not 1 - _EPOCH <= minutes // 1440 <= _LAST - _EPOCH:
        return None
    nanoseconds = int(fraction.ljust(9, "0")) if len(more) > 1 else 0
    return (minutes * 60 + int(second)) * 10**9 + nanoseconds, ahead is not None
