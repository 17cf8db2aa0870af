"""Reading a table of any format, from a path or from bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from anon_core.data.reading.delimited import read_csv
from anon_core.data.reading.limits import MOST_BYTES, too_large
from anon_core.data.reading.loading import (
    GZIP_MARK,
    PARQUET_MARKS,
    FileKind,
    is_spreadsheet,
    load,
    refuse_foreign,
    statistics_format,
    unpack,
)
from anon_core.data.reading.options import DataOptions
from anon_core.data.reading.parquet import read_parquet
from anon_core.data.reading.parts import read_folder
from anon_core.data.table import Dataset
from anon_core.data.values.kinds import ColumnKind

_DEFAULTS = DataOptions()
_Reader = Callable[[bytes, DataOptions, Mapping[str, ColumnKind], str, int], Dataset]


def _text(
    data: bytes,
    options: DataOptions,
    kinds: Mapping[str, ColumnKind],
    name: str,
    _most_bytes: int,
) -> Dataset:
    refuse_foreign(data, name)
    return read_csv(data, options, kinds, name)


def _sheet(
    data: bytes,
    options: DataOptions,
    kinds: Mapping[str, ColumnKind],
    name: str,
    most_bytes: int,
) -> Dataset:
    from anon_core.data.reading.spreadsheet import read_spreadsheet

    return read_spreadsheet(data, options, kinds, name, most_bytes)


def _statistics(
    data: bytes,
    options: DataOptions,
    kinds: Mapping[str, ColumnKind],
    name: str,
    _most_bytes: int,
) -> Dataset:
    from anon_core.data.reading.statistics_file import read_statistics

    return read_statistics(data, options, kinds, name)


#: The reader of each kind, imported when needed; what people call a kind, and its endings:
#: `loading.READABLE`.
READERS: Mapping[FileKind, _Reader] = {
    "text": _text,
    "parquet": read_parquet,
    "spreadsheet": _sheet,
    "statistics": _statistics,
}


def file_kind(data: bytes) -> FileKind:
    """Return which reader a file's bytes, unpacked, are for; text where they are for no other."""
    if data.startswith(PARQUET_MARKS):
        return "parquet"
    if is_spreadsheet(data):
        return "spreadsheet"
    return "text" if statistics_format(data) is None else "statistics"


def read_table(
    source: str | Path | bytes,
    options: DataOptions = _DEFAULTS,
    *,
    kinds: Mapping[str, ColumnKind] | None = None,
    name: str = "",
    most_bytes: int = MOST_BYTES,
) -> Dataset:
    """Read a table; what kind of file it is, its content says.

    CSV, Parquet, Excel and OpenDocument spreadsheets, SPSS, Stata and SAS; each plain or in gzip.
    Blanks around cells and column names are removed. Every cell is read as the text it is, so
    leading zeros survive. Rows are counted from 1 below the header; blank lines are no rows.

    Parameters
    ----------
    source : str, Path or bytes
        A path, or the file's content. A folder holds the parts of one table; see `parts_of`.
    kinds : mapping of str to ColumnKind, optional
        Columns whose kind is declared instead of found out.
    name : str, optional
        The source's name for headings and messages; the file's name if empty.
    most_bytes : int, optional
        Refuse files larger than this, packed or unpacked.

    Raises
    ------
    BadInput
        If there is no file, it is no table, or the table is broken. The message names the place
        and the remedy and holds no cell value.
    """
    if isinstance(source, bytes):
        data, name = source, name or "the table"
    else:
        path = Path(source)
        if path.is_dir():
            return read_folder(path, options, kinds or {}, most_bytes)
        name = name or path.name
        data = load(path, name, most_bytes)
    if len(data) > most_bytes:
        raise too_large(name, len(data), most_bytes)
    with ThreadPoolExecutor(1) as hashing:  # the digest is of the file as it lies there
        digest = hashing.submit(_sha256, data)
        table = _read(data, name, options, kinds or {}, most_bytes)
        return replace(table, file_sha256=digest.result())


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _read(
    data: bytes,
    name: str,
    options: DataOptions,
    kinds: Mapping[str, ColumnKind],
    most_bytes: int,
) -> Dataset:
    """Return the table that a file's bytes hold, packed or not."""
    if data.startswith(GZIP_MARK):
        data = unpack(data, name, most_bytes)
    kind = file_kind(data)
    options.refuse_idle(kind, name)
    return READERS[kind](data, options, kinds, name, most_bytes)
