"""The kinds of columns, as the second computation knows them, and how their values are written.

The run has its own table (`anon_core/data/values/kinds.py`) and shares no code with this one; a
recipe that declares a kind which is not in this table is refused. What a kind means is here alone:
the other files of this folder ask it.
"""

from __future__ import annotations

import datetime
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from math import isfinite

from anon_core.base.errors import BadPlan, brief, listing

# Days and moments, as the second computation reads them, and what labels say of moments.
#
# Days are counted as Python does; moments in microseconds since 1970, in UTC where they have an
# offset from it, else as their clocks stood.


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
    """Return what is before a time of day, and whether that is midnight in UTC or anywhere."""
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
    """Say whether texts are all moments that differ as 64-bit floats."""
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
        open_forms = week_first if not begin else [*week_first, begin.rstrip(" /.-")]
        if len(open_forms) != 2 or [*map(str.isdigit, open_forms)] != [True, True]:
            return None
        label = f"{open_forms[1]}-W{open_forms[0]:0>2}"
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


_MONTHS = (
    *("january janvier januar jänner", "february février februar", "march mars märz"),
    *("april avril", "may mai", "june juin juni", "july juillet juli", "august août"),
    *("september septembre", "october oktober octobre", "november novembre"),
    "december dezember décembre",
)


def month_range(label: str) -> tuple[int, int] | None:
    """Return the first and last day of a month, quarter or half that is written in words.

    Examples
    --------
    >>> month_range("März 2020") == month_range("03/2020") == month_range("mar 2020")
    True
    """
    plain = label.strip().casefold()
    found = re.fullmatch(r"(?:([qth]) ?([1-4])[ /-]*(\d{4})|(\d{4})[ /-]*([qth])([1-4]))", plain)
    if found is not None:
        kind, part = found[1] or found[5], int(found[2] or found[6])
        return _span(int(found[3] or found[4]), part, 6 if kind == "h" else 3)
    found = re.fullmatch(
        r"([1-4])\.? ?(?:er|e|ème|st|nd|rd|th)? ?"
        r"(quarter|quartal|trimestre|half|halbjahr|semestre) (?:of |de )?(\d{4})",
        plain,
    )
    if found is not None:
        return _span(int(found[3]), int(found[1]), 6 if found[2][0] in "hs" else 3)
    found = re.fullmatch(r"(0?[1-9]|1[0-2])[/.](\d{4})", plain)
    if found is not None:
        return _span(int(found[2]), int(found[1]), 1)
    found = re.fullmatch(r"(\d{4})/(0?[1-9]|1[0-2])", plain)
    if found is not None:
        return _span(int(found[1]), int(found[2]), 1)
    found = re.fullmatch(r"([^\W\d]{3,})\.? +(\d{4})", plain)
    year_first = re.fullmatch(r"(\d{4}) +([^\W\d]{3,})\.?", plain)
    word, year = (found[1], found[2]) if found else ("", "0")
    if year_first is not None:
        word, year = year_first[2], year_first[1]
    months = [
        n
        for n, names in enumerate(_MONTHS, start=1)
        if word and any(_bare(name).startswith(_bare(word)) for name in names.split())
    ]
    return _span(int(year), months[0], 1) if len(months) == 1 else None


def _bare(word: str) -> str:
    """Return a word without accents."""
    return "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))


def _span(year: int, part: int, months: int) -> tuple[int, int] | None:
    """Return the first and last day of one of the parts of a year that have so many months."""
    if not 1 <= year < datetime.MAXYEAR or part * months > 12:
        return None
    first, after = (part - 1) * months, part * months
    begin = datetime.date(year, first + 1, 1).toordinal()
    return begin, datetime.date(year + after // 12, after % 12 + 1, 1).toordinal() - 1


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
_FIRST_DIGITS = re.compile(r"(\d+)(\*+)")


def _nothing(_: object) -> None:
    return None


def _same(text: str) -> str:
    return text


def _never(_: object) -> bool:
    return False


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
    read_all : callable or None
        Returns what `read` does of each of many texts; None where it is asked one by one.
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
    read_all: Callable[[Sequence[str]], Sequence[Measure | None]] | None = None
    stated: Callable[[str], Span | None] = _nothing
    fits: Callable[[Sequence[str]], bool] = _never
    averaged: bool = False
    thousands: bool = False
    plain: Callable[[str], str] = _same


def number_of(text: str) -> Decimal | None:
    """Return the number a text writes (``.`` or ``,`` as decimal mark), exactly, or None.

    Examples
    --------
    >>> number_of("1,50") == number_of("1.5"), number_of("1.5 m")
    (True, None)
    """
    text = text.strip()
    if text.isdecimal():
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


def _numbers_of(texts: Sequence[str]) -> Sequence[Decimal | None]:
    return list(map(Decimal if are_digits(texts) else number_of, texts))


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


def _days(texts: Sequence[str]) -> bool:
    return all(day_of(text) is not None for text in texts)


#: By the name a recipe gives it. Where it gives none, the first kind that fits is taken.
KINDS: dict[str, Kind] = {
    "number": Kind(
        read=number_of,
        read_all=_numbers_of,
        stated=_first_digits,
        fits=_numbers,
        averaged=True,
        thousands=True,
    ),
    "date": Kind(
        read=day_of,
        write=written_day,
        plain=bare_day,
        stated=stretch,
        fits=_days,
    ),
    "datetime": Kind(
        read=local_of,
        write=written_local,
        stated=moments_of,
        fits=lambda texts: are_moments(texts, local_of),
    ),
    "instant": Kind(
        read=instant_of,
        write=written_instant,
        stated=moments_of,
        fits=lambda texts: are_moments(texts, instant_of),
    ),
    "text": Kind(),
    "ordered": Kind(),
}


def kind_of(texts: Sequence[str]) -> str:
    """Guess a column's kind from its distinct texts; text where no other fits."""
    return next((name for name, kind in KINDS.items() if texts and kind.fits(texts)), "text")


def measured_kinds() -> list[str]:
    """Return the names of the kinds whose texts stand for something that can be measured."""
    return [name for name, kind in KINDS.items() if kind.read is not None]


def refuse_unknown(types: Mapping[str, str]) -> None:
    """Refuse a recipe that declares a kind which is not known here.

    Raises
    ------
    BadPlan
    """
    for column, kind in types.items():
        if kind not in KINDS:
            raise BadPlan(
                f"[types] '{column}' is {brief(kind)}; allowed are {listing(KINDS)}.",
                remedy="Use one of these types.",
            )
