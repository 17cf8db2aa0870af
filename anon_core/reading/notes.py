"""What a person should know about a table that could be read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..table import Column, as_number

#: A text column of which this share of distinct values are numbers gets a note.
_MOSTLY = 0.8


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


def _mixed(column: Column) -> tuple[str, ...]:
    total = len(column.values)
    others: list[int] = []
    for place, value in enumerate(column.values):
        if np.isnan(as_number(value)):
            others.append(place)
            if len(others) > (1 - _MOSTLY) * total:  # most text columns stop here, early
                return ()
    if not others:
        return ()
    first = int(np.flatnonzero(np.isin(column.codes, others))[0])
    return (
        f"{len(others)} of {total} distinct values are not numbers (first in row {first + 1}), so "
        f"the column is text.",
    )
