"""Forms of labels that state a range, as tools and languages write them: ``[20, 30[``, ``20 à 29``.

ARX writes half-open intervals with turned brackets, R and sdcMicro ``(20,30]``, spreadsheets
``20-29`` and ``<20``; people write words, in English, German and French here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from decimal import Decimal

Range = tuple[float, float]
#: Least and greatest value that one end of a range represents; None where it is no value.
Span = Callable[[str], "Range | None"]

_BRACKETED = re.compile(r"([\[(\]])(.+)([\])\[])")
_SEPARATORS = (";", "|", ", ", ",")
_ENDLESS = {
    "": 0,
    "∞": 1,
    "inf": 1,
    "+∞": 1,
    "+inf": 1,
    "infinity": 1,
    "-∞": -1,
    "-inf": -1,
    "−∞": -1,
}
_WORDS = re.IGNORECASE
_BEGINNING = re.compile(
    r"(?:(?:from|von|vom|de|du|entre|between|zwischen|aged|ages?|alter|âges?|EUR|USD|GBP|CHF|[€$£])\s*)+",
    _WORDS,
)
_BETWEEN = re.compile(
    r"\s*(?:\.\.\.?|…|[-–—‒−~]|(?<![^\W\d])(?:to|through|thru|until|bis(?:\s+zu)?|à|jusqu'à)(?![^\W\d]))\s*",
    _WORDS,
)
_AND = re.compile(r"\s+(?:and|und|et)\s+", _WORDS)
_BOTH = re.compile(r"(?:.*\b)?(?:between|zwischen|entre)\b", _WORDS)
_LESS = (
    r"less than|fewer than|lower than|younger than|under|below|before|unter|weniger als|kleiner als"
    r"|kleiner|jünger als|vor|moins de|inférieur à|plus jeune que|avant|<"
)
_UP_TO = (
    r"at most|up to|no more than|not more than|less than or equal to|bis zu|bis|höchst(?:ens|\.)"
    r"|maximal|kleiner(?: oder)? gleich|au plus|jusqu'à|inférieur ou égal à|max(?:imum|\.)?"
    r"|<=|=<|≤|⩽"
)
_MORE = (
    r"more than|greater than|higher than|older than|over|above|after|über|mehr als"
    r"|grö(?:ß|ss)er(?: als)?|älter als|nach|plus de|supérieur à|plus âgée? que|après|>"
)
_FROM = (
    r"at least|from|since|no less than|not less than|greater than or equal to|ab|seit|depuis|mind\."
    r"|mindestens|grö(?:ß|ss)er(?: oder)? gleich|à partir de|au moins|supérieur ou égal à|dès"
    r"|min(?:imum|\.)?|>=|=>|≥|⩾"
)
#: The name of what is limited, before a sign; before words it is that of ages, or it is a name.
_NAMED = r"(?:[^\W\d]*\s*(?=[<>≤≥=⩽⩾])|(?:ages?|aged|alter|âges?|bis)\s+)?"
#: What is before a limit: whether the limit is the upper end, and whether it belongs to it.
_BEFORE = [
    (re.compile(rf"{_NAMED}(?:{words})\s*(?P<end>.+)", _WORDS), upper, closed)
    for words, upper, closed in (
        (_UP_TO, True, True),
        (_FROM, False, True),
        (_LESS, True, False),
        (_MORE, False, False),
    )
]
#: What is behind one, which then belongs to the range.
_BEHIND = [
    (
        re.compile(
            r"(?P<end>.+?)\s*(?:\+|\bplus\b|(?:and|or|und|oder|et|ou)\s+"
            r"(?:more|over|older|above|up|greater|higher|later|mehr|älter|darüber|höher|später"
            r"|plus(?: âgés?)?|au-delà|au-dessus)\b)(?P<unit>\D*)",
            _WORDS,
        ),
        False,
    ),
    (
        re.compile(
            r"(?P<end>.+?)\s*(?:and|or|und|oder|et|ou)\s+"
            r"(?:less|fewer|under|younger|below|lower|earlier|weniger|jünger|früher|darunter"
            r"|moins(?: âgés?)?|au-dessous)\b(?P<unit>\D*)",
            _WORDS,
        ),
        True,
    ),
]
_STRICT = re.compile(rf"(?:{_LESS})\s*", _WORDS)
_CHAIN = re.compile(
    r"(?P<low>[^<>≤≥=]+?)\s*(?P<one>≤|<=|<)[^\d<>≤≥=]*(?P<two>≤|<=|<)\s*(?P<high>.+)"
)
_TWO_SIGNS = re.compile(
    r"[^\W\d]*\s*(?P<one>>=|≥|>)\s*(?P<low>.+?)\s*(?:\b(?:and|und|et|to|bis|à)\b|[,;&–-])\s*"
    r"[^\W\d]*\s*(?P<two><=|≤|<)\s*(?P<high>.+)",
    _WORDS,
)
#: A lower end in words, and an upper one: ab 20 bis unter 30, more than 20 to 30.
_TWO_LIMITS = re.compile(
    rf"(?:(?P<over>{_MORE})|{_FROM})\s+(?P<low>[^<>≤≥]+?)"
    rf"\s*(?:\b(?:bis|up to|to|and|und|et)\b|à|[-–])\s*(?P<under>{_LESS})?\s*(?P<high>.+)",
    _WORDS,
)
_BUT_UNDER = re.compile(
    rf"(?P<low>.+?)\s+(?:but|and|und|et|aber)\s+(?P<under>{_LESS})\s*(?P<high>.+)", _WORDS
)
#: What is no unit, but a further word of a range.
_SAYS_MORE = re.compile(
    rf"[+<>=≤≥;,|\[\]()]|(?<!\w)(?:{_LESS}|{_UP_TO}|{_MORE}|{_FROM}|and|or|und|oder|et|ou|to|through"
    r"|thru|until|à|between|zwischen|entre|von|de|plus)(?!\w)|\.\.|[…–—‒−~-]",
    _WORDS,
)
#: Signs as other keyboards write them.
_SIGNS = str.maketrans("＜＞＝～＋－≦≧\u2010\u2011\u2015\ufe63", "<>=~+-≤≥----")
#: Words in short: 65 u. ä., 5 o. mehr, 20 b. u. 30, 85 & over.
_SHORT_AND = re.compile(
    r"\s*(?:\b[uo]\.|&)\s*(?=[mä]\.|mehr|älter|höher|weniger|jünger|dar[uü]|over|above|older|more)",
    _WORDS,
)
_SHORT_MORE = re.compile(r"(?<= und )([mä])\.(?!\w)", _WORDS)
_SHORT_UNDER = re.compile(r"\bb(?:is|\.)\s*u\.\s*(?=\d)", _WORDS)
_HANGING = re.compile(r"(\d)-\s+(bis|to|à)\b", _WORDS)
_COMPOUND = re.compile(r"(\d)-(?:jährige?[nr]?|year-olds?)\b", _WORDS)
_INCLUDED = re.compile(
    r"\b(bis|to|up to)(?: and| zu)? "
    r"(?:einschließlich|einschl\.?|inklusive|inkl\.?|including|inclusive)(?!\w)",
    _WORDS,
)
#: A note behind a range, if it does not say what is left out.
_NOTE = re.compile(
    r"(?<=\d)\s*\((?![^()]*(?:ex|ohne|without|sans|\bnot?\b|nicht|außer))[^()\d]*\)\s*\Z", _WORDS
)
#: Ends in words of the statistics packages.
_LEAST_FIRST = re.compile(r"\A(?:min|lowest)\s*(?:[-–—]|\b(?:to|thru)\b)\s*(?=\d)", _WORDS)
_MOST_LAST = re.compile(r"\A(\d\S*?)\s*(?:[-–—]|\b(?:to|thru)\b)\s*(?:max|highest)\Z", _WORDS)
#: A hyphen that joins a word and a number: over-65s, Jan-2020.
_JOINED = re.compile(r"(?<!\w)([^\W\d_]+)-(?=\d)")
_NAME_FIRST = re.compile(
    r"[^\W\d_]+\s*(?:[:=]\s*(?P<bare>[\d<>≤≥\[\]+−-].*)|\((?P<within>[^()]*\d[^()]*)\))"
)
#: As shells write a sequence; a set of values has commas.
_BRACED = re.compile(r"\{\s*([^{},;|]+?)\s*\}")
_WORD = re.compile(r"°?[^\W\d_]+")
_PLAIN = re.compile(r"(\d+) ?[-–] ?(\d+)")
_UNIT = re.compile(r"\s*[^\W\d_][^\d]*|\s*[€$£%‰°][^\d]*")
#: What may be with a number without making a name of it, as "Over 18 Club" is one.
_UNIT_WORDS = re.compile(
    r"a|acre|acres|adult|adultes|adults|age|aged|alt|an|annually|année|années|ans|beds"
    r"|beschäftigte|beschäftigten|besuche|besuchen|betten|bpm|brutto|c|cal|cas|cases|cent"
    r"|cents|chf|child|children|cl|cm|czk|day|days|db|dkk|dl|dollar|dollars|einwohner"
    r"|einwohnern|employees|enfant|enfants|erwachsene|eur|euro|euros|f|feet|fois|franc"
    r"|francs|franken|ft|fälle|g|gbp|gross|h|ha|habitants|haushalte|heure|heures|hour|hours"
    r"|households|hpa|hr|hrs|huf|hz|ie|inch|inches|inhabitants|items|iu|j|jahr|jahre|jahren"
    r"|jahres|jour|jours|jpy|jährig|jährige|jährigen|jähriger|jährlich|kcal|kg|kinder"
    r"|kindern|kj|km|kmh|kw|kwh|l|lb|lbs|lebensjahre|lits|m|mal|mbar|men|mg|mi|mile|miles"
    r"|min|mins|minute|minuten|minutes|mitarbeiter|mitarbeiterinnen|ml|mm|mmhg|mmol|mois|mol"
    r"|monat|monate|monaten|monatlich|month|monthly|months|mph|ms|mw|mwh|ménages|net|netto"
    r"|ng|nok|of|old|oz|p|pa|par|pct|people|per|percent|person|personen|personne|personnes"
    r"|persons|pieces|pièce|pièces|pln|point|points|pound|pounds|pour|pp|pro|prozent|punkte"
    r"|punkten|qm|rappen|room|rooms|rows|räume|révolus|s|salariés|sec|second|seconds|sek"
    r"|sekunden|semaine|semaines|sq|sqm|std|stunde|stunden|stück|t|tag|tage|tagen|times"
    r"|tonnes|tons|units|usd|v|visit|visites|visits|w|week|weeks|woche|wochen|women|yd|year"
    r"|yearly|years|yen|yo|yr|yrs|zimmer|zimmern|°c|°f|µg|µm|âgé|âgée|âgées|âgés|μg"
)
_GROUPED = re.compile(r"(?<!\d)\d{1,3}(?:[ '’\u00a0\u202f\u2009]\d{3})+(?!\d)")
_MARKED = re.compile(
    r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])|(?<![\d.,])\d{1,3}(?:\.\d{3})+(?![\d.])"
)
#: Words that multiply the number before them, and by which power of ten.
_MULTIPLIED = re.compile(
    r"(?P<number>\d(?:[\d.,]*\d)?)"
    r"(?: ?(?:(?P<thousand>k|tsd\.?|tausend|thousand|mille|milliers?|t(?=€|eur))"
    r"|(?P<million>mio\.?|million(?:s|en)?|mln\.?|(?-i:M))"
    r"|(?P<billion>mrd\.?|milliarden?|milliards?|billions?|bn))(?=€|EUR|CHF|USD|\W|$))?",
    _WORDS,
)
#: Marks for what is left out that are behind the second end alone: 80-89***.
_FILLED_LAST = re.compile(r"\A(\d+)(\s*\D{1,3}\s*)(\d+)([*xX#_•]{2,})\Z")
_SMALL_M = re.compile(r"(?<=\d)m(?!\w)")
_TONS = re.compile(r"(?<=\d)T(?!\w)")
_POWERS = {"thousand": 3, "million": 6, "billion": 9}


def _multiplied(label: str) -> str:
    """Write 50k as 50000; a word that only one number has counts for all: 1-2 Mio."""
    found = [*_MULTIPLIED.finditer(label)]
    words = [one.lastgroup for one in found if one.lastgroup in _POWERS]
    if not words or any(len(re.findall("[.,]", one["number"])) > 1 for one in found):
        return label

    def plain(one: re.Match[str]) -> str:
        group = one.lastgroup if one.lastgroup in _POWERS else words[0]
        power = 0 if one.lastgroup not in _POWERS and len(words) > 1 else _POWERS[group or ""]
        return f"{Decimal(one['number'].replace(',', '.')).scaleb(power):f}"

    return _MULTIPLIED.sub(plain, label)


def ways_to_read(label: str) -> Iterator[str]:
    """Yield a label as it may be meant: with marks between thousands taken for decimals, and not.

    Examples
    --------
    >>> list(ways_to_read("10 000-19 999")), list(ways_to_read("1,000-1,999"))
    (['10000-19999'], ['1,000-1,999', '1000-1999'])
    >>> list(ways_to_read("50-100k"))
    ['50000-100000']
    """
    label = _FILLED_LAST.sub(r"\1\4\2\3\4", label.strip())
    if any(mark in label for mark in " '’\u00a0\u202f\u2009"):
        label = _GROUPED.sub(lambda found: re.sub(r"\D", "", found[0]), label)
    whole = label
    if "," in label or "." in label:
        whole = _MARKED.sub(lambda found: re.sub(r"\D", "", found[0]), label)
    ways = [*map(_multiplied, (label, whole))]
    if _SMALL_M.search(label):  # metres, minutes and months, or millions
        ways.append(_multiplied(_SMALL_M.sub("M", whole)))
    if _TONS.search(label):  # tonnes, or thousands
        ways.append(_multiplied(_TONS.sub("k", whole)))
    yield from dict.fromkeys(ways)


def stated_range(label: str, span: Span) -> Range | None:
    """Return the least and the greatest value a label admits; None where it states no range.

    An open end is the float next to the one that is written.

    Parameters
    ----------
    span : callable
        Reads one end.

    Examples
    --------
    >>> def span(text):
    ...     return (float(text), float(text)) if text.strip().isdigit() else None
    >>> stated_range("20 à 29 ans", span), stated_range("80 und älter", span)
    ((20.0, 29.0), (80.0, inf))
    >>> stated_range("[20, 30[", span) == (20.0, math.nextafter(30.0, 0.0))
    True
    """
    label = _simpler(label)
    braced = _BRACED.fullmatch(label)
    label = label if braced is None else braced[1]
    plain = _PLAIN.fullmatch(label)
    if plain is not None:  # what most labels are
        low, high = span(plain[1]), span(plain[2])
        if low is not None and high is not None:
            return (low[0], high[1]) if low[0] <= high[1] else None
    for form in (_bracketed, _chained, _between, _one_sided):
        found = form(label, span)
        if found is not None:
            return found if found[0] <= found[1] else None
    return None


def _simpler(label: str) -> str:
    """Return a label without what is around its range: a name, a note, a German compound."""
    if label.isascii() and not any(map(str.isalpha, label)):
        return label
    label = _LEAST_FIRST.sub("≤", _MOST_LAST.sub(r"≥\1", label.translate(_SIGNS)))
    label = _SHORT_UNDER.sub("bis unter ", _SHORT_AND.sub(" und ", label))
    label = _SHORT_MORE.sub(lambda m: "mehr" if m[1] in "mM" else "älter", label)
    label = _JOINED.sub(r"\1 ", label)
    label = _COMPOUND.sub(r"\1 ", _HANGING.sub(r"\1 \2", label))
    label = _NOTE.sub("", _INCLUDED.sub(r"\1", label))
    inside = _NAME_FIRST.fullmatch(label)
    return label if inside is None else inside["bare"] or inside["within"]


def _bracketed(label: str, span: Span) -> Range | None:
    match = _BRACKETED.fullmatch(label)
    if match is None:
        return None
    opening, inner, closing = match.groups()
    for separator in _SEPARATORS:
        ends = inner.split(separator)
        if len(ends) == 2:
            low, high = _end(ends[0], span, -math.inf), _end(ends[1], span, math.inf)
            if low is not None and high is not None:
                return _from(low, opening == "["), _to(high, closing == "]")
    ends_of = _pair(inner, span)
    if ends_of is None:
        return None
    if (opening, closing) == ("(", ")"):  # round brackets about 20-29 are no open ends
        return ends_of[0][0], ends_of[1][1]
    return _from(ends_of[0], opening == "["), _to(ends_of[1], closing == "]")


def _end(text: str, span: Span, endless: float) -> Range | None:
    """Return one end of a bracketed range; None where it is none."""
    sign = _ENDLESS.get(text.strip().lower())
    if sign is None:
        return _bare(text, span)
    return (endless, endless) if sign == 0 or math.copysign(1, endless) == sign else None


def _chained(label: str, span: Span) -> Range | None:
    """Read ``20 ≤ age < 30`` and ``>= 20 and < 30``."""
    match = _CHAIN.fullmatch(label) or _TWO_SIGNS.fullmatch(label)
    if match is None:
        return _limited(label, span)
    low, high = _bare(match["low"], span), _bare(match["high"], span)
    if low is None or high is None:
        return None
    return _from(low, match["one"] not in "<>"), _to(high, match["two"] not in "<>")


def _limited(label: str, span: Span) -> Range | None:
    """Read ``ab 20 bis unter 30``, ``more than 20 to 30`` and ``20 but under 30``."""
    for pattern in (_TWO_LIMITS, _BUT_UNDER):
        match = pattern.fullmatch(label)
        if match is not None:
            low, high = _bare(match["low"], span), _bare(match["high"], span)
            if low is not None and high is not None:
                over = pattern is _TWO_LIMITS and match["over"] is not None
                return _from(low, not over), _to(high, match["under"] is None)
    return None


def _between(label: str, span: Span) -> Range | None:
    """Read ``20-29``, also with negative numbers and dates, if it can be read in one way only."""
    found = _pair(label, span)
    if found is not None:
        low, high, strict = found
        return low[0], _to(high, not strict)
    return None


def _pair(label: str, span: Span) -> tuple[Range, Range, bool] | None:
    """Return both ends, and whether the upper one is left out, where there is one way to part."""
    text = label.strip()
    begun = _BEGINNING.match(text)
    rest = text[begun.end() :] if begun is not None else text
    separators = [*_BETWEEN.finditer(rest)]
    if _BOTH.match(text):
        separators += _AND.finditer(rest)
    found: list[tuple[Range, Range, bool]] = []
    for match in separators:
        upper = rest[match.end() :]
        if ("*" in rest[: match.start()]) != ("*" in upper):
            continue  # a footnote's star
        strict = _STRICT.match(upper)
        low = _bare(rest[: match.start()], span)
        high = _bare(upper[strict.end() :] if strict is not None else upper, span)
        if low is not None and high is not None:
            found.append((low, high, strict is not None))
    return found[0] if len(found) == 1 else None


def _one_sided(label: str, span: Span) -> Range | None:
    text = label.strip()
    for pattern, upper, closed in _BEFORE:
        match = pattern.fullmatch(text)
        end = None if match is None else _bare(match["end"], span)
        if end is not None:
            return (-math.inf, _to(end, closed)) if upper else (_from(end, closed), math.inf)
    for pattern, upper in _BEHIND:
        match = pattern.fullmatch(text)
        end = None if match is None else _bare(match["end"], span)
        unit = "" if match is None else match["unit"].strip()
        odd = unit and (_UNIT.fullmatch(unit) is None or _SAYS_MORE.search(unit))
        if end is not None and not odd and _are_units(unit):
            return (-math.inf, end[1]) if upper else (end[0], math.inf)
    return None


def _bare(text: str, span: Span) -> Range | None:
    """Read an end, without the unit or currency that may be with it."""
    text = text.strip()
    found = span(text)
    if found is not None:
        return found
    begun = _BEGINNING.match(text)
    text = text[begun.end() :] if begun is not None else text
    digits = max((i for i, sign in enumerate(text) if sign.isdecimal()), default=-1)
    unit = text[digits + 1 :]
    if unit and (_UNIT.fullmatch(unit) is None or _SAYS_MORE.search(unit)):
        return None
    return span(text[: digits + 1]) if _are_units(unit) else None


def _are_units(text: str) -> bool:
    """Say whether all words are those of units: with others a label is a name."""
    return all(map(_UNIT_WORDS.fullmatch, _WORD.findall(text.casefold())))


def _from(end: Range, closed: bool) -> float:
    """Return the least value from an end on, or after it."""
    return end[0] if closed or end[1] == -math.inf else math.nextafter(end[1], math.inf)


def _to(end: Range, closed: bool) -> float:
    """Return the greatest value up to an end, or before it."""
    return end[1] if closed or end[0] == math.inf else math.nextafter(end[0], -math.inf)
