"""What a group's label says of its values, where it states a range: ``20-29``, ``[20, 30)``."""

from __future__ import annotations

import calendar
import datetime
import math
import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from itertools import product

from anon_core.data.hierarchy.range_forms import stated_range, ways_to_read
from anon_core.data.values.kinds import KINDS, ColumnKind
from anon_core.data.values.moments import HOUR, as_day, begin_of, day_of

# Words in labels that state numbers and times: ``twenty to thirty``, ``I-III``, ``Nov-Feb``.
#
# A reading of such words is one of several that people may have: a season has other days in other
# countries and sources. A label is false where no reading is true of all its values.

#: Names of months, from January on, in the languages that labels are read in.
MONTHS = (
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
_WEEKDAYS = (
    ("monday", "montag", "lundi", "mo"),
    ("tuesday", "dienstag", "mardi", "di"),
    ("wednesday", "mittwoch", "mercredi", "mi"),
    ("thursday", "donnerstag", "jeudi", "do"),
    ("friday", "freitag", "vendredi", "fr"),
    ("saturday", "samstag", "sonnabend", "samedi", "sa"),
    ("sunday", "sonntag", "dimanche", "so"),
)
#: What several days are called, with the first days of the week that it may mean.
_PARTS_OF_WEEKS = (
    (r"week-?ends?|wochenenden?", (range(5, 7),)),
    (r"(?:week|business) ?days?|(?:wochen|arbeits)tage?|jours (?:ouvrés|de semaine)", (range(5),)),
    (r"work(?:ing)? ?days?|werktage?|jours ouvrables", (range(5), range(6))),
)
#: Seasons, by the number of months after December in which they begin in the north.
_SEASONS = (
    ("winter", "hiver", "invierno", "inverno"),
    ("spring", "springtime", "frühling", "frühjahr", "printemps", "primavera", "lente", "voorjaar"),
    ("summer", "summertime", "sommer", "été", "verano", "estate", "zomer"),
    ("autumn", "fall", "herbst", "automne", "otoño", "autunno", "herfst"),
)
#: Words of time that a label of days may hold without being read.
_OF_TIME = re.compile(
    r"week|woche|semaine|jahr|year|année|monat|month|quart|semest|trimest|decade|décennie|siècle"
    rf"|century|(?<!\w)(?:{'|'.join(name for names in _SEASONS for name in names)})"
)
_ACCENTS = str.maketrans("äéèûôñ", "aeeuon")
_LEAST_LETTERS = 3
_PARTED = re.compile(r"\s*(?:[-–—/]|\.\.|…|\b(?:to|bis|through|thru|till|until)\b|\bà\b)\s*")


def month(word: str) -> int | None:
    """Return the one month whose name begins with a word of three letters or more."""
    bare = word.translate(_ACCENTS)
    found = [
        number
        for number, names in enumerate(MONTHS, start=1)
        if any(name.translate(_ACCENTS).startswith(bare) for name in names)
    ]
    return found[0] if len(found) == 1 and len(bare) >= _LEAST_LETTERS else None


def weekday(word: str) -> int | None:
    """Return a day of the week that a word names, or begins; ``mar`` is a month as well."""
    whole = [n for n, names in enumerate(_WEEKDAYS) if word.removesuffix("s") in names]
    begun = [n for n, own in enumerate(_WEEKDAYS) if any(name.startswith(word) for name in own)]
    found = whole or (begun if len(word) >= _LEAST_LETTERS and month(word) is None else [])
    return found[0] if len(found) == 1 else None


def weekdays(label: str) -> list[frozenset[int]]:
    """Return the sets of days, from 0 for Monday, that a label may mean; empty where it has none.

    Examples
    --------
    >>> weekdays("Fri-Mon"), weekdays("Wochenende")
    ([frozenset({0, 4, 5, 6})], [frozenset({5, 6})])
    """
    plain = label.casefold().strip()
    for words, meant in _PARTS_OF_WEEKS:
        if re.fullmatch(words, plain):
            return [frozenset(days) for days in meant]
    return _around(plain, weekday, 7)


def months(label: str) -> list[frozenset[int]]:
    """Return the sets of months that a label without a year may mean; empty where it has none.

    Examples
    --------
    >>> sorted(months("Nov-Feb")[0]), [sorted(one) for one in months("Q1")]
    ([1, 2, 11, 12], [[1, 2, 3]])
    """
    plain = label.casefold().strip()
    season = _season(plain)
    if season is not None:
        begun = (season * 3 - 1) % 12
        return [frozenset((begun + turn + n) % 12 + 1 for n in range(3)) for turn in (0, 6)]
    part = re.fullmatch(
        r"([qth]) ?([1-4])|([1-4])\.? ?(?:er|e|ème|st|nd|rd|th)? ?"
        r"(quarter|quartal|trimestre|half|halbjahr|semestre)",
        plain,
    )
    if part is not None:
        size = 6 if (part[1] or part[4]) in ("h", "half", "halbjahr", "semestre") else 3
        number = int(part[2] or part[3])
        whole = range((number - 1) * size + 1, number * size + 1)
        return [frozenset(whole)] if number * size <= 12 else []
    return [frozenset(n % 12 + 1 for n in one) for one in _around(plain, _month_before, 12)]


def _month_before(word: str) -> int | None:
    found = month(word)
    return None if found is None else found - 1


def _around(text: str, read: Callable[[str], int | None], size: int) -> list[frozenset[int]]:
    """Return what one or two words name, from the first on to the last, around the end."""
    ends = [read(end.strip(" .")) for end in _PARTED.split(text)]
    if len(ends) > 2 or None in ends:
        return []
    first, last = ends[0] or 0, ends[-1] or 0
    return [frozenset((first + n) % size for n in range((last - first) % size + 1))]


def _season(word: str) -> int | None:
    found = [n for n, names in enumerate(_SEASONS) if word in names]
    return found[0] if found else None


#: The first and the last day, as month and day, that any source counts to a season of the north.
_SUNS = ((1219, 321), (319, 622), (620, 924), (921, 1223))
_SEASON = re.compile(r"([^\W\d]+)(?:[ ,-]+(\d{4})(?:[/–-](\d{2}|\d{4}))?)?|(\d{4})[ -]+([^\W\d]+)")


def seasons(label: str) -> list[Callable[[int, int, int], bool]]:
    """Return the tests of year, month and day that a season may mean, with or without its year.

    A winter belongs to the year in which it begins, or ends, or to the parts of it in one year.

    Examples
    --------
    >>> [test(2021, 2, 3) for test in seasons("winter 2020/21")[:1]], seasons("late")
    ([True], [])
    """
    found = _SEASON.fullmatch(label.casefold().strip())
    season = None if found is None else _season(found[1] or found[5])
    if found is None or season is None:
        return []
    year = int(found[2] or found[4] or 0)
    if found[3] and int(found[3]) % 100 != (year + 1) % 100:
        return []
    begun = (season * 3 - 1) % 12 + 1
    spans = [(begun * 100, ((begun + 1) % 12 + 1) * 100 + 31)]
    spans.append(_SUNS[season])
    spans += [((first + 499) % 1200 + 101, (last + 499) % 1200 + 101) for first, last in spans]
    counted = ("begun",) if found[3] else ("begun", "ended", "own") if year else ("any",)

    def test(first: int, last: int, count: str) -> Callable[[int, int, int], bool]:
        def inside(own: int, month: int, day: int) -> bool:
            at = month * 100 + day
            within = first <= at <= last if first <= last else at >= first or at <= last
            start = own - (first > last and at <= last)
            return (
                within
                and {
                    "any": True,
                    "own": own == year,
                    "begun": start == year,
                    "ended": start + (first > last) == year,
                }[count]
            )

        return inside

    return [test(*span, count) for span, count in product(spans, counted)]


_UNITS_EN = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"),
    *("eighteen", "nineteen"),
)
_TENS_EN = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_UNITS_DE = (
    *("null", "eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun"),
    *("zehn", "elf", "zwölf", "dreizehn", "vierzehn", "fünfzehn", "sechzehn", "siebzehn"),
    *("achtzehn", "neunzehn"),
)
_TENS_DE = (
    *("zwanzig", "dreißig", "vierzig", "fünfzig", "sechzig", "siebzig", "achtzig", "neunzig"),
)
_UNITS_FR = (
    *("zéro", "un", "deux", "trois", "quatre", "cinq", "six", "sept", "huit", "neuf", "dix"),
    *("onze", "douze", "treize", "quatorze", "quinze", "seize", "dix-sept", "dix-huit"),
    "dix-neuf",
)
_TENS_FR = ("vingt", "trente", "quarante", "cinquante", "soixante")


@cache
def _spelled() -> dict[str, int]:
    """Return the whole numbers from 0 to 100 in words, and some of their other spellings."""
    found = {word: n for words in (_UNITS_EN, _UNITS_DE, _UNITS_FR) for n, word in enumerate(words)}
    found |= {"hundred": 100, "a hundred": 100, "one hundred": 100, "hundert": 100, "cent": 100}
    found |= {"einhundert": 100, "fourty": 40}
    for place, ten in enumerate(_TENS_EN, start=2):
        found[ten] = place * 10
        found |= {
            f"{ten}{mark}{_UNITS_EN[n]}": place * 10 + n for mark in "- " for n in range(1, 10)
        }
    for place, ten in enumerate(_TENS_DE, start=2):
        found[ten] = place * 10
        found |= {
            f"{'ein' if n == 1 else _UNITS_DE[n]}und{ten}": place * 10 + n for n in range(1, 10)
        }
    for place, ten in enumerate(_TENS_FR, start=2):
        found[ten] = place * 10
        for n in range(1, 20 if place == 6 else 10):
            for mark in (" et ", "-et-") if n in (1, 11) else ("-", " "):
                found[f"{ten}{mark}{_UNITS_FR[n]}"] = place * 10 + n
    for n in range(20):
        unit = f"-{_UNITS_FR[n]}" if n else "s"
        found |= {f"quatre-vingt{unit}": 80 + n, f"quatre vingt{unit.replace('-', ' ')}": 80 + n}
    return found | {word.casefold(): n for word, n in found.items()}


@cache
def _begun_words() -> frozenset[str]:
    """Return words of which one is in each label with a number in words or in roman digits."""
    plural = (f"{ten[:-1]}ies" for ten in _TENS_EN)
    romans = (f"{'x' * (n // 10)}{_ROMAN_ONES[n % 10]}" for n in range(1, 40))
    return frozenset({*(re.split("[ -]", word)[0] for word in _spelled()), *plural, *romans})


@cache
def _in_words() -> re.Pattern[str]:
    words = sorted(_spelled(), key=len, reverse=True)
    return re.compile(rf"(?<![^\W_])(?<!\d )(?:{'|'.join(words)})(?![^\W_])", re.IGNORECASE)


#: Up to 39: what has further digits is as often a size, a letter or a name.
_ROMAN = r"(?=[IVX])X{0,3}(?:IX|IV|V?I{0,3})"
_ROMANS = re.compile(rf"(?<!\w){_ROMAN}(?!\w)")
_ROMAN_ONES = ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
_DIGITS = {"I": 1, "V": 5, "X": 10}


def roman(text: str) -> int | None:
    """Return the number that a text writes in roman digits; None where it is none.

    Examples
    --------
    >>> roman("XIV"), roman("MIX"), roman("IIX")
    (14, None, None)
    """
    if re.fullmatch(_ROMAN, text) is None:
        return None
    digits = [_DIGITS[one] for one in text]
    pairs = zip(digits, [*digits[1:], 0], strict=True)
    return sum(-one if one < after else one for one, after in pairs)


@lru_cache(maxsize=10_000)
def in_figures(label: str) -> str:
    """Return a label with the numbers in words and in roman digits as figures.

    Examples
    --------
    >>> in_figures("twenty to thirty-five"), in_figures("unter dreißig"), in_figures("I-III")
    ('20 to 35', 'unter 30', '1-3')
    """
    if _begun_words().isdisjoint(re.findall(r"[^\W\d_]+", label.casefold())):
        return label
    spelled = _spelled()
    label = re.sub(r"(?i)\b(twent|thirt|fort|fift|sixt|sevent|eight|ninet)ies\b", r"\1ys", label)
    label = re.sub(
        rf"(?i)\b({'|'.join(_TENS_EN)})s\b", lambda m: f"{spelled[m[1].lower()]}s", label
    )
    label = _in_words().sub(lambda found: str(spelled[found[0].casefold()]), label)
    return _ROMANS.sub(lambda found: str(roman(found[0])), label)


def states_numbers(label: str) -> bool:
    """Say whether a label holds digits, or the word of a number."""
    return any(map(str.isdigit, label)) or _in_words().search(label) is not None


def states_times(label: str) -> bool:
    """Say whether a label holds digits, or a word that days, months and seasons are named by."""
    plain = label.casefold()
    words = re.findall(r"[^\W\d_]+", plain)
    return (
        any(map(str.isdigit, label))
        or _OF_TIME.search(plain) is not None
        or any(month(word) is not None or weekday(word) is not None for word in words)
    )


# Ranges and periods that a label states.


_NAMED = re.compile(r"([^\W\d]+)[.,]?\s+(\d{4})|(\d{4})\s+([^\W\d]+)\.?")
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
        at = month((named[1] or named[4]).lower())
        return None if at is None else _months(int(named[2] or named[3]), at, at)
    slashed = _SLASHED.fullmatch(text)
    if slashed is not None:
        at = int(slashed[1] or slashed[4])
        return _months(int(slashed[2] or slashed[3]), at, at)
    return None


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
    label = in_figures(label) if KINDS[kind].amount else label
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
    label = in_figures(label) if KINDS[kind].amount else label
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


def _of_a_year(label: str, year: int) -> Range | None:
    """Return the days of a period whose year the label leaves out: ``Jan-Mar``, ``KW 12``."""

    def span(text: str) -> Range | None:
        return _calendar(f"{text.strip(' .')} {year:04}")

    return span(label) or stated_range(label, span)


def every_year(label: str, kind: ColumnKind) -> list[Callable[[str], bool]]:
    """Return the tests of whether a value is in a period of years or weeks that a label may mean.

    Examples
    --------
    >>> (spring,) = every_year("März bis Mai", "date")
    >>> spring("2020-05-31"), spring("1999-06-01"), every_year("Mon-Fri", "date")[0]("2026-11-28")
    (True, False, False)
    """
    read = KINDS[kind].read
    if kind not in ("date", "datetime", "instant") or read is None:
        return []
    to_day: Callable[[float], int] = int if kind == "date" else day_of

    def test(holds: Callable[[datetime.date], bool]) -> Callable[[str], bool]:
        def inside(value: str) -> bool:
            at = read(value)
            return not math.isnan(at) and holds(datetime.date.fromordinal(to_day(at)))

        return inside

    return [test(holds) for holds in _periods(label)]


def _periods(label: str) -> Iterator[Callable[[datetime.date], bool]]:
    """Yield tests of days: of weekdays, seasons, months, and weeks of every year."""
    for season in seasons(label):
        yield lambda day, within=season: within(day.year, day.month, day.day)
    if re.search(r"\d{4}", label):
        return
    for days in weekdays(label):
        yield lambda day, days=days: day.weekday() in days
    named = months(label)
    for own in named:
        yield lambda day, own=own: day.month in own
    ends = _of_a_year(label, 2000)
    if named or ends is None or math.inf in (-ends[0], ends[1]):
        return
    of = cache(_of_a_year)

    def inside(day: datetime.date) -> bool:
        # A week of one year may end in the next one.
        near = range(max(1, day.year - 1), min(9998, day.year + 1) + 1)
        around = (of(label, one) for one in near)
        return any(one is not None and one[0] <= day.toordinal() <= one[1] for one in around)

    yield inside


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
