"""What a published label claims of the values under it.

A label is taken apart around the values in it: what is before the first, between the two and
behind the last decides what is claimed. Nothing of it is shared with what a run reads.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import partial

from anon_core.verification.text.kinds import KINDS
from anon_core.verification.text.texts import Spelling, level_columns

# The second computation's own way to read a label that states a range, in many tools' forms.


Exact = int | Fraction
#: Reads one end of a range: its least and greatest value.
Read = Callable[[str], "tuple[Exact, Exact] | None"]
#: Says whether a value is inside of what is claimed.
Inside = Callable[[Exact], bool]

_TO = {"-", "–", "—", "‒", "−", "~", "..", "...", "…", "to", "through", "thru", "until"} | {
    *("bis", "bis zu", "à", "jusqu'à")
}
_AND = {"and", "und", "et"}
_FIRST = {"from", "von", "vom", "de", "du", "age", "ages", "aged", "alter", "âge", "âges"} | {
    *("€", "$", "£", "eur", "usd", "gbp", "chf")
}
_BOTH = {"between", "zwischen", "entre"}
_BELOW = {"<", "less than", "fewer than", "under", "below", "unter", "weniger als"} | {
    *("kleiner als", "moins de", "inférieur à", "lower than", "younger than", "before"),
    *("jünger als", "vor", "plus jeune que", "avant"),
}
_BELOW_WORDS = "|".join(word for word in sorted(_BELOW) if word != "<")
_AT_MOST = {"<=", "=<", "≤", "⩽", "at most", "up to", "no more than", "bis", "bis zu"} | {
    *("höchstens", "maximal", "au plus", "jusqu'à", "max", "max.")
}
_ABOVE = {">", "more than", "greater than", "over", "above", "über", "mehr als", "größer als"} | {
    *("plus de", "supérieur à", "higher than", "older than", "after", "älter als", "nach"),
    *("plus âgé que", "plus âgée que", "après"),
}
_AT_LEAST = {">=", "=>", "≥", "⩾", "at least", "from", "no less than", "ab", "mindestens"} | {
    *("à partir de", "au moins", "dès", "min", "min.", "since", "seit", "depuis")
}
_OR_MORE = re.compile(
    r"\+|(?<!\w)(plus|(and|or|und|oder|et|ou) (more|over|older|above|up|greater|higher|mehr|älter"
    r"|darüber|höher|plus âgée?s?|plus|au-delà|au-dessus))(?!\w)"
)
_OR_LESS = re.compile(
    r"(?<!\w)(and|or|und|oder|et|ou) (less|fewer|under|younger|below|lower|weniger|jünger|darunter"
    r"|moins âgée?s?|moins|au-dessous)(?!\w)"
)
_WORDS_OF_RANGES = {
    word
    for phrase in _TO | _AND | _FIRST | _BOTH | _BELOW | _AT_MOST | _ABOVE | _AT_LEAST
    for word in phrase.split()
} | {"or", "oder", "ou", "plus"}
#: Words that a value may have with it; with any other word a label is a name.
_UNITS = re.compile(
    r"a|acre|acres|adult|adultes|adults|age|aged|alt|an|annually|année|années|ans"
    r"|beds|beschäftigte|beschäftigten|besuche|besuchen|betten|bpm|brutto|c|cal|cas"
    r"|cases|cent|cents|chf|child|children|cl|cm|czk|day|days|db|dkk|dl|dollar"
    r"|dollars|einwohner|einwohnern|employees|enfant|enfants|erwachsene|eur|euro"
    r"|euros|f|feet|fois|franc|francs|franken|ft|fälle|g|gbp|gross|h|ha|habitants"
    r"|haushalte|heure|heures|hour|hours|households|hpa|hr|hrs|huf|hz|ie|inch|inches"
    r"|inhabitants|items|iu|j|jahr|jahre|jahren|jahres|jour|jours|jpy|jährig|jährige"
    r"|jährigen|jähriger|jährlich|kcal|kg|kinder|kindern|kj|km|kmh|kw|kwh|l|lb|lbs"
    r"|lebensjahre|lits|m|mal|mbar|men|mg|mi|mile|miles|min|mins|minute|minuten"
    r"|minutes|mitarbeiter|mitarbeiterinnen|ml|mm|mmhg|mmol|mois|mol|monat|monate"
    r"|monaten|monatlich|month|monthly|months|mph|ms|mw|mwh|ménages|net|netto|ng|nok"
    r"|of|old|oz|p|pa|par|pct|people|per|percent|person|personen|personne|personnes"
    r"|persons|pieces|pièce|pièces|pln|point|points|pound|pounds|pour|pp|pro|prozent"
    r"|punkte|punkten|qm|rappen|room|rooms|rows|räume|révolus|s|salariés|sec|second"
    r"|seconds|sek|sekunden|semaine|semaines|sq|sqm|std|stunde|stunden|stück|t|tag"
    r"|tage|tagen|times|tonnes|tons|units|usd|v|visit|visites|visits|w|week|weeks"
    r"|woche|wochen|women|yd|year|yearly|years|yen|yo|yr|yrs|zimmer|zimmern|°c|°f|µg"
    r"|µm|âgé|âgée|âgées|âgés|μg"
)
#: Words that multiply the number before them: powers of ten.
_POWERS = {"k": 3, "tsd": 3, "tausend": 3, "thousand": 3, "mille": 3, "millier": 3, "t": 3} | {
    **dict.fromkeys(("mio", "million", "millionen"), 6),
    **dict.fromkeys(("mrd", "milliarde", "milliarden", "milliard", "billion", "bn"), 9),
}
_POWER = re.compile(
    r"(?i)(k|tsd\.?|tausend|thousand|mille|milliers?|t(?=€|eur)|mio\.?|million(?:s|en)?"
    r"|mrd\.?|milliarden?|milliards?|billions?|bn)(?=€|eur|chf|usd|[^\w]|$)"
)
_UNIT = re.compile(r"([^\W\d_]|[€$£%‰°])\D*")
#: What leaves something out of a range, so that a note with it is none.
_WITHOUT = r"ex|ohne|without|sans|\bnot?\b|nicht|außer"
_WORD_FIRST = re.compile(r"[^\W\d_]+\.?(?= )")
_PLAIN = re.compile(r"([0-9]+) ?[-–] ?([0-9]+)")
_OPENING, _CLOSING = {"[": True, "(": False, "]": False}, {"]": True, ")": False, "[": False}
_ENDLESS = {"": None, "∞": 1, "inf": 1, "+∞": 1, "+inf": 1, "infinity": 1, "-∞": -1, "-inf": -1}
_BLANKS = re.compile(r"(?<![0-9])[0-9]{1,3}([ '’\u00a0\u202f\u2009][0-9]{3})+(?![0-9])")


def meanings(label: str, read: Read) -> list[Inside]:
    """Return the claims that a label may make, most likely first; empty if it makes none."""
    found: list[Inside] = []
    if plain := _PLAIN.fullmatch(label):  # what most labels are
        low, top = read(plain[1]), read(plain[2])
        claim = low and top and _inside(low[0], True, top[1], True, low, top)
        if claim:
            return [claim]
    text = _BLANKS.sub(lambda m: "".join(c for c in m[0] if c.isdigit()), label.strip())
    text = _core(text.removesuffix(" UTC"))  # the zone of instants, which is that of their values
    if text[:1] == "{" and text[-1:] == "}" and not set(text) & {",", ";", "|"}:
        text = text[1:-1].strip()
    whole = re.sub(r"(?<![\d.,])\d{1,3}(,\d{3})+(?![\d,])", lambda m: m[0].replace(",", ""), text)
    whole = re.sub(r"(?<![\d.,])\d{1,3}(\.\d{3})+(?![\d.])", lambda m: m[0].replace(".", ""), whole)
    for way in dict.fromkeys((_multiplied(text), _multiplied(whole))):
        claims = list(_claims(way, read))
        if len(claims) == 1 and claims[0] is not None:
            found.append(claims[0])
    return found


def _multiplied(text: str) -> str:
    """Return a label with 50k as 50000; the last word counts for a range's other end too."""
    numbers = list(re.finditer(r"\d(?:[\d.,]*\d)?", text))
    powers: list[int] = []
    ends: list[int] = []
    for one in numbers:
        word = _POWER.match(text, one.end() + (text[one.end() : one.end() + 1] == " "))
        named = "" if word is None else word[1].casefold().rstrip(".")
        powers.append(_POWERS.get(named, _POWERS.get(named.removesuffix("s"), 0)))
        ends.append(one.end() if word is None else word.end())
    if not any(powers):
        return text
    shared = powers[-1] if sum(map(bool, powers)) == 1 else 0
    written, begin = "", 0
    for one, power, end in zip(numbers, powers, ends, strict=True):
        if one[0].count(".") + one[0].count(",") > 1:
            return text
        number = Decimal(one[0].replace(",", ".")).scaleb(power or shared)
        written += text[begin : one.start()] + f"{number:f}"
        begin = end
    return written + text[begin:]


def _core(text: str) -> str:
    """Return the part of a label that states a range, in plain signs and without compounds."""
    for odd, plain in zip("＜＞＝～＋－≦≧\u2010\u2011\u2015\ufe63", "<>=~+-≤≥----", strict=True):
        text = text.replace(odd, plain)
    text = re.sub(r"(?i)(\d)-\s+(bis|to|à)\b", r"\1 \2", text)
    text = re.sub(r"(?i)(\d)-(?:jährige?[nr]?|year-olds?)\b", r"\1 ", text)
    text = re.sub(r"(?<!\w)([^\W\d_]+)-(?=\d)", r"\1 ", text)  # over-65s, Jan-2020
    text = re.sub(
        r"(?i)\b(bis|to|up to)( and| zu)? "
        r"(?:einschließlich|einschl\.?|inklusive|inkl\.?|including|inclusive)(?!\w)",
        r"\1",
        text,
    )
    note = text.rfind("(")
    behind = note > 0 and text.endswith(")") and text[:note].rstrip()[-1:].isdigit()
    if behind and not re.search(rf"\d|{_WITHOUT}", text[note:], re.IGNORECASE):
        text = text[:note].rstrip()
    head = re.match(r"[^\W\d_]+", text)
    rest = text[head.end() :].lstrip() if head else ""
    if rest[:1] in (":", "=") and rest[1:].lstrip()[:1] in set("0123456789<>≤≥[]+−-"):
        return rest[1:].lstrip()
    if rest[:1] == "(" and rest[-1:] == ")" and rest.count("(") == rest.count(")") == 1:
        return rest[1:-1] if any(map(str.isdigit, rest)) else text
    return text


def _claims(text: str, read: Read) -> Iterator[Inside | None]:
    """Yield what a label claims; more than one means that it can be parted in several ways."""
    if text[:1] in _OPENING and text[-1:] in _CLOSING and len(text) > 2:
        yield from _bracketed(text, read)
        return
    both = list(_two(text, read))
    if both:
        yield from both
        return
    for before, value, behind in _one_value(text, read):
        lower = before.casefold()
        first, _, rest = lower.partition(" ")
        lower = rest if first in _AT_MOST and rest in _BELOW else lower  # bis unter 30
        named = re.sub(r"^[^\W\d_]+ ?(?=[<>=≤≥⩽⩾])", "", lower)
        if (lower in _AT_MOST or named in _AT_MOST) and _is_unit(behind):
            yield lambda v, top=value[1]: v <= top
        elif (lower in _BELOW or named in _BELOW) and _is_unit(behind):
            yield lambda v, top=value[0]: v < top
        elif (lower in _AT_LEAST or named in _AT_LEAST) and _is_unit(behind):
            yield lambda v, low=value[0]: v >= low
        elif (lower in _ABOVE or named in _ABOVE) and _is_unit(behind):
            yield lambda v, low=value[1]: v > low
        elif (not lower or lower in _FIRST) and _says(_OR_MORE, behind):
            yield lambda v, low=value[0]: v >= low
        elif (not lower or lower in _FIRST) and _says(_OR_LESS, behind):
            yield lambda v, top=value[1]: v <= top


def _bracketed(text: str, read: Read) -> Iterator[Inside | None]:
    low_in, top_in, inner = _OPENING[text[0]], _CLOSING[text[-1]], text[1:-1]
    for mark in (";", "|", ", ", ","):
        ends = [end.strip() for end in inner.split(mark)]
        if len(ends) == 2:
            low, top = _end(ends[0], read, -1), _end(ends[1], read, 1)
            if low is not None and top is not None:
                yield _inside(low[0], low_in, top[1], top_in, low, top)
                return
    for low, middle, top, strict in _pairs(inner, read):
        if middle in _TO:
            if (text[0], text[-1]) == ("(", ")"):
                yield _inside(low[0], True, top[1], True, low, top)
            else:
                yield _inside(low[0], low_in, top[1], top_in and not strict, low, top)


def _end(text: str, read: Read, side: int) -> tuple[Exact | None, Exact | None] | None:
    """Return an end of a bracketed range, (None, None) for one without limit; None for no end."""
    sign = _ENDLESS.get(text.casefold(), 0)
    if sign is None or sign == side:
        return None, None
    return _plain(text, read)


def _inside(
    low: Exact | None,
    low_in: bool,
    top: Exact | None,
    top_in: bool,
    first: tuple[Exact | None, Exact | None],
    last: tuple[Exact | None, Exact | None],
) -> Inside | None:
    """Return what lies between two ends; an end that is left out leaves all of its period out.

    Ends with nothing between them claim nothing.
    """
    empty = low is not None and top is not None and low > top
    if empty or (low is not None and low == top and not (low_in and top_in)):
        return None
    after, before = first[1], last[0]

    def inside(value: Exact) -> bool:
        above = low is None or (value >= low if low_in else after is None or value > after)
        below = top is None or (value <= top if top_in else before is None or value < before)
        return above and below

    return inside


def _two(text: str, read: Read) -> Iterator[Inside | None]:
    """Yield what labels of two values claim: ``20-29``, ``between 20 and 29``, ``20 ≤ x < 30``."""
    begun, rest = _begun(text)
    joined = _TO | (_AND if begun & _BOTH else set())
    if begun <= _FIRST | _BOTH:
        for low, middle, top, strict in _pairs(rest, read):
            if middle in joined:
                yield _inside(low[0], True, top[1], not strict, low, top)
    signs = {"<": False, "<=": True, "≤": True}
    for low, middle, top, _ in _pairs(text, read, signs=True):
        found = re.fullmatch(r"(<=|<|≤)[^<>=≤≥]*?(<=|<|≤)", middle)
        if found is not None:
            yield _inside(low[0], signs[found[1]], top[1], signs[found[2]], low, top)
    first = re.fullmatch(r"[^\W\d]* ?(>=|≥|>) ?(.*)", text)
    if first is not None:
        for low, middle, top, _ in _pairs(first[2], read, signs=True):
            found = re.fullmatch(r"(?:and|und|et|to|bis|à|[,;&–-]) ?[^\W\d]* ?(<=|<|≤)", middle)
            if found is not None:
                yield _inside(low[0], first[1] != ">", top[1], signs[found[1]], low, top)


def _begun(text: str) -> tuple[set[str], str]:
    """Return the words that a range begins with, and what follows them."""
    begun: set[str] = set()
    while True:
        word = re.match(r"([^\W\d_]+|[€$£])\s*", text)
        if word is None or word[1].casefold() not in _FIRST | _BOTH:
            return begun, text
        begun.add(word[1].casefold())
        text = text[word.end() :]


def _pairs(
    text: str, read: Read, *, signs: bool = False
) -> Iterator[tuple[tuple[Exact, Exact], str, tuple[Exact, Exact], bool]]:
    """Yield the ways to part a text into a value, a word or mark, and a value.

    The last of the four says whether the upper value is left out, as in ``20 bis unter 30``.
    """
    for found in re.finditer(
        r"\s*[<≤][^\d]*?[<≤]=?\s*|\s*\D*?[<≤]=?\s*(?=[\d€$£+−-])"
        if signs
        else rf"\s*(?:(?:\.\.\.?|[-–—‒−~…])(?:\s*(?:{_BELOW_WORDS})\b)?"
        r"|(?<=[\s\d])[^\W\d_][^\d<>=≤≥€$£+−-]*)\s*<?\s*",
        text,
    ):
        low = _plain(text[: found.start()], read)
        top = _plain(text[found.end() :], read)
        if low is None or top is None:
            continue
        if ("*" in text[: found.start()]) != ("*" in text[found.end() :]):
            continue  # a footnote's star
        middle = " ".join(found[0].casefold().split())
        if signs:
            yield low, middle, top, False
            continue
        unit = _WORD_FIRST.match(middle)
        ways = [middle]
        if unit is not None and _is_unit(unit[0]):
            ways.append(middle[unit.end() :].strip())
        for way in ways:
            for word in _TO | _AND:
                rest = way[len(word) :].strip() if way.startswith(word) else None
                if rest == "" or rest in _BELOW:
                    yield low, word, top, rest != ""
                    break
            else:
                continue
            break


def _one_value(text: str, read: Read) -> Iterator[tuple[str, tuple[Exact, Exact], str]]:
    """Yield the longest value of a label, with what is before and behind it."""
    first = next((i for i, c in enumerate(text) if c.isdigit()), None)
    if first is None:
        return
    for begin in (first - 1, first):
        if begin < 0 or (begin < first and text[begin] not in "+-"):
            continue
        for end in range(len(text), first, -1):
            value = read(text[begin:end]) if text[end - 1].isdigit() else None
            if value is not None:
                yield text[:begin].strip(), value, text[end:].strip().casefold()
                return


def _plain(text: str, read: Read) -> tuple[Exact, Exact] | None:
    """Read a value, without a unit behind it or a currency before it."""
    text = text.strip()
    value = read(text) if text else None
    if value is not None:
        return value
    text = _begun(text)[1]
    last = max((i for i, c in enumerate(text) if c.isdecimal()), default=-1) + 1
    return read(text[:last].strip()) if last and _is_unit(text[last:].strip()) else None


def _is_unit(text: str) -> bool:
    """Say whether a text behind a value is nothing, or a unit and no further word of a range."""
    if not text:
        return True
    words = set(re.findall(r"°?[^\W\d_]+", text.casefold()))
    odd = {word for word in words & _WORDS_OF_RANGES if not _UNITS.fullmatch(word)}
    further = odd or any(sign in text for sign in "+<>=≤≥;,|[]()…–—‒−~-")
    known = all(map(_UNITS.fullmatch, words)) and ".." not in text
    return _UNIT.fullmatch(text) is not None and known and not further


def _says(words: re.Pattern[str], behind: str) -> bool:
    """Say whether words are behind a value; a unit may be before or behind them."""
    return any(
        _is_unit(behind[: found.start()].strip()) and _is_unit(behind[found.end() :].strip())
        for found in words.finditer(behind)
    )


# The second computation's own reading of what a published label claims of the values under it.


_MASK = re.compile(r"([^\s*]*\d[^\s*]*)\*+")
#: Other marks for what is left out, and a word before; claims only if most values begin so.
_FILLED = re.compile(r"(?:[^\W\d]+\.? )?([^\s*]*?\d)(?:[xX]+|_+|#+|\?+|…|\.{2,3}|\*+|\.?-)")
_CODES = re.compile(
    r"(?<!\w)([A-Z]{1,4})(\d+)\s*(?:[-–—]|\.\.|to\b|bis\b|à(?= ))\s*([A-Z]{1,4})?(\d+)(?!\w)"
)
_CLOCK = re.compile(
    r"(?<![\d:])(\d{1,2})(?: ?(?:Uhr|h|heures)(?!\w)|(?=\s*[-–]\s*\d{1,2} ?(?:Uhr|h)(?!\w)))"
)
_AM_PM = re.compile(r"(?<![\d:])(1[0-2]|0?[1-9])(:[0-5]\d)? ?([aApP])(?:[mM]|\.[mM]\.)(?!\w)")
_NIGHT = re.compile(r"(\d{1,2}:\d{2})\s*(?:[-–]|\bto\b|\bbis\b)\s*(\d{1,2}:\d{2})")
_PARTS = re.compile(r",? or | / |, ")


def untrue(levels: Sequence[Sequence[str]], spelling: Spelling, texts: Collection[str]) -> set[str]:
    """Return those published texts that are labels and claim what not all of their values are.

    Only plain claims are read: ranges, tails, masked codes, years and months.

    Examples
    --------
    >>> rows = [["01090", "0109*", "*"], ["02625", "0109*", "*"]]
    >>> untrue(rows, Spelling(kind="text", neutralised=False), ["0109*", "*"])
    {'0109*'}
    """
    found: set[str] = set()
    values, *above = level_columns(levels) or [[]]
    known = {spelling.key(value) for value in values if value}
    shown = set(texts) - {""} if spelling.measured else set(texts) - {*values, ""}
    for level in above:
        if shown.isdisjoint(level):
            continue
        members: dict[str, list[str]] = {}
        for value, label in zip(values, level, strict=True):
            if value and label in shown:
                members.setdefault(label, []).append(value)
        for label, inside in members.items():
            ways = _readings(label, spelling, known)
            if not any(_true(holds, inside, spelling) for holds in ways):
                found.add(label)
    return found


Holds = Callable[[str], bool | None]


def _true(holds: Holds, members: Sequence[str], spelling: Spelling) -> bool:
    """Say whether a claim is true of all members, or is none among such members."""
    said = [holds(value) for value in members]
    # Among texts a range counts where most are numbers, a name such as "1-2" does not.
    known = [one for one in said if one is not None]
    meant = spelling.measured or len(known) * 2 > len(said)
    return all(said) or not meant


def _readings(label: str, spelling: Spelling, known: Collection[object]) -> list[Holds]:
    """Return what may say if a value is as claimed (None where it is no such value at all).

    A label that claims nothing is true of everything.
    """
    if one := _one_claim(label, spelling, known):
        return one
    parts = [_one_claim(part.strip(), spelling, known, apart=True) for part in _PARTS.split(label)]
    if len(parts) > 1 and all(parts):
        return [lambda value: value in label or any(ways[0](value) for ways in parts)]
    return [lambda _: True]


def _one_claim(
    label: str, spelling: Spelling, known: Collection[object], *, apart: bool = False
) -> list[Holds]:
    """Return what may say if a value is as claimed by a label that is no list; empty if none.

    A label that is a value of the column claims it; in a list (`apart`) any value does.
    """
    at = spelling.key(label)
    if label and (at in known or (apart and not isinstance(at, str))):
        return [lambda value: spelling.key(value) == at]
    if not spelling.measured and (mask := _MASK.fullmatch(label)) is not None:
        return [lambda value: value.startswith(mask[1])]
    if not spelling.measured and (ways := _of_times(label)):
        return [partial(_in_minutes, way) for way in ways]
    starred = "*" in label and not spelling.measured  # which digits are left out is open
    every = [spelling.kind] if spelling.measured else list(KINDS) * (not starred)
    for kind in (name for name in every if KINDS[name].read is not None):
        own = Spelling(kind=kind, neutralised=False)
        if ways := ranges_of(label, own):
            return [partial(_is_inside, own, way) for way in ways]
    if spelling.measured:
        return []
    if (filled := _FILLED.fullmatch(label)) is not None:
        return [lambda value: value.startswith(filled[1]) or None]
    if (codes := _CODES.search(label)) is not None:
        low, high = codes[1] + codes[2], (codes[3] or codes[1]) + codes[4]
        if len(low) == len(high):
            return [lambda value: low <= value[: len(low)] <= high or None]
    beginning = len(label) > 1 and any(map(str.isdigit, label)) and not apart
    return [lambda value: value.startswith(label) or None] if beginning else []


def _of_times(label: str) -> list[Inside]:
    """Return the claims of a label about times of day; of 22:00-06:00 they lie around midnight."""
    day = _AM_PM.sub(lambda m: f"{int(m[1]) % 12 + 12 * (m[3] in 'pP')}{m[2] or ':00'}", label)
    clock = _CLOCK.sub(r"\1:00", day)
    low, high = (
        map(_minutes, found.groups()) if (found := _NIGHT.fullmatch(clock)) else (None, None)
    )
    if low and high and low > high:
        return [lambda at: not high[0] < at < low[0]]
    return meanings(clock, _minutes)


def _minutes(text: str) -> tuple[Exact, Exact] | None:
    found = re.fullmatch(r"(\d{1,2}):([0-5]\d)(:[0-5]\d)?", text.strip())
    at = int(found[1]) * 60 + int(found[2]) if found else -1
    return (at, at) if 0 <= at <= 1440 else None


def _in_minutes(inside: Inside, value: str) -> bool | None:
    at = _minutes(value)
    return None if at is None else inside(at[0])


def ranges_of(label: str, spelling: Spelling) -> list[Inside]:
    """Return what may say whether a measured value is in a label's range, most likely first."""
    ways = meanings(label, partial(_ends, spelling))
    stated = spelling.rules.stated(label)
    if not ways and stated is not None:
        return [lambda v: stated[0] <= v <= stated[1]]
    return ways


def _ends(spelling: Spelling, text: str) -> tuple[Exact, Exact] | None:
    """Return the least and the greatest value that one end of a range represents."""
    key = spelling.key(text.strip())
    if not isinstance(key, str):
        return Fraction(key), Fraction(key)
    stated = spelling.rules.stated(text.strip())
    return None if stated is None else (Fraction(stated[0]), Fraction(stated[1]))


def _is_inside(spelling: Spelling, inside: Inside, value: str) -> bool | None:
    key = spelling.key(value)
    return None if isinstance(key, str) else inside(Fraction(key))
