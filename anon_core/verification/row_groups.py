"""Columns of very large Parquet files, read some row groups at a time by their own dictionaries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np

from anon_core.base.errors import BadInput, clipped
from anon_core.verification.cells import Cells, cells_of_column, narrow, numbering
from anon_core.verification.prefetch import ahead

if TYPE_CHECKING:
    import pyarrow.parquet as pq

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
