"""How a column writes dates and numbers: 31/12/2026 or 12/31/2026, 1.234,5 or 1,234.5.

The whole column is looked at, not a cell. Where it can be read in one way only, it is read so;
where two ways are left, it stays undecided until someone says which: nothing is released before.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from anon_core.base.errors import BadInput, listing
from anon_core.data.values.moments import as_day, as_instant, as_moment

#: Orders of day and month, by the name that recipes give them.
DATE_ORDERS = {
    "dmy": "day/month/year: 31/12/2026",
    "mdy": "month/day/year: 12/31/2026",
    "excel": "days as Excel counts them: 46387",
    "text": "no dates: leave the texts as they are",
}
#: Marks before decimals, by the name that recipes give them.
DECIMAL_MARKS = {
    ",": "comma before decimals: 1.234,5",
    ".": "point before decimals: 1,234.5",
    "text": "no numbers: leave the texts as they are",
}
#: A date, and perhaps a time of day with what follows it.
_DATE = re.compile(r"(\d{1,2})([/.-])(\d{1,2})\2(\d{4})((?:[Tt]|,?\s+)\d{1,2}:\d{2}.*)?\Z")
_EITHER = re.compile(r"[+-]?[1-9]\d{0,2}([.,])\d{3}\Z")
_COUNTED = re.compile(r"([0-9]{1,7})(?:[.,]([0-9]+))?\Z")
_SIGN_OF_MONEY = "€|\\$|£|¥|CHF|EUR|USD|GBP"
_UNIT = re.compile(
    rf"(?P<sign>[+-]?)\s*(?P<before>{_SIGN_OF_MONEY})?\s*(?P<second>[+-]?)\s*(?P<number>[\d.,].*?)\s*"
    rf"(?P<after>{_SIGN_OF_MONEY}|%)?\s*(?P<behind>-?)\Z"
)
_FIRST_OF_EXCEL = datetime.date(1899, 12, 30)
_LAST_OF_EXCEL = (datetime.date.max - _FIRST_OF_EXCEL).days
_PARTED = (
    r"[+-]?(?:\d+|\d{{1,3}}(?:([{0}'’ \u00a0\u2009\u202f])\d{{3}})(?:\1\d{{3}})*)?(?:{1}\d*)?\Z"
)
_WRITTEN = {
    ",": re.compile(_PARTED.format(".", ",")),
    ".": re.compile(_PARTED.format(",", r"\.")),
}
_BETWEEN = {",": ".'’ \u00a0\u2009\u202f", ".": ",'’ \u00a0\u2009\u202f"}


@dataclass(frozen=True, kw_only=True)
class Notation:
    """What was found of a column's way to write.

    Attributes
    ----------
    texts : mapping of str to str
        Texts that are read as another one, such as 31/12/2026 as 2026-12-31.
    undecided : {'dates', 'decimals', ''}
        What someone has to say before anything is released.
    note : str
        What a person should know of it.
    """

    texts: Mapping[str, str]
    undecided: str = ""
    note: str = ""


NOTHING = Notation(texts={})


def notation(
    name: str, texts: Sequence[str], order: str, mark: str, *, written: bool = True
) -> Notation:
    """Return how a column's distinct, present texts are read.

    Parameters
    ----------
    name : str
        The column's, for messages.
    order, mark : str
        As someone said, of `DATE_ORDERS` and `DECIMAL_MARKS`; empty where no one did.
    written : bool
        Whether numbers were written by someone, not by a program from values that it knew.

    Raises
    ------
    BadInput
        If some text is not written as someone said.
    """
    if order and order != "text":
        return _declared(name, texts, lambda text: _day(text, order), DATE_ORDERS[order])
    if mark and mark != "text":
        _refuse_other_units(name, texts)
        return _declared(name, texts, lambda text: _plain(text, mark), DECIMAL_MARKS[mark])
    if not order and texts and _DATE.match(texts[0]):
        return _found(texts)
    if not mark and written and _doubtful(texts):
        return Notation(
            texts={},
            undecided="decimals",
            note="Ambiguous marks: 1,234 may use the comma for decimals or thousands. Choose one "
            "before running.",
        )
    return NOTHING


def _found(texts: Sequence[str]) -> Notation:
    """Look for the one order of day and month in which all texts are dates."""
    if any("." in text[:5] or not _DATE.match(text) for text in texts):
        return NOTHING  # 31.12.2026 has one order wherever it is written
    days = {order: {text: _day(text, order) for text in texts} for order in ("dmy", "mdy")}
    fits = [order for order, found in days.items() if None not in found.values()]
    if not fits:
        return NOTHING
    if len(fits) == 2 and days["dmy"] != days["mdy"]:
        return Notation(
            texts={},
            undecided="dates",
            note="Ambiguous dates: every value fits both day/month/year and month/day/year. "
            "Choose one before running.",
        )
    read = {text: day for text, day in days[fits[0]].items() if day is not None}
    return Notation(
        texts=read,
        note=f"Read as {DATE_ORDERS[fits[0]].split(':')[0]}, the only order that fits every value, "
        "and published as 2026-12-31.",
    )


def _declared(
    name: str, texts: Sequence[str], read: Callable[[str], str | None], what: str
) -> Notation:
    found = {text: read(text) for text in texts}
    bad = [text for text, value in found.items() if value is None]
    if bad:
        raise BadInput(
            f"Column '{name}' is to be read as {what.replace(': ', ' (for example ')}), but "
            f"{len(bad)} of its {len(texts)} distinct values "
            f"{'is' if len(bad) == 1 else 'are'} not written so.",
            remedy="Choose another way to read it, or add texts that are read as missing.",
            values=bad[:5],
        )
    return Notation(texts={text: value for text, value in found.items() if value is not None})


def _day(text: str, order: str) -> str | None:
    """Return the date that a text writes, as 2026-12-31; None where it writes none."""
    if order == "excel":
        return _of_excel(text)
    found = _DATE.match(text)
    if found is None:
        return None
    first, second = int(found[1]), int(found[3])
    day, month = (first, second) if order == "dmy" else (second, first)
    try:
        written = datetime.date(int(found[4]), month, day).isoformat() + (found[5] or "")
    except ValueError:
        return None
    fits = any(not math.isnan(read(written)) for read in (as_day, as_moment, as_instant))
    return written if fits else None


def _of_excel(text: str) -> str | None:
    """Return a day as Excel counts it; decimals are its time, to the second."""
    found = _COUNTED.match(text)
    if found is None or not 1 <= int(found[1]) <= _LAST_OF_EXCEL:
        return None
    day = _FIRST_OF_EXCEL + datetime.timedelta(int(found[1]))
    if found[2] is None:
        return day.isoformat()
    # Twelve digits: a second is 1.2e-5 of a day.
    second = (int(found[2][:12].ljust(12, "0")) * 86_400 * 2 // 10**12 + 1) // 2
    at = datetime.datetime.combine(day, datetime.time()) + datetime.timedelta(seconds=second)
    return at.isoformat(" ")


def _parted(text: str) -> tuple[str, str, str]:
    """Return sign, number and unit of 16.6%, € 1'200, (350), 350-; a text of two signs as it is."""
    text = text.replace("\u2212", "-").replace("\u2013", "-")
    if text[:1] + text[-1:] == "()":
        text = "-" + text[1:-1].strip()
    found = _UNIT.match(text)
    if found is None:
        return "", text, ""
    signs = found["sign"] + found["second"] + found["behind"]
    units = (found["before"] or "") + (found["after"] or "")
    both = found["before"] is not None and found["after"] is not None
    return ("", text, "") if len(signs) > 1 or both else (signs, found["number"], units)


def _refuse_other_units(name: str, texts: Sequence[str]) -> None:
    """Refuse a column of numbers of several units, such as % and none, or € and $.

    Raises
    ------
    BadInput
    """
    units = {_parted(text)[2] for text in texts}
    if len(units - {""}) > 1 or ("%" in units and len(units) > 1):
        raise BadInput(
            f"Column '{name}' is to be read as numbers, but they have several units "
            f"({listing(sorted(unit or 'none' for unit in units))}).",
            remedy="Write all of them in one unit, or take the column as text: "
            'decimals = "text" for it.',
        )


def _plain(text: str, mark: str) -> str | None:
    """Return a number with a point before decimals and nothing else but its sign, or None.

    A unit goes, 16.6% is 16.6; a minus behind is before: 350- and (350) are -350.
    """
    sign, text, _ = _parted(text)
    text = sign + text
    if not any(map(str.isdigit, text)) or _WRITTEN[mark].match(text) is None:
        return None
    return "".join(c for c in text if c not in _BETWEEN[mark]).replace(",", ".")


def _doubtful(texts: Sequence[str]) -> bool:
    """Say whether every mark in the numbers may be before decimals or between thousands."""
    if "".join(texts).isdecimal():  # no mark at all
        return False
    marks: set[str] = set()
    for text in texts:
        if text.isdecimal():
            if len(text) > 1 and text[0] == "0":  # a code
                return False
            continue
        found = _EITHER.match(text)
        if found is None:
            return False
        marks.add(found[1])
    return len(marks) == 1
