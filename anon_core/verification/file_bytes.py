"""What the files of a published table are when they are written anew from its cells.

There is one way to write a table, and a file must be that, byte for byte: quotes that no cell
needs, other line ends, or notes in a Parquet file that no reader of cells sees could mark a person.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np

from .texts import Codes

#: Rows of one row group of a Parquet file.
ROW_GROUP = 1 << 20
_CHUNK = 1 << 18


def first_difference(
    content: bytes, header: Sequence[str], codes: Sequence[Codes], texts: Sequence[list[str]]
) -> int:
    """Return the row in which a CSV file is not written as it should be, -1 where it is.

    The header is row 0. A row's lines are told from the next by counting, so within cells of
    several lines the number may be too high.

    Parameters
    ----------
    content : bytes
    header : sequence of str
    codes : sequence of int64 arrays of shape (rows,)
        The cells by column, as codes into `texts`.
    texts : sequence of lists of str
    """
    place, view = 0, memoryview(content)
    for part in _csv_parts(header, codes, texts):
        if bytes(view[place : place + len(part)]) != part:
            found = bytes(view[place : place + len(part)])
            same = next((i for i, (a, b) in enumerate(zip(found, part, strict=False)) if a != b), 0)
            return content.count(b"\n", 0, place + same)
        place += len(part)
    return -1 if place == len(content) else len(codes[0]) if codes else 0


def _csv_parts(
    header: Sequence[str], codes: Sequence[Codes], texts: Sequence[list[str]]
) -> Iterator[bytes]:
    """Yield a CSV file: UTF-8, commas, line feeds, and quotes only where a cell needs them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    alone = len(header) == 1
    yield (",".join(_cell(name, alone) for name in header) + "\n").encode()
    ends = ["\n" if place == len(header) - 1 else "," for place in range(len(header))]
    pools = [
        pa.array([_cell(text, alone) + end for text in pool], type=pa.large_string())
        for pool, end in zip(texts, ends, strict=True)
    ]
    rows = len(codes[0]) if codes else 0
    for start in range(0, rows, _CHUNK):
        part = [column[start : start + _CHUNK] for column in codes]
        # Equal rows follow each other in a release: each run of them is put together once.
        new = np.ones(len(part[0]), dtype=np.bool_)
        new[1:] = np.any([np.diff(column) != 0 for column in part], axis=0)
        first = np.flatnonzero(new)
        columns = [
            pool.take(cast(Any, pa.array(column[first])))
            for pool, column in zip(pools, part, strict=True)
        ]
        nothing = pa.scalar("", type=pa.large_string())
        lines = pc.call_function("binary_join_element_wise", [*columns, nothing])
        if len(first) < len(new):
            lines = lines.take(pa.array(np.cumsum(new) - 1))
        offsets = np.frombuffer(lines.buffers()[1], dtype=np.int64)[lines.offset :]
        yield lines.buffers()[2].to_pybytes()[offsets[0] : offsets[len(lines)]]


def _cell(text: str, alone: bool) -> str:
    if any(sign in text for sign in ',"\n\r') or (alone and not text):
        return '"' + text.replace('"', '""') + '"'
    return text


def parquet_again(
    header: Sequence[str], codes: Sequence[Codes], texts: Sequence[list[str]]
) -> bytes:
    """Return the cells of a table as a Parquet file.

    Every row group has its own dictionaries, which hold the texts of its rows in their order.

    Parameters
    ----------
    header : sequence of str
    codes : sequence of int64 arrays of shape (rows,)
        The cells by column, as codes into `texts`.
    texts : sequence of lists of str
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    kind = pa.dictionary(pa.int32(), pa.string())
    schema = pa.schema([pa.field(name, kind) for name in header])
    rows = len(codes[0]) if codes else 0
    sink = io.BytesIO()
    with pq.ParquetWriter(sink, schema, compression="zstd") as writer:
        for start in range(0, max(rows, 1), ROW_GROUP):
            columns = [
                _sorted_dictionary(column[start : start + ROW_GROUP], pool)
                for column, pool in zip(codes, texts, strict=True)
            ]
            part = pa.Table.from_arrays(columns, schema=schema)
            writer.write_table(part, row_group_size=ROW_GROUP)
    return sink.getvalue()


def _sorted_dictionary(codes: Codes, texts: list[str]) -> Any:
    import pyarrow as pa

    used, place = np.unique(codes, return_inverse=True)
    shown = [texts[code] for code in used.tolist()]
    order = sorted(range(len(shown)), key=shown.__getitem__)
    rank = np.empty(len(shown), dtype=np.int32)
    rank[order] = np.arange(len(shown), dtype=np.int32)
    return pa.DictionaryArray.from_arrays(
        pa.array(rank[place], type=pa.int32()),
        pa.array([shown[i] for i in order], type=pa.string()),
    )
