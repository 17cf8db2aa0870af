"""What a group's label says of its values, where it states a range: ``20-29``, ``[20, 30)``."""

from __future__ import annotations

import calendar
import datetime
import math
import re
from collections.abc import Callable
from functools import cache

from anon_core.data.hierarchy.range_forms import stated_range, ways_to_read
from anon_core.data.values.kinds import KINDS, ColumnKind
from anon_core.data.values.moments import HOUR, as_day, begin_of, day_of

_MONTH_NAMES = (
    ("january", "januar", "jänner", "janvier", "enero", "gennaio", "januari"),
    ("february", "februar", "février", "febrero", "febbraio", "februari"),
    ("march", "märz", "mars", "mrz", "marzo", "maart"),
    ("april", "avril", "abril", "aprile"),
    ("may", "mai", "mayo", "maggio", "mei"),
    ("june", "juni", "juin", "junio", "giugno"),
    ("july", "juli", "juillet", "julio", "luglio"),
    ("august", "août", "agosto", "augustus"),
    ("september", "septembre", "septiembre", "settembre"),
    ("october", "oktober", "octobre", "octubre", "ottobre"),
    ("november", "novembre", "noviembre"),
    ("december", "dezember", "décembre", "diciembre", "dicembre"),
)
_LEAST_LETTERS = 3
_ACCENTS = str.maketrans("äéèûô", "aeeuo")
_NAMED = re.compile(r"([^\W\d]+)\.?\s+(\d{4})|(\d{4})\s+([^\W\d]+)\.?")
_SLASHED = re.compile(r"(0?[1-9]|1[0-2])[/.](\d{4})|(\d{4})/(0?[1-9]|1[0-2])")
_PART = re.compile(
    r"(?:(?P<kind>[QTH])\s?(?P<part>[1-4])[\s/-]*(?P<year>\d{4})"
    r"|(?P<year2>\d{4})[\s/-]*(?P<kind2>[QTH])(?P<part2>[1-4])"
    r"|(?P<part3>[1-4])\.?\s?(?:er|e|ème|st|nd|rd|th)?\s?"
    r"(?P<kind3>quarter|quartal|trimestre|half|halbjahr|semestre)\s+(?:of\s+|de\s+)?(?P<year3>\d{4}))",
    re.IGNORECASE,
)


def named_period(label: str) -> tuple[float, float] | None:
    """Return the first and last day of a period, as days; None where it is none.

    Examples
    --------
    >>> named_period("Jan 2020") == named_period("janvier 2020") == named_period("01/2020")
    True
    >>> first, last = named_period("2. Quartal 2020")
    >>> last - first + 1
    91.0
    """
    text = label.strip()
    part = _PART.fullmatch(text)
    if part is not None:
        kind = (part["kind"] or part["kind2"] or part["kind3"]).lower()
        number = int(part["part"] or part["part2"] or part["part3"])
        months = 6 if kind[0] == "h" or kind == "semestre" else 3
        year = int(part["year"] or part["year2"] or part["year3"])
        return _months(year, (number - 1) * months + 1, number * months)
    named = _NAMED.fullmatch(text)
    if named is not None:
        month = _month((named[1] or named[4]).lower())
        return None if month is None else _months(int(named[2] or named[3]), month, month)
    slashed = _SLASHED.fullmatch(text)
    if slashed is not None:
        month = int(slashed[1] or slashed[4])
        return _months(int(slashed[2] or slashed[3]), month, month)
    return None


def _month(word: str) -> int | None:
    """Return the one month whose name begins with a word of three letters or more."""
    bare = word.translate(_ACCENTS)
    found = [
        number
        for number, names in enumerate(_MONTH_NAMES, start=1)
        if any(name.translate(_ACCENTS).startswith(bare) for name in names)
    ]
    return found[0] if len(found) == 1 and len(bare) >= _LEAST_LETTERS else None


def _months(year: int, first: int, last: int) -> tuple[float, float] | None:
    if not year or last > 12:
        return None
    days = calendar.monthrange(year, last)[1]
    return (
        float(datetime.date(year, first, 1).toordinal()),
        float(datetime.date(year, last, days).toordinal()),
    )


Range = tuple[float, float]

_MASK = re.compile(r"(\d+)(\*+|_+|#+|•+|[xX]{2,})")
#: Days and months that a label hides: 2020-03-**, xx.03.2020.
_HIDDEN = re.compile(r"^(?:[*xX]{2}[./-])+|(?:[./-][*xX]{2})+$")
_YEARS = re.compile(r"(\d{3})0(?:s|er(?: Jahre)?)")
#: Of ages and years; what hundreds mean, 100er or 2000er, is open.
_TENS = re.compile(r"(?:\d\d)?[1-9]0(?:s|er(?: Jahre)?)")
_MONTHS = re.compile(r"(\d{4})(?:-(0[1-9]|1[0-2])|[- ]?Q([1-4]))?")
_WEEKS = re.compile(r"(\d{4})-W(\d\d)(?:\s+to\s+(?:(\d{4})-)?W(\d\d))?")
_CALENDAR_WEEK = re.compile(r"KW ?(\d\d?)[ /.-]+(\d{4})|(\d{4})[ /.-]*KW ?(\d\d?)")
_HOUR = re.compile(r"(\d{4}-\d{2}-\d{2}) (\d{1,2})h")


def read_range(label: str, kind: ColumnKind) -> Range | None:
    """Return the least and the greatest value a label admits; None where it states no range.

    An open end is the float next to the one that is written. A label is only a candidate: anyone
    who asks checks that it agrees with the values that are known to be under it.

    Examples
    --------
    >>> from anon_core.data.values.moments import as_day
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
    label, own = next(ways_to_read(label)), _OWN_FORMS.get(kind)

    def span(text: str) -> Range | None:
        value = read(text)
        if not math.isnan(value):
            return value, value
        return None if own is None else own(text.strip())

    found = stated_range(label, span)
    return own(label) if found is None and own is not None else found


def readings(label: str, kind: ColumnKind) -> list[Range]:
    """Return the ranges that a label may mean: marks between thousands may be decimal marks.

    Examples
    --------
    >>> readings("1,000-1,999", "number")
    [(1.0, 1.999), (1000.0, 1999.0)]
    """
    found = (read_range(text, kind) for text in ways_to_read(label))
    return [one for one in found if one is not None]


def _masked(label: str) -> Range | None:
    """Read ``9413*``: every number that begins so and has as many digits; and ``20er``."""
    match = _MASK.fullmatch(label)
    if match is None and _TENS.fullmatch(label):
        first = float(re.sub(r"\D", "", label))
        return first, math.nextafter(first + 10, 0.0)
    if match is None:
        return None
    return tuple(float(match[1] + digit * len(match[2])) for digit in "09")  # type: ignore[return-value]


def _calendar(label: str) -> Range | None:
    """Read a decade, year, quarter, month or ISO weeks, as days."""
    label = _HIDDEN.sub("", re.sub(r"^(\d{3})[*xX]$", r"\g<1>0s", label))
    decade = _YEARS.fullmatch(label)
    if decade is not None:
        first, last = int(decade[1]) * 10, int(decade[1]) * 10 + 9
        return _days(first, 1, last, 12) if first else None
    weeks = _WEEKS.fullmatch(label)
    if weeks is not None:
        return _iso_weeks(int(weeks[1]), int(weeks[2]), weeks[3], weeks[4])
    week = _CALENDAR_WEEK.fullmatch(label)
    if week is not None:
        return _iso_weeks(int(week[2] or week[3]), int(week[1] or week[4]), None, None)
    match = _MONTHS.fullmatch(label)
    if match is None or match[1] == "0000":
        return _named_periods(label) if match is None else None
    year = int(match[1])
    if match[2]:
        return _days(year, int(match[2]), year, int(match[2]))
    if match[3]:
        return _days(year, int(match[3]) * 3 - 2, year, int(match[3]) * 3)
    return _days(year, 1, year, 12)


def _named_periods(label: str) -> Range | None:
    """Read a period in words, or two of one year: ``March 2020``, ``Jan-Mar 2020``."""
    found = named_period(label)
    if found is None and (several := _WITH_YEAR.fullmatch(label.strip())) is not None:
        year = int(several["year"])
        found = stated_range(several["periods"], lambda text: named_period(f"{text} {year:04}"))
    return found


_WITH_YEAR = re.compile(r"(?P<periods>.*[^\W\d].*?),?\s+(?P<year>\d{4})")
_WEEKDAYS = (
    ("monday", "montag", "lundi", "mo"),
    ("tuesday", "dienstag", "mardi", "di"),
    ("wednesday", "mittwoch", "mercredi", "mi"),
    ("thursday", "donnerstag", "jeudi", "do"),
    ("friday", "freitag", "vendredi", "fr"),
    ("saturday", "samstag", "sonnabend", "samedi", "sa"),
    ("sunday", "sonntag", "dimanche", "so"),
)
_WEEKENDS = ("weekend", "weekends", "week-end", "wochenende")


def _of_a_year(label: str, year: int) -> Range | None:
    """Return the days of a period whose year the label leaves out: ``Jan-Mar``, ``KW 12``."""

    def span(text: str) -> Range | None:
        return _calendar(f"{text.strip(' .')} {year:04}")

    return span(label) or stated_range(label, span)


def every_year(label: str, kind: ColumnKind) -> Callable[[str], bool] | None:
    """Return a test of whether a value is in a period of every year or week; None where it is none.

    Examples
    --------
    >>> spring = every_year("März bis Mai", "date")
    >>> spring("2020-05-31"), spring("1999-06-01"), every_year("Mon-Fri", "date")("2026-11-28")
    (True, False, False)
    """
    read = KINDS[kind].read
    if kind not in ("date", "datetime", "instant") or read is None or re.search(r"\d{4}", label):
        return None
    to_day: Callable[[float], int] = int if kind == "date" else day_of
    days = _weekdays(label)
    if days is None and _of_a_year(label, 2000) is None:
        return None
    of = cache(_of_a_year)

    def inside(value: str) -> bool:
        at = read(value)
        if math.isnan(at):
            return False
        ordinal = to_day(at)
        if days is not None:
            return (ordinal - 1) % 7 in days
        year = datetime.date.fromordinal(ordinal).year
        # A week of one year may end in the next one.
        around = (of(label, one) for one in range(max(1, year - 1), min(9998, year + 1) + 1))
        return any(one is not None and one[0] <= ordinal <= one[1] for one in around)

    return inside


def _weekdays(label: str) -> range | None:
    """Return the days of the week that a label names, from 0 for Monday."""
    if label.casefold() in _WEEKENDS:
        return range(5, 7)
    ends = re.split(r"\s*(?:[-–—]|\b(?:to|bis)\b|\bà\b)\s*", label.casefold())
    found = [_weekday(end.strip(" .")) for end in ends]
    if len(found) > 2 or None in found:
        return None
    first, last = found[0] or 0, found[-1] or 0
    return range(first, last + 1) if first <= last else None


def _weekday(word: str) -> int | None:
    """Return a day of the week that a word names, or begins; ``mar`` is a month as well."""
    whole = [n for n, names in enumerate(_WEEKDAYS) if word in names]
    begun = [n for n, own in enumerate(_WEEKDAYS) if any(name.startswith(word) for name in own)]
    found = whole or (begun if len(word) >= _LEAST_LETTERS and _month(word) is None else [])
    return found[0] if len(found) == 1 else None


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
