"""Hierarchies of dates and times of day by the calendar and the clock."""

from __future__ import annotations

import re
from datetime import date

from ..errors import BadHierarchy
from ..table import Column
from .tidying import Rows, tidied

_CLOCK = re.compile(
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(:\d{2})?\s*(?P<half>[ap]\.?m\.?)?(?![\d:])", re.IGNORECASE
)
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
    >>> from anon_core.table import encode
    >>> born = encode("born", np.arange(3, dtype=np.int32), ["1963-03-13", "1963-03-18", "1975-12-31"])
    >>> calendar(born)[0]
    ('1963-03-13', '1963-03', '*')
    """  # noqa: E501 - one call
    rows: list[tuple[str, ...]] = []
    for value, day in zip(column.values, _days(column), strict=True):
        quarter = f"{day.year:04}-Q{(day.month + 2) // 3}"
        rows.append((value, f"{day:%Y-%m}", quarter, f"{day:%Y}", f"{day.year // 10}0s"))
    return tidied(rows)


def weeks(column: Column) -> Rows:
    """Return day → ISO 8601 week → quarter of 13 weeks → ISO year → decade of a column of dates.

    Weeks do not nest in months, and belong to the year that holds their Thursday.

    Raises
    ------
    BadHierarchy
        If the column has no dates.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.table import encode
    >>> days = ["2024-12-29", "2024-12-30", "2025-01-05", "2025-06-01"]
    >>> seen = encode("seen", np.arange(4, dtype=np.int32), days)
    >>> [row[1] for row in weeks(seen)]
    ['2024-W52', '2025-W01', '2025-W01', '2025-W22']
    """
    rows: list[tuple[str, ...]] = []
    for value, day in zip(column.values, _days(column), strict=True):
        year, week, _ = day.isocalendar()
        first = min((week - 1) // 13, 3) * 13 + 1
        last = 53 if first == 40 else first + 12  # a long year's last week has no other place
        block = f"{year:04}-W{first:02} to W{last:02}"
        rows.append((value, f"{year:04}-W{week:02}", block, f"{year:04}", f"{year // 10}0s"))
    return tidied(rows)


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
    """Return time of day → half hour → hour → three hours → six hours; other texts stand apart.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.table import encode
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
