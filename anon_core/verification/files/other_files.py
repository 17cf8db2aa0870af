"""The second computation's own reader of workbooks, and of SPSS, Stata and SAS files.

The libraries are those of the run, since nobody else reads these formats; what is made of what they
hand over – which sheet, which header, which label – is decided here again.
"""

from __future__ import annotations

import datetime
import functools
import io
import re
import zipfile
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from anon_core.base.errors import BadInput
from anon_core.verification.files import bounded_reading
from anon_core.verification.files.reading_options import Reading

if TYPE_CHECKING:
    import pandas as pd


_ATTRIBUTE = re.compile(r"""([\w:]+)\s*=\s*["']([^"']*)["']""")
_QUOTE = {"&quot;": '"', "&apos;": "'"}


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
        If it cannot be read, or its sheet or header is unclear.
    """
    import python_calamine as calamine

    try:
        if content[:2] == b"PK":
            with zipfile.ZipFile(io.BytesIO(content)) as parts:
                size = sum(part.file_size for part in parts.infolist())
            if size > max(
                bounded_reading.ALWAYS_UNPACKED, bounded_reading.MOST_RATIO * len(content)
            ):
                raise BadInput(f"{name} unpacks to too much.", remedy="Save it as CSV.")
        book = calamine.load_workbook(io.BytesIO(content))
        shown = calamine.SheetVisibleEnum.Visible, calamine.SheetTypeEnum.WorkSheet
        likely = [one.name for one in book.sheets_metadata if (one.visible, one.typ) == shown]
        asked = [one for one in book.sheet_names if one == reading.sheet]
        names = asked if reading.sheet else likely
        grids = {
            one: [list(row) for row in book.get_sheet_by_name(one).iter_rows()] for one in names
        }
    except (calamine.CalamineError, zipfile.BadZipFile) as error:
        raise BadInput(f"{name} is not a readable workbook.", remedy="Save it again.") from error
    grids = {n: g for n, g in grids.items() if any(_holds(cell) for row in g for cell in row)}
    if len(grids) != 1:
        what = f"{name} has {len(grids)} sheets that may hold the table."
        raise BadInput(what, remedy="Name one in the recipe: sheet, under [data].")
    title, grid = next(iter(grids.items()))
    begin = book.get_sheet_by_name(title).start  # rows are handed over from its first column on
    for row, column, form in _padded(content, title):
        place = column - (begin[1] if begin else 0)
        if row < len(grid) and 0 <= place < len(grid[row]):
            grid[row][place] = _with_zeros(grid[row][place], form)
    filled = np.array([[_holds(cell) for cell in row] for row in grid], dtype=np.bool_)
    if reading.header_row:
        top = reading.header_row - 1
    else:
        wide = filled.sum(axis=1)
        top = int(np.argmax(wide >= min(2, int(wide.max()))))
    used = np.flatnonzero(filled[top:].any(axis=0)).tolist() if top < len(grid) else []
    header = [_name(grid[top][place]) for place in used]
    if not header or not all(header):
        remedy = "Name the header's row in the recipe: header_row, under [data]."
        raise BadInput(f"The header of {name} lacks a name of a column.", remedy=remedy)
    bounded_reading.refuse_wide(len(header), name)
    below = [top + 1 + int(i) for i in np.flatnonzero(filled[top + 1 :].any(axis=1))]
    columns = [
        [grid[row][place] if filled[row, place] else None for row in below] for place in used
    ]
    for title, cells in zip(header, columns, strict=True):
        kinds = set(map(type, cells))
        late = any(isinstance(cell, float) and cell >= 2_958_466 for cell in cells)
        if (datetime.time in kinds or late) and kinds & {datetime.date, datetime.datetime}:
            what = f"Column '{title}' of {name} holds days and a number that is not one."
            raise BadInput(what, remedy="Correct the column, or store it as text.")
    return header, columns


def _padded(content: bytes, title: str) -> list[tuple[int, int, str]]:
    """Return row, column and format of a sheet's numbers that are shown with zeros before them."""
    if content[:2] != b"PK":
        return []
    with zipfile.ZipFile(io.BytesIO(content)) as parts:
        names = set(parts.namelist())
        if "content.xml" in names:
            return _padded_open(parts.read("content.xml"), title)
        if not {"xl/styles.xml", "xl/workbook.xml", "xl/_rels/workbook.xml.rels"} <= names:
            return []

        from xml.sax.saxutils import unescape  # which imports half of the network's modules

        def elements(part: str, tag: str) -> list[dict[str, str]]:
            text = parts.read(part).decode("utf-8", "replace")
            found = re.findall(rf"<(?:\w+:)?{tag}(\s[^>]*?)/?>", text)
            return [{k: unescape(v, _QUOTE) for k, v in _ATTRIBUTE.findall(own)} for own in found]

        codes: dict[str, str] = {}
        for one in elements("xl/styles.xml", "numFmt"):
            code = one.get("formatCode", "").partition(";")[0].replace("\\", "").replace('"', "")
            if code.count("0") > 1 and not code.strip("0-/ ") and code[0] == code[-1] == "0":
                codes[one.get("numFmtId", "")] = code
        if not codes:
            return []
        styles = parts.read("xl/styles.xml").decode("utf-8", "replace")
        listed = re.search(r"<(?:\w+:)?cellXfs\b.*?</(?:\w+:)?cellXfs>", styles, re.DOTALL)
        own = re.findall(r"<(?:\w+:)?xf\s[^>]*?numFmtId=[\"'](\d+)", listed[0] if listed else "")
        shown = {str(i): codes[code] for i, code in enumerate(own) if code in codes}
        sheets = elements("xl/workbook.xml", "sheet")
        key = next((s.get("r:id", "") for s in sheets if s.get("name") == title), "")
        related = elements("xl/_rels/workbook.xml.rels", "Relationship")
        target = next((r.get("Target", "") for r in related if r.get("Id") == key), "")
        part = target[1:] if target[:1] == "/" else f"xl/{target}"
        if not shown or part not in names:
            return []
        found: list[tuple[int, int, str]] = []
        for cell in elements(part, "c"):
            at = re.fullmatch("([A-Z]+)([0-9]+)", cell.get("r", ""))
            if at and cell.get("t", "n") == "n" and cell.get("s") in shown:
                column = functools.reduce(lambda n, c: n * 26 + ord(c) - 64, at[1], 0)
                found.append((int(at[2]) - 1, column - 1, shown[cell["s"]]))
        return found


def _padded_open(content: bytes, title: str) -> list[tuple[int, int, str]]:
    """Return the same of an OpenDocument sheet, which holds each cell's text as it is shown."""
    from xml.etree import ElementTree

    def bare(one: ElementTree.Element) -> tuple[str, dict[str, str]]:
        return one.tag.split("}")[-1], {key.split("}")[-1]: v for key, v in one.items()}

    tables = [one for one in ElementTree.fromstring(content).iter() if bare(one)[0] == "table"]
    table = next((one for one in tables if bare(one)[1].get("name") == title), None)
    found: list[tuple[int, int, str]] = []
    row = 0
    for line in () if table is None else table.iter():
        tag, body = bare(line)
        if tag != "table-row":
            continue
        down, place = int(body.get("number-rows-repeated", 1)), 0
        for cell in line:
            tag, own = bare(cell)
            if not tag.endswith("table-cell"):
                continue
            wide = int(own.get("number-columns-repeated", 1))
            text, value = "".join(cell.itertext()).strip(), own.get("value", "")
            digits = re.sub("[-/ ]", "", text)
            if (
                own.get("value-type") == "float"
                and re.fullmatch("[0-9]+(?:[-/ ]?[0-9])*", text)
                and text != value
                and digits.lstrip("0") == value.removesuffix(".0").lstrip("0")
            ):
                form = re.sub("[0-9]", "0", text)
                found += [(row + i, place + j, form) for i in range(down) for j in range(wide)]
            place += wide
        row += down
    return found


def _with_zeros(cell: Any, form: str) -> Any:
    """Return a whole number as its format shows it."""
    if isinstance(cell, bool) or not isinstance(cell, int | float) or cell < 0 or cell % 1:
        return cell
    left = list(str(int(cell)))
    text = ""
    for sign in reversed(form):
        text = (sign if sign != "0" else left.pop() if left else "0") + text
    return "".join(left) + text


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
        _, metadata = read(io.BytesIO(content), metadataonly=True)
        if (metadata.number_rows or 0) * len(metadata.column_names) > bounded_reading.MOST_CELLS:
            raise BadInput(f"{name} declares too many cells.", remedy="Leave out columns.")
        bounded_reading.refuse_wide(len(metadata.column_names), name)
        frame, metadata = read(io.BytesIO(content))
    except BadInput:
        raise
    except (OverflowError, ValueError, pyreadstat.ReadstatError, pyreadstat.PyreadstatError) as e:
        raise BadInput(f"{name} cannot be read.", remedy="Save it again.") from e
    columns: list[Sequence[Any]] = []
    for own in frame.columns:
        labels = metadata.variable_value_labels.get(own, {}) if reading.labels else {}
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
