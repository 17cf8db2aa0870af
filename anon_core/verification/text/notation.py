"""How columns write dates and numbers, for the second computation: as found, or as the recipe says.

A column is read anew only where the recipe says how, or where all its texts are dates with strokes
or dashes that one order of day and month alone makes days of.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import MAXYEAR, date, datetime, timedelta
from decimal import Decimal

import numpy as np

from anon_core.base.errors import BadInput
from anon_core.verification.text.cells import Cells, TextTable
from anon_core.verification.text.moments import day_of, instant_of, local_of

_PARTS = re.compile(r"([0-9]{1,2})([-/.])([0-9]{1,2})([-/.])([0-9]{4})((?:[Tt]|,?\s+)\S.*)?")
_UNITS = ("€", "$", "£", "¥", "CHF", "EUR", "USD", "GBP", "%")
_SPACES = " \u00a0\u2009\u202f"


def rewritten(
    table: TextTable,
    orders: Mapping[str, str],
    marks: Mapping[str, str],
    missing: Callable[[str], Collection[str]],
) -> TextTable:
    """Return a table whose dates are written year first and whose numbers are plain.

    A column is looked at when it is first asked for.

    Raises
    ------
    BadInput
        Then, if a text of it is not written as the recipe says.
    """

    def load(places: Sequence[int]) -> list[Cells]:
        table.prefetch([table.names[place] for place in places])
        return [
            _column(
                table.column_at(place),
                name := table.names[place],
                orders.get(name, ""),
                marks.get(name, ""),
                {token.strip() for token in missing(name)} | {""},
            )
            for place in places
        ]

    return TextTable(table.names, len(table), load)


def _column(cells: Cells, name: str, order: str, mark: str, tokens: Collection[str]) -> Cells:
    places = np.flatnonzero(cells.used()[:-1]).tolist()
    texts = {text for place in places if (text := cells.texts[place].strip()) not in tokens}
    likely = _PARTS.fullmatch(next(iter(texts), "")) is not None
    if order in ("dmy", "mdy", "excel"):
        read = {text: _day(text, order) for text in texts}
    elif mark in (",", "."):
        read = {text: _number(text, mark) for text in texts}
    elif order or not likely or any("." in text[:5] for text in texts):
        return cells
    else:
        ways = [{text: _day(text, way) for text in texts} for way in ("dmy", "mdy")]
        ways = [way for way in ways if None not in way.values()]
        if not ways or any(way != ways[0] for way in ways):
            return cells
        read = ways[0]
    if None in read.values():
        raise BadInput(
            f"Column '{name}' is not written as the recipe says.",
            remedy="Correct dates or decimals, under [data].",
        )
    return Cells(codes=cells.codes, texts=[read.get(t.strip()) or t for t in cells.texts])


def _day(text: str, order: str) -> str | None:
    if order == "excel":
        if re.fullmatch("[0-9]{1,7}([.,][0-9]+)?", text) is None:
            return None
        counted = Decimal(text.replace(",", "."))
        days = int(counted)
        if days < 1 or days > (date(MAXYEAR, 12, 31) - date(1899, 12, 30)).days:
            return None
        if text.isdecimal():
            return str(date(1899, 12, 30) + timedelta(days))
        seconds = int((counted - days) * 86_400 + Decimal("0.5"))
        return str(datetime(1899, 12, 30) + timedelta(days=days, seconds=seconds))
    parts = _PARTS.fullmatch(text)
    if parts is None or parts[2] != parts[4]:
        return None
    one, two, year = parts[1], parts[3], parts[5]
    month, day = (two, one) if order == "dmy" else (one, two)
    try:
        told = str(date(int(year), int(month), int(day))) + (parts[6] or "")
    except ValueError:
        return None
    return told if any(read(told) is not None for read in (day_of, local_of, instant_of)) else None


def _bare(text: str) -> str:
    """Return a number's text without its unit, its sign first; any other as it is."""
    unit = ""
    parts = text
    for one in _UNITS:
        if one in parts:
            if unit or parts.count(one) > 1:
                return text
            unit, (before, after) = one, parts.split(one)
            # A unit stands at an end of the digits, not among them.
            if any(map(str.isdigit, before)) and any(map(str.isdigit, after)):
                return text
            if one == "%" and not any(map(str.isdigit, before)):
                return text
            parts = before.strip() + after.strip()
    parts = parts.strip()
    signs = [c for c in parts if c in "+-"]
    if parts[-1:] == "+" or len(signs) > 1 or not {parts[:1], parts[-1:]}.issuperset(signs):
        return text
    return "".join(signs) + parts.strip("+-").strip()


def _number(text: str, mark: str) -> str | None:
    """Return a number's digits with a point before decimals, if it is one with this mark.

    Units are no part of it, and a minus may stand behind.
    """
    text = _bare(text)
    sign, rest = (text[0], text[1:]) if text[:1] in ("+", "-") else ("", text)
    whole, point, decimals = rest.partition(mark)
    for between in "".join({",": ".", ".": ","}[mark]) + "'’" + _SPACES:
        groups = whole.split(between)
        if len(groups) > 1:
            if not 1 <= len(groups[0]) <= 3 or any(len(group) != 3 for group in groups[1:]):
                return None
            whole = "".join(groups)
            break
    digits = whole + decimals
    if re.fullmatch(r"\d+", digits) is None:
        return None
    return sign + whole + ("." if point else "") + decimals
