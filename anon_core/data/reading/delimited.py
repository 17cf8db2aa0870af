"""Reading CSV: from encoded text over separator and cells to columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import BadInput
from anon_core.base.number_words import in_figures
from anon_core.data.reading.columns import read_column
from anon_core.data.reading.encoding import as_utf8
from anon_core.data.reading.limits import MOST_COLUMNS, too_wide
from anon_core.data.reading.notes import header_notes
from anon_core.data.reading.options import DataOptions
from anon_core.data.reading.places import row_at
from anon_core.data.reading.separator import find_separator
from anon_core.data.reading.split_csv import split_cells
from anon_core.data.table import Dataset, check_kinds, check_names
from anon_core.data.values.kinds import ColumnKind

_ENDINGS = ("An empty column without a name was", "Empty columns without a name were")


def read_csv(
    data: bytes, options: DataOptions, kinds: Mapping[str, ColumnKind], name: str
) -> Dataset:
    """Return the table that the bytes of a CSV file hold."""
    if not data:
        raise BadInput(f"{name} is empty.", remedy="Load a file with a header and rows.")
    data, notes = as_utf8(data, options, name)
    if not data or data.isspace():
        raise BadInput(
            f"{name} holds blank lines only.", remedy="Load a file with a header and rows."
        )
    nul = data.find(0)
    if nul >= 0:
        raise BadInput(
            f"{name} has a NUL byte in {row_at(data, nul)}.",
            remedy="Remove it, or save the file as plain text again.",
        )
    separator, width = find_separator(data, options.separator, name)
    if width > MOST_COLUMNS:
        raise too_wide(name, width)
    names, columns, rows = split_cells(data, separator, width, name)
    names = [n.strip() for n in names]
    width = _named_width(names, columns)
    if width < len(names):
        notes = (*notes, f"{_ENDINGS[len(names) - width > 1]} left out at the end.")
        names, columns = names[:width], columns[:width]
    check_names(names)
    check_kinds(kinds, names)
    if rows == 0:
        raise BadInput(
            f"{name} has a header with {in_figures(len(names), 'column')} but no rows.",
            remedy="Load a table with at least one row below the header.",
        )
    return Dataset(
        columns=tuple(
            read_column(n, codes, pool, options, kinds.get(n))
            for n, (codes, pool) in zip(names, columns, strict=True)
        ),
        rows=rows,
        source=name,
        notes=(*notes, *header_notes(names)),
    )


def _named_width(
    names: Sequence[str], columns: Sequence[tuple[npt.NDArray[np.int32], Sequence[str]]]
) -> int:
    """Return how many columns are left without the empty, nameless ones at the end.

    Spreadsheets end every line with a separator where a column was once in use.
    """
    width = len(names)
    while width and not names[width - 1]:
        codes, pool = columns[width - 1]
        used: list[int] = np.unique(codes).tolist()
        if any(pool[code].strip() for code in used):
            break
        width -= 1
    return width or len(names)
