"""How the recipe says that a table is read, and how its columns write dates and numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, cast

import numpy as np

from anon_core.base.errors import BadInput
from anon_core.verification.recipe import as_table, demand, is_whole
from anon_core.verification.text.cells import Cells, TextTable
from anon_core.verification.text.kinds import day_of, instant_of, local_of
from anon_core.verification.text.texts import MISSING_TOKENS

# How the recipe says that a table is read, as the second computation understands it.


@dataclass(frozen=True, kw_only=True)
class Reading:
    """How a data file is read; empty and 0 where it is to be found out.

    Attributes
    ----------
    sheet : str
        Of a workbook.
    header_row : int
        Row of a sheet that holds the names, from 1.
    labels : bool
        Whether values that all have labels are read as these.
    dates, decimals : mapping of str to str
        By column, the order of day and month, and the mark before decimals.
    missing : tuple of str
        Texts that stand for a missing value.
    missing_in : mapping of str to tuple of str
        The same by column, where the recipe says other ones for it.
    go_on : callable
        Asked before each read of a file on this machine; may raise to end it.
    """

    separator: str = ""
    encoding: str = ""
    sheet: str = ""
    header_row: int = 0
    labels: bool = True
    dates: Mapping[str, str] = field(default_factory=dict[str, str])
    decimals: Mapping[str, str] = field(default_factory=dict[str, str])
    missing: tuple[str, ...] = MISSING_TOKENS
    missing_in: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    go_on: Callable[[], object] = field(default=bool, compare=False)

    def missing_of(self, column: str) -> tuple[str, ...]:
        """Return the texts that stand for a missing value in a column."""
        return self.missing_in.get(column, self.missing)


def read_options(data: Mapping[str, Any]) -> Reading:
    """Return how a recipe's ``[data]`` has a table read.

    Raises
    ------
    BadPlan
        If something in it cannot be understood.
    """
    separator, encoding = data.get("separator", ""), data.get("encoding", "")
    sheet, row = data.get("sheet", ""), data.get("header_row", 0)
    shown, correct = data.get("value_labels", "labels"), "Correct [data]."
    one = isinstance(separator, str) and len(separator) <= 1 and separator not in ('"', "\r", "\n")
    demand(one, "The recipe's separator is not one character.", correct)
    named = isinstance(encoding, str) and "\0" not in encoding
    demand(named, "The recipe's encoding is not a name.", correct)
    demand(isinstance(sheet, str), "The recipe's sheet is not a name.", correct)
    demand(is_whole(row), "The recipe's header_row is not a row number.", correct)
    what = "The recipe's value_labels is neither 'labels' nor 'codes'."
    demand(shown in ("labels", "codes"), what, correct)
    return Reading(
        separator=separator,
        encoding=encoding,
        sheet=sheet,
        header_row=row,
        labels=shown == "labels",
        dates=_by_column(data, "dates", ("dmy", "mdy", "excel", "text")),
        decimals=_by_column(data, "decimals", (",", ".", "text")),
        missing=_texts(data.get("missing_values", MISSING_TOKENS)),
        missing_in={name: _texts(own) for name, own in as_table(data.get("missing_in")).items()},
    )


def _by_column(data: Mapping[str, Any], key: str, known: tuple[str, ...]) -> Mapping[str, str]:
    given = data.get(key, {})
    kept = isinstance(given, Mapping) and all(value in known for value in given.values())
    demand(kept, f"The recipe's {key} are not said by column.", "Correct [data].")
    return cast(Mapping[str, str], given)


def _texts(given: object) -> tuple[str, ...]:
    """Return texts, and none where they are no list: who reads the recipe refuses that."""
    if isinstance(given, str) or not isinstance(given, Sequence):
        return ()
    return tuple(one for one in cast(Sequence[object], given) if isinstance(one, str))


# How columns write dates and numbers, for the second computation: as found, or as the recipe says.
#
# A column is read again only where the recipe says how, or where all its texts are dates with
# strokes or dashes that one order of day and month alone makes days of.


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
        columns = [(table.column_at(place), table.names[place]) for place in places]
        return [
            _column(cells, name, orders.get(name, ""), marks.get(name, ""), missing(name))
            for cells, name in columns
        ]

    return TextTable(table.names, len(table), load)


def _column(cells: Cells, name: str, order: str, mark: str, tokens: Collection[str]) -> Cells:
    places, tokens = np.flatnonzero(cells.used()[:-1]).tolist(), {"", *map(str.strip, tokens)}
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
        what = f"Column '{name}' is not written as the recipe says."
        raise BadInput(what, remedy="Correct dates or decimals, under [data].")
    return Cells(codes=cells.codes, texts=[read.get(t.strip()) or t for t in cells.texts])


def _day(text: str, order: str) -> str | None:
    try:
        if order == "excel":
            if re.fullmatch("[0-9]{1,7}([.,][0-9]+)?", text) is None:
                return None
            counted = Decimal(text.replace(",", "."))
            days, first = int(counted), datetime(1899, 12, 30)
            seconds = int((counted - days) * 86_400 + Decimal("0.5"))
            then = first + timedelta(days=days, seconds=seconds)
            last = first + timedelta(days=days)
            return None if days < 1 else str(last.date() if text.isdecimal() else then)
        parts = _PARTS.fullmatch(text)
        if parts is None or parts[2] != parts[4]:
            return None
        month, day = (parts[3], parts[1]) if order == "dmy" else (parts[1], parts[3])
        iso = str(date(int(parts[5]), int(month), int(day))) + (parts[6] or "")
    except (ValueError, OverflowError):
        return None
    return iso if any(read(iso) is not None for read in (day_of, local_of, instant_of)) else None


def _bare(text: str) -> str:
    """Return a number's text without its unit, its sign first; any other as it is."""
    unit = ""
    parts = text
    for one in _UNITS:
        if one in parts:
            if unit or parts.count(one) > 1:
                return text
            unit, (before, after) = one, parts.split(one)
            # A unit is at an end of the digits, not among them.
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

    Units are no part of it, a minus may be behind, and accountants write brackets for one.
    """
    text = text.replace("\u2212", "-").replace("\u2013", "-")
    text = _bare("-" + text[1:-1].strip() if text[:1] + text[-1:] == "()" else text)
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
