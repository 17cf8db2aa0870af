"""The kinds of columns, one row each: how texts are read, compared and written again.

Another kind is a row of `KINDS` here, and one in `anon_core/verification/text/kinds.py`, which
shares no code with this file. Other code asks the row what a column's values are, and compares no
names. Three things of a kind are kept where they are used, by its name: forms of labels in
`anon_core/data/hierarchy/ranges.py`, proposals in `anon_core/data/hierarchy/propose/builders.py`,
round places of cuts in `anon_core/data/hierarchy/propose/starts.py`. A kind that is missing there
is treated as any other with a measure.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from anon_core.data.values.moments import DAY as MICROSECONDS_A_DAY
from anon_core.data.values.moments import (
    HOUR,
    LAST_MOMENT,
    SECOND,
    any_day,
    any_instant,
    any_moment,
    as_day,
    as_instant,
    as_moment,
    confused_moments,
    day,
    instant,
    moment,
    without_midnight,
)
from anon_core.data.values.thousands import NUMBER, UNDECIDED, thousands_mark, without_thousands

#: The name of a kind, one of `KINDS`.
ColumnKind = str
#: What shows the number that a text of a kind measures; NaN where it is no value of the kind.
Reader = Callable[[str], float]
#: Says whether distinct texts are of a kind; takes the mark between thousands, too.
Fits = Callable[[Sequence[str], str], bool]

#: Sizes between which numbers other than 0 can be reckoned with.
LEAST_NUMBER, GREATEST_NUMBER = 1e-100, 1e100

_CODE_LIKE = re.compile(r"0\d+\Z")
_THOUSAND = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}\Z")


def as_number(text: str) -> float:
    """Return the number a text writes, with ``.`` or ``,`` as decimal mark; NaN if it is none."""
    text = text.strip()
    if not NUMBER.match(text):
        return math.nan
    value = float(text.replace(",", "."))
    return value if math.isfinite(value) else math.nan


def confused(values: Sequence[str]) -> list[str]:
    """Return the texts of numbers that 64-bit floats cannot distinguish, or not reckon with.

    These are equal as floats though they differ, or so large or small that squares of their
    differences are infinite or nothing.
    """
    measures = [as_number(value) for value in values]
    if len(set(measures)) == len(values) and all(map(_is_within, measures)):
        return []
    first: dict[float, Decimal] = {}
    found: list[str] = []
    for value, measure in zip(values, measures, strict=True):
        exact = Decimal(value.strip().replace(",", "."))
        if not _is_within(measure) or first.setdefault(measure, exact) != exact:
            found.append(value)
    return found


def _is_within(measure: float) -> bool:
    return measure == 0 or LEAST_NUMBER <= abs(measure) <= GREATEST_NUMBER


def marks_thousands(values: Sequence[str]) -> bool:
    """Say whether the commas in texts of numbers may mark thousands, as far as these tell.

    Examples
    --------
    >>> marks_thousands(["12,500", "950"]), marks_thousands(["12,500", "4,1"])
    (True, False)
    """
    marked = [v for v in values if "," in v]
    return bool(marked) and all(_THOUSAND.match(v.strip()) for v in marked)


def _are_numbers(values: Sequence[str], mark: str) -> bool:
    """Say whether texts are numbers that can be distinguished, and no codes."""
    plain = [without_thousands(v, mark) for v in values] if mark else values
    if any(_CODE_LIKE.match(v) for v in values) or not all(NUMBER.match(v.strip()) for v in plain):
        return False
    doubtful = mark == UNDECIDED or (not mark and marks_thousands(values))
    return not doubtful and not confused(plain)


def _are_all(read: Reader, confused: Callable[[Sequence[str]], list[str]]) -> Fits:
    """Return what says whether texts are all of a kind, and can be distinguished."""

    def fits(values: Sequence[str], _mark: str) -> bool:
        return not any(math.isnan(read(v)) for v in values) and not confused(values)

    return fits


def _none_are(_values: Sequence[str], _mark: str) -> bool:
    return False


def _none_confused(_values: Sequence[str]) -> list[str]:
    return []


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() else f"{value:.12g}"


def _short_number(value: float) -> str:
    return f"{value:,.6g}"


def _as_it_is(text: str) -> str:
    return text


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of column.

    Attributes
    ----------
    title : str
        What the pages call it.
    several : str
        What several of its values are called.
    ordered : bool
        Whether values have an order, so that groups are runs of neighbours. Where there is a
        measure, it is the measure's; else it is that of the texts or the hierarchy.
    read : callable or None
        Returns what a text measures, NaN where it is no value of the kind. None where values have
        no measure: then they are equal if their texts are.
    write : callable
        Writes a measure, exactly, as `read` reads it.
    tick : callable
        Writes a measure on a chart, where it may be rounded or lie beyond all values.
    joint : str
        The sign between the ends of a group's label, as in ``20-29``.
    brackets : bool
        Whether a person may have groups written as ``[20, 30)`` instead.
    last : float
        The greatest measure that can be written.
    fits : callable
        Says whether distinct texts are of the kind where no one declares one; takes the mark
        between thousands, too.
    forms : str
        How values are written, in words that follow "Correct the values".
    known : str
        Why others may know such values; empty where the kind alone does not tell.
    amount : bool
        Whether values are amounts, so that a mean of them says something.
    marks : bool
        Whether texts may have marks for decimals and between thousands.
    whole : bool
        Whether it reads whole numbers that are written in digits and nothing else, no zero before
        others, as what they say; anyone who declares nothing has them read so.
    dense : bool
        Whether values may lie as close to each other as they are measured, so that the last one
        before a cut has no text worth reading: intervals are written half open.
    steps : tuple of float
        Widths of a chart's bars that are round, ascending; else 1, 2 or 5 times a power of ten.
    plain : callable
        Returns a value's text without what says nothing in any value of the kind.
    said_nothing : str
        What a person should know where that was taken out of texts.
    confused : callable
        Returns those of distinct texts whose measures cannot be distinguished.
    why_confused : str
        Why not, in words that follow "3 distinct values have".
    line : {'number', 'date', ''}
        How the browser writes and reads places on the line on which groups are cut. Empty where it
        cannot: then such columns are grouped as trees, and by proposals.
    """

    title: str
    several: str = "values"
    ordered: bool = True
    read: Reader | None = None
    write: Callable[[float], str] = _number
    tick: Callable[[float], str] = _short_number
    joint: str = " to "
    brackets: bool = False
    last: float = math.inf
    fits: Fits = _none_are
    forms: str = ""
    known: str = ""
    amount: bool = False
    marks: bool = False
    whole: bool = False
    dense: bool = False
    steps: tuple[float, ...] = ()
    plain: Callable[[str], str] = _as_it_is
    said_nothing: str = ""
    confused: Callable[[Sequence[str]], list[str]] = _none_confused
    why_confused: str = ""
    line: str = ""

    @property
    def measured(self) -> bool:
        """Whether values have a measure."""
        return self.read is not None

    def measure(self, text: str) -> float:
        """Return what a text measures; NaN where it is no value of the kind, or none has any."""
        return math.nan if self.read is None else self.read(text)


_KNOWN = "Dates of events are often known to others."
_FINE = "fractions of a second that cannot be distinguished so far from 1970"
_STEPS = (
    *(n * float(SECOND) for n in (1, 5, 15, 30, 60, 300, 900, 1800)),
    *(n * float(HOUR) for n in (1, 3, 6, 12)),
    *(n * float(MICROSECONDS_A_DAY) for n in (1, 7, 30, 90, 365, 3650, 36500)),
)

#: By the name that recipes give a kind.
KINDS: dict[ColumnKind, Kind] = {
    "text": Kind(title="text", ordered=False),
    "ordered": Kind(title="ordered text"),
    "number": Kind(
        title="number",
        several="numbers",
        read=as_number,
        joint="-",
        brackets=True,
        fits=_are_numbers,
        amount=True,
        marks=True,
        whole=True,
        confused=confused,
        why_confused="more digits than numbers can hold, or are beyond 1e-100 to 1e100",
        line="number",
    ),
    "date": Kind(
        title="date",
        several="dates",
        read=as_day,
        write=day,
        tick=any_day,
        last=datetime.date.max.toordinal(),
        fits=_are_all(as_day, _none_confused),
        forms=" (dates are read as 2026-12-31, 2026/12/31 or 31.12.2026)",
        known=_KNOWN,
        plain=without_midnight,
        said_nothing="Every time of day is midnight, so the column is read and published as dates.",
        line="date",
    ),
    "datetime": Kind(
        title="date and time",
        several="dates and times",
        read=as_moment,
        write=moment,
        tick=any_moment,
        last=LAST_MOMENT,
        fits=_are_all(as_moment, confused_moments),
        forms=" (dates and times are read as 2026-12-31 14:30, 2026-12-31T14:30:05 or 31.12.2026 "
        "14:30, without an offset from UTC)",
        known=_KNOWN,
        dense=True,
        steps=_STEPS,
        confused=confused_moments,
        why_confused=_FINE,
    ),
    "instant": Kind(
        title="date and time in UTC",
        several="dates and times",
        read=as_instant,
        write=instant,
        tick=any_instant,
        last=LAST_MOMENT,
        fits=_are_all(as_instant, confused_moments),
        forms=" (they need an offset from UTC, such as 2026-12-31T14:30:05Z or 2026-12-31 "
        "14:30+01:00)",
        known=_KNOWN,
        dense=True,
        steps=_STEPS,
        confused=confused_moments,
        why_confused=_FINE,
    ),
}


def detect_kind(values: Sequence[str], mark: str | None = None) -> ColumnKind:
    """Guess a column's kind from its distinct, non-missing texts.

    A leading zero (``01234``) keeps a column text: it is a code, and the zeros must survive. So do
    numbers with more digits than can be distinguished, such as account numbers, and commas that may
    mark decimals or thousands. `mark` is the mark between thousands; None to find it out.
    """
    if not values:
        return "text"
    mark = thousands_mark(values) if mark is None else mark
    return next((name for name, kind in KINDS.items() if kind.fits(values, mark)), "text")


def a_kind(kind: ColumnKind) -> str:
    """Return a kind's name behind its article.

    Examples
    --------
    >>> a_kind("date"), a_kind("instant")
    ('a date', 'an instant')
    """
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"


def other_kind(values: Sequence[str], mark: str) -> str:
    """Return in words as what texts could be declared that are not of the kind they should be.

    Examples
    --------
    >>> other_kind(["2026-12-31 14:30"], ""), other_kind(["2026-12-31", "soon"], "")
    ('datetime or text', 'text')
    """
    found = detect_kind(values, mark)
    return "text" if found == "text" else f"{found} or text"


def whole_kind(values: Sequence[str]) -> ColumnKind:
    """Return what `detect_kind` does of texts that are plain whole numbers; see `Kind.whole`."""
    return next(name for name, kind in KINDS.items() if kind.whole or kind.fits(values, ""))


def measured_kinds() -> Mapping[ColumnKind, Reader]:
    """Return what reads texts of each kind that has a measure, by the kind's name."""
    return {name: kind.read for name, kind in KINDS.items() if kind.read is not None}


def kind_that_writes(text: str, measure: float) -> ColumnKind:
    """Return the kind that reads a text as a number, or text where none does.

    Examples
    --------
    >>> kind_that_writes("2024-01-02", as_day("2024-01-02")), kind_that_writes("40", 40.0)
    ('date', 'number')
    """
    found = (name for name, read in measured_kinds().items() if read(text) == measure)
    return next(found, "text")
