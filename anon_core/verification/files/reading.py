"""The second computation's own reader of data files."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import numpy as np

from anon_core.base.errors import BadInput, clipped
from anon_core.verification.files import bounded_reading, other_files
from anon_core.verification.files.bounded_reading import Content, FileBytes, StoredObject
from anon_core.verification.files.csv_files import rows_of, split, text_of
from anon_core.verification.files.reading_options import Reading, rewritten
from anon_core.verification.text.cells import Cells, TextTable, cells_of_column, narrow

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq


# A private table that lies in a folder of files, read part by part.


_NOTHING = "__HIVE_DEFAULT_PARTITION__"


def joined_parts(folder: Path, read: Callable[[Path], TextTable]) -> TextTable:
    """Return the table whose parts are the files below a folder, in the order of their names.

    Folders named ``column=value`` tell a column of the files below them. Names that start with a
    dot or an underscore are passed over. Columns are read when first asked for.

    Parameters
    ----------
    read : callable
        Reads one file.

    Raises
    ------
    BadInput
        If there is no file, or one has other columns than the first.
    """
    files = [path.relative_to(folder) for path in folder.rglob("*") if not path.is_dir()]
    names = sorted(f.as_posix() for f in files if not any(part[0] in "._" for part in f.parts))
    if not names:
        raise BadInput(
            f"The folder {clipped(folder.name)} holds no data file.", remedy="Check the path."
        )
    return joined(names, [read(folder / name) for name in names])


def joined(
    names: Sequence[str],
    tables: Sequence[TextTable],
    remedy: str = "Move files that are not part of the table out of the folder.",
) -> TextTable:
    """Return the table of parts whose names within their folder are given.

    Raises
    ------
    BadInput
        If one has other columns than the first.
    """
    folders = [_folder_values(name) for name in names]
    header, keys = tables[0].names, tuple(folders[0])
    for name, table, own in zip(names, tables, folders, strict=True):
        if table.names != header or tuple(own) != keys or set(own) & set(header):
            raise BadInput(
                f"{clipped(name)} has other columns than {clipped(names[0])}.", remedy=remedy
            )

    def load(places: Sequence[int]) -> list[Cells]:
        inside = [header[place] for place in places if place < len(header)]
        for table in tables:
            table.prefetch(inside)
        cells: list[Cells] = []
        for place in places:
            if place < len(header):
                cells.append(Cells.joined([table.column_at(place) for table in tables]))
            else:
                key = keys[place - len(header)]
                parts = zip(tables, folders, strict=True)
                cells.append(Cells.joined([_all(own[key], len(table)) for table, own in parts]))
        return cells

    return TextTable((*header, *keys), sum(map(len, tables)), load)


def _folder_values(name: str) -> dict[str, str | None]:
    """Return what the names of folders tell of the file, by column."""
    split = [part.split("=", 1) for part in name.split("/")[:-1] if "=" in part]
    return {
        unquote(key).strip(): None if value == _NOTHING else unquote(value) for key, value in split
    }


def _all(value: str | None, rows: int) -> Cells:
    """Return a column whose cells are all the same."""
    code = -1 if value is None else 0
    return Cells(
        codes=narrow(np.full(rows, code, dtype=np.int64), 1),
        texts=[] if value is None else [value],
    )


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


def separator_of(text: str) -> str:
    """Return the separator that splits the first lines most evenly, and the header most often."""
    head = "".join(line + "\n" for line in re.split("\r\n|\r|\n", text[:_HEAD])[:50])
    best, separator = (0.0, 1), ","
    for candidate in SEPARATORS:
        widths = [len(row) for row in rows_of(head, candidate) if row]
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
    if bounded_reading.is_address(path):
        folder, objects = bounded_reading.objects_at(path)
        read = [_as_stored(one, reading) for one in objects]
        table = joined([one.name for one in objects], read) if folder else read[0]
    elif path.is_dir():
        table = joined_parts(path, lambda part: _as_written(part, reading))
    else:
        table = _as_written(path, reading)
    return rewritten(table, reading.dates, reading.decimals, reading.missing_of)


def _as_written(path: Path, reading: Reading) -> TextTable:
    """Read a file's cells as they stand; what a date says, the whole column tells."""
    name, file = clipped(path.name), FileBytes(path, "The data file", reading.go_on)
    head = file[:_HEAD]
    if head.startswith(b"\x1f\x8b"):
        packed = bounded_reading.read_bytes(path, "The data file")
        return _read(bounded_reading.unpack(packed, name), name, reading)
    return _read(file, name, reading)


def _as_stored(stored: StoredObject, reading: Reading) -> TextTable:
    """Read an object's cells: Parquet where it lies, anything else with all its bytes.

    Raises
    ------
    BadInput
    """
    name = clipped(stored.name)
    with stored.opened() as lies:
        parquet = stored.size >= 4 and lies.read_at(4, 0) == b"PAR1"
    if parquet:
        return read_parquet(stored, name)
    return _read(bounded_reading.unpack(stored.content(), name), name, reading)


def _read(content: Content, name: str, reading: Reading) -> TextTable:
    head = content[:_HEAD]
    if head.startswith(b"PAR1"):
        return read_parquet(content, name)
    zipped = head.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0"))
    if zipped and other_files.is_workbook(content[:]):
        return _of_columns(*other_files.read_sheet(content[:], name, reading))
    if other_files.statistics_reader(head):
        return _of_columns(*other_files.read_statistics(content[:], name, reading))
    # By the encoding named, else by its mark, else UTF-8, else Latin-1.
    marked = next((codec for bom, codec in _MARKS if head.startswith(bom)), "")
    encoding = reading.encoding or marked
    tried = (encoding,) if encoding else ("utf-8", "cp1252", "latin-1")
    for codec in tried:
        try:
            return _read_csv(content, codec, name, reading)
        except (LookupError, UnicodeError):
            continue
        except csv.Error as error:
            raise BadInput(
                f"The file {name} cannot be split into rows and cells.", remedy="Check its quotes."
            ) from error
    what = f"The file {name} is not written in the encoding '{tried[-1]}'."
    raise BadInput(what, remedy="Name its encoding in the recipe, under [data].")


def _read_csv(content: Content, codec: str, name: str, reading: Reading) -> TextTable:
    with text_of(content, codec) as text:
        head = text.read(_HEAD).removeprefix("\ufeff")
    found = split(content, codec, reading.separator or separator_of(head), name)
    names, columns = found.header, found.columns
    if any("\0" in text for text in (*names, *(t for column in columns for t in column.texts))):
        raise BadInput(f"The file {name} holds a NUL character.", remedy="Save it as text again.")
    if not names:
        raise BadInput(f"The file {name} is empty.", remedy="It needs a header and rows.")
    for number, cells in found.ragged.items():
        what = f"Row {number} of {name} has {cells} cells where the header has {len(names)}."
        raise BadInput(what, remedy="Check its separators and quotes.")
    width = len(names)
    # Spreadsheets end every line with a separator: a column without a name and without a value.
    while width and not any(map(str.strip, (names[width - 1], *columns[width - 1].texts))):
        width -= 1
    width = width or len(names)
    return TextTable.of([own.strip() for own in names[:width]], columns[:width], found.rows)


def _of_columns(header: Sequence[str], columns: Iterable[Sequence[object]]) -> TextTable:
    columns = list(columns)
    return TextTable.of(header, map(Cells.of, columns), len(columns[0]) if columns else 0)


def read_parquet(content: Content | StoredObject, name: str, *, every: bool = False) -> TextTable:
    """Read a Parquet file as texts of its values, column by column when these are asked for.

    Columns in which pandas stored row labels are left out, and blanks around names are removed,
    unless `every` is set. Texts stay in the file's own dictionaries: one of a megabyte may stand in
    a million rows.

    Raises
    ------
    BadInput
        If it is no Parquet file, or declares more than is read.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    with _opened(content, name) as lies:
        footer = pq.read_metadata(lies)
        _refuse_large(footer, name)
        schema = footer.schema.to_arrow_schema()
    texts = [field.name for field in schema if pa.types.is_string(field.type)]
    places = [
        place
        for place, own in enumerate(schema.names)
        if every or re.fullmatch(r"__index_level_\d+__", own) is None
    ]

    def load(wanted: Sequence[int]) -> list[Cells]:
        found: list[list[Cells]] = [[] for _ in wanted]
        asked = {schema.names[places[place]] for place in wanted}
        with _opened(content, name) as lies:
            file = pq.ParquetFile(lies, metadata=footer, read_dictionary=texts)
            for group in range(footer.num_row_groups):
                columns = [n for n in schema.names if n in asked]
                table = file.read_row_group(group, columns, use_threads=in_threads(footer, group))
                table.validate(full=True)
                for parts, place in zip(found, wanted, strict=True):
                    own = schema.names[places[place]]
                    before = schema.names[: places[place]].count(own)  # two may have one name
                    at = [i for i, other in enumerate(table.column_names) if other == own][before]
                    parts.append(_cells_of(table.column(at), name))
        columns = [Cells.joined(parts) for parts in found]
        if any(len(column.codes) != footer.num_rows for column in columns):
            what = f"The file {name} has another number of rows than it declares."
            raise BadInput(what, remedy="Write it again.")
        return columns

    names = [schema.names[place] for place in places]
    return TextTable(names if every else [n.strip() for n in names], footer.num_rows, load)


#: Bytes from which threads read a row group. One that lets go of Python's bytes after the last line
#: of a program ends it with a signal; little is read so shortly before.
_MUCH = 1 << 22


def in_threads(footer: pq.FileMetaData, group: int) -> bool:
    """Say whether a row group is so large that Arrow's threads are worth their risk."""
    return footer.row_group(group).total_byte_size >= _MUCH


def _cells_of(column: pa.ChunkedArray[Any], name: str) -> Cells:
    import pyarrow as pa

    try:
        return cells_of_column(column)
    except (pa.ArrowException, ValueError, OverflowError) as error:
        what = f"The file {name} holds a day or a time outside the years 1 to 9999."
        raise BadInput(what, remedy="Correct it, or store it as text.") from error


@contextmanager
def _opened(content: Content | StoredObject, name: str) -> Generator[Any]:
    """Open a Parquet file wherever it lies, and say in one sentence what is wrong with it.

    Raises
    ------
    BadInput
    """
    import pyarrow as pa

    try:
        if isinstance(content, bytes):
            yield pa.BufferReader(content)
        else:
            with content.opened() as file:
                yield file
            content.refuse_changed()
    except BadInput:
        raise
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        if isinstance(content, FileBytes):
            content.refuse_changed()
        raise BadInput(
            f"The file {name} is not a readable Parquet file.", remedy="Write it again."
        ) from error


def _refuse_large(footer: pq.FileMetaData, name: str) -> None:
    """Refuse a Parquet file that declares more than is read.

    Raises
    ------
    BadInput
    """
    bounded_reading.refuse_wide(footer.num_columns, name)
    size = sum(footer.row_group(i).total_byte_size for i in range(footer.num_row_groups))
    cells, most = bounded_reading.MOST_CELLS, bounded_reading.MOST_BYTES
    if footer.num_rows * footer.num_columns > cells or size > most:
        raise BadInput(
            f"The file {name} declares {footer.num_rows:,} rows of {footer.num_columns:,} columns, "
            f"{size / 2**20:,.0f} MiB unpacked; at most {cells:,} cells and "
            f"{most / 2**20:,.0f} MiB are read.",
            remedy="Leave out columns that the release does not need.",
        )
