"""What a published label claims of the values under it.

A label is taken apart around the values in it: what is before the first, between the two and
behind the last decides what is claimed. Nothing of it is shared with what a run reads.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache, partial
from itertools import chain, combinations, product

from anon_core.verification.text.kinds import KINDS, MONTHS, bare, month_range, named
from anon_core.verification.text.texts import Spelling, level_columns

# The second computation's own way to read a label that states a range, in many tools' forms.


Exact = int | Fraction
#: Least and greatest value of one end of a range; None where it is open.
End = tuple[Exact | None, Exact | None]
#: Reads one end of a range: its least and greatest value.
Read = Callable[[str], "tuple[Exact, Exact] | None"]
#: Says whether a value is inside of what is claimed.
Inside = Callable[[Exact], bool]


#: Words before a limit, as signs.
_SAID = {
    "<=": "at most|up to|no more than|bis zu|bis|not more than|less than or equal to|höchstens"
    "|höchst\\.|au plus|maximal|kleiner(?: oder)? gleich|jusqu'à|max(?:imum|\\.)?|<=|=<|≤"
    "|inférieur ou égal à",
    ">=": "at least|from|no less than|ab|mind\\.|mindestens|not less than|greater than or equal to"
    "|grö(?:ß|ss)er(?: oder)? gleich|à partir de|au moins|dès|minimum|min\\.?|since|seit|depuis"
    "|supérieur ou égal à|>=|=>|≥|⩾",
    "<": "less than|fewer than|under|below|unter|weniger als|kleiner als|kleiner|moins de"
    "|inférieur à|lower than|younger than|before|jünger als|vor|plus jeune que|avant|<",
    ">": "more than|greater than|over|above|über|mehr als|grö(?:ß|ss)er als|plus de|supérieur à"
    "|higher than|older than|after|älter als|nach|plus âgée? que|après|grö(?:ß|ss)er|>",
}
_LIMITS = {sign: re.compile(rf"(?i)(?:{words})(?![^\W\d_])\s*") for sign, words in _SAID.items()}
#: What a limit is of: a name before a sign, the word of ages or bis before words.
_LIMITED = re.compile(r"(?i)[^\W\d]+\s*(?=[<>=≤≥⩽⩾])|(?:ages?|aged|alter|âges?|bis)\s+(?=[^\W\d])")
_BEGUN = re.compile(
    r"(?i)(?:(?:from|von|vom|de|du|ages?|aged|alter|âges?|eur|usd|gbp|chf|between|zwischen|entre)"
    r"(?![^\W\d_])\s*|[€$£]\s*)+"
)
_BETWEEN = re.compile(
    r"(?i)\s*(?:\.\.\.?|[…–—‒−~,;&-]|(?<![^\W\d_])(?:to|through|thru|until|bis zu|bis|à|jusqu'à|"
    r"(?P<and>and|und|et|but|aber))(?![^\W\d_]))\s*"
)
_ENDING = re.compile(
    r"(?i)(.+?)\s*(?:\+|\bplus\b|\b(?:and|or|und|oder|et|ou) (?:(?:more|over|older|above|up"
    r"|greater|higher|later|später|mehr|älter|darüber|höher|plus âgée?s?|plus|au-delà|au-dessus)\b"
    r"|(?P<less>(?:less|fewer|earlier|früher|under|younger|below|lower|weniger|jünger|darunter"
    r"|moins âgée?s?|moins|au-dessous)\b)))(\D*)"
)
#: Words that a value may have with it; with any other word a label is a name.
_UNITS = re.compile(
    r"(?:acre|adult|adulte|année|beschäftigt|besuch|bett|cent|day|dollar|einwohner|employee|enfant"
    r"|erwachsen|euro|franc|habitant|haushalt|heure|hour|household|inch|inhabitant|item|jahr|jour"
    r"|jährig|kinder|lebensjahr|mile|minut|mitarbeiter|monat|month|ménage|person|personne|piece"
    r"|pièce|point|pound|punkt|room|salarié|second|sekund|semaine|stund|tonne|unit|visit|visite"
    r"|week|woch|year|zimmer)(?:e?[ns]|e|innen)?|annually|brutto|child|children|feet|franken|fälle"
    r"|gross|jähriger|jährlich|mbar|mmhg|mmol|monatlich|monthly|netto|people|percent|prozent|rappen"
    r"|(?!(?:and|und|et|ou|or|to|bis|à|de|von|vom|du|ab|dès|vor)\Z)[^\W\d_]{1,3}|räume|révolus"
    r"|stück|women|yearly|°[cf]"
)
#: Words that multiply the number before them: powers of ten.
_POWERS = {"k": 3, "tsd": 3, "tausend": 3, "thousand": 3, "mille": 3, "millier": 3, "t": 3} | {
    **dict.fromkeys(("mio", "million", "millionen", "mln", "m"), 6),
    **dict.fromkeys(("mrd", "milliarde", "milliarden", "milliard", "billion", "bn"), 9),
}
_POWER = re.compile(
    r"(?i)(\d(?:[\d.,]*\d)?)(?: ?(k|tsd\.?|tausend|thousand|mille|milliers?|t(?=€|eur)"
    r"|m(?:io|ln)\.?|million(?:s|en)?|(?-i:M)|mrd\.?|milliarden?|milliards?|billions?|bn)"
    r"(?=€|eur|chf|usd|\W|$))?"
)
_PLAIN = re.compile(r"([0-9]+) ?[-–] ?([0-9]+)")
_OPENING, _CLOSING = {"[": True, "(": False, "]": False}, {"]": True, ")": False, "[": False}
_ENDLESS = {"": None, "∞": 1, "inf": 1, "+∞": 1, "+inf": 1, "infinity": 1, "-∞": -1, "-inf": -1}
_BLANKS = re.compile(r"(?<![0-9])[0-9]{1,3}([ '’\u00a0\u202f\u2009][0-9]{3})+(?![0-9])")


def meanings(label: str, read: Read) -> list[Inside]:
    """Return the claims that a label may make, most likely first; empty if it makes none."""
    found: list[Inside] = []
    if plain := _PLAIN.fullmatch(label):  # what most labels are
        low, top = read(plain[1]), read(plain[2])
        claim = low and top and _inside(low, True, top, True)
        if claim:
            return [claim]
    text = _BLANKS.sub(lambda m: "".join(c for c in m[0] if c.isdigit()), label.strip())
    text = _core(text.removesuffix(" UTC"))  # the zone of instants, which is that of their values
    if text[:1] == "{" and text[-1:] == "}" and not set(text) & {",", ";", "|"}:
        text = text[1:-1].strip()
    groups = r"(?<![\d.,])\d{1,3}(?:([.,])\d{3})(?:\1\d{3})*(?!\d|\1)"
    whole = re.sub(groups, lambda m: m[0].replace(m[1], ""), text)
    large = re.sub(r"(?<=\d)m(?!\w)", "M", whole)  # metres, minutes and months, or millions
    tons = re.sub(r"(?<=\d)T(?!\w)", "k", whole)
    for way in dict.fromkeys(map(_multiplied, (text, whole, large, tons))):
        claims = list(_claims(way, read))
        if len(claims) == 1 and claims[0] is not None:
            found.append(claims[0])
    return found


def _multiplied(text: str) -> str:
    """Return a label with 50k as 50000; the last word counts for a range's other end too."""
    found = _POWER.findall(text)
    powers = [_POWERS.get(word.casefold().rstrip(".s"), 0) for _, word in found]
    if not any(powers) or any(number.count(".") + number.count(",") > 1 for number, _ in found):
        return text
    shared, each = powers[-1] if sum(map(bool, powers)) == 1 else 0, iter(powers)
    plain = (Decimal(number.replace(",", ".")) for number, _ in found)
    return _POWER.sub(lambda _: f"{next(plain).scaleb(next(each) or shared):f}", text)


def _core(text: str) -> str:
    """Return the part of a label that states a range, in plain signs and without compounds."""
    text = text.translate(str.maketrans("⩽＜＞＝～＋－≦≧\u2010\u2011\u2015\ufe63", "≤<>=~+-≤≥----"))
    text = re.sub(r"^(\w+)\.?(\s*(?:[-–—]|to|bis|à)\s*[^\W\d]\w*\.?,? (\d{4}))$", r"\1 \3\2", text)
    text = re.sub(r"^(\d+)(\s*\D{1,3}\s*)(\d+)([*xX#_•]{2,})$", r"\1\4\2\3\4", text)  # 80-89**
    text = re.sub(r"(?i)^(?:min|lowest)\s*(?:[-–—]|\b(?:to|thru)\b)\s*(?=\d)", "≤", text)
    text = re.sub(r"(?i)^(\d\S*?)\s*(?:[-–—]|\b(?:to|thru)\b)\s*(?:max|highest)$", r"≥\1", text)
    text = re.sub(r"(?i)\bb(?:is|\.)\s*u\.\s*(?=\d)", "bis unter ", text)
    text = re.sub(r"(?i)\s*(?:\b[uo]\.|&)\s*(?=[^\W\d])", " und ", text)
    text = re.sub(r"(?<= und )[mä]\.", "mehr", text)
    text = re.sub(r"(?i)(\d)-\s+(bis|to|à)\b", r"\1 \2", text)
    text = re.sub(r"(?i)(\d)-(?:jährige?[nr]?|year-olds?)\b", r"\1 ", text)
    text = re.sub(r"(?<!\w)([^\W\d_]+)-(?=\d)", r"\1 ", text)  # over-65s, Jan-2020
    included = r"(?:einschließlich|einschl\.?|inklusive|inkl\.?|including|inclusive)(?!\w)"
    text = re.sub(rf"(?i)\b(bis|to|up to)( and| zu)? {included}", r"\1", text)
    leaves_out = r"ex|ohne|without|sans|\bnot?\b|nicht|außer"  # and so is no note
    text = re.sub(rf"(?i)(?<=\d)\s*\((?![^()]*(?:{leaves_out}))[^()\d]*\)$", "", text)
    named = r"[^\W\d_]+\s*(?:[:=]\s*([\d<>≤≥\[\]+−-].*)|\(([^()]*\d[^()]*)\))"
    inside = re.fullmatch(named, text)
    return text if inside is None else inside[1] or inside[2]


def _claims(text: str, read: Read) -> Iterator[Inside | None]:
    """Yield what a label claims; more than one means that it can be parted in several ways."""
    if text[:1] in _OPENING and text[-1:] in _CLOSING and len(text) > 2:
        yield from _bracketed(text, read)
        return
    chain = re.fullmatch(r"([^<>≤≥=]+?)\s*(<=?|≤)[^\d<>=≤≥]*(<=?|≤)\s*(.+)", text)
    ends = chain and (_plain(chain[1], read), _plain(chain[4], read))
    if chain and ends and ends[0] and ends[1]:
        yield _inside(ends[0], chain[2] != "<", ends[1], chain[3] != "<")
        return
    both = list(_two(text, read))
    yield from both
    (sign, rest), ending = _limit(text), _ENDING.fullmatch(text)
    if both:
        return
    if sign and (value := _plain(rest, read)):
        low, top = (value, (None, None)) if sign[0] == ">" else ((None, None), value)
        yield _inside(low, sign == ">=", top, sign == "<=")
    elif ending and _is_unit(ending[3].strip()) and (value := _plain(ending[1], read)):
        low, top = ((None, None), value) if ending["less"] else (value, (None, None))
        yield _inside(low, True, top, True)


def _limit(text: str) -> tuple[str, str]:
    """Return the sign of a limit that a text begins with, empty if there is none, and the rest."""
    for begun in (found.end() if (found := _LIMITED.match(text)) else 0, 0):
        for sign, words in _LIMITS.items():
            if limit := words.match(text, begun):
                return sign, text[limit.end() :]
    return "", text


def _two(
    text: str, read: Read, low_in: bool = True, top_in: bool = True
) -> Iterator[Inside | None]:
    """Yield what labels of two values claim, parted anywhere: ``20-29``, ``ab 20 bis unter 30``."""
    both = re.match(r"(?i).*\b(?:between|zwischen|entre)\b", text)
    for found in _BETWEEN.finditer(text):
        left, right = text[: found.start()], text[found.end() :]
        (lower, begun), (upper, rest) = _limit(left), _limit(right)
        low, top = _plain(begun, read), _plain(rest, read)
        listed = found["and"] or found[0].strip() in {",", ";", "&"}
        joined = bool(both and found["and"]) or (upper[:1] == "<" and (lower or found["and"]))
        starred = ("*" in left) != ("*" in right)  # a footnote's
        if not low or not top or starred or lower[:1] == "<" or upper[:1] == ">":
            continue
        if joined or not listed:
            yield _inside(low, low_in and lower != ">", top, top_in and upper != "<")


def _bracketed(text: str, read: Read) -> Iterator[Inside | None]:
    low_in, top_in, inner = _OPENING[text[0]], _CLOSING[text[-1]], text[1:-1]
    for mark in (";", "|", ", ", ","):
        ends = [end.strip() for end in inner.split(mark)]
        if len(ends) == 2:
            low, top = _end(ends[0], read, -1), _end(ends[1], read, 1)
            if low is not None and top is not None:
                yield _inside(low, low_in, top, top_in)
                return
    round_ones = text[0] + text[-1] == "()"
    yield from _two(inner, read, low_in or round_ones, top_in or round_ones)


def _end(text: str, read: Read, side: int) -> End | None:
    """Return an end of a bracketed range, (None, None) for one without limit; None for no end."""
    sign = _ENDLESS.get(text.casefold(), 0)
    if sign is None or sign == side:
        return None, None
    return _plain(text, read)


def _inside(low: End, low_in: bool, top: End, top_in: bool) -> Inside | None:
    """Return what lies between two ends; an end that is left out leaves all of its period out.

    Ends with nothing between them claim nothing.
    """
    (least, after), (before, most) = low, top
    empty = least is not None and most is not None and least > most
    if empty or (least is not None and least == most and not (low_in and top_in)):
        return None

    def inside(value: Exact) -> bool:
        above = least is None or (value >= least if low_in else after is None or value > after)
        below = most is None or (value <= most if top_in else before is None or value < before)
        return above and below

    return inside


def _plain(text: str, read: Read) -> tuple[Exact, Exact] | None:
    """Read a value, without a unit behind it or a currency before it."""
    text = text.strip()
    value = read(text) if text else None
    if value is not None:
        return value
    text = text[found.end() if (found := _BEGUN.match(text)) else 0 :]
    last = max((i for i, c in enumerate(text) if c.isdecimal()), default=-1) + 1
    return read(text[:last].strip()) if last and _is_unit(text[last:].strip()) else None


def _is_unit(text: str) -> bool:
    """Say whether a text behind a value is nothing, or a unit and no further word of a range."""
    if not text:
        return True
    words = re.findall(r"°?[^\W\d_]+", text.casefold())
    further = ".." in text or any(sign in text for sign in "+<>=≤≥;,|[]()…–—‒−~-")
    known = all(map(_UNITS.fullmatch, words))
    return re.fullmatch(r"([^\W\d_]|[€$£%‰°])\D*", text) is not None and known and not further


# The second computation's own reading of what a published label claims of the values under it.


#: Other marks for what is left out, and a word before; claims only if most values begin so.
_FILLED = re.compile(r"(?:[^\W\d]+\.? )?([^\s*]*?\d)(?:\.?[xX]+|_+|#+|\?+|…|•+|\.{2,}|\*+|\.?-+)")
_CODES = re.compile(
    r"(?<!\w)([A-Z]{0,4})(\d+)([xX*_#•]*)\s*(?:[-–—]|\.\.|to\b|bis\b|à(?= ))"
    r"\s*([A-Z]{1,4})?(\d+[A-Z]?)(?:\3|[xX*_#•]{2,})(?!\w)"
)
_CLOCK = re.compile(
    r"(?<![\d:])(\d{1,2})(?: ?(?:Uhr|h|heures)(?!\w)|(?=\s*[-–]\s*\d{1,2} ?(?:Uhr|h)(?!\w)))"
)
_AM_PM = re.compile(r"(?<![\d:])(1[0-2]|0?[1-9])(:[0-5]\d)? ?([aApP])(?:[mM]|\.[mM]\.)(?!\w)")
_PARTS = re.compile(r",? or | / |, ")
#: Further marks between values of the column, of which a set is claimed if all parts are such.
_LISTED = re.compile(r"\s*[/;|&+]\s*|,\s*(?!\d)|,\s+|,?\s+(?:or|oder|ou|und|and|et)\s+")
_DENIED = re.compile(
    r"(?i)(?:(?:not|nicht|keine?|non|other than|andere als|autre que)\b[\s-]*|≠|!=|<>)(?=\S)"
)
_WEEKDAYS = (
    *("monday montag lundi mo", "tuesday dienstag mardi di", "wednesday mittwoch mercredi mi"),
    *("thursday donnerstag jeudi do", "friday freitag vendredi fr"),
    *("saturday samstag sonnabend samedi sa", "sunday sonntag dimanche so"),
)
#: What several days of a week are called, with the first and the last of the days they may mean.
_WEEKS = (
    (r"week-?ends?|wochenenden?", (5, 7)),
    (r"(?:week|business) ?days?|(?:wochen|arbeits)tage?|jours (?:ouvrés|de semaine)", (0, 5)),
    (r"work(?:ing)? ?days?|werktage?|jours ouvrables", (0, 5), (0, 6)),
)
#: From winter on: names, first and last day in the north by any source, as month and day.
_SEASONS = (
    ("winter hiver invierno inverno", 1201, 321),
    ("spring springtime frühling frühjahr printemps primavera lente voorjaar", 301, 622),
    ("summer summertime sommer été verano estate zomer", 601, 924),
    ("autumn fall herbst automne otoño autunno herfst", 901, 1223),
)
_SEASON = re.compile(r"([^\W\d]+)(?:[ ,-]+(\d{4})(?:[/–-](\d{2}|\d{4}))?)?|(\d{4})[ -]+([^\W\d]+)")
_TIMES = re.compile(
    r"(?i)week|woche|semaine|jahr|year|année|monat|month|quart|semest|trimest|decade|décennie|siècle"
    rf"|century|(?<!\w)(?:{'|'.join(' '.join(one[0] for one in _SEASONS).split())})"
)
#: Words that name the days of a range; others may change what it says, if they are no limit too.
_DAYS_OF = re.compile(r"(?i)the|years?|jahre?|années?|jahrgang|jg|geb|born|month|monat")
_TURNS = re.compile(
    r"(?i)not?|non|nicht|kein\w*|ohne|without|sans|sauf|hors|ex[ck]\w*|außer|outside|other|up|von|de|o"
    r"|more|mehr|less|plus|moins|than|als|que|oder|early|late|menos|más|a(?:bou|roun)[td]|circa|ca|etwa"
)
_NUMBER = Spelling(kind="number", neutralised=False)
_DAY = re.compile(r"\d{1,4}[./-]\d{1,2}[./-]\d{1,4}")
_NAMES = (MONTHS, _WEEKDAYS)
_ENDS = re.compile(r"\s*(?:[-–—/]|\.\.|…|\b(?:to|bis|through|thru|till|until)\b|\bà\b)\s*")
_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen",
    "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn"
    " sechzehn siebzehn achtzehn neunzehn",
    "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize"
    " dix-sept dix-huit dix-neuf",
)
_TENS = (
    "twenty thirty forty fifty sixty seventy eighty ninety",
    "zwanzig dreissig vierzig fünfzig sechzig siebzig achtzig neunzig",
    "vingt trente quarante cinquante soixante",
)
_ONE = {word: n for line in _ONES for n, word in enumerate(line.split())}
_TEN = {word: 10 * n for line in _TENS for n, word in enumerate(line.split(), start=2)}
_HUNDREDS = ("a hundred", "one hundred", "hundred", "einhundert", "hundert", "cent")
_FOURSCORE = {"quatre-vingt": 80, "quatre vingt": 80, "und": 0, "ein": 1}
_AMOUNTS = _ONE | _TEN | _FOURSCORE | dict.fromkeys(_HUNDREDS, 100)
_ATOM = re.compile("|".join(sorted(_AMOUNTS, key=len, reverse=True)))
_ONE_OF = "|".join(sorted(_ONE, key=len, reverse=True))
_TEN_OF = "quatre[- ]vingt|" + "|".join(_TEN).replace("dreissig", "drei(?:ß|ss)ig")
_SPELLED = re.compile(
    rf"(?i)(?<![^\W_])(?<!\d )(?:(?:(?:{_ONE_OF}|ein)und)?(?:{_TEN_OF})(?:[ -](?:{_ONE_OF})|"
    rf"(?: et |-et-)(?:un|onze))?(s)?|{'|'.join(_HUNDREDS)}|{_ONE_OF})(?![^\W_])"
)
_ROMAN_ONES = ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX")
_ROMANS = {f"{'X' * (n // 10)}{_ROMAN_ONES[n % 10]}": n for n in range(1, 40)}
_SEVERAL = re.compile(r"\d+(?:(?:, ?|,? (?:and|or|und|oder|et|ou) | ?[/&+] ?)\d+)*")
_SINGLE = re.compile(r"\d+(?:[.,]\d+)?")
_NUMBERED = re.compile(
    r"N(?:\s*(?:[-–,/&+]|to|bis|à|and|or|und|oder|et|ou)\s*N)*".replace("N", _SINGLE.pattern)
)
_LETTERS = re.compile(
    r"\[?([^\W\d_]{1,3})\s*(?:[-–—]|\.\.|\b(?:to|bis|through)\b|\bà\b|(?<=\[.),)\s*([^\W\d_]{1,3})\]?"
)


def untrue(levels: Sequence[Sequence[str]], spelling: Spelling, texts: Collection[str]) -> set[str]:
    """Return those published texts that are labels and claim what not all of their values are.

    Examples
    --------
    >>> rows = [["01090", "0109*", "*"], ["02625", "0109*", "*"]]
    >>> untrue(rows, Spelling(kind="text", neutralised=False), ["0109*", "*"])
    {'0109*'}
    """
    return false_and_unread(levels, spelling, texts)[0]


def false_and_unread(
    levels: Sequence[Sequence[str]], spelling: Spelling, texts: Collection[str]
) -> tuple[set[str], set[str]]:
    """Return the published labels that are false, and those that no one can check.

    These hold figures or words of time, claim nothing that is read, and are no label of all values.

    Examples
    --------
    >>> rows = [["20", "g0", "*"], ["30", "g1", "*"]]
    >>> false_and_unread(rows, Spelling(kind="number", neutralised=False), ["g0", "*"])
    (set(), {'g0'})
    """
    false: set[str] = set()
    unread: set[str] = set()
    values, *above = level_columns(levels) or [[]]
    known: set[object] = {spelling.key(value) for value in values if value}
    if not spelling.measured:
        known |= {(value.casefold(),) for value in values}
    place = {} if spelling.measured else {value: line for line, value in enumerate(values)}
    shown = set(texts) - {""} if spelling.measured else set(texts) - {*values, ""}
    for number, level in enumerate(above, start=1):
        if shown.isdisjoint(level):
            continue
        members: dict[str, list[str]] = {}
        for value, label in zip(values, level, strict=True):
            if value and label in shown:
                members.setdefault(label, []).append(value)
        top = number == len(above) and len({*level}) == 1
        for label, inside in members.items():
            ways = [*_of_lines(label, place, inside), *_readings(label, spelling, known, inside)]
            said = [_true(way, inside, spelling) for way in ways]
            if False in said and True not in said:
                false.add(label)
            if not top and {*said} <= {None} and _asks(label, spelling, inside):
                unread |= {label} if not _is_named(label, spelling, known, inside) else set()
    return false, unread


def _of_lines(label: str, place: Mapping[str, int], members: Collection[str]) -> Iterator[Holds]:
    """Yield what ``X to Y`` says by the lines of its ends, and ``X and 3 more`` of its members."""
    low, top = (place.get(end) for end in (*label.split(" to "), "", "")[:2])
    if low is not None and top is not None:
        yield lambda value: low <= place[value] <= top
    if (more := re.fullmatch(r"(.+) and \d+ more", label)) and more[1] in place:
        yield lambda _: more[1] in members


def _asks(label: str, spelling: Spelling, members: Sequence[str]) -> bool:
    """Say whether a label may state a number or a time; a group's number says nothing."""
    numbered = re.fullmatch(r"(?i)(?:group|gruppe|groupe|cluster) \d+(?:\.\d+)*", label)
    if numbered or (not spelling.measured and all(value.startswith(label) for value in members)):
        return False
    words = re.findall(r"[^\W\d_]+", label.casefold())
    timed = _TIMES.search(label) or any(named(w, n) is not None for w in words for n in _NAMES)
    counted = _SPELLED.search(label)
    if any(map(str.isdigit, label)):
        own, likely = _figures(label), _most(lambda v: v[:1].isdigit() or _numbers_in(v), members)
        have = [*filter(None, map(_figures, members))]
        listed = own <= {*chain(*have)} and not any(map(own.isdisjoint, have))  # Grades 11 and 12
        lack = likely and not listed and not all(map(own.issubset, have))
        return spelling.measured or lack
    if spelling.measured:
        return bool(counted if spelling.rules.averaged else timed)
    return bool((counted and _most(_numbers_in, members)) or (timed and _most(_DAY.match, members)))


def _is_named(label: str, form: Spelling, known: Collection[object], own: list[str]) -> bool:
    """Say whether all values are in a range, or have a code, that words around it name."""
    days = form.measured and not form.rules.averaged
    words = re.sub(r"\(([^()]*\d[^()]*)\)$|(?<!\S)(?:\w[:)]|-)(?!\S)", r"\1", label).split()[:9]
    for first, last in combinations(range(len(words) + 1), 2):
        core, rest = " ".join(words[first:last]).strip(",:"), words[:first] + words[last:]
        around = re.findall(r"[^\s(),.:-]+", " ".join(rest))
        alone = form.measured and not isinstance(form.key(core), str)
        odd = (one for one in around if not (_DAYS_OF.fullmatch(one) if days else _is_name(one)))
        if any(odd) or (alone and not label.startswith(core)):
            continue
        ways = _readings(core, form, known, own) if form.measured or core[1:] else []
        if not form.measured:
            ways += [partial(_in_band, way) for way in ranges_of(core, _NUMBER)]
            ways += [re.compile(rf"{re.escape(core)}\d\d").match] * (label[:1] == core)
        if any(all(map(way, own)) for way in ways):
            return True
    return False


def _is_name(text: str) -> bool:
    turned = _TURNS.fullmatch(text) or _BETWEEN.fullmatch(text) or _limit(text)[0]
    return text.isalpha() and not turned


def _in_band(way: Inside, value: str) -> bool:
    """Say whether a range holds what another, or a number, holds of its ends and of far ones."""
    ends = [*(Fraction(n.replace(",", ".")) for n in _SINGLE.findall(value)), 10**15, -(10**15)]
    held = [[*filter(own, ends)] for own in ranges_of(value, _NUMBER) or [ends[0].__eq__]]
    return any(some and all(map(way, some)) for some in held)


def _figures(text: str) -> set[str]:
    return {found.lstrip("0") for found in re.findall(r"\d+", text)}


Holds = Callable[[str], bool | None]


def _most(holds: Callable[[str], object], members: Sequence[str]) -> bool:
    return sum(map(bool, map(holds, members))) * 2 > len(members)


def _true(holds: Holds, members: Sequence[str], spelling: Spelling) -> bool | None:
    """Say whether a claim is true of all members; None where it is none among such members."""
    said = [holds(value) for value in members]
    # Among texts a range counts where most are numbers, a name such as "1-2" does not.
    known = [one for one in said if one is not None]
    meant = spelling.measured or len(known) * 2 > len(said)
    return all(said) or (False if meant else None)


def _readings(
    label: str, spelling: Spelling, known: Collection[object], members: Sequence[str]
) -> list[Holds]:
    """Return what may say if a value is as claimed (None where it is no such value at all)."""
    denied = _DENIED.match(label)
    if denied and (said := _one_claim(label[denied.end() :], spelling, known, apart=True)):
        return [lambda value: not said[0](value)]
    inner, found = label, _one_claim(label, spelling, known)
    if label[:1] + label[-1:] in ("{}", "[]", "()"):
        inner = label[1:-1] if ";" in label else re.sub(r",(?=\S)", ", ", label[1:-1])
    whole = any(_true(way, members, spelling) is not None for way in found)  # Q1/2020
    for marks, text in ((_PARTS, label), (_LISTED, inner.strip())):
        texts = [part.strip() for part in marks.split(text)]
        parts = [_one_claim(part, spelling, known, apart=True) for part in texts]
        odd = {key for key in map(spelling.key, texts) if not isinstance(key, str)} - {*known}
        if len(parts) > 1 and all(parts) and not (marks is _LISTED and odd) and not whole:
            found.append(partial(_in_list, label, parts))
    words = [] if found and spelling.measured else [*_of_words(label, spelling, members)]
    return words if words and _in_figures(label) != label else [*found, *words]


def _of_words(label: str, spelling: Spelling, members: Sequence[str]) -> Iterator[Holds]:
    """Yield what a label says that has a word with its range, or over texts with a number each."""
    if spelling.measured and not spelling.rules.averaged:
        return
    numbered = _most(_numbers_in, members)
    worded = re.fullmatch(r"([^\W\d_]+)\.?[ -]?(\d.*)", _in_figures(label))
    if worded and not _TURNS.fullmatch(worded[1]):
        rest = worded[2]
        ways = [*(_of_numbers(rest, names=True) if numbered else ()), *_codes(rest)]
        ways += [partial(_begins, rest)] * (len(rest) > 1 and rest.isalnum())
        yield from (way for way in ways if _most(way, members))
    if not spelling.measured and not label.isdigit() and numbered:
        yield from _of_numbers(label, names=False)
    for names in () if spelling.measured else _NAMES:
        if _most(lambda value, names=names: named(_word(value), names) is not None, members):
            for meant in _of_names(label, names):
                yield lambda value, own=meant, names=names: named(_word(value), names) in own


def _begins(head: str, value: str) -> bool:
    return value.startswith(head)


def _word(value: str) -> str:
    return value.casefold().strip(" .")


def _of_numbers(label: str, *, names: bool) -> list[Holds]:
    """Return what a range or list of numbers says of texts; some may be `names` without figures."""
    text = _in_figures(label)
    ways = meanings(text, partial(_ends, Spelling(kind="number", neutralised=False)))
    if names and _SEVERAL.fullmatch(text) and not ways:
        listed = {*map(Fraction, re.findall(r"\d+", text))}
        ways: list[Inside] = [listed.__contains__]

    def holds(way: Inside, value: str) -> bool:
        own = _numbers_in(value)
        return all(map(way, own)) if own else names and not any(map(str.isdigit, value))

    return [partial(holds, way) for way in ways]


def _numbers_in(value: str) -> list[Fraction]:
    """Return the number, or both ends of a range, of a text with a word: Grade 1, III, 5th-6th."""
    text = re.sub(r"(?<=\d)(?:st|nd|rd|th|er|e|ème|\.)(?!\w)", "", _in_figures(value.strip()))
    text = re.sub(r"^[^\W\d_]+[.:]?[ .:-] ?(?=\d)|(?<=\d) [^\W\d_]+$", "", text)
    form = _NUMBERED if text != value.strip() else _SINGLE  # 63/03/13 is a code
    found = re.findall(_SINGLE, text) if form.fullmatch(text) else []
    return [Fraction(one.replace(",", ".")) for one in found]


@lru_cache(maxsize=10_000)
def _in_figures(text: str) -> str:
    """Return a text with numbers in words and roman digits as figures: ``twenty-one``, ``IV``."""
    if text.isascii() and not any(map(str.isalpha, text)):
        return text
    text = re.sub(r"(?<!\w)[IVX]+(?!\w)", lambda found: str(_ROMANS.get(found[0], found[0])), text)
    text = re.sub(r"(?i)ties(?!\w)", "tys", text)

    def figures(found: re.Match[str]) -> str:
        amounts = map(_AMOUNTS.__getitem__, _ATOM.findall(found[0].casefold()))
        return f"{sum(amounts)}{found[1] or ''}"

    return _SPELLED.sub(figures, text)


def _in_list(label: str, parts: Sequence[Sequence[Holds]], value: str) -> bool:
    """Say whether a list names a value, which may hold a separator itself."""
    end = _PARTS.pattern
    named = re.search(rf"(?:^|{end}){re.escape(value)}(?:{end}|$)", label)
    return named is not None or any(way(value) for ways in parts for way in ways)


def _one_claim(
    label: str, spelling: Spelling, known: Collection[object], *, apart: bool = False
) -> list[Holds]:
    """Return what may say if a value is as claimed by a label that is no list; empty if none.

    A label that is a value of the column claims it; in a list (`apart`) any value does.
    """
    at = spelling.key(label)
    if label and (at in known or (apart and not isinstance(at, str))):
        return [lambda value: spelling.key(value) == at]
    if apart and (label.casefold(),) in known:
        return [lambda value: value.casefold() == label.casefold()]
    digits = any(map(str.isdigit, label))
    if not spelling.measured and (mask := re.fullmatch(r"([^\s*]+)\*+", label)) is not None:
        return [lambda value: value.startswith(mask[1]) or (False if digits else None)]
    if not spelling.measured and (ways := _of_times(label)):
        return [partial(_in_minutes, way) for way in ways]
    starred = "*" in label and not spelling.measured  # which digits are left out is open
    every = [spelling.kind] if spelling.measured else list(KINDS) * (not starred)
    found: list[Holds] = []
    for kind in (name for name in every if KINDS[name].read is not None):
        own = Spelling(kind=kind, neutralised=False)
        found += [partial(_is_inside, own, way) for way in ranges_of(label, own)]
    if spelling.measured:
        return found or [*_of_every_year(label, spelling)]
    if (letters := _LETTERS.fullmatch(label)) and len(letters[1]) == len(letters[2]):
        low, high = (bare(end.casefold()) for end in letters.groups())
        if len(low) == 1 or low[0] == high[0]:
            found.append(lambda value: low <= bare(value.casefold())[: len(low)] <= high or None)
    if (filled := _FILLED.fullmatch(label)) is not None:
        found.append(lambda value: value.startswith(filled[1]) or None)
    found += _codes(label)
    if digits and not apart:
        found.append(lambda value: value.startswith(label) or None)
    return found


def _codes(label: str) -> list[Holds]:
    """Read ``I10-I15``; of bare figures, as in ``80-89``, what longer codes begin with."""
    codes = _CODES.search(label)
    if codes is None or (not codes[1] and codes[0] != label):
        return []
    low, high = codes[1] + codes[2], (codes[4] or codes[1]) + codes[5]
    if len(low) != len(high):
        return []
    longer = 0 if codes[1] else 1
    return [lambda v: (len(v) >= len(low) + longer and low <= v[: len(low)] <= high) or None]


def _of_every_year(label: str, spelling: Spelling) -> Iterator[Holds]:
    """Yield what a label says of days without a year, or of a season that may have one."""
    ways: list[Callable[[date], bool]] = [*_of_seasons(label)]
    if not re.search(r"\d{4}", label):
        ways += [partial(_named, month=True, among=own) for own in _of_names(label, MONTHS)]
        ways += [partial(_named, month=False, among=own) for own in _of_names(label, _WEEKDAYS)]
    if week := re.fullmatch(r"(?i)kw ?(\d\d?)", label):
        ways.append(lambda day: day.isocalendar().week == int(week[1]))
    for way in () if spelling.rules.averaged else ways:

        def holds(value: str, way: Callable[[date], bool] = way) -> bool | None:
            key = spelling.key(value)
            day = None if isinstance(key, str) else spelling.rules.write(key)[:10]
            return None if day is None else way(date.fromisoformat(day))

        yield holds


def _named(day: date, *, month: bool, among: Collection[int]) -> bool:
    return (day.month - 1 if month else day.weekday()) in among


def _of_seasons(label: str) -> Iterator[Callable[[date], bool]]:
    """Yield which days a season may have in the north and the south, if it has no or some year.

    A winter belongs to the year in which it begins or ends, or to both parts of a year.
    """
    found = _SEASON.fullmatch(label.casefold())
    year = int(found[2] or found[4] or 0) if found else 0
    for names, *ends in _SEASONS:
        if not found or (found[1] or found[5]) not in names.split():
            continue
        for turn, years in product((0, 600), ("begun", "ended", "own")[: 1 if found[3] else 3]):
            low, top = ((end + turn - 101) % 1200 + 101 for end in ends)
            if not found[3] or int(found[3]) % 100 == (year + 1) % 100:
                yield partial(_in_season, low, top, year, years)


def _in_season(low: int, top: int, year: int, years: str, day: date) -> bool:
    at, over = day.month * 100 + day.day, low > top
    inside = (at >= low or at <= top) if over else low <= at <= top
    begun = day.year - (over and at <= top)
    return inside and year in (0, {"begun": begun, "ended": begun + over, "own": day.year}[years])


def _of_names(label: str, names: Sequence[str]) -> list[Collection[int]]:
    """Return the sets of days of the week, or of months, that a label may name, counted from 0."""
    plain, months = label.casefold().strip(), names is MONTHS
    for form, *meant in () if months else _WEEKS:
        if re.fullmatch(form, plain):
            return [range(first, last) for first, last in meant]
    if months and not plain.isalpha() and (part := month_range(f"{plain} 2001")):
        return [range(date.fromordinal(part[0]).month - 1, date.fromordinal(part[1]).month)]
    for season, (words, *_) in enumerate(_SEASONS):
        if months and plain in words.split():
            return [{(season * 3 + n + turn) % 12 for n in (11, 12, 13)} for turn in (0, 6)]
    ends = [named(end.strip(" ."), names) for end in _ENDS.split(plain)]
    if len(ends) > 2 or None in ends or (not months and _of_names(label, MONTHS)):
        return []
    first, last = ends[0] or 0, ends[-1] or 0
    return [{(first + n) % len(names) for n in range((last - first) % len(names) + 1)}]


def _of_times(label: str) -> list[Inside]:
    """Return the claims of a label about times of day; of 22:00-06:00 they lie around midnight."""
    day = _AM_PM.sub(lambda m: f"{int(m[1]) % 12 + 12 * (m[3] in 'pP')}{m[2] or ':00'}", label)
    clock = _CLOCK.sub(r"\1:00", day)
    found = re.fullmatch(r"(\d{1,2}:\d{2})\s*(?:[-–]|\bto\b|\bbis\b)\s*(\d{1,2}:\d{2})", clock)
    low, high = map(_minutes, found.groups()) if found else (None, None)
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
    bare = re.sub(r"^([^\W\d_]+),( \d{4})$", r"\1\2", label)  # January, 2020
    label = _in_figures(label) if spelling.rules.averaged else bare
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
    ends = spelling.rules.stated(value) if isinstance(key, str) else (key, key)  # or a period
    return None if ends is None else all(inside(Fraction(end)) for end in ends)
