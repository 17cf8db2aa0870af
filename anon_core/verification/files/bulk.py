"""Large data files read by a database, column by column; what it might read otherwise is not.

A CSV file is read here only where no two readers differ about it, a Parquet file only where its
columns are texts, numbers and the like. Everything else, and whatever the database refuses, is left
to the plain reader, which also has the words for what is wrong.
"""

from __future__ import annotations

import codecs
import csv
import io
import os
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from anon_core.base.errors import BadInput, clipped
from anon_core.verification.files.bounded_reading import refuse_wide
from anon_core.verification.files.engine import engine, quoted
from anon_core.verification.files.plain_bytes import plain_lines
from anon_core.verification.files.prefetch import ahead
from anon_core.verification.files.reading_options import Reading
from anon_core.verification.files.stored import StoredObject
from anon_core.verification.text.cells import Cells, TextTable, cells_of_column, narrow, numbering

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq
if TYPE_CHECKING:
    import pyarrow.parquet as pq

# Columns of very large Parquet files, read some row groups at a time by their own dictionaries.


_ROWS = 1 << 21

#: Opens a file for as long as some of its row groups are read.
Opened = Callable[[], AbstractContextManager[Any]]


def few_groups(told: pq.FileMetaData) -> list[list[int]]:
    """Return the row groups of a file in parts of so many rows as are read at a time."""
    parts: list[list[int]] = [[]]
    rows = 0
    for group in range(told.num_row_groups):
        own = told.row_group(group).num_rows
        if parts[-1] and rows + own > _ROWS:
            parts.append([])
            rows = 0
        parts[-1].append(group)
        rows += own
    return parts


def read_groups(
    name: str,
    opened: Opened,
    names: Sequence[str],
    parts: Sequence[Sequence[int]],
    rows: int,
    *,
    far: bool = False,
) -> list[Cells]:
    """Return columns of a Parquet file by their names, each of which is there once.

    Parameters
    ----------
    name : str
        What the file is called.
    opened : callable
        Opens it.
    names : sequence of str
    parts : sequence of sequences of int
        Row groups that are read at a time, in their order.
    rows : int
        Rows of all of them.
    far : bool
        Whether every look at the file waits for a network, so that few and long ones are faster.
    """
    import pyarrow as pa

    known = [numbering() for _ in names]
    found = [narrow(np.empty(rows, dtype=np.int8), 0) for _ in names]
    begin = 0
    for part in ahead(lambda groups: _read(opened, names, groups, far=far), parts):
        for nth, (cells, code_of) in enumerate(zip(part, known, strict=True)):
            own = [*map(code_of.__getitem__, cells.texts), -1]
            codes = cells.codes
            if begin or len(code_of) < len(cells.texts):  # else the first have their own numbers
                codes = narrow(np.array(own, dtype=np.int64), len(code_of))[codes]
            if found[nth].itemsize < codes.itemsize:
                found[nth] = found[nth].astype(codes.dtype)
            found[nth][begin : begin + len(codes)] = codes
        begin += len(part[0].codes)
    if begin != rows:
        raise BadInput(
            f"The file {clipped(name)} has another number of rows than it declares.",
            remedy="Write it again.",
        )
    pa.default_memory_pool().release_unused()
    return [
        Cells(codes=codes, texts=list(code_of)) for codes, code_of in zip(found, known, strict=True)
    ]


def _read(opened: Opened, names: Sequence[str], groups: Sequence[int], *, far: bool) -> list[Cells]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with opened() as lies:
        told = pq.read_metadata(lies)
        schema = told.schema.to_arrow_schema()
        texts = [name for name in names if pa.types.is_string(schema.field(name).type)]
        file = pq.ParquetFile(lies, metadata=told, read_dictionary=texts, pre_buffer=far)
        table = file.read_row_groups(list(groups), columns=list(names))
    table.validate(full=True)
    return [cells_of_column(table.column(name)) for name in names]


#: Smaller files are read faster without a database.
FROM_BYTES = 1 << 22
_BATCH = 1 << 17
_TOGETHER = 32
#: Cells from which Parquet files are read without a database. A run holds tables of that size in
#: one, so that what it published is read by another reader in either case.
FROM_GROUPS = 1 << 26

#: The plain reader of the same file.
Plain = Callable[[], TextTable]
#: Finds the separator of a text.
Separator = Callable[[str], str]


class _Unlike(Exception):
    """The database found something else than was counted before."""


def csv_in_bulk(
    path: Path,
    head: bytes,
    reading: Reading,
    separator_of: Separator,
    plain: Plain,
    *,
    every: bool = False,
) -> TextTable | None:
    """Return a large CSV file about which no two readers differ; None for every other one.

    Blanks around names are removed, unless `every` is set.
    """
    told = _first_lines(head, whole=len(head) == os.stat(path).st_size)
    if told is None or not _is_utf8(reading.encoding) or not _has_plain_path(path):
        return None
    text, first = told
    separator = reading.separator or separator_of(text)
    try:
        header = next(csv.reader(io.StringIO(first, newline=""), delimiter=separator), [])
    except csv.Error:
        return None
    if not header or not header[-1].strip() or any("\n" in name for name in header):
        return None  # a last column without a name may be none
    name = clipped(path.name)
    refuse_wide(len(header), name)
    made = _mark(path)
    lines = plain_lines(path, separator, len(header))
    if lines is None:
        return None
    windows = first.endswith("\r\n")

    def read(places: Sequence[int]) -> list[Cells]:
        return _read_csv(path, len(header), places, separator, windows=windows, rows=lines - 1)

    names = header if every else [own.strip() for own in header]
    return TextTable(names, lines - 1, _guarded(read, plain, path, made))


def parquet_in_bulk(
    path: Path, file: pq.ParquetFile, plain: Plain, *, every: bool = False, compared: bool = False
) -> TextTable | None:
    """Return a large Parquet file of plain columns; None for every other one.

    `every` is as for `reading.read_parquet`. Where its cells are `compared` with a file of another
    format, any reader will do, and that of its own dictionaries is the fastest.
    """
    if not _has_plain_path(path):
        return None
    made = _mark(path)
    schema, rows, leaves = file.schema_arrow, file.metadata.num_rows, file.metadata.num_columns
    shown = _plain_columns(file, every=every)
    if shown is None or rows < 0:  # a file may say anything of itself
        return None
    texts = [not _is_measured(_value_type(field.type)) for field in schema]
    by_groups = compared or rows * leaves > FROM_GROUPS
    by_groups &= len(set(schema.names)) == len(schema)
    parts = few_groups(file.metadata)

    def read(places: Sequence[int]) -> list[Cells]:
        wanted = [shown[place] for place in places]
        if by_groups:
            named = [schema.names[place] for place in wanted]
            return read_groups(path.name, lambda: path.open("rb"), named, parts, rows)
        return _read_parquet(path, len(schema), wanted, texts, rows)

    names = [schema.names[place] for place in shown]
    names = names if every else [name.strip() for name in names]
    return TextTable(names, rows, _guarded(read, plain, path, made))


def parquet_where_it_lies(stored: StoredObject, file: pq.ParquetFile) -> TextTable | None:
    """Return a Parquet table of plain columns in object storage; None for every other one.

    Its row groups are read through Arrow whatever its size, since a run reads it in a database.
    """
    schema, rows = file.schema_arrow, file.metadata.num_rows
    shown = _plain_columns(file, every=False)
    if shown is None or len(set(schema.names)) != len(schema):
        return None
    names = [schema.names[place] for place in shown]
    parts = few_groups(file.metadata)

    def read(places: Sequence[int]) -> list[Cells]:
        named = [names[place] for place in places]
        found = read_groups(stored.name, stored.opened, named, parts, rows, far=True)
        stored.refuse_changed()
        return found

    return TextTable([name.strip() for name in names], rows, read)


def _plain_columns(file: pq.ParquetFile, *, every: bool) -> list[int] | None:
    """Return the places of the columns that are looked at; None where one is not plain."""
    schema = file.schema_arrow
    leaves = file.metadata.num_columns
    if leaves != len(schema) or not all(_is_plain(field.type) for field in schema):
        return None
    return [
        place
        for place, own in enumerate(schema.names)
        if every or re.fullmatch(r"__index_level_\d+__", own) is None
    ]


# ---- both formats --------------------------------------------------------------------------------


def _guarded(
    read: Callable[[Sequence[int]], list[Cells]], plain: Plain, path: Path, made: object
) -> Callable[[Sequence[int]], list[Cells]]:
    """Return a reader that leaves to the plain one what the database does not read."""

    def load(places: Sequence[int]) -> list[Cells]:
        import duckdb
        import pyarrow as pa

        try:
            found = read(places)
        except duckdb.OutOfMemoryException as error:  # what reads plainly takes even more
            raise BadInput(
                "Memory, or the disk for what does not fit there, is too short to verify "
                f"{clipped(path.name)}.",
                remedy='Make room on the disk, or give more memory, such as memory = "4GB" in '
                "[engine].",
            ) from error
        except (duckdb.Error, pa.ArrowException, OSError, _Unlike):  # the plain one has the words
            table = plain()
            found = [table.column_at(place) for place in places]
        if _mark(path) != made:
            raise BadInput(
                f"The file {clipped(path.name)} changed while it was read.",
                remedy="Try again when no program writes to the file.",
            )
        return found

    return load


def _mark(path: Path) -> object:
    """Return what changes when a file is written to."""
    found = os.stat(path)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _has_plain_path(path: Path) -> bool:
    """Say whether a database takes a path for itself and not for a pattern."""
    return not set("*?[]{}") & set(str(path.absolute()))


# ---- CSV -----------------------------------------------------------------------------------------


def _first_lines(head: bytes, *, whole: bool) -> tuple[str, str] | None:
    """Return the first lines of a text file and the first of all; None where it is not plain."""
    if head.startswith((codecs.BOM_UTF8, b"\n", b"\r")):
        return None
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return None
    first = text[: text.find("\n") + 1]
    return (text, first) if first and (whole or len(text.splitlines()) > 51) else None


def _is_utf8(encoding: str) -> bool:
    try:
        return not encoding or codecs.lookup(encoding).name == "utf-8"
    except LookupError:
        return False


def _read_csv(
    path: Path, width: int, places: Sequence[int], separator: str, *, windows: bool, rows: int
) -> list[Cells]:
    """Read some columns of a CSV file, a few thousand rows at a time."""
    kinds = ", ".join(f"'c{place}': 'VARCHAR'" for place in range(width))
    wanted = ", ".join(f"c{place}" for place in places)
    options = (
        f"columns = {{{kinds}}}",
        "auto_detect = false",
        "header = false",
        "skip = 1",
        f"delim = {quoted(separator)}",
        "quote = '\"'",
        "escape = '\"'",
        "comment = ''",
        "new_line = '\\r\\n'" if windows else "new_line = '\\n'",
        "strict_mode = true",
        "null_padding = false",
        "ignore_errors = false",
        "compression = 'none'",
        "hive_partitioning = false",
    )
    query = f"SELECT {wanted} FROM read_csv({quoted(str(path.absolute()))}, {', '.join(options)})"
    with engine() as database:
        batches = database.sql(query).to_arrow_reader(_BATCH)
        found = _texts_of(batches, len(places), nothing="")
    if any(len(one.codes) != rows for one in found):
        raise _Unlike
    return found


def _texts_of(
    batches: Iterable[pa.RecordBatch], width: int, *, nothing: str | None = None
) -> list[Cells]:
    """Return the cells of columns of texts, which come some rows at a time.

    No text is the text of `nothing` – without a value and empty are the same cell of a CSV file –,
    and -1 where that is None.
    """
    import pyarrow as pa

    texts = [numbering() for _ in range(width)]
    parts: list[list[np.ndarray[Any, Any]]] = [[np.empty(0, dtype=np.int8)] for _ in range(width)]
    encoded = ahead(_encoded, batches)
    while some := list(islice(encoded, _TOGETHER)):
        for column, known, codes in zip(zip(*some, strict=True), texts, parts, strict=True):
            # What batches share is numbered once for all of them.
            alike = cast(Any, pa.chunked_array(column)).unify_dictionaries().chunks
            own = [*map(known.__getitem__, alike[0].dictionary.to_pylist()), -1]
            if nothing is not None and any(c.null_count for c in alike):
                own[-1] = known[nothing]
            number = narrow(np.array(own, dtype=np.int64), len(known))
            codes += [number[c.indices.fill_null(-1).to_numpy()] for c in alike]
    return [
        Cells(codes=narrow(np.concatenate(codes), len(known)), texts=list(known))
        for codes, known in zip(parts, texts, strict=True)
    ]


def _encoded(batch: pa.RecordBatch) -> list[Any]:
    return [cast(Any, column).dictionary_encode() for column in batch.columns]


# ---- Parquet -------------------------------------------------------------------------------------


def _value_type(kind: pa.DataType) -> pa.DataType:
    import pyarrow as pa

    return cast(Any, kind).value_type if pa.types.is_dictionary(kind) else kind


def _is_plain(kind: pa.DataType) -> bool:
    """Say whether every reader has the same values for a type."""
    import pyarrow as pa

    value = _value_type(kind)
    text = pa.types.is_string(value) or pa.types.is_large_string(value)
    return text or (_is_measured(value) and not pa.types.is_dictionary(kind))


def _is_measured(kind: pa.DataType) -> bool:
    import pyarrow as pa

    whole = pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_date32(kind)
    return whole or pa.types.is_float32(kind) or pa.types.is_float64(kind)


def _read_parquet(
    path: Path, width: int, places: Sequence[int], texts: Sequence[bool], rows: int
) -> list[Cells]:
    """Read some columns of a Parquet file; those of texts a few thousand rows at a time."""

    names = ", ".join(f"c{place}" for place in range(width))
    source = (
        f"read_parquet({quoted(str(path.absolute()))}, hive_partitioning = false, "
        f"filename = false, union_by_name = false) AS t({names})"
    )
    found: dict[int, Cells] = {}
    written = [place for place in places if texts[place]]
    with engine() as database:
        if written:
            wanted = ", ".join(f"c{place}" for place in written)
            batches = database.sql(f"SELECT {wanted} FROM {source}").to_arrow_reader(_BATCH)
            found |= zip(written, _texts_of(batches, len(written)), strict=True)
        for place in places:
            if place not in found:
                column = database.sql(f"SELECT c{place} FROM {source}").to_arrow_table().column(0)
                found[place] = cells_of_column(column)
    if any(len(one.codes) != rows for one in found.values()):
        raise _Unlike
    return [found[place] for place in places]
