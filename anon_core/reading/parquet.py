"""Reading Parquet: columns of any plain type become columns of texts."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..errors import BadInput
from ..frames import coded_arrow, refuse_nested
from ..table import ColumnKind, Dataset, check_kinds, check_names
from .columns import read_column
from .limits import MOST_COLUMNS, too_wide
from .options import DataOptions


def read_parquet(
    data: bytes, options: DataOptions, kinds: Mapping[str, ColumnKind], name: str
) -> Dataset:
    """Return the table that the bytes of a Parquet file hold."""
    import pyarrow as pa
    from pyarrow import parquet
    from pyarrow import types as arrow_types

    try:
        file = parquet.ParquetFile(pa.BufferReader(data))
        schema = file.schema_arrow
    except (pa.ArrowException, OSError) as error:
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
        columns = tuple(
            read_column(plain, *coded_arrow(table.column(n)), options, kinds.get(plain))
            for n, plain in zip(names, stripped, strict=True)
        )
    except (pa.ArrowException, OSError) as error:
        raise _broken_parquet(name) from error
    notes = ("The row labels that pandas stored were left out.",) if index else ()
    return Dataset(columns=columns, rows=table.num_rows, source=name, notes=notes)


def _broken_parquet(name: str) -> BadInput:
    return BadInput(
        f"{name} is a broken or encrypted Parquet file.",
        remedy="Copy or download it again, or write it anew without encryption.",
    )
