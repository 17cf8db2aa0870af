"""The second computation's own reader of data files."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd

from ..errors import BadInput

if TYPE_CHECKING:
    import pyarrow as pa

SEPARATORS = (",", ";", "\t", "|")

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


def read_bytes(path: Path, what: str) -> bytes:
    """Return a file's bytes.

    Raises
    ------
    BadInput
        If the file is not there or cannot be read.
    """
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadInput(
            f"{what} cannot be read: {path.name} ({error.strerror}).",
            remedy="Check the path and your permissions.",
        ) from error


def unpack(content: bytes, name: str) -> bytes:
    """Return what a gzip file holds, and other files as they are.

    Raises
    ------
    BadInput
        If the gzip file is damaged.
    """
    if not content.startswith(b"\x1f\x8b"):
        return content
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise BadInput(
            f"{name} is a damaged gzip file.", remedy="Copy or download it again."
        ) from error


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
    head = "".join(line + "\n" for line in text.splitlines()[:50])
    best, separator = (0.0, 1), ","
    for candidate in SEPARATORS:
        widths = [len(row) for row in read_csv_rows(head, candidate) if row]
        if widths and widths[0] > 1:
            fit = (widths.count(widths[0]) / len(widths), widths[0])
            best, separator = max((best, separator), (fit, candidate), key=lambda found: found[0])
    return separator


def read_table(path: Path, *, separator: str, encoding: str) -> pd.DataFrame:
    """Read a data file, CSV (plain or gzip) or Parquet, as a frame of texts.

    Parameters
    ----------
    path : Path
    separator, encoding : str
        As the recipe names them; empty to find them out.

    Raises
    ------
    BadInput
        If it cannot be read, has no header, or a row has too many or too few cells.
    """
    content = unpack(read_bytes(path, "The data file"), path.name)
    if content.startswith(b"PAR1"):
        return read_parquet(content, path.name)
    text = decode(content, encoding, path.name)
    rows = read_csv_rows(text, separator or separator_of(text))
    rows = [row for row in rows if row]
    if not rows:
        raise BadInput(f"The file {path.name} is empty.", remedy="It needs a header and rows.")
    header = [name.strip() for name in rows[0]]
    for number, row in enumerate(rows[1:], start=1):
        if len(row) != len(header):
            raise BadInput(
                f"Row {number} of {path.name} has {len(row)} cells where the header has "
                f"{len(header)}.",
                remedy="Check its separators and quotes.",
            )
    width = len(header)
    # Spreadsheets end every line with a separator: a column without a name and without a value.
    while width and not any(row[width - 1].strip() for row in rows):
        width -= 1
    width = width or len(header)
    rows = [row[:width] for row in rows]
    columns = zip(*rows[1:], strict=True) if len(rows) > 1 else [()] * width
    return _frame(header[:width], columns)


def read_parquet(content: bytes, name: str, *, every: bool = False) -> pd.DataFrame:
    """Read a Parquet file as a frame of its values.

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
        table = pq.read_table(pa.BufferReader(content))
    except (pa.ArrowException, OSError) as error:
        raise BadInput(
            f"The file {name} is no readable Parquet file.", remedy="Write it again."
        ) from error
    columns: list[Iterable[object]] = []
    places = [
        i
        for i, column in enumerate(table.column_names)
        if every or re.fullmatch(r"__index_level_\d+__", column) is None
    ]
    for column in (table.column(i) for i in places):
        # numpy's 32-bit floats write 0.1 where Python's write what 0.1 becomes in 64 bits.
        floats = pa.types.is_floating(column.type)
        columns.append(column.to_numpy() if floats else _values(column))
    names = [table.column_names[i] for i in places]
    return _frame(names if every else [n.strip() for n in names], columns)


def _values(column: pa.ChunkedArray[Any]) -> Iterable[object]:
    """Return the cells of a column as Python's values, each different one made once."""
    import pyarrow as pa

    try:
        coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        whole = cast(Any, coded.unify_dictionaries().combine_chunks())
    except pa.ArrowException:  # lists and the like have no dictionary
        return column.to_pylist()
    made = np.empty(len(whole.dictionary) + 1, dtype=object)  # the last stands for no value
    made[:-1] = whole.dictionary.to_pylist()
    places = whole.indices.cast(pa.int64()).fill_null(-1)
    return made[places.to_numpy(zero_copy_only=False)]


def _frame(header: Sequence[str], columns: Iterable[Iterable[object]]) -> pd.DataFrame:
    made = {i: pd.Series(list(c), dtype=object) for i, c in enumerate(columns)}
    frame = pd.DataFrame(made)
    frame.columns = pd.Index(list(header))
    return frame


def idle_dictionaries(content: bytes) -> list[str]:
    """Return the columns of a Parquet file whose dictionary holds texts that no row shows.

    A reader of the cells alone does not see them, but whoever has the file does.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = pq.read_schema(pa.BufferReader(content)).names
    table = pq.ParquetFile(pa.BufferReader(content), read_dictionary=names).read()
    found: list[str] = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        for chunk in column.chunks:
            if isinstance(chunk, pa.DictionaryArray):
                shown = set(cast(list[object], chunk.indices.unique().to_pylist())) - {None}
                if len(shown) < len(chunk.dictionary) and name not in found:
                    found.append(name)
    return found
