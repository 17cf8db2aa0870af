"""Reading a table of either format, from a path or from bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ..kinds import ColumnKind
from ..table import Dataset
from .delimited import read_csv
from .formats import PARQUET_MARKS, refuse_foreign
from .limits import MOST_BYTES, too_large
from .loading import GZIP_MARK, load, unpack
from .options import DataOptions
from .parquet import read_parquet

_DEFAULTS = DataOptions()


def read_table(
    source: str | Path | bytes,
    options: DataOptions = _DEFAULTS,
    *,
    kinds: Mapping[str, ColumnKind] | None = None,
    name: str = "",
    most_bytes: int = MOST_BYTES,
) -> Dataset:
    """Read a CSV file (plain or gzip) or a Parquet file; what it is, its content says.

    Blanks around cells and column names are removed. Every cell is read as the text it is, so
    leading zeros survive. Rows are counted from 1 below the header; blank lines are no rows.

    Parameters
    ----------
    source : str, Path or bytes
        A path, or the file's content.
    options : DataOptions, optional
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
        name = name or path.name
        data = load(path, name, most_bytes)
    if len(data) > most_bytes:
        raise too_large(name, len(data), most_bytes)
    digest = hashlib.sha256(data).hexdigest()  # of the file as it lies there
    if data.startswith(GZIP_MARK):
        data = unpack(data, name, most_bytes)
    if data.startswith(PARQUET_MARKS):
        table = read_parquet(data, options, kinds or {}, name, most_bytes)
    else:
        refuse_foreign(data, name)
        table = read_csv(data, options, kinds or {}, name)
    return replace(table, file_sha256=digest)
