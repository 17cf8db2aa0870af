"""The second computation's own reader of data files."""

from __future__ import annotations

import codecs
import csv
import io
import os
import re
import stat
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from anon_core.base.errors import BadInput, clipped
from anon_core.verification.files.bounded_reading import (
    MOST_BYTES,
    MOST_CELLS,
    Content,
    FileBytes,
    read_bytes,
    refuse_wide,
    unpack,
)
from anon_core.verification.files.bulk import (
    FROM_BYTES,
    csv_in_bulk,
    parquet_in_bulk,
    parquet_where_it_lies,
)
from anon_core.verification.files.other_files import (
    is_workbook,
    read_sheet,
    read_statistics,
    statistics_reader,
)
from anon_core.verification.files.part_files import joined, joined_parts
from anon_core.verification.files.reading_options import Reading
from anon_core.verification.files.stored import StoredObject, is_address, objects_at
from anon_core.verification.text.cells import Cells, TextTable, cells_of_column
from anon_core.verification.text.notation import rewritten

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

SEPARATORS = (",", ";", "\t", "|")
_FOUND_OUT = Reading()
_HEAD = 1 << 20

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it starts with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def read_csv_rows(text: str, separator: str) -> list[list[str]]:
    """Return the rows of a CSV text, the header first."""
    csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))


def decode(content: bytes, encoding: str, name: str) -> str:
    """Return a file's text: by the encoding named, else by its mark, else UTF-8, else Latin-1.

    Raises
    ------
    BadInput
        If the encoding is unknown, or the bytes are not written in it.
    """
    marked = next((codec for bom, codec in _MARKS if content.startswith(bom)), "")
    tried = (encoding,) if encoding else (marked,) if marked else ("utf-8", "cp1252", "latin-1")
    for codec in tried:
        try:
            return content.decode(codec).removeprefix("\ufeff")
        except (LookupError, UnicodeError):
            continue
    raise BadInput(
        f"The file {name} is not written in the encoding '{tried[-1]}'.",
        remedy="Name its encoding in the recipe, under [data].",
    )


def separator_of(text: str) -> str:
    """Return the separator that splits the first lines most evenly, and the header most often."""
    head = "".join(line + "\n" for line in re.split("\r\n|\r|\n", text[:_HEAD])[:50])
    best, separator = (0.0, 1), ","
    for candidate in SEPARATORS:
        widths = [len(row) for row in read_csv_rows(head, candidate) if row]
        if widths and widths[0] > 1:
            fit = (widths.count(widths[0]) / len(widths), widths[0])
            best, separator = max((best, separator), (fit, candidate), key=lambda found: found[0])
    return separator


def read_table(path: Path, reading: Reading = _FOUND_OUT) -> TextTable:
    """Read a data file into its cells: CSV (plain or gzip) or Parquet, or another format.

    Of a folder the files are read as parts of one table.

    Parameters
    ----------
    path : Path
        A file, a folder, or an address of either in object storage.
    reading : Reading, optional
        As the recipe says; what it leaves open is found out.

    Raises
    ------
    BadInput
        If it cannot be read, has no header, or a row has too many or too few cells.
    """
    if is_address(path):
        folder, objects = objects_at(path)
        read = [_as_stored(one, reading) for one in objects]
        table = joined([one.name for one in objects], read) if folder else read[0]
    elif path.is_dir():
        table = joined_parts(path, lambda part: _as_written(part, reading))
    else:
        table = _as_written(path, reading)
    return rewritten(table, reading.dates, reading.decimals, reading.missing_of)


def _as_written(path: Path, reading: Reading) -> TextTable:
    """Read a file's cells as they stand; what a date says, the whole column tells."""
    quick = _in_bulk(path, reading)
    return _read_plainly(path, reading) if quick is None else quick


def _as_stored(stored: StoredObject, reading: Reading) -> TextTable:
    """Read an object's cells where it lies; what is not plain Parquet is read with all its bytes.

    Raises
    ------
    BadInput
    """
    import pyarrow.parquet as pq

    name = clipped(stored.name)
    if stored.size >= FROM_BYTES:
        with stored.opened() as lies:
            if lies.read_at(4, 0) == b"PAR1":
                file = pq.ParquetFile(lies)
                _refuse_large(file.metadata, name)
                found = parquet_where_it_lies(stored, file)
                if found is not None:
                    return found
    return _read(unpack(stored.content(), name), name, reading)


def _in_bulk(path: Path, reading: Reading) -> TextTable | None:
    """Return a large table that a database can read; None where the plain reader has to."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    def plain() -> TextTable:
        return _read_plainly(path, reading)

    try:
        found = os.stat(path)
        if not stat.S_ISREG(found.st_mode) or not FROM_BYTES <= found.st_size <= MOST_BYTES:
            return None
        with path.open("rb") as file:
            head = file.read(_HEAD)
        if head.startswith(b"PAR1"):
            with pq.ParquetFile(path) as file:
                _refuse_large(file.metadata, clipped(path.name))
                return parquet_in_bulk(path, file, plain)
        if head.startswith((b"\x1f\x8b", b"PK")) or statistics_reader(head):
            return None
        return csv_in_bulk(path, head, reading, separator_of, plain)
    except BadInput:
        raise
    except (OSError, ValueError, pa.ArrowException):  # ValueError: a path that cannot be
        return None


def _read_plainly(path: Path, reading: Reading) -> TextTable:
    """Read a table with all of its bytes at once; see `_as_written`."""
    name = clipped(path.name)
    return _read(unpack(read_bytes(path, "The data file"), name), name, reading)


def _read(content: bytes, name: str, reading: Reading) -> TextTable:
    if content.startswith(b"PAR1"):
        return read_parquet(content, name)
    if is_workbook(content):
        return _of_columns(*read_sheet(content, name, reading))
    if statistics_reader(content):
        return _of_columns(*read_statistics(content, name, reading))
    return _read_csv(content, name, reading)


def _read_csv(content: bytes, name: str, reading: Reading) -> TextTable:
    text = decode(content, reading.encoding, name)
    if "\0" in text:
        raise BadInput(f"The file {name} holds a NUL character.", remedy="Save it as text again.")
    try:
        rows = read_csv_rows(text, reading.separator or separator_of(text))
    except csv.Error as error:
        raise BadInput(
            f"The file {name} cannot be split into rows and cells.", remedy="Check its quotes."
        ) from error
    rows = [row for row in rows if row]
    if not rows:
        raise BadInput(f"The file {name} is empty.", remedy="It needs a header and rows.")
    refuse_wide(len(rows[0]), name)
    header = [name.strip() for name in rows[0]]
    for number, row in enumerate(rows[1:], start=1):
        if len(row) != len(header):
            raise BadInput(
                f"Row {number} of {name} has {len(row)} cells where the header has {len(header)}.",
                remedy="Check its separators and quotes.",
            )
    width = len(header)
    # Spreadsheets end every line with a separator: a column without a name and without a value.
    while width and not any(row[width - 1].strip() for row in rows):
        width -= 1
    width = width or len(header)
    if width < len(header):
        rows = [row[:width] for row in rows]
    columns = zip(*rows[1:], strict=True) if len(rows) > 1 else [()] * width
    return TextTable.of(header[:width], map(Cells.of, columns), len(rows) - 1)


def read_published(content: Content, name: str, *, compared: bool = False) -> TextTable:
    """Read a published Parquet file as texts of its values, with all that is in it.

    Its cells may be `compared` with the CSV file of the same table afterwards.

    Raises
    ------
    BadInput
        If it is no Parquet file.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    def plain() -> TextTable:
        return read_parquet(content[:], name, every=True)

    if isinstance(content, FileBytes):
        try:
            with pq.ParquetFile(content.path) as file:
                _refuse_large(file.metadata, name)
                # Rows that repeat take few bytes: what the table holds counts as well.
                cells = file.metadata.num_rows * file.metadata.num_columns
                if max(len(content), cells) >= FROM_BYTES:
                    found = parquet_in_bulk(
                        content.path, file, plain, every=True, compared=compared
                    )
                else:
                    found = None
        except BadInput:
            raise
        except (OSError, ValueError, pa.ArrowException):
            found = None
        if found is not None:
            return found
    return plain()


def read_published_csv(content: Content, plain: Callable[[], TextTable]) -> TextTable | None:
    """Read a large published CSV file; None where the plain reader has to.

    Parameters
    ----------
    plain : callable
        The plain reader of the same file.
    """
    if not isinstance(content, FileBytes) or len(content) < FROM_BYTES:
        return None
    told = Reading(separator=",", encoding="utf-8")
    return csv_in_bulk(content.path, content[:_HEAD], told, separator_of, plain, every=True)


def _of_columns(header: Sequence[str], columns: Iterable[Sequence[object]]) -> TextTable:
    columns = list(columns)
    return TextTable.of(header, map(Cells.of, columns), len(columns[0]) if columns else 0)


def read_parquet(content: bytes, name: str, *, every: bool = False) -> TextTable:
    """Read a Parquet file as texts of its values.

    Columns in which pandas stored row labels are left out, and blanks around names are removed,
    unless `every` is set.

    Raises
    ------
    BadInput
        If it is no Parquet file.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = _opened(pq.ParquetFile(pa.BufferReader(content)), content, name)
    except BadInput:
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        raise BadInput(
            f"The file {name} is no readable Parquet file.", remedy="Write it again."
        ) from error
    columns: list[Cells] = []
    places = [
        i
        for i, column in enumerate(table.column_names)
        if every or re.fullmatch(r"__index_level_\d+__", column) is None
    ]
    for column in (table.column(i) for i in places):
        try:
            columns.append(cells_of_column(column))
        except (pa.ArrowException, ValueError, OverflowError) as error:
            raise BadInput(
                f"The file {name} holds a day or a time that is none of the years 1 to 9999.",
                remedy="Correct it, or store it as text.",
            ) from error
    names = [table.column_names[i] for i in places]
    return TextTable.of(names if every else [n.strip() for n in names], columns, table.num_rows)


def _opened(file: pq.ParquetFile, content: bytes, name: str) -> pa.Table:
    """Read a Parquet file, unless it declares more than is read.

    Texts stay in the file's own dictionaries: one of a megabyte may stand in a million rows.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    _refuse_large(file.metadata, name)
    texts = [f.name for f in file.schema_arrow if pa.types.is_string(f.type)]
    table = pq.ParquetFile(pa.BufferReader(content), read_dictionary=texts).read()
    table.validate(full=True)
    return table


def _refuse_large(told: pq.FileMetaData, name: str) -> None:
    """Refuse a Parquet file that declares more than is read.

    Raises
    ------
    BadInput
    """
    refuse_wide(told.num_columns, name)
    size = sum(told.row_group(i).total_byte_size for i in range(told.num_row_groups))
    if told.num_rows * told.num_columns > MOST_CELLS or size > MOST_BYTES:
        raise BadInput(
            f"The file {name} declares {told.num_rows:,} rows of {told.num_columns:,} columns, "
            f"{size / 2**20:,.0f} MiB unpacked; at most {MOST_CELLS:,} cells and "
            f"{MOST_BYTES / 2**20:,.0f} MiB are read.",
            remedy="Leave out columns that the release does not need.",
        )
