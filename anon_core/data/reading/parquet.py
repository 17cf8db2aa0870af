"""Reading Parquet: columns of any plain type become columns of texts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...base.errors import BadInput
from ..frames import coded_arrow, refuse_nested
from ..kinds import ColumnKind
from ..table import Dataset, check_kinds, check_names
from .columns import read_column
from .limits import MOST_CELLS, MOST_COLUMNS, too_large, too_many_cells, too_wide
from .options import DataOptions

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
    import pyarrow as pa
    from pyarrow import parquet
    from pyarrow import types as arrow_types

    try:
        file = parquet.ParquetFile(pa.BufferReader(data))
        schema = file.schema_arrow
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _broken_parquet(name) from error
    # pandas stores the labels of its index as columns; they are row numbers, not data.
    index = [n for n in schema.names if re.fullmatch(r"__index_level_\d+__", n)]
    names = [n for n in schema.names if n not in index]
    if len(names) > MOST_COLUMNS:
        raise too_wide(name, len(names))
    stripped = [n.strip() for n in names]
    check_names(stripped)
    check_kinds(kinds, stripped)
    refuse_nested(schema, name)
    _refuse_bombs(file.metadata, name, most_bytes)
    if file.metadata.num_rows == 0:
        raise BadInput(
            f"{name} has {len(names)} columns but no rows.",
            remedy="Load a table with at least one row.",
        )
    texts = [f.name for f in schema if arrow_types.is_string(f.type)]
    try:
        # The file's own dictionaries of texts are kept, so that no text is built twice.
        file = parquet.ParquetFile(pa.BufferReader(data), read_dictionary=texts)
        table = file.read(columns=names)
        table.validate(full=True)  # a broken file may hold bytes that are no text
    except (pa.ArrowException, OSError, ValueError) as error:
        raise _broken_parquet(name) from error
    columns = tuple(
        read_column(
            plain,
            *coded_arrow(table.column(n), plain),
            options,
            kinds.get(plain),
            written=n in texts,
        )
        for n, plain in zip(names, stripped, strict=True)
    )
    notes = ("The row labels that pandas stored were left out.",) if index else ()
    return Dataset(columns=columns, rows=table.num_rows, source=name, notes=notes)


def _refuse_bombs(told: parquet.FileMetaData, name: str, most_bytes: int) -> None:
    """Refuse a file that declares more than is read, before any of it is unpacked."""
    if told.num_rows * told.num_columns > MOST_CELLS:
        raise too_many_cells(name, told.num_rows, told.num_columns)
    size = sum(told.row_group(i).total_byte_size for i in range(told.num_row_groups))
    if size > most_bytes:
        raise too_large(f"{name}, unpacked,", size, most_bytes)


def _broken_parquet(name: str) -> BadInput:
    return BadInput(
        f"{name} is a broken or encrypted Parquet file.",
        remedy="Copy or download it again, or write it anew without encryption.",
    )
