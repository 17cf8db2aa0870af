"""Reading Excel workbooks and OpenDocument spreadsheets: one sheet becomes a table.

python-calamine reads .xlsx, .xlsm, .xlsb, .xls and .ods; formulas count as what they were last
computed to, and cells that are formatted as dates are dates. Whole numbers whose format adds zeros
are read as they are shown.
"""

from __future__ import annotations

import datetime
import io
import zipfile
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from anon_core.base.errors import BadInput, brief, listing, nearest
from anon_core.base.terms import in_figures
from anon_core.data.frames import coded_series, name_text, refuse_unwritable
from anon_core.data.reading.columns import read_column
from anon_core.data.reading.limits import (
    ALWAYS_UNPACKED,
    MOST_COLUMNS,
    MOST_RATIO,
    too_wide,
    unpacks_too_far,
)
from anon_core.data.reading.notes import header_notes
from anon_core.data.reading.options import DataOptions
from anon_core.data.reading.shown_digits import shown, zero_forms
from anon_core.data.table import Dataset, check_kinds, check_names
from anon_core.data.values.kinds import ColumnKind

if TYPE_CHECKING:
    from python_calamine import CalamineWorkbook

Cells = list[list[object]]


def sheets_of(data: bytes, name: str) -> tuple[str, ...]:
    """Return the names of the sheets that hold cells, hidden ones left out.

    Raises
    ------
    BadInput
        If it is no workbook that can be read.
    """
    return tuple(_filled(_opened(data, name)))


def read_spreadsheet(
    data: bytes,
    options: DataOptions,
    kinds: Mapping[str, ColumnKind],
    name: str,
    most_bytes: int,
) -> Dataset:
    """Return the table that a sheet holds: a header, and rows below it."""
    import pandas as pd

    _refuse_bombs(data, name, most_bytes)
    book = _opened(data, name)
    sheet, cells = _chosen(book, options.sheet, name)
    forms = zero_forms(data, sheet)
    for (row, column), form in forms.items():
        if row < len(cells) and column < len(cells[row]):
            cells[row][column] = shown(cells[row][column], form)
    place = f"Sheet '{sheet}' of {name}"
    top = _header(cells, options.header_row, place)
    used = [i for i in range(len(cells[0])) if any(_is_filled(row[i]) for row in cells[top:])]
    names = [name_text(cells[top][i]).strip() for i in used]
    if unnamed := [column_letters(i) for i, n in zip(used, names, strict=True) if not n]:
        raise BadInput(
            f"{place} has no name in row {top + 1}, its header, for column {listing(unnamed)}, "
            "which holds values; of merged cells only the first has the name.",
            remedy="Name every column there, or say which row is the header: header_row under "
            "[data], counted from 1.",
        )
    if len(used) > MOST_COLUMNS:
        raise too_wide(name, len(used))
    check_names(names)
    check_kinds(kinds, names)
    rows = [row for row in cells[top + 1 :] if any(map(_is_filled, row))]
    if not rows:
        raise BadInput(
            f"{place} has a header with {in_figures(len(names), 'column')} in row {top + 1} but no "
            "rows below.",
            remedy="Load a sheet with at least one row below the header.",
        )
    for i, n in zip(used, names, strict=True):
        _refuse_no_days(f"{place}: column '{n}'", [row[i] for row in rows])
    columns = [coded_series(pd.Series([row[i] for row in rows], dtype=object)) for i in used]
    refuse_unwritable(names, columns)
    notes = (f"Read from the sheet '{sheet}', its header in row {top + 1}.",)
    if any(any(map(_is_filled, row)) for row in cells[:top]):
        notes = (*notes, "Lines above the header were left out.")
    return Dataset(
        columns=tuple(
            read_column(
                n,
                codes,
                pool,
                options,
                kinds.get(n),
                written=all(isinstance(row[i], str) for row in rows),
            )
            for i, n, (codes, pool) in zip(used, names, columns, strict=True)
        ),
        rows=len(rows),
        source=name,
        notes=(*notes, *header_notes(names)),
    )


def _refuse_no_days(column: str, cells: Sequence[object]) -> None:
    """Refuse numbers that are formatted as days and are none: each is read as a time of day.

    Raises
    ------
    BadInput
        If a column has both.
    """
    times = sum(type(cell) is datetime.time for cell in cells)
    if times and any(isinstance(cell, datetime.date) for cell in cells):
        which = "that is no day" if times == 1 else "that are no days"
        raise BadInput(
            f"{column} holds days, and {in_figures(times, 'number')} {which} of the calendar: the "
            "first day of a workbook is 1900-01-01.",
            remedy="Correct or empty these cells, or store the column as text.",
        )


def column_letters(place: int) -> str:
    """Return what a spreadsheet calls a column, counted from 0.

    Examples
    --------
    >>> column_letters(0), column_letters(25), column_letters(26)
    ('A', 'Z', 'AA')
    """
    letters = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def _opened(data: bytes, name: str) -> CalamineWorkbook:
    import python_calamine as calamine

    try:
        return calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
    except calamine.PasswordError as error:
        raise BadInput(
            f"{name} is protected by a password.", remedy="Save it without one, and load that."
        ) from error
    except calamine.CalamineError as error:
        raise BadInput(
            f"{name} looks like a spreadsheet, but cannot be read as one.",
            remedy="Open it in a spreadsheet program and save it again, as .xlsx, .ods or CSV.",
        ) from error


def _cells(book: CalamineWorkbook, sheet: str) -> Cells:
    return cast(Any, book.get_sheet_by_name(sheet)).to_python(skip_empty_area=False)


def _filled(book: CalamineWorkbook) -> dict[str, Cells]:
    """Return the cells of all visible sheets that hold some."""
    import python_calamine as calamine

    shown = [
        told.name
        for told in book.sheets_metadata
        if told.visible == calamine.SheetVisibleEnum.Visible
        and told.typ == calamine.SheetTypeEnum.WorkSheet
    ]
    cells = {sheet: _cells(book, sheet) for sheet in shown}
    return {
        sheet: rows for sheet, rows in cells.items() if any(any(map(_is_filled, r)) for r in rows)
    }


def _chosen(book: CalamineWorkbook, wanted: str, name: str) -> tuple[str, Cells]:
    """Return the sheet that is asked for, or the only one there is."""
    if wanted:
        if wanted not in book.sheet_names:
            raise BadInput(
                f"{name} has no sheet {brief(wanted)}; it has {listing(book.sheet_names)}.",
                remedy=f"Choose one of these.{nearest(wanted, book.sheet_names)}",
            )
        cells = _cells(book, wanted)
        if not any(any(map(_is_filled, row)) for row in cells):
            raise BadInput(
                f"Sheet '{wanted}' of {name} is empty.", remedy="Choose one that holds a table."
            )
        return wanted, cells
    filled = _filled(book)
    if len(filled) == 1:
        return next(iter(filled.items()))
    if not filled:
        raise BadInput(f"{name} holds no cells.", remedy="Load a workbook with a table.")
    raise BadInput(
        f"{name} has {len(filled)} sheets that hold cells: {listing(filled)}.",
        remedy=f'Choose the one with the table: sheet = "{next(iter(filled))}" under [data].',
    )


def _header(cells: Cells, wanted: int, place: str) -> int:
    """Return the row of the header, from 0: the one asked for, or the first with two cells."""
    if wanted:
        if wanted > len(cells) or not any(map(_is_filled, cells[wanted - 1])):
            raise BadInput(
                f"{place} has no cells in row {wanted}, which is named as its header; it ends with "
                f"row {len(cells)}.",
                remedy="Correct header_row under [data], or leave it out.",
            )
        return wanted - 1
    counts = [sum(map(_is_filled, row)) for row in cells]
    least = min(2, max(counts))  # a title stands alone in its row
    return next(i for i, count in enumerate(counts) if count >= least)


def _is_filled(cell: object) -> bool:
    return cell is not None and (not isinstance(cell, str) or bool(cell.strip()))


def _refuse_bombs(data: bytes, name: str, most_bytes: int) -> None:
    """Refuse a workbook that unpacks to more than a table would."""
    if not data.startswith(b"PK"):
        return
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            size = sum(part.file_size for part in packed.infolist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError):
        return  # opening it says what is wrong
    most = min(most_bytes, max(ALWAYS_UNPACKED, MOST_RATIO * len(data)))
    if size > most:
        raise unpacks_too_far(name, len(data), most, most_bytes)


def is_spreadsheet(data: bytes) -> bool:
    """Say whether a file's bytes begin as those of a workbook do."""
    if data.startswith(b"\xd0\xcf\x11\xe0"):  # .xls, and what is encrypted
        return True
    return data.startswith(b"PK\x03\x04") and (
        b"xl/" in data or b"opendocument.spreadsheet" in data[:200]
    )


def named_sheets(data: bytes, name: str) -> Sequence[str]:
    """Return the sheets among which a person has to choose; none where there is no choice."""
    sheets = sheets_of(data, name) if is_spreadsheet(data) else ()
    return sheets if len(sheets) > 1 else ()
