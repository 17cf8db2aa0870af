"""The second computation's own reader of workbooks, and of SPSS, Stata and SAS files.

The libraries are those of the run, since nobody else reads these formats; what is made of what they
hand over – which sheet, which header, which label – is decided here again.
"""

from __future__ import annotations

import datetime
import io
import zipfile
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.errors import BadInput
from .opening import ALWAYS_UNPACKED, MOST_CELLS, MOST_RATIO, refuse_wide
from .reading_options import Reading

if TYPE_CHECKING:
    import pandas as pd


def is_workbook(content: bytes) -> bool:
    """Say whether a file is one of a spreadsheet program."""
    if content[:4] == b"\xd0\xcf\x11\xe0":
        return True
    zipped = content[:4] == b"PK\x03\x04"
    return zipped and (b"xl/" in content or b"opendocument.spreadsheet" in content[:200])


def read_sheet(content: bytes, name: str, reading: Reading) -> tuple[list[str], list[list[Any]]]:
    """Return the header and the columns of a sheet.

    Raises
    ------
    BadInput
        If it cannot be read, or the sheet or its header cannot be told.
    """
    import python_calamine as calamine

    try:
        if content[:2] == b"PK":
            with zipfile.ZipFile(io.BytesIO(content)) as parts:
                size = sum(part.file_size for part in parts.infolist())
            if size > max(ALWAYS_UNPACKED, MOST_RATIO * len(content)):
                raise BadInput(f"{name} unpacks to too much.", remedy="Save it as CSV.")
        book = calamine.load_workbook(io.BytesIO(content))
        grids = {
            told.name: [list(row) for row in book.get_sheet_by_name(told.name).iter_rows()]
            for told in book.sheets_metadata
            if told.name == reading.sheet
            or (
                not reading.sheet
                and told.visible == calamine.SheetVisibleEnum.Visible
                and told.typ == calamine.SheetTypeEnum.WorkSheet
            )
        }
    except (calamine.CalamineError, zipfile.BadZipFile) as error:
        raise BadInput(f"{name} is no readable workbook.", remedy="Save it anew.") from error
    grids = {n: g for n, g in grids.items() if any(_holds(cell) for row in g for cell in row)}
    if len(grids) != 1:
        raise BadInput(
            f"{name} has {len(grids)} sheets that may hold the table.",
            remedy="Name one in the recipe: sheet, under [data].",
        )
    grid = next(iter(grids.values()))
    filled = np.array([[_holds(cell) for cell in row] for row in grid], dtype=np.bool_)
    if reading.header_row:
        top = reading.header_row - 1
    else:
        wide = filled.sum(axis=1)
        top = int(np.argmax(wide >= min(2, int(wide.max()))))
    used = np.flatnonzero(filled[top:].any(axis=0)).tolist() if top < len(grid) else []
    header = [_name(grid[top][place]) for place in used]
    if not header or not all(header):
        raise BadInput(
            f"The header of {name} lacks a name of a column.",
            remedy="Name the header's row in the recipe: header_row, under [data].",
        )
    refuse_wide(len(header), name)
    below = [top + 1 + int(i) for i in np.flatnonzero(filled[top + 1 :].any(axis=1))]
    return header, [
        [grid[row][place] if filled[row, place] else None for row in below] for place in used
    ]


def _holds(cell: object) -> bool:
    return cell is not None and str(cell).strip() != ""


def _name(cell: object) -> str:
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, datetime.datetime) and cell.time() == datetime.time(0):
        return str(cell.date())
    return str(cell).strip() if _holds(cell) else ""


def statistics_reader(content: bytes) -> str:
    """Return the function of pyreadstat that reads a file; empty for files of other kinds."""
    if content[:4] in (b"$FL2", b"$FL3"):
        return "read_sav"
    if b"SPSS PORT FILE" in content[:600]:
        return "read_por"
    old = bytes(content[1:4]) in (b"\x01\x01\x00", b"\x02\x01\x00")
    if content[:11] == b"<stata_dta>" or (old and 104 <= content[0] <= 115):
        return "read_dta"
    if content[:23] == b"HEADER RECORD*******LIB":
        return "read_xport"
    sas = bytes(12) + bytes.fromhex("c2ea8160b31411cf")
    return "read_sas7bdat" if content[:20] == sas else ""


def read_statistics(
    content: bytes, name: str, reading: Reading
) -> tuple[list[str], list[Sequence[Any]]]:
    """Return the header and the columns of an SPSS, Stata or SAS file, values or their labels.

    Raises
    ------
    BadInput
        If it cannot be read.
    """
    import pyreadstat

    read = getattr(pyreadstat, statistics_reader(content))
    if reading.encoding and read is not pyreadstat.read_por:
        read = partial(read, encoding=reading.encoding)
    try:
        _, told = read(io.BytesIO(content), metadataonly=True)
        if (told.number_rows or 0) * len(told.column_names) > MOST_CELLS:
            raise BadInput(f"{name} declares too many cells.", remedy="Leave out columns.")
        refuse_wide(len(told.column_names), name)
        frame, told = read(io.BytesIO(content))
    except BadInput:
        raise
    except (OverflowError, ValueError, pyreadstat.ReadstatError, pyreadstat.PyreadstatError) as e:
        raise BadInput(f"{name} cannot be read.", remedy="Save it anew.") from e
    columns: list[Sequence[Any]] = []
    for own in frame.columns:
        labels = told.variable_value_labels.get(own, {}) if reading.labels else {}
        columns.append(_labelled(frame[own], labels))
    return [str(own).strip() for own in frame.columns], columns


def _labelled(column: pd.Series[Any], labels: Mapping[Any, str]) -> Sequence[Any]:
    """Return a column's labels where each of its values has one, and its values elsewhere."""
    cells: list[Any] = [None if gone else v for v, gone in zip(column, column.isna(), strict=True)]
    plain = {_plain(code): label.strip() for code, label in labels.items()}
    shown = {cell for cell in cells if cell is not None}
    if not labels or any(_plain(cell) not in plain for cell in shown):
        return cells
    return [None if cell is None else plain[_plain(cell)] for cell in cells]


def _plain(code: object) -> object:
    return code.strip() if isinstance(code, str) else code
