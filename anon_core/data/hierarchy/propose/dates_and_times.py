"""Hierarchies of dates and times of day by the calendar and the clock."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date

from anon_core.base.errors import BadHierarchy
from anon_core.data.column import Column
from anon_core.data.hierarchy.model import Rows, tidied
from anon_core.data.hierarchy.ranges import read_range
from anon_core.data.values.moments import DAY, HOUR, day_of

_CLOCK = re.compile(
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(:\d{2})?\s*(?P<half>[ap]\.?m\.?)?(?![\d:])", re.IGNORECASE
)
#: A date as many countries write it; which of the first two is the day, each file must tell.
_WRITTEN = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4})")
#: What labels of a kind's calendar say of the zone.
_ZONES = {"datetime": "", "instant": " UTC"}
#: Minutes of the groups of each level of a time of day.
_SPANS = (30, 60, 180, 360)


def calendar(column: Column) -> Rows:
    """Return day → month → quarter → year → decade of a column of dates.

    Levels that do not coarsen the dates at hand are left out.

    Raises
    ------
    BadHierarchy
        If the column has no dates.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.data.column import encode
    >>> born = encode("born", np.arange(3, dtype=np.int32), ["1963-03-13", "1963-03-18", "1975-12-31"])
    >>> calendar(born)[0]
    ('1963-03-13', '1963-03', '*')
    """  # noqa: E501 - one call
    return _by_month(column.values, _days(column))


def _by_month(values: Sequence[str], days: Sequence[date]) -> Rows:
    rows: list[tuple[str, ...]] = []
    for value, day in zip(values, days, strict=True):
        rows.append((value, *_levels_of(day)))
    return tidied(rows)


def _levels_of(day: date) -> tuple[str, ...]:
    """Return month, quarter, year and decade of a day."""
    quarter = f"{day.year:04}-Q{(day.month + 2) // 3}"
    month = f"{day.year:04}-{day.month:02}"
    return month, quarter, f"{day.year:04}", f"{day.year // 10:03}0s"


def moments(column: Column) -> Rows:
    """Return moment → hour → day → month → quarter → year → decade of dates with a time of day.

    Of moments with an offset from UTC the calendar is that of UTC, and labels say so. Levels that
    do not coarsen the moments at hand are left out.

    Raises
    ------
    BadHierarchy
        If the column has no dates with a time.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.data.column import encode
    >>> seen = ["2024-03-31 14:05", "2024-03-31 14:50", "2024-03-31 09:00", "2024-04-02 01:00"]
    >>> moments(encode("seen", np.arange(4, dtype=np.int32), seen))[-1]
    ('2024-04-02 01:00', '2024-04-02 01h', '2024-04-02', '*')
    """
    if column.kind not in _ZONES or column.measure is None:
        raise BadHierarchy(
            f"'{column.name}' has no dates with a time of day.",
            remedy="Declare the column as datetime or instant on Data.",
        )
    zone = _ZONES[column.kind]
    rows: list[tuple[str, ...]] = []
    for value, at in zip(column.values, column.measure.tolist(), strict=True):
        day = date.fromordinal(day_of(at))
        hour = int(at) % DAY // HOUR
        levels = (f"{day} {hour:02}h", str(day), *_levels_of(day))
        rows.append((value, *(level + zone for level in levels)))
    return tidied(rows)


def is_written(text: str) -> bool:
    """Tell whether a text has the shape of a date such as 31/12/2026 or 12-31-2026."""
    return _WRITTEN.fullmatch(text.strip()) is not None


def date_levels(column: Column) -> Rows | None:
    """Return the levels of `calendar` for texts such as 31/12/2026, if one reading fits them all.

    None where a value is no such date, or where days and months could be either way round.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.data.column import encode
    >>> texts = ["01/02/2019", "13/02/2019", "09/08/2019"]
    >>> found = date_levels(encode("seen", np.arange(3, dtype=np.int32), texts))
    >>> found and found[0]
    ('01/02/2019', '2019-02', '*')
    >>> texts[1] = "12/02/2019"
    >>> date_levels(encode("seen", np.arange(3, dtype=np.int32), texts)) is None
    True
    """
    found = [_WRITTEN.fullmatch(value.strip()) for value in column.values]
    parts = [(int(one[1]), int(one[3]), int(one[4])) for one in found if one is not None]
    if not parts or len(parts) < len(found):
        return None
    day_first = _all_days((year, month, day) for day, month, year in parts)
    month_first = _all_days((year, month, day) for month, day, year in parts)
    if (day_first is None) == (month_first is None):
        return None
    return _by_month(column.values, day_first or month_first or [])


def periods(column: Column) -> Rows | None:
    """Return month → quarter → year → decade of texts that name months; quarters begin there.

    None where a value names neither, or some name months and others quarters.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.data.column import encode
    >>> texts = ["Q1 2019", "Q2 2019", "Q3 2021"]
    >>> periods(encode("sold", np.arange(3, dtype=np.int32), texts))[0]
    ('Q1 2019', '2019', '*')
    """
    spans: list[tuple[float, float]] = []
    for value in column.values:
        found = read_range(value, "date")
        if found is None:
            return None
        spans.append(found)
    lengths = {round((last - first) / 30.4) for first, last in spans}
    if lengths not in ({1}, {3}):
        return None
    above = 1 if lengths == {1} else 2
    rows: list[tuple[str, ...]] = []
    for value, (first, _) in zip(column.values, spans, strict=True):
        rows.append((value, *_levels_of(date.fromordinal(int(first)))[above:]))
    return tidied(rows)


def _all_days(parts: Iterable[tuple[int, int, int]]) -> list[date] | None:
    """Return year, month, day as dates; None where one is no day of the calendar."""
    try:
        return [date(*one) for one in parts]
    except ValueError:
        return None


def weeks(column: Column) -> Rows:
    """Return day → ISO 8601 week → quarter of 13 weeks → ISO year → decade of a column of dates.

    Weeks do not nest in months, and belong to the year that holds their Thursday: their years and
    decades are written by their weeks, since 2024-12-30 is no day of 2025.

    Raises
    ------
    BadHierarchy
        If the column has no dates.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.data.column import encode
    >>> days = ["2024-12-29", "2024-12-30", "2025-01-05", "2025-06-01"]
    >>> seen = encode("seen", np.arange(4, dtype=np.int32), days)
    >>> [row[1] for row in weeks(seen)]
    ['2024-W52', '2025-W01', '2025-W01', '2025-W22']
    """
    rows: list[tuple[str, ...]] = []
    for value, day in zip(column.values, _days(column), strict=True):
        year, week, _ = day.isocalendar()
        first = min((week - 1) // 13, 3) * 13 + 1
        # A long year's last week has no other place.
        last = _last_week(year) if first == 40 else first + 12
        block = f"{year:04}-W{first:02} to W{last:02}"
        own = f"{year:04}-W01 to W{_last_week(year)}"
        decade = max(1, year // 10 * 10)
        end = min(decade // 10 * 10 + 9, 9999)
        ten = f"{decade:04}-W01 to {end:04}-W{_last_week(end)}"
        rows.append((value, f"{year:04}-W{week:02}", block, own, ten))
    return tidied(rows)


def _last_week(year: int) -> int:
    return date(year, 12, 28).isocalendar().week


def _days(column: Column) -> list[date]:
    if column.kind != "date":
        raise BadHierarchy(
            f"'{column.name}' has no dates.", remedy="Declare the column as date on Data."
        )
    measure = [] if column.measure is None else column.measure.tolist()
    return [date.fromordinal(int(day)) for day in measure]


def minute_of_day(text: str) -> int | None:
    """Return the minute of the day that a text begins with; None where it begins with no time.

    Examples
    --------
    >>> minute_of_day("8:05 p.m. to 8:09 p.m."), minute_of_day("07:30"), minute_of_day("24 h")
    (1205, 450, None)
    """
    found = _CLOCK.match(text.strip())
    if found is None:
        return None
    hour, minute = int(found["hour"]), int(found["minute"])
    if found["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if found["half"][0] in "pP" else 0)
    return hour * 60 + minute if hour < 24 and minute < 60 else None


def clock(column: Column) -> Rows:
    """Return time of day → half hour → hour → three hours → six hours; other texts are separate.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.data.column import encode
    >>> texts = ["8:05 a.m.", "8:15 a.m.", "8:50 a.m.", "9:10 p.m.", "not a worker"]
    >>> left = encode("left", np.arange(5, dtype=np.int32), texts)
    >>> clock(left)[0]
    ('8:05 a.m.', '08:00-08:29', '08:00-08:59', '*')
    >>> clock(left)[-1]
    ('not a worker', 'no time of day', 'no time of day', '*')
    """
    timed = [(minute_of_day(value), value) for value in column.values]
    timed.sort(key=lambda one: (one[0] is None, one[0] or 0))
    rows: list[tuple[str, ...]] = []
    for minute, value in timed:
        if minute is None:
            rows.append((value, *["no time of day"] * len(_SPANS)))
        else:
            rows.append((value, *[_span(minute, wide) for wide in _SPANS]))
    return tidied(rows)


def _span(minute: int, wide: int) -> str:
    first = minute // wide * wide
    last = first + wide - 1
    return f"{first // 60:02}:{first % 60:02}-{last // 60:02}:{last % 60:02}"
