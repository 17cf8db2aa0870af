"""What is no table of rows: networks of people, and the places they ask from."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from anon_core.base.errors import BadInput
from anon_core.data.table import Dataset


def complete_lines(table: Dataset, title: str, wide: int, *, remedy: str) -> list[tuple[str, ...]]:
    """Return the lines of the first columns as they were read; none may be missing.

    Parameters
    ----------
    title : str
        What errors call the table.
    """
    for column in table.columns[:wide]:
        if column.missing:
            raise BadInput(
                f"Missing values of '{column.name}' of {title}: {column.missing:,}.", remedy=remedy
            )
    return table.lines(table.names[:wide])


def written(lines: Sequence[Sequence[str]]) -> str:
    """Return lines as CSV."""
    file = io.StringIO(newline="")
    csv.writer(file, lineterminator="\n").writerows(lines)
    return file.getvalue()
