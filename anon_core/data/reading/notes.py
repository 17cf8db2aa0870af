"""What a person should know about a table that could be read."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from anon_core.base.terms import in_figures
from anon_core.data.column import Column
from anon_core.data.values.kinds import as_number, marks_thousands
from anon_core.data.values.moments import as_day, as_instant, as_moment
from anon_core.data.values.thousands import UNDECIDED

#: A text column of which this share of distinct values are numbers gets a note.
_MOSTLY = 0.8
#: What the row of totals is called that ends, or begins, a table made for reading.
_TOTALS = {
    "all", "gesamt", "gesamtergebnis", "gesamtsumme", "grand total", "insgesamt", "overall", "sum",
    "summe", "total", "totals", "zusammen",
}  # fmt: skip
#: Rows from which on the first or the last one may be a total of the others.
_SUMMED = 3
_THOUSANDS = re.compile(r"\s*[+-]?\d{1,3}(?:([.,' ])\d{3})+(?:(?!\1)[.,]\d*)?\s*\Z")
#: What may be a date, so that others need not be parsed as one, which takes long.
_DATE_LIKE = re.compile(r"\s*(\d{1,2}([-./])\d{1,2}\2\d{4}|\d{4}([-./])\d{1,2}\3\d{1,2})\s*\Z")


def header_notes(names: Sequence[str]) -> tuple[str, ...]:
    """Say what makes the header of a CSV file doubtful."""
    notes: tuple[str, ...] = ()
    if len(names) == 1:
        notes = ("The table has one column; no separator was found in its header.",)
    numeric = [str(i + 1) for i, n in enumerate(names) if not np.isnan(as_number(n))]
    if numeric:
        notes = (
            *notes,
            f"The first line was taken as column names, but the name of column "
            f"{', '.join(numeric[:5])} is a number; check that the file has a header.",
        )
    return notes


def total_row(columns: Sequence[Column]) -> tuple[Column, str, int] | None:
    """Return the first or last row that is called a total: by which column, its text, its number.

    A text that other rows of the column have too is a category, and no row of totals.
    """
    rows = len(columns[0].codes) if columns else 0
    for place in (rows - 1, 0) if rows >= _SUMMED else ():
        for column in columns:
            code = int(column.codes[place])
            text = column.values[code] if code >= 0 else ""
            called = text.strip(" :.").casefold() in _TOTALS
            if called and int(np.count_nonzero(column.codes == code)) == 1:
                return column, text, place + 1
    return None


def with_notes(column: Column, *, declared: bool) -> Column:
    """Note on a column what is missing, constant or mixed in it."""
    notes: tuple[str, ...] = ()
    if not column.values:
        notes = ("Every value is missing.",)
    elif len(column.values) == 1 and not column.missing:
        notes = ("Every row has the same value.",)
    elif column.kind == "text" and not declared:
        notes = _mixed(column)
    return replace(column, notes=(*column.notes, *notes)) if notes else column


def how_to_keep(column: str) -> str:
    """Return what to do where a text that was taken for a missing value is a value."""
    name = json.dumps(column, ensure_ascii=False)
    return (
        "remove it from the texts read as missing, or write in the recipe, under "
        f"[data], missing_in = {{ {name} = [] }}"
    )


def token_notes(column: Column) -> tuple[str, ...]:
    """Say how often texts were taken for a missing value, and how to keep them."""
    if not column.replaced:
        return ()
    counts = [
        f"'{text}' in {in_figures(rows, 'row')}" for text, rows in sorted(column.replaced.items())
    ]
    return (
        f"{', '.join(counts)} {'is' if len(counts) == 1 else 'are'} read as missing. To keep "
        f"{'it as a value' if len(counts) == 1 else 'them as values'}, {how_to_keep(column.name)}.",
    )


def _mixed(column: Column) -> tuple[str, ...]:
    total = len(column.values)
    for kind, fits in _MOSTLY_ARE:
        others = _others(column.values, fits)
        if others:
            first = int(np.flatnonzero(np.isin(column.codes, others))[0])
            return (
                f"{len(others)} of {total} distinct values are not {kind} (first in row "
                f"{first + 1}), so the column is text. If they mean missing, add "
                f"them to the texts read as missing.",
            )
    if _others(column.values, _looks_like_date) is not None:
        return (
            "Its values look like dates, but the column is text: write them as 2026-12-31, "
            "2026/12/31 or 31.12.2026 in the file and load it again. As text they get a calendar "
            "on Hierarchies where only one order of day and month fits them all.",
        )
    if column.thousands == UNDECIDED:
        return (
            "Its values look like numbers, but dots and commas mark decimals in some and thousands "
            "in others, so the column is text: take the marks between thousands out of the file.",
        )
    if marks_thousands(column.values) and all(map(_is_number, column.values)):
        return (
            "Its commas may mark decimals or thousands, so the column is text. If decimals, "
            "declare it as number: 12,500 is then 12.5. If thousands, take them out of the file.",
        )
    if _others(column.values, _may_be_number) is not None and any(
        map(_THOUSANDS.match, column.values)
    ):
        return (
            "Its values look like numbers, but the column is text: its marks between thousands, if "
            "any, are unclear. Take these out of the file: 4110.04 or 4110,04.",
        )
    return ()


def _others(values: Sequence[str], fits: Callable[[str], bool]) -> list[int] | None:
    """Return the places of the values that do not fit, or None where most do not."""
    most = (1 - _MOSTLY) * len(values)
    others: list[int] = []
    for place, value in enumerate(values):
        if not fits(value):
            others.append(place)
            if len(others) > most:  # most text columns stop here, early
                return None
    return others


def _is_number(value: str) -> bool:
    return not np.isnan(as_number(value))


def _looks_like_date(value: str) -> bool:
    return _DATE_LIKE.match(value) is not None


def _may_be_number(value: str) -> bool:
    return _THOUSANDS.match(value) is not None or _is_number(value)


def _is_date(value: str) -> bool:
    return _looks_like_date(value) and not np.isnan(as_day(value))


def _is_moment(value: str) -> bool:
    return not np.isnan(as_moment(value))


def _is_instant(value: str) -> bool:
    return not np.isnan(as_instant(value))


#: Kinds that most values of a text column may have.
_MOSTLY_ARE: tuple[tuple[str, Callable[[str], bool]], ...] = (
    ("numbers", _may_be_number),
    ("dates", _is_date),
    ("dates with a time", _is_moment),
    ("dates with a time and an offset from UTC", _is_instant),
)
