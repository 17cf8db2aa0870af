"""Reading Parquet: columns of any plain type become columns of texts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from anon_core.base.errors import BadInput
from anon_core.data.frames import coded_arrow, refuse_nested
from anon_core.data.reading.columns import read_column
from anon_core.data.reading.limits import (
    MOST_CELLS,
    MOST_COLUMNS,
    MUCH,
    too_large,
    too_many_cells,
    too_wide,
)
from anon_core.data.reading.options import DataOptions
from anon_core.data.table import Dataset, check_kinds, check_names
from anon_core.data.values.kinds import ColumnKind

if TYPE_CHECKING:
    from pyarrow import parquet


def read_parquet(
    data: bytes,
    options: DataOptions,
    kinds: Mapping[str, ColumnKind],
    name: str,
    most_bytes: int,
) -> Dataset:
    """Return the table that the bytes of a Parquet file hold."""
    return read_parquet_parts([data], options, kinds, name, most_bytes)


def read_parquet_parts(
    contents: Sequence[bytes],
    options: DataOptions,
    kinds: Mapping[str, ColumnKind],
    name: str,
    most_bytes: int,
    values_of_folders: Mapping[str, Sequence[str | None]] | None = None,
) -> Dataset:
    """Return the table whose rows are in Parquet files of the same columns, one after another.

    `values_of_folders` gives further columns: a value for all rows of each file, or None.
    """
    import pyarrow as pa
    from pyarrow import parquet
    from pyarrow import types as arrow_types

    try:
        files = [parquet.ParquetFile(pa.BufferReader(data)) for data in contents]
        schema = files[0].schema_arrow
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _broken_parquet(name) from error
    # pandas stores the labels of its index as columns; they are row numbers, not data.
    index = [n for n in schema.names if re.fullmatch(r"__index_level_\d+__", n)]
    names = [n for n in schema.names if n not in index]
    further = dict(values_of_folders or {})
    stripped = [n.strip() for n in (*names, *further)]
    if len(stripped) > MOST_COLUMNS:
        raise too_wide(name, len(stripped))
    check_names(stripped)
    check_kinds(kinds, stripped)
    refuse_nested(schema, name)
    _refuse_bombs([file.metadata for file in files], name, most_bytes)
    if not any(file.metadata.num_rows for file in files):
        raise BadInput(
            f"{name} has {len(names)} columns but no rows.",
            remedy="Load a table with at least one row.",
        )
    texts = [f.name for f in schema if arrow_types.is_string(f.type)]
    try:
        # The file's own dictionaries of texts are kept, so that no text is built twice.
        tables = [
            parquet.ParquetFile(pa.BufferReader(data), read_dictionary=texts).read(
                columns=names, use_threads=len(data) >= MUCH
            )
            for data in contents
        ]
        for one in tables:
            one.validate(full=True)  # a broken file may hold bytes that are no text
        table = pa.concat_tables(tables)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _broken_parquet(name) from error
    for key, values in further.items():
        pool = list(dict.fromkeys(v for v in values if v is not None))
        place: dict[str | None, int] = {v: i for i, v in enumerate(pool)}
        chunks: list[pa.Array[Any]] = []
        for value, one in zip(values, tables, strict=True):
            none = np.full(one.num_rows, value is None)
            codes: Any = pa.array(
                np.full(one.num_rows, place.get(value, 0), dtype=np.int32), mask=none
            )
            chunks.append(pa.DictionaryArray.from_arrays(codes, pa.array(pool, pa.string())))
        table = table.append_column(key, pa.chunked_array(chunks))
    columns = tuple(
        read_column(
            plain,
            *coded_arrow(table.column(n), plain),
            options,
            kinds.get(plain),
            written=n in texts or n in further,
        )
        for n, plain in zip(table.column_names, stripped, strict=True)
    )
    notes = ("The row labels that pandas stored were left out.",) if index else ()
    return Dataset(columns=columns, rows=table.num_rows, source=name, notes=notes)


def _refuse_bombs(footers: Sequence[parquet.FileMetaData], name: str, most_bytes: int) -> None:
    """Refuse files that declare more than is read, before any of it is unpacked."""
    rows = sum(one.num_rows for one in footers)
    if rows * footers[0].num_columns > MOST_CELLS:
        raise too_many_cells(name, rows, footers[0].num_columns)
    size = sum(
        one.row_group(i).total_byte_size for one in footers for i in range(one.num_row_groups)
    )
    if size > most_bytes:
        raise too_large(f"{name}, unpacked,", size, most_bytes)


def _broken_parquet(name: str) -> BadInput:
    return BadInput(
        f"{name} is a broken or encrypted Parquet file.",
        remedy="Copy or download it again, or write it again without encryption.",
    )
