"""Reading Parquet: columns of any plain type become columns of texts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import BadInput
from ..table import ColumnKind, Dataset, check_kinds, check_names, plain_text
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
    for field in schema:
        kind = field.type
        while arrow_types.is_dictionary(kind):
            kind = kind.value_type
        if arrow_types.is_nested(kind) or arrow_types.is_binary(kind):
            what = "raw bytes" if arrow_types.is_binary(kind) else f"nested values ({kind})"
            raise BadInput(
                f"{name}: column '{field.name}' holds {what}, not one plain value a row.",
                remedy="Split it into plain columns, or leave it out.",
            )
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
            read_column(plain, *_encoded(table.column(n)), options, kinds.get(plain))
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


def _encoded(chunked: Any) -> tuple[npt.NDArray[np.int32], list[str]]:
    """Return codes (-1 for null) and texts of a plain Parquet column of any type."""
    import pyarrow as pa

    array = chunked.unify_dictionaries().combine_chunks()
    if not isinstance(array, pa.DictionaryArray):
        array = array.dictionary_encode()
    pool = array.dictionary
    floats = pa.types.is_floating(pool.type)
    # numpy's float32 writes 0.1 where Python's float writes what 0.1 becomes in 64 bits.
    values = list(pool.to_numpy(zero_copy_only=False)) if floats else pool.to_pylist()
    texts = ["" if value is None or value != value else plain_text(value) for value in values]
    gone = np.array([value is None or value != value for value in values] + [True])
    # Widened first: an index of 8 bits has no room for one more place.
    codes = array.indices.cast(pa.int32()).fill_null(len(values)).to_numpy()
    target = np.append(np.arange(len(values), dtype=np.int32), np.int32(-1))
    target[gone] = -1
    return target[codes], texts
