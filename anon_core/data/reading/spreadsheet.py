"""Reading Excel workbooks and OpenDocument spreadsheets: one sheet becomes a table.

python-calamine reads .xlsx, .xlsm, .xlsb, .xls and .ods; formulas count as what they were last
computed to, and cells that are formatted as dates are dates. Whole numbers whose format adds zeros
are read as they are shown; where a file does not say so cell by cell, they are refused.
"""

from __future__ import annotations

import datetime
import io
import posixpath
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast
from xml.etree import ElementTree

from anon_core.base.errors import BadInput, brief, listing, nearest
from anon_core.base.terms import in_figures
from anon_core.data.frames import coded_series, name_text, refuse_unwritable
from anon_core.data.reading.binary_workbook import binary_days, binary_formats, shows_days
from anon_core.data.reading.columns import read_column
from anon_core.data.reading.limits import (
    ALWAYS_UNPACKED,
    MOST_COLUMNS,
    MOST_RATIO,
    too_wide,
    unpacks_too_far,
)
from anon_core.data.reading.loading import is_spreadsheet
from anon_core.data.reading.notes import header_notes
from anon_core.data.reading.options import DataOptions
from anon_core.data.table import Dataset, check_kinds, check_names
from anon_core.data.values.kinds import ColumnKind

if TYPE_CHECKING:
    from python_calamine import CalamineWorkbook


#: A format of zeros alone, perhaps with dashes, blanks or strokes between them.
_ZEROS = re.compile(r'0(?:\\?[-/ ]|"[-/ ]"|0)*0')
#: The number of the last day, 9999-12-31.
_LAST_DAY = 2_958_465
_CELL = re.compile(r"([A-Z]+)([0-9]+)")
_RELATED = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"

#: By row and column, both from 0, the format of a cell, with only its zeros and what is between.
Forms = dict[tuple[int, int], str]


def zero_forms(data: bytes, sheet: str) -> Forms:
    """Return the formats that add zeros, by the cells of one sheet of an .xlsx or .ods file."""
    if not data.startswith(b"PK"):
        return {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            if "content.xml" in packed.namelist():
                return dict(_shown_cells(packed, sheet))
            forms = _forms_of_styles(packed)
            return dict(_padded_cells(packed, sheet, forms)) if forms else {}
    except (zipfile.BadZipFile, KeyError, ElementTree.ParseError, NotImplementedError):
        return {}  # another format, or broken: opening it says so


def _shown_cells(packed: zipfile.ZipFile, sheet: str) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield the cells of an OpenDocument sheet whose text has zeros before its number.

    Each cell of such a file has its text as it is shown; a repeated one is there once.
    """
    row = column = rows = columns = 0
    inside = False
    with packed.open("content.xml") as file:
        for event, one in ElementTree.iterparse(file, events=("start", "end")):
            name = _name(one)
            if name == "table":
                inside = event == "start" and _own(one, "name") == sheet
                row, rows = 0, 1
            elif not inside:
                if event == "end" and name == "table-row":
                    one.clear()
            elif name == "table-row" and event == "start":
                rows, column = int(_own(one, "number-rows-repeated") or 1), 0
            elif name == "table-row":
                row += rows
                one.clear()
            elif name in ("table-cell", "covered-table-cell") and event == "end":
                columns = int(_own(one, "number-columns-repeated") or 1)
                text = "".join(one.itertext()).strip()
                form = re.sub("[0-9]", "0", text)
                if _own(one, "value-type") == "float" and _ZEROS.fullmatch(form):
                    number = _own(one, "value")
                    if shown(float(number or "nan"), form) == text != number:
                        for at in range(min(rows, 1 << 20) * min(columns, MOST_COLUMNS)):
                            down, right = divmod(at, min(columns, MOST_COLUMNS))
                            yield (row + down, column + right), form
                column += columns


def _own(element: ElementTree.Element, attribute: str) -> str | None:
    found = (v for key, v in element.items() if key.rpartition("}")[2] == attribute)
    return next(found, None)


def _refuse_lost_zeros(
    data: bytes, place: str, columns: Mapping[str, Sequence[object]], kinds: Mapping[str, object]
) -> None:
    """Refuse whole numbers that a format of an .xls or .xlsb file may show with zeros before them.

    Raises
    ------
    BadInput
        Unless the columns are declared.
    """
    forms = (one.partition(";")[0] for one in binary_formats(data).values())
    most = max((form.count("0") for form in forms if _ZEROS.fullmatch(form)), default=0)
    doubtful = [
        name
        for name, cells in columns.items()
        if most and name not in kinds and _may_lack_zeros(cells, most)
    ]
    if doubtful:
        raise BadInput(
            f"{place} has a number format of {most} zeros, which shows zeros before numbers; files "
            f"of this kind do not tell its cells here. {listing(doubtful)} may lack zeros.",
            remedy="Save the workbook as .xlsx, where they are kept. If the columns are plain "
            f'numbers, say so under [types]: {doubtful[0]} = "number".',
        )


def _may_lack_zeros(cells: Sequence[object], zeros: int) -> bool:
    filled = [cell for cell in cells if _is_filled(cell)]
    whole = all(type(cell) in (int, float) and float(cast(float, cell)) % 1 == 0 for cell in filled)
    return whole and any(0 <= cast(float, cell) < 10 ** (zeros - 1) for cell in filled)


def shown(value: object, form: str) -> object:
    """Return what a format of zeros shows of a cell; what is not a whole number as it is.

    Examples
    --------
    >>> shown(2139.0, "00000"), shown(12345678.0, "000-00-0000"), shown(2.5, "00000")
    ('02139', '012-34-5678', 2.5)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    if value < 0 or value != int(value):
        return value
    digits = str(int(value)).rjust(form.count("0"), "0")
    more = len(digits) - form.count("0")
    left = iter(digits[more:])
    return digits[:more] + "".join(next(left) if sign == "0" else sign for sign in form)


def _forms_of_styles(packed: zipfile.ZipFile) -> dict[str, str]:
    """Return, by the number of a style, its format of zeros."""
    if "xl/styles.xml" not in packed.namelist():
        return {}
    root = ElementTree.fromstring(packed.read("xl/styles.xml"))
    by_id: dict[str, str] = {}
    for one in root.iter():
        if _name(one) == "numFmt":
            first = one.get("formatCode", "").split(";")[0]
            if _ZEROS.fullmatch(first):
                by_id[one.get("numFmtId", "")] = re.sub(r'[\\"]', "", first)
    styles = next((one for one in root if _name(one) == "cellXfs"), ())
    numbered = ((str(i), own.get("numFmtId", "")) for i, own in enumerate(styles))
    return {style: by_id[form] for style, form in numbered if form in by_id}


def _padded_cells(
    packed: zipfile.ZipFile, sheet: str, forms: dict[str, str]
) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield the cells of a sheet that hold numbers with one of some formats."""
    with packed.open(_place(packed, sheet)) as file:
        for _, one in ElementTree.iterparse(file):
            if _name(one) == "c" and one.get("t", "n") == "n" and one.get("s", "") in forms:
                found = _CELL.fullmatch(one.get("r", ""))
                if found is not None:
                    yield (int(found[2]) - 1, _column(found[1])), forms[one.get("s", "")]
            if _name(one) == "row":
                one.clear()


def _place(packed: zipfile.ZipFile, sheet: str) -> str:
    """Return the part of the file that holds a sheet."""
    book = ElementTree.fromstring(packed.read("xl/workbook.xml"))
    sheets = (one for one in book.iter() if _name(one) == "sheet" and one.get("name") == sheet)
    wanted = next((one.get(_RELATED) for one in sheets), None)
    related = ElementTree.fromstring(packed.read("xl/_rels/workbook.xml.rels"))
    target = next((one.get("Target", "") for one in related if one.get("Id") == wanted), "")
    return target.lstrip("/") if target.startswith("/") else posixpath.join("xl", target)


def _name(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number - 1


Cells = list[list[object]]


def sheets_of(data: bytes, name: str) -> tuple[str, ...]:
    """Return the names of the sheets that hold cells, hidden ones left out.

    Raises
    ------
    BadInput
        If it is not a workbook that can be read.
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
    filled = [i for i in range(top + 1, len(cells)) if any(map(_is_filled, cells[i]))]
    rows = [cells[i] for i in filled]
    if not rows:
        raise BadInput(
            f"{place} has a header with {in_figures(len(names), 'column')} in row {top + 1} but no "
            "rows below.",
            remedy="Load a sheet with at least one row below the header.",
        )
    _refuse_lost_zeros(
        data, place, {n: [r[i] for r in rows] for i, n in zip(used, names, strict=True)}, kinds
    )
    odd: dict[tuple[int, int], str] = {}
    late: dict[tuple[int, int], str] = {}
    for i, n in zip(used, names, strict=True):
        own = [(y + 1, cells[y][i]) for y in filled]
        _refuse_no_days(place, n, column_letters(i), own)
        odd |= {(y - 1, i): n for y, cell in own if _may_be_odd(cell)}
        if n not in kinds:
            late |= {(y - 1, i): n for y, cell in own if _is_beyond(cell)}
    _refuse_odd_serials(data, sheet, place, odd, late)
    _refuse_lost_days(data, place, cells, dict(zip(used, names, strict=True)), kinds)
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


def _refuse_no_days(
    place: str, name: str, letters: str, cells: Sequence[tuple[int, object]]
) -> None:
    """Refuse numbers among days that are none: smaller ones are read as a time of day.

    Parameters
    ----------
    letters : str
        What the spreadsheet calls the column.
    cells : sequence of (int, object)
        Each with its row, from 1.

    Raises
    ------
    BadInput
        If a column has both.
    """
    if not any(isinstance(cell, datetime.date) for _, cell in cells):
        return
    odd = [row for row, cell in cells if type(cell) is datetime.time or _is_beyond(cell)]
    if odd:
        raise _no_day(place, name, f"{letters}{odd[0]}", len(odd))


def _is_beyond(cell: object) -> bool:
    return type(cell) in (int, float) and cast(float, cell) > _LAST_DAY


def _no_day(place: str, name: str, cell: str, often: int, alone: bool = False) -> BadInput:
    which = "that is not a day" if often == 1 else "that are not days"
    first = f"in {cell}" if often == 1 else f"first in {cell}"
    return BadInput(
        f"{place}: column '{name}' holds days, and {in_figures(often, 'number')} {which} of the "
        f"calendar, {first}: the days of a workbook are 1900-01-01 to 9999-12-31, and 1900 has no "
        "29 February.",
        remedy="Correct or empty these cells, or store the column as text."
        + (f' If they are plain numbers, say so under [types]: {name} = "number".' * alone),
    )


def _refuse_odd_serials(
    data: bytes,
    sheet: str,
    place: str,
    doubtful: Mapping[tuple[int, int], str],
    late: Mapping[tuple[int, int], str],
) -> None:
    """Refuse cells of an .xlsx file that are shown as a day or a time and are neither.

    Spreadsheets count a 29 February 1900, which is read as the day before; what is below 0 is read
    as midnight; what is beyond the last day is read as a number.

    Parameters
    ----------
    doubtful, late : mapping of (int, int) to str
        The column's name by row and column, from 0, of cells read as such a day or midnight, and
        of numbers beyond the last day.

    Raises
    ------
    BadInput
    """
    if not (doubtful or late) or not _has_part(data, "xl/workbook.xml"):
        return
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        days = _day_styles(packed) if late else frozenset[str]()
        with packed.open(_place(packed, sheet)) as file:
            for _, one in ElementTree.iterparse(file):
                found = _CELL.fullmatch(one.get("r", "")) if _name(one) == "c" else None
                if found is not None and one.get("t", "n") == "n":
                    at = int(found[2]) - 1, _column(found[1])
                    text = next((v.text for v in one if _name(v) == "v"), "") or ""
                    if at in doubtful and _is_odd(float(text or 1)):
                        raise _no_day(place, doubtful[at], found[0], 1)
                    if at in late and one.get("s", "0") in days:
                        raise _no_day(place, late[at], found[0], 1, alone=True)
                if _name(one) == "row":
                    one.clear()


def _has_part(data: bytes, name: str) -> bool:
    if not data.startswith(b"PK"):
        return False
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        return name in packed.namelist()


def _day_styles(packed: zipfile.ZipFile) -> frozenset[str]:
    """Return the numbers of the styles of an .xlsx file that show days or times."""
    if "xl/styles.xml" not in packed.namelist():
        return frozenset()
    root = ElementTree.fromstring(packed.read("xl/styles.xml"))
    formats = (one for one in root.iter() if _name(one) == "numFmt")
    codes = {one.get("numFmtId"): one.get("formatCode", "") for one in formats}
    styles = next((one for one in root if _name(one) == "cellXfs"), ())
    ids = enumerate(own.get("numFmtId", "0") for own in styles)
    return frozenset(str(i) for i, own in ids if shows_days(int(own), codes.get(own)))


def _refuse_lost_days(
    data: bytes, place: str, cells: Cells, names: Mapping[int, str], kinds: Mapping[str, object]
) -> None:
    """Refuse numbers that an .xls or .xlsb file shows as days: beyond the last, or lost in reading.

    python-calamine reads the whole numbers of an .xlsb file without their format.

    Parameters
    ----------
    names : mapping of int to str
        The names of the columns, by their place from 0.

    Raises
    ------
    BadInput
        Unless the column is declared.
    """
    undeclared = {i: name for i, name in names.items() if name not in kinds}
    if not undeclared or _has_part(data, "xl/workbook.xml") or _has_part(data, "content.xml"):
        return
    for row, column, number in binary_days(data):
        if column not in undeclared or row >= len(cells) or cells[row][column] != number:
            continue
        name, cell = undeclared[column], f"{column_letters(column)}{row + 1}"
        if _is_beyond(number):
            raise _no_day(place, name, cell, 1, alone=True)
        if number >= 0:
            raise BadInput(
                f"{place}: column '{name}' shows numbers as days, first in {cell}, which cannot be "
                "read from a file of this kind.",
                remedy="Save the workbook as .xlsx. If they are plain numbers, say so under "
                f'[types]: {name} = "number".',
            )


def _may_be_odd(cell: object) -> bool:
    if isinstance(cell, datetime.datetime):
        return cell.date() == datetime.date(1900, 2, 28)
    return cell in (datetime.date(1900, 2, 28), datetime.time(0))


def _is_odd(serial: float) -> bool:
    return serial < 0 or 60 <= serial < 61


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
        details.name
        for details in book.sheets_metadata
        if details.visible == calamine.SheetVisibleEnum.Visible
        and details.typ == calamine.SheetTypeEnum.WorkSheet
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
    least = min(2, max(counts))  # a title is alone in its row
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


def named_sheets(data: bytes, name: str) -> Sequence[str]:
    """Return the sheets among which a person has to choose; none where there is no choice."""
    sheets = sheets_of(data, name) if is_spreadsheet(data) else ()
    return sheets if len(sheets) > 1 else ()
