"""The kinds of columns, as the second computation knows them, and how their values are written.

The run has its own table (`anon_core/data/values/kinds.py`) and shares no code with this one; a
recipe that declares a kind which is not in this table is refused. What a kind means is here alone:
the other files of this folder ask it.
"""

from __future__ import annotations

import datetime
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from math import isfinite

# Days and moments, as the second computation reads them, and what labels say of moments.
#
# Days are counted as Python does; moments in microseconds since 1970, in UTC where they have an
# offset from it, else as their clocks stood.


_DATE = re.compile(r"(\d{4})([-/])(\d{1,2})\2(\d{1,2})|(\d{1,2})\.(\d{1,2})\.(\d{4})")
#: A date with a time of day: hour, minute, second and its fraction; half of the day; offset.
_MOMENT = re.compile(
    r"([\d/.-]+)(?:[Tt]|,?\s+)(\d{1,2}):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?"
    r"(?:\s*([AaPp])\.?[Mm]\.?)?(?:\s*(Z|z|UTC|GMT|[+-]\d\d:?(?:\d\d)?))?"
)
_MIDNIGHT = re.compile(
    r"([\d/.-]+)(?:[Tt]|,?\s+)0?0:00(?::00(?:[.,]0{1,9})?)?\s*(?:Z|z|UTC|GMT|[+-]00:?(?:00)?)?"
)
_PERIOD = re.compile(r"(\d{3})(?:0(?:s|er|er Jahre)|[*xX])|(\d{4})(?:-(0[1-9]|1[0-2]))?")
_WEEKS = re.compile(r"(\d{4})-W(\d\d?)(?:\s+to\s+(?:(\d{4})-)?W(\d\d))?")
_HOUR, _DAY = 3600 * 10**6, 86400 * 10**6
_START = datetime.datetime(1970, 1, 1)
_EPOCH = _START.toordinal()
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
    return _date(found[1] if (found := _MIDNIGHT.fullmatch(text)) else text)


def bare_day(text: str) -> str:
    """Return a date without the time of midnight that follows it; any other text as it is."""
    found = _MIDNIGHT.fullmatch(text.strip())
    return text if found is None or _date(found[1]) is None else str(found[1])


def local_of(text: str) -> int | None:
    """Return the moment that a date with a time of day writes, if no offset follows; else None."""
    found = _nanoseconds(text)
    return None if found is None or found[1] else found[0] // 1000


def instant_of(text: str) -> int | None:
    """Return the moment that a date with time and offset writes; None where it has none."""
    found = _nanoseconds(text)
    return found[0] // 1000 if found is not None and found[1] else None


def are_moments(texts: Sequence[str], read: Callable[[str], int | None]) -> bool:
    """Say whether texts are all moments that differ as 64-bit floats."""
    exact: set[int] = set()
    for text in texts:
        found = _nanoseconds(text)
        if found is None or read(text) is None:
            return False
        exact.add(found[0])
    return len({float(at // 1000) for at in exact}) == len(exact)


def written_local(value: Measure) -> str:
    """Write a moment."""
    return str(_START + datetime.timedelta(microseconds=int(value))).removesuffix(":00")


def period(label: str) -> Between | None:
    """Return the first and last day of a decade, year, half, quarter or month."""
    found = _PERIOD.fullmatch(label)
    if found is None:
        return month_range(label)
    decade, year, month = found.groups()
    if decade:
        return _months(10 * int(decade), 1, 120)
    return _months(int(year), int(month), 1) if month else _months(int(year), 1, 12)


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
    day = _date(label)
    days = stretch(label) if day is None else (day, day)
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
    label = re.sub(r"^(?:[*xX]{2}[./-])+|(?:[./-][*xX]{2})+$", "", label)
    label = re.sub(r"^KW ?(\d\d?)[ /.-]+(\d{4})$", r"\2-W\1", label)
    label = re.sub(r"^(\d{4})[ /.-]*KW ?(\d\d?)$", r"\1-W\2", label)
    if found := _WEEKS.fullmatch(label):
        try:
            year, week = int(found[1]), int(found[2])
            first = datetime.date.fromisocalendar(year, week, 1)
            last = datetime.date.fromisocalendar(int(found[3] or year), int(found[4] or week), 7)
        except ValueError:
            return None
        return (first.toordinal(), last.toordinal()) if first <= last else None
    return period(label)


def _date(text: str) -> int | None:
    found = _DATE.fullmatch(text)
    if found is None:
        return None
    year, _, month, day, own_day, own_month, own_year = found.groups()
    try:
        return datetime.date(
            int(year or own_year), int(month or own_month), int(day or own_day)
        ).toordinal()
    except ValueError:
        return None


def _nanoseconds(text: str) -> tuple[int, bool] | None:
    """Return a moment, and whether it has an offset; None where a text writes none."""
    found = _MOMENT.fullmatch(text.strip())
    day = None if found is None else _date(found[1])
    if found is None or day is None:
        return None
    hour, minute, second = (int(found[part] or 0) for part in (2, 3, 4))
    if found[6]:
        hour = -1 if not 1 <= hour <= 12 else hour % 12 + 12 * (found[6] in "pP")
    ahead, offset = 0, str(found[7] or "")
    if offset[:1] in ("+", "-"):
        hours, minutes = int(offset[1:3]), int(offset[3:].removeprefix(":") or 0)
        ahead = (hours * 60 + minutes) * (-1 if offset[0] == "-" else 1)
        if hours > 23 or minutes > 59:
            return None
    minutes = (day - _EPOCH) * 1440 + hour * 60 + minute - ahead
    if not 0 <= hour <= 23 or max(minute, second) > 59:
        return None
    if not 1 - _EPOCH <= minutes // 1440 <= _LAST - _EPOCH:
        return None
    return (minutes * 60 + second) * 10**9 + int((found[5] or "").ljust(9, "0")), offset != ""


MONTHS = (
    *("january januari janvier jänner enero gennaio", "february februari février febrero febbraio"),
    *("march mars märz mrz marzo maart", "aprile avril abril", "mayo mai maggio mei"),
    *("june juin junio giugno", "july juillet julio luglio", "augustus août agosto"),
    *("september septembre septiembre settembre", "october octobre oktober octubre ottobre"),
    *("november novembre noviembre", "december décembre dezember diciembre dicembre"),
)

#: Quarters (q, t) and halves (h, s) of years, and months, in words and figures.
_PARTS_OF_YEARS = [
    re.compile(form)
    for form in (
        r"(?P<kind>[qth]) ?(?P<part>[1-4])[ /-]*(?P<year>\d{4})",
        r"(?P<year>\d{4})[ /-]*(?P<kind>[qth])(?P<part>[1-4])",
        r"(?P<part>[1-4])\.? ?(?:er|e|ème|st|nd|rd|th)? ?(?P<kind>quarter|quartal|trimestre|half"
        r"|halbjahr|semestre) (?:of |de )?(?P<year>\d{4})",
        r"(?P<part>0?[1-9]|1[0-2])[/.](?P<year>\d{4})",
        r"(?P<year>\d{4})/(?P<part>0?[1-9]|1[0-2])",
        r"(?P<word>[^\W\d]{3,})\.? +(?P<year>\d{4})",
        r"(?P<year>\d{4}) +(?P<word>[^\W\d]{3,})\.?",
    )
]


def month_range(label: str) -> Between | None:
    """Return the first and last day of a month, quarter or half that is written in words.

    Examples
    --------
    >>> month_range("März 2020") == month_range("03/2020") == month_range("mar 2020")
    True
    """
    plain = label.strip().casefold()
    found = next(filter(None, (form.fullmatch(plain) for form in _PARTS_OF_YEARS)), None)
    if found is None:
        return None
    said = found.groupdict()
    year, part, months = int(said["year"]), int(said.get("part") or 0), 1
    if kind := said.get("kind"):
        months = 6 if kind[0] in "hs" else 3
    if word := said.get("word"):
        month = named(word, MONTHS)
        part = 13 if month is None else month + 1
    if year >= datetime.MAXYEAR or part * months > 12:
        return None
    return _months(year, (part - 1) * months + 1, months)


def named(word: str, names: Sequence[str]) -> int | None:
    """Return the place of the one name that is a word, or begins with its three letters or more."""
    said, word = [bare(line).split() for line in names], bare(word)
    whole = [n for n, line in enumerate(said) if word.removesuffix("s") in line]
    begun = [n for n, line in enumerate(said) if any(name.startswith(word) for name in line)]
    found = whole or (begun if len(word) >= 3 else [])
    return found[0] if len(found) == 1 else None


def bare(word: str) -> str:
    """Return a word without accents."""
    return "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))


def _months(year: int, begin: int, months: int) -> Between | None:
    """Return the first and last day of some months from one of a year on."""
    if year < 1:
        return None
    after, month = divmod(year * 12 + begin - 1 + months, 12)
    past = after > datetime.MAXYEAR
    end = _LAST if past else datetime.date(after, month + 1, 1).toordinal() - 1
    return datetime.date(year, begin, 1).toordinal(), end


# Which mark parts thousands in a column of numbers, found by trying each way to write numbers.
#
# A way is a mark between thousands and one before decimals. The column is read as the one way in
# which every one of its cells can be; where several are left, it is not known what the numbers
# are.


#: Marks between thousands, as one of their kind; what else counts as it.
_MARKS = {".": ".", ",": ",", " ": " \u00a0\u2009\u202f", "'": "'’"}
_DECIMALS = (".", ",")
_PLAIN = r"[+-]?(\d+({0}\d*)?|{0}\d+)([eE][+-]?\d+)?"
_ANY = re.compile(_PLAIN.format("[.,]"))
_EITHER = re.compile(r"[+-]?[1-9][0-9]{0,2}[.,][0-9]{3}")


def thousands_of(texts: Collection[str]) -> str | None:
    """Return the mark between thousands, empty where there is none, None where it is not known.

    Examples
    --------
    >>> thousands_of(["1.164,09", "12.500"]), thousands_of(["12.500", "1.5"])
    ('.', '')
    >>> thousands_of(["3,5", "12.500"]), thousands_of(["1.164,09", "2.5"])
    ('.', None)
    """
    if all(text.isdecimal() for text in texts):
        return ""
    cells = [text.strip() for text in texts]
    if all(_ANY.fullmatch(cell) for cell in cells):
        marks = {cell[-4] for cell in cells if _EITHER.fullmatch(cell)}
        if not marks:
            return ""  # each cell tells by itself
        if any(_all(_PLAIN.format(re.escape(point)), cells) for point in _DECIMALS):
            return ""
    ways = [
        (mark, point)
        for mark, alike in _MARKS.items()
        for point in _DECIMALS
        if mark != point and _all(_marked(alike, point), cells)
    ]
    return ways[0][0] if len(ways) == 1 else None


def unmarked(text: str, mark: str) -> str:
    """Return a number's text without marks between thousands; any other text as it is.

    Examples
    --------
    >>> unmarked("1.164,09", "."), unmarked("3,5", "."), unmarked("1.5", ".")
    ('1164,09', '3,5', '1.5')
    """
    if not mark or not any(
        re.fullmatch(_with_marks(_MARKS[mark], point), text) for point in _DECIMALS if point != mark
    ):
        return text
    return "".join(c for c in text if c not in _MARKS[mark])


def _with_marks(alike: str, point: str) -> str:
    """Return what matches numbers whose thousands are marked, by one mark all through."""
    groups = "|".join(f"(?:{re.escape(one)}[0-9]{{3}})+" for one in alike)
    return f"[+-]?[1-9][0-9]{{0,2}}(?:{groups})(?:{re.escape(point)}[0-9]+)?"


def _marked(alike: str, point: str) -> str:
    """Return what matches all numbers of one way, whether their thousands are marked or not."""
    return f"(?:{_with_marks(alike, point)}|{_PLAIN.format(re.escape(point))})"


def _all(form: str, cells: Collection[str]) -> bool:
    read = re.compile(form).fullmatch
    return all(read(cell) is not None for cell in cells)


# The kinds of columns, as the second computation knows them: one row each.


#: What a text of a measured kind represents: a number, or whole units such as days, microseconds.
Measure = Decimal | int
#: The least and the greatest value that a label states.
Span = tuple[Measure, Measure]

#: Digits up to which every whole number is one of its own as a 64-bit float.
_DISTINCT_DIGITS = 15
#: Sizes between which numbers other than 0 can be reckoned with.
_LEAST, _GREATEST = 1e-100, 1e100
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")
_THOUSAND = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
_CODE = re.compile(r"0\d+")
_CODE_LINE = re.compile(r"\n0[0-9]")
_FIRST_DIGITS = re.compile(r"(\d+)(\*+|_+|#+|•+|[xX]{2,})")


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of column.

    Attributes
    ----------
    read : callable or None
        Returns what a text represents, or None where it is no value of the kind. A kind without
        it, None, is text: values are equal if their texts are, and groups of them are sets.
    write : callable
        Writes what `read` returns.
    stated : callable
        Returns the least and greatest value that a label states in a form of this kind alone, such
        as ``9413*`` or ``2020-Q1``; None where it does not. Ranges and tails need nothing here.
    fits : callable
        Says whether distinct texts are of the kind where the recipe declares none.
    averaged : bool
        Whether an average of values may stand for them.
    thousands : bool
        Whether marks between thousands may stand in the texts.
    plain : callable
        Returns a value's text without what says nothing in any value of the kind.
    """

    read: Callable[[str], Measure | None] | None = None
    write: Callable[[Measure], str] = str
    stated: Callable[[str], Span | None] = lambda _: None
    fits: Callable[[Sequence[str]], bool] = lambda _: False
    averaged: bool = False
    thousands: bool = False
    plain: Callable[[str], str] = lambda text: text


def number_of(text: str) -> Decimal | None:
    """Return the number a text writes (``.`` or ``,`` as decimal mark), exactly, or None.

    Examples
    --------
    >>> number_of("1,50") == number_of("1.5"), number_of("1.5 m")
    (True, None)
    """
    text = text.strip()
    if text.isdecimal() and len(text) < 300:  # below what `isfinite` refuses
        return Decimal(text)
    if _NUMBER.fullmatch(text) is None:
        return None
    try:
        found = Decimal(text.replace(",", "."))
    except InvalidOperation:  # an exponent beyond all bounds
        return None
    return found if isfinite(found) else None  # 1e400 is none that can be reckoned with


def are_digits(texts: Sequence[str]) -> bool:
    """Say whether all texts are ASCII digits, with no zero before others.

    Examples
    --------
    >>> are_digits(["0", "120"]), are_digits(["007"]), are_digits(["1", ""])
    (True, False, False)
    """
    together = "\n".join(["", *texts, ""])
    digits = together.replace("\n", "")
    if not (digits.isascii() and digits.isdecimal()) or together.count("\n") != len(texts) + 1:
        return False
    return "\n\n" not in together and _CODE_LINE.search(together) is None


def _numbers(texts: Sequence[str]) -> bool:
    """Say whether texts are numbers.

    A leading zero makes a code, not a number, and so do more digits than 64-bit floats can tell
    apart. Where all commas may as well mark thousands, what the numbers are is not known.
    """
    if are_digits(texts):
        return max(map(len, texts)) <= _DISTINCT_DIGITS or not _confused(map(Decimal, texts))
    mark = thousands_of(texts)
    found = [number_of(unmarked(t, mark or "")) for t in texts]
    if mark is None or None in found or _confused(n for n in found if n is not None):
        return False
    commas = [t for t in texts if "," in t] if not mark else []
    doubtful = commas and all(_THOUSAND.fullmatch(t.strip()) for t in commas)
    return not doubtful and not any(_CODE.fullmatch(t) for t in texts)


def _confused(numbers: Iterable[Decimal]) -> bool:
    """Say whether numbers that differ are the same 64-bit float, or one is too large or small."""
    values = list(numbers)
    floats = set(map(float, values))
    sizes = {abs(number) for number in floats if number}
    if sizes and (min(sizes) < _LEAST or max(sizes) > _GREATEST):
        return True
    return len(floats) < len(values) and len(floats) < len(set(values))


def _first_digits(label: str) -> Span | None:
    """Read ``9413*``: every number that begins so and has as many digits; and ``20er``."""
    found = _FIRST_DIGITS.fullmatch(label)
    tens = label.removesuffix(" Jahre")
    tens = tens.removesuffix("er") if tens.endswith("er") else label.removesuffix("s")
    if tens != label and len(tens) in (2, 4) and tens.isdecimal() and tens[-2] != "0" == tens[-1]:
        first = Decimal(tens)
        return first, (first + 10).next_minus()
    if found is None:
        return None
    low, high = (Decimal(found[1] + digit * len(found[2])) for digit in "09")
    return low, high


#: By the name a recipe gives it. Where it gives none, the first kind that fits is taken.
KINDS: dict[str, Kind] = {
    "number": Kind(
        read=number_of, stated=_first_digits, fits=_numbers, averaged=True, thousands=True
    ),
    "date": Kind(
        read=day_of,
        write=lambda day: datetime.date.fromordinal(int(day)).isoformat(),
        plain=bare_day,
        stated=stretch,
        fits=lambda texts: all(day_of(text) is not None for text in texts),
    ),
    "datetime": Kind(
        read=local_of,
        write=written_local,
        stated=moments_of,
        fits=lambda texts: are_moments(texts, local_of),
    ),
    "instant": Kind(
        read=instant_of,
        write=lambda moment: written_local(moment) + "Z",
        stated=moments_of,
        fits=lambda texts: are_moments(texts, instant_of),
    ),
    "text": Kind(),
    "ordered": Kind(),
}


def kind_of(texts: Sequence[str]) -> str:
    """Guess a column's kind from its distinct texts; text where no other fits."""
    return next((name for name, kind in KINDS.items() if texts and kind.fits(texts)), "text")
