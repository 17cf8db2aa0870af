"""What a published label claims of the values under it.

A label is taken apart around the values in it: what is before the first, between the two and
behind the last decides what is claimed. Nothing of it is shared with what a run reads.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cache, partial
from itertools import product

from anon_core.verification.text.kinds import KINDS, bare
from anon_core.verification.text.texts import Spelling, level_columns

# The second computation's own way to read a label that states a range, in many tools' forms.


Exact = int | Fraction
#: Least and greatest value of one end of a range; None where it is open.
End = tuple[Exact | None, Exact | None]
#: Reads one end of a range: its least and greatest value.
Read = Callable[[str], "tuple[Exact, Exact] | None"]
#: Says whether a value is inside of what is claimed.
Inside = Callable[[Exact], bool]


def _phrases(text: str) -> frozenset[str]:
    return frozenset(text.split("|"))


_TO = _phrases("-|–|—|‒|−|~|..|...|…|to|through|thru|until|bis|bis zu|à|jusqu'à")
_AND = _phrases("and|und|et")
_FIRST = _phrases("from|von|vom|de|du|age|ages|aged|alter|âge|âges|€|$|£|eur|usd|gbp|chf")
_BOTH = _phrases("between|zwischen|entre")
_BEGUN = re.compile(
    rf"(?i)(?:(?:{'|'.join((_FIRST | _BOTH) - {*'€$£'})})(?![^\W\d_])\s*|[€$£]\s*)+"
)
_BELOW = _phrases(
    "<|less than|fewer than|under|below|unter|weniger als|kleiner als|kleiner|moins de|inférieur à"
    "|lower than|younger than|before|jünger als|vor|plus jeune que|avant"
)
_BELOW_WORDS = "|".join(word for word in sorted(_BELOW) if word != "<")
_AT_MOST = _phrases(
    "<=|=<|≤|⩽|at most|up to|no more than|bis|bis zu|not more than|less than or equal to"
    "|kleiner gleich|höchstens|maximal|au plus|jusqu'à|max|max.|maximum|inférieur ou égal à"
)
_ABOVE = _phrases(
    ">|more than|greater than|over|above|über|mehr als|grösser als|plus de|supérieur à|higher than"
    "|older than|after|älter als|nach|plus âgé que|plus âgée que|après|grösser"
)
_AT_LEAST = _phrases(
    ">=|=>|≥|⩾|at least|from|no less than|ab|mindestens|not less than|greater than or equal to"
    "|grösser gleich|à partir de|au moins|dès|min|min.|since|seit|depuis|minimum"
    "|supérieur ou égal à"
)
_OR_MORE = re.compile(
    r"\+|(?<!\w)(plus|(and|or|und|oder|et|ou) (more|over|older|above|up|greater|higher|mehr|älter"
    r"|darüber|höher|plus âgée?s?|plus|au-delà|au-dessus))(?!\w)"
)
_OR_LESS = re.compile(
    r"(?<!\w)(and|or|und|oder|et|ou) (less|fewer|under|younger|below|lower|weniger|jünger|darunter"
    r"|moins âgée?s?|moins|au-dessous)(?!\w)"
)
#: Words that a value may have with it; with any other word a label is a name.
_UNITS = re.compile(
    r"(?:acre|adult|adulte|age|année|bed|beschäftigt|besuch|bett|cas|cent|day|dollar|einwohner"
    r"|employee|enfant|erwachsen|euro|franc|habitant|haushalt|heure|hour|household|inch|inhabitant"
    r"|item|jahr|jour|jährig|kinder|lebensjahr|lit|mile|minut|mitarbeiter|monat|month|ménage|person"
    r"|personne|piece|pièce|point|pound|punkt|room|row|salarié|second|sekund|semaine|stund|tag"
    r"|tonne|ton|unit|visit|visite|week|woch|year|zimmer|âgé)(?:e?[ns]|e|innen)?|a|alt|an|annually"
    r"|ans|bpm|brutto|c|cal|child|children|chf|cl|cm|czk|db|dkk|dl|eur|f|feet|fois|franken|ft|fälle"
    r"|g|gbp|gross|h|ha|hpa|hr|hrs|huf|hz|ie|iu|j|jpy|jähriger|jährlich|kcal|kg|kj|km|kmh|kw|kwh|l"
    r"|lb|lbs|m|mal|mbar|men|mg|mi|min|mins|ml|mm|mmhg|mmol|mois|mol|monatlich|monthly|mph|ms|mw"
    r"|mwh|net|netto|ng|nok|of|old|oz|p|pa|par|pct|people|per|percent|pln|pour|pp|pro|prozent|qm"
    r"|rappen|räume|révolus|s|sec|sek|sq|sqm|std|stück|t|times|usd|v|w|women|yd|yearly|yen|yo|yr"
    r"|yrs|°c|°f|µg|µm|μg"
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
_UNIT = re.compile(r"([^\W\d_]|[€$£%‰°])\D*")
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
        claim = low and top and _inside(low, True, top, True)
        if claim:
            return [claim]
    text = _BLANKS.sub(lambda m: "".join(c for c in m[0] if c.isdigit()), label.strip())
    text = _core(text.removesuffix(" UTC"))  # the zone of instants, which is that of their values
    if text[:1] == "{" and text[-1:] == "}" and not set(text) & {",", ";", "|"}:
        text = text[1:-1].strip()
    groups = r"(?<![\d.,])\d{1,3}(?:([.,])\d{3})(?:\1\d{3})*(?!\d|\1)"
    whole = re.sub(groups, lambda m: m[0].replace(m[1], ""), text)
    for way in dict.fromkeys((_multiplied(text), _multiplied(whole))):
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
    text = text.translate(str.maketrans("＜＞＝～＋－≦≧\u2010\u2011\u2015\ufe63", "<>=~+-≤≥----"))
    text = re.sub(r"(?i)^(?:min|lowest)\s*(?:[-–—]|\b(?:to|thru)\b)\s*(?=\d)", "≤", text)
    text = re.sub(r"(?i)^(\d\S*?)\s*(?:[-–—]|\b(?:to|thru)\b)\s*(?:max|highest)$", r"≥\1", text)
    text = re.sub(r"(?i)(\d)-\s+(bis|to|à)\b", r"\1 \2", text)
    text = re.sub(r"(?i)(\d)-(?:jährige?[nr]?|year-olds?)\b", r"\1 ", text)
    text = re.sub(r"(?<!\w)([^\W\d_]+)-(?=\d)", r"\1 ", text)  # over-65s, Jan-2020
    text = re.sub(
        r"(?i)\b(bis|to|up to)( and| zu)? "
        r"(?:einschließlich|einschl\.?|inklusive|inkl\.?|including|inclusive)(?!\w)",
        r"\1",
        text,
    )
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
    both = list(_two(text, read))
    if both:
        yield from both
        return
    for before, value, behind in _one_value(text, read):
        lower = before.casefold().replace("er oder gleich", "er gleich")
        first, _, rest = lower.partition(" ")
        if rest and (first[:3] in ("age", "âge", "alt") or (first in _AT_MOST and rest in _BELOW)):
            lower = rest  # bis unter 30, aged over 65
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
                yield _inside(low, low_in, top, top_in)
                return
    for low, middle, top, strict in _pairs(inner, read):
        if middle in _TO:
            if (text[0], text[-1]) == ("(", ")"):
                yield _inside(low, True, top, True)
            else:
                yield _inside(low, low_in, top, top_in and not strict)


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


def _two(text: str, read: Read) -> Iterator[Inside | None]:
    """Yield what labels of two values claim: ``20-29``, ``between 20 and 29``, ``20 ≤ x < 30``."""
    begun, rest = _begun(text)
    joined = _TO | (_AND if begun & _BOTH else set())
    if begun <= _FIRST | _BOTH:
        for low, middle, top, strict in _pairs(rest, read):
            if middle in joined:
                yield _inside(low, True, top, not strict)
    signs = {"<": False, "<=": True, "≤": True}
    for low, middle, top, _ in _pairs(text, read, signs=True):
        found = re.fullmatch(r"(<=|<|≤)[^<>=≤≥]*?(<=|<|≤)", middle)
        if found is not None:
            yield _inside(low, signs[found[1]], top, signs[found[2]])
    first = re.fullmatch(r"[^\W\d]* ?(>=|≥|>) ?(.*)", text)
    if first is not None:
        for low, middle, top, _ in _pairs(first[2], read, signs=True):
            found = re.fullmatch(r"(?:and|und|et|to|bis|à|[,;&–-]) ?[^\W\d]* ?(<=|<|≤)", middle)
            if found is not None:
                yield _inside(low, first[1] != ">", top, signs[found[1]])


def _begun(text: str) -> tuple[set[str], str]:
    """Return the words that a range begins with, and what follows them."""
    begun = found[0] if (found := _BEGUN.match(text)) else ""
    return {*re.findall(r"[^\W\d_]+|[€$£]", begun.casefold())}, text[len(begun) :]


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
        starred = ("*" in text[: found.start()]) != ("*" in text[found.end() :])  # a footnote's
        if low is None or top is None or starred:
            continue
        middle = " ".join(found[0].casefold().split())
        if signs:
            yield low, middle, top, False
            continue
        unit = _WORD_FIRST.match(middle)
        ways = [middle, middle[unit.end() :].strip() if unit and _is_unit(unit[0]) else ""]
        for way, word in product(ways, _TO | _AND):
            rest = way.removeprefix(word).strip()
            if way.startswith(word) and (rest == "" or rest in _BELOW):
                yield low, word, top, rest != ""
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
    words = re.findall(r"°?[^\W\d_]+", text.casefold())
    further = ".." in text or any(sign in text for sign in "+<>=≤≥;,|[]()…–—‒−~-")
    known = all(map(_UNITS.fullmatch, words))
    return _UNIT.fullmatch(text) is not None and known and not further


def _says(words: re.Pattern[str], behind: str) -> bool:
    """Say whether words are behind a value; a unit may be before or behind them."""
    return any(
        _is_unit(behind[: found.start()].strip()) and _is_unit(behind[found.end() :].strip())
        for found in words.finditer(behind)
    )


# The second computation's own reading of what a published label claims of the values under it.


_MASK = re.compile(r"([^\s*]+)\*+")
#: Other marks for what is left out, and a word before; claims only if most values begin so.
_FILLED = re.compile(r"(?:[^\W\d]+\.? )?([^\s*]*?\d)(?:\.?[xX]+|_+|#+|\?+|…|•+|\.{2,}|\*+|\.?-+)")
_CODES = re.compile(
    r"(?<!\w)([A-Z]{0,4})(\d+)([xX*_#•]*)\s*(?:[-–—]|\.\.|to\b|bis\b|à(?= ))"
    r"\s*([A-Z]{1,4})?(\d+)\3(?!\w)"
)
_CLOCK = re.compile(
    r"(?<![\d:])(\d{1,2})(?: ?(?:Uhr|h|heures)(?!\w)|(?=\s*[-–]\s*\d{1,2} ?(?:Uhr|h)(?!\w)))"
)
_AM_PM = re.compile(r"(?<![\d:])(1[0-2]|0?[1-9])(:[0-5]\d)? ?([aApP])(?:[mM]|\.[mM]\.)(?!\w)")
_NIGHT = re.compile(r"(\d{1,2}:\d{2})\s*(?:[-–]|\bto\b|\bbis\b)\s*(\d{1,2}:\d{2})")
_PARTS = re.compile(r",? or | / |, ")
#: Further marks between values of the column, of which a set is claimed if all parts are such.
_LISTED = re.compile(r"\s*[/;|&+]\s*|,\s*(?!\d)|,\s+|,?\s+(?:or|oder|ou|und|and|et)\s+")
_YEARLESS = re.compile(r"\d\. ?[^\W\d]+|[^\W\d]+\.?(?: ?\d\d?)?")
_DENIED = re.compile(
    r"(?i)(?:(?:not|nicht|keine?|non|other than|andere als|autre que)\b[\s-]*|≠|!=|<>)(?=\S)"
)
_LETTERS = re.compile(
    r"\[?([^\W\d_]{1,3})\s*(?:[-–—]|\.\.|\b(?:to|bis|through)\b|\bà\b|(?<=\[.),)\s*([^\W\d_]{1,3})\]?"
)


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
            said = [_true(way, inside, spelling) for way in _readings(label, spelling, known)]
            if False in said and True not in said:
                found.add(label)
    return found


Holds = Callable[[str], bool | None]


def _true(holds: Holds, members: Sequence[str], spelling: Spelling) -> bool | None:
    """Say whether a claim is true of all members; None where it is none among such members."""
    said = [holds(value) for value in members]
    # Among texts a range counts where most are numbers, a name such as "1-2" does not.
    known = [one for one in said if one is not None]
    meant = spelling.measured or len(known) * 2 > len(said)
    return all(said) or (False if meant else None)


def _readings(label: str, spelling: Spelling, known: Collection[object]) -> list[Holds]:
    """Return what may say if a value is as claimed (None where it is no such value at all)."""
    denied = _DENIED.match(label)
    if denied and (said := _one_claim(label[denied.end() :], spelling, known, apart=True)):
        return [lambda value: not said[0](value)]
    inner, found = label, _one_claim(label, spelling, known)
    if label[:1] + label[-1:] in ("{}", "[]", "()"):
        inner = label[1:-1] if ";" in label else re.sub(r",(?=\S)", ", ", label[1:-1])
    whole = spelling.measured and bool(found)  # Q1/2020
    for marks, text in ((_PARTS, label), (_LISTED, inner.strip())):
        texts = [part.strip() for part in marks.split(text)]
        parts = [_one_claim(part, spelling, known, apart=True) for part in texts]
        odd = {key for key in map(spelling.key, texts) if not isinstance(key, str)} - {*known}
        if len(parts) > 1 and all(parts) and not (marks is _LISTED and odd) and not whole:
            found.append(partial(_in_list, label, parts))
    return found


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
    digits = any(map(str.isdigit, label))
    if not spelling.measured and (mask := _MASK.fullmatch(label)) is not None:
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
        return found or _of_every_year(label, spelling)
    if (letters := _LETTERS.fullmatch(label)) and len(letters[1]) == len(letters[2]):
        low, high = (bare(end.casefold()) for end in letters.groups())
        if len(low) == 1 or low[0] == high[0]:
            found.append(lambda value: low <= bare(value.casefold())[: len(low)] <= high or None)
    if (filled := _FILLED.fullmatch(label)) is not None:
        found.append(lambda value: value.startswith(filled[1]) or None)
    found += _codes(label)
    if len(label) > 1 and digits and not apart:
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


def _of_every_year(label: str, spelling: Spelling) -> list[Holds]:
    """Read a period without its year, such as ``Jan-Mar``, in the years around a value."""

    @cache
    def ways(year: int) -> list[Inside]:
        return ranges_of(_YEARLESS.sub(rf"\g<0> {year:04}", label), spelling)

    def holds(value: str) -> bool | None:
        if isinstance(key := spelling.key(value), str):
            return None
        year = int(spelling.rules.write(key)[:4])
        near = range(max(1, year - 1), min(9998, year + 1) + 1)
        return any(way(Fraction(key)) for one in near for way in ways(one))

    label = re.sub(r"\s+(?:to|bis|à)\s+", "-", label)
    dated = spelling.kind == "number" or re.search(r"\d{4}", label) is not None
    return [holds] if not dated and ways(2000) else []


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
