"""Months, quarters and halves of a year as people write them: ``Jan 2020``, ``1. Quartal 2020``."""

from __future__ import annotations

import calendar
import datetime
import re

_MONTHS = (
    ("january", "januar", "jänner", "janvier"),
    ("february", "februar", "février"),
    ("march", "märz", "mars"),
    ("april", "avril"),
    ("may", "mai"),
    ("june", "juni", "juin"),
    ("july", "juli", "juillet"),
    ("august", "août"),
    ("september", "septembre"),
    ("october", "oktober", "octobre"),
    ("november", "novembre"),
    ("december", "dezember", "décembre"),
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
        for number, names in enumerate(_MONTHS, start=1)
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
