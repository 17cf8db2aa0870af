"""Columns of very large Parquet files, read some row groups at a time by their own dictionaries."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from .ahead import ahead
from .cells import Cells, Narrow, narrow

if TYPE_CHECKING:
    import pyarrow.parquet as pq

_ROWS = 1 << 22


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


def read_groups(path: Path, names: Sequence[str], parts: Sequence[Sequence[int]]) -> list[Cells]:
    """Return columns of a Parquet file by their names, each of which is there once.

    Parameters
    ----------
    path : Path
    names : sequence of str
    parts : sequence of sequences of int
        Row groups that are read at a time, in their order.
    """
    import pyarrow as pa

    known: list[dict[str, int]] = [{} for _ in names]
    found: list[list[Narrow]] = [[] for _ in names]
    for part in ahead(lambda groups: _read(path, names, groups), parts):
        for cells, code_of, codes in zip(part, known, found, strict=True):
            own = [code_of.setdefault(text, len(code_of)) for text in cells.texts]
            number = narrow(np.array([*own, -1], dtype=np.int64), len(code_of))
            codes.append(number[cells.codes])
    columns: list[Cells] = []
    for codes, code_of in zip(found, known, strict=True):
        whole = np.concatenate([np.empty(0, dtype=np.int8), *codes])
        codes.clear()
        columns.append(Cells(codes=narrow(whole, len(code_of)), texts=list(code_of)))
    pa.default_memory_pool().release_unused()
    return columns


def _read(path: Path, names: Sequence[str], groups: Sequence[int]) -> list[Cells]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from .reading import cells_of_column

    schema = pq.read_schema(path)
    texts = [name for name in names if pa.types.is_string(schema.field(name).type)]
    with pq.ParquetFile(path, read_dictionary=texts) as file:
        table = file.read_row_groups(list(groups), columns=list(names))
    return [cells_of_column(table.column(name)) for name in names]
