"""The formats a release is published in, one row each: what a file is called, and its bytes.

Another format is a row of `FORMATS` here, and one in
`anon_core/verification/files/release_files.py`, which shares no code with this file and writes the
same bytes from the cells by itself. A format that only this file knows is published by no one: the
second computation breaks a release with it.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol, cast

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import numbers_of, of_numbers, of_texts
from anon_core.base.concurrency import ordered_map
from anon_core.kernels.lines import joined_lines

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow import parquet

_SPECIAL = re.compile('[,"\\n\\r]')
#: Rows in one row group of a Parquet file.
ROW_GROUP = 1 << 20
#: Rows whose lines are put together at a time, and how often at once.
_ROWS_AT_ONCE, _THREADS = 1 << 14, 2


def as_csv(table: pa.Table) -> bytes:
    """Return the public edition as CSV: UTF-8, comma, quotes only where a cell needs them."""
    return b"".join(_csv_parts(table))


def _csv_parts(table: pa.Table) -> Iterator[bytes | memoryview]:
    """Yield the public edition as CSV, the header first, then some lines at a time.

    Each distinct text of a column is looked at once; lines are put together of their bytes.
    """
    import pyarrow as pa

    alone = table.num_columns == 1
    yield (",".join(_cell(name, alone=alone) for name in table.column_names) + "\n").encode()
    if not table.num_rows or not table.num_columns:
        return
    codes: list[npt.NDArray[np.int32]] = []
    pools: list[pa.Array[Any]] = []
    for position, column in enumerate(table.columns):
        end = "\n" if position == table.num_columns - 1 else ","
        coded = cast("pa.DictionaryArray[Any, Any]", column.combine_chunks())
        codes.append(numbers_of(coded.indices))
        texts = cast(list[str], coded.dictionary.to_pylist())
        if alone or _SPECIAL.search("".join(texts)):
            texts = [_cell(text, alone=alone) for text in texts]
        pools.append(of_texts([text + end for text in texts], large=True))
    first = np.cumsum([0, *map(len, pools[:-1])])
    # The values of a string array lie one after the other in its last buffer.
    _, places, together = cast(Any, pa.concat_arrays(pools)).buffers()
    ends, text = np.frombuffer(places, dtype=np.int64), np.frombuffer(together, dtype=np.uint8)

    def lines(start: int) -> memoryview:
        part = np.stack([column[start : start + _ROWS_AT_ONCE] for column in codes])
        return joined_lines(part, first, ends, text).data

    starts = range(0, table.num_rows, _ROWS_AT_ONCE)
    yield from map(lines, starts) if len(starts) < 2 else ordered_map(lines, starts, _THREADS)


def _cell(text: str, *, alone: bool) -> str:
    # In a table of one column an empty cell would be an empty line, which readers skip.
    if _SPECIAL.search(text) or (alone and not text):
        return '"' + text.replace('"', '""') + '"'
    return text


def as_parquet(table: pa.Table) -> bytes:
    """Return the public edition as Parquet; texts stay dictionary encoded.

    Every row group has dictionaries of its own, so that none holds a text its rows do not show, in
    the order of the texts, so that the file follows from the cells alone.
    """
    sink = io.BytesIO()
    plain = table.combine_chunks()
    into = _IntoParquet(sink)
    for start in range(0, max(plain.num_rows, 1), ROW_GROUP):
        into.add(plain.slice(start, ROW_GROUP))
    into.close()
    return sink.getvalue()


class Into(Protocol):
    """A file that is written part by part: `ROW_GROUP` rows at a time, the last fewer."""

    def add(self, part: pa.Table) -> None:
        """Write the next rows."""
        ...

    def close(self) -> None:
        """Write what is at the end."""
        ...


def let_go(unfinished: Iterable[Into]) -> None:
    """End files that go, before they are closed, whatever is wrong; finished ones stay as are."""
    for one in unfinished:
        with suppress(OSError, ValueError):
            one.close()


class _IntoCsv:
    def __init__(self, sink: BinaryIO) -> None:
        self._sink = sink
        self._begun = False

    def add(self, part: pa.Table) -> None:
        lines = _csv_parts(part)
        header = next(lines)
        if not self._begun:
            self._sink.write(header)
            self._begun = True
        for some in lines:
            self._sink.write(some)

    def close(self) -> None:
        pass


class _IntoParquet:
    def __init__(self, sink: BinaryIO) -> None:
        self._sink = sink
        self._writer: parquet.ParquetWriter | None = None

    def add(self, part: pa.Table) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        plain = part.replace_schema_metadata(None).combine_chunks()
        if self._writer is None:
            # Rows are in order, so that least and greatest texts help to find some of the first
            # column only; of all columns they would take longer than everything else.
            first = plain.schema.names[:1]
            self._writer = pq.ParquetWriter(
                self._sink, plain.schema, compression="zstd", write_statistics=cast(Any, first)
            )
        columns = [
            _with_sorted_dictionary(cast("pa.DictionaryArray[Any, Any]", chunk))
            for column in plain.columns
            for chunk in column.chunks
        ]
        own = pa.Table.from_arrays(columns, schema=plain.schema) if columns else plain
        self._writer.write_table(own, row_group_size=ROW_GROUP)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


def _with_sorted_dictionary(column: pa.DictionaryArray[Any, Any]) -> pa.Array[Any]:
    """Return a dictionary-encoded column whose dictionary is its rows' texts, sorted."""
    import pyarrow as pa
    import pyarrow.compute as pc

    codes = numbers_of(column.indices)
    shown = np.zeros(len(column.dictionary), dtype=np.bool_)
    shown[codes] = True
    used = np.flatnonzero(shown)
    texts = column.dictionary.take(cast(Any, of_numbers(used)))
    order = pc.call_function("array_sort_indices", [texts])
    place = np.empty(len(shown), dtype=np.int32)
    place[used[numbers_of(order)]] = np.arange(len(used), dtype=np.int32)
    return pa.DictionaryArray.from_arrays(
        cast(Any, of_numbers(place[codes])), texts.take(order).cast(pa.string())
    )


@dataclass(frozen=True, kw_only=True)
class FileFormat:
    """One format of published files.

    Attributes
    ----------
    ending : str
        What is after the dot of a file's name.
    title : str
        What people call it.
    help : str
        What its files are, in one line.
    mime : str
        Its media type, for downloads.
    write : callable
        Takes a published table, columns of dictionary-encoded texts, and returns the file. The
        bytes follow from the cells alone, so that a file can hold nothing next to them.
    into : callable, optional
        Takes an open file, and writes the same bytes to it part by part. Without it, tables that
        do not fit into memory are not published in this format.
    """

    ending: str
    title: str
    help: str
    mime: str
    write: Callable[[pa.Table], bytes]
    into: Callable[[BinaryIO], Into] | None = None


#: The ending of what the second computation reads; it compares all others with that.
READ = "csv"
#: By ending.
FORMATS: dict[str, FileFormat] = {
    one.ending: one
    for one in (
        FileFormat(
            ending="csv",
            title="CSV",
            help="UTF-8, comma, quotes where they are needed.",
            mime="text/csv",
            write=as_csv,
            into=_IntoCsv,
        ),
        FileFormat(
            ending="parquet",
            title="Parquet",
            help="The same rows for programs.",
            mime="application/vnd.apache.parquet",
            write=as_parquet,
            into=_IntoParquet,
        ),
    )
}


def file_names(tables: Iterable[str], *, csv: bool = True, parts: int = 1) -> list[str]:
    """Return the names of all files of some published tables, with CSV or without, in parts."""
    return [
        f"{part}.{ending}"
        for name in tables
        for ending in published_formats(csv=csv)
        for part in part_names(name, parts)
    ]


def part_names(table: str, parts: int) -> list[str]:
    """Return what the parts of a published table are called; of one part, the table's own name.

    Examples
    --------
    >>> part_names("release", 2)
    ['release-0001-of-0002', 'release-0002-of-0002']
    """
    if parts == 1:
        return [table]
    return [f"{table}-{number:04}-of-{parts:04}" for number in range(1, parts + 1)]


def part_ends(rows: int, parts: int) -> list[int]:
    """Return where each part of so many rows ends: all have as many, but for one more or less."""
    return [rows * number // parts for number in range(1, parts + 1)]


def in_parts(tables: Mapping[str, pa.Table], parts: int) -> dict[str, pa.Table]:
    """Return the parts of published tables by name, in the order of their rows."""
    found: dict[str, pa.Table] = {}
    for title, table in tables.items():
        begin = 0
        ends = part_ends(table.num_rows, parts)
        for name, end in zip(part_names(title, parts), ends, strict=True):
            found[name] = table.slice(begin, end - begin)
            begin = end
    return found


def written(tables: Mapping[str, pa.Table], endings: Iterable[str]) -> dict[str, bytes]:
    """Return published tables as files by name, in some formats."""
    return {
        f"{name}.{ending}": FORMATS[ending].write(table)
        for ending in endings
        for name, table in tables.items()
    }


def other_formats() -> list[str]:
    """Return the endings of all formats but the one that the second computation reads."""
    return [ending for ending in FORMATS if ending != READ]


def in_one_piece(endings: Iterable[str]) -> list[str]:
    """Return those formats whose files cannot be written part by part."""
    return [ending for ending in endings if FORMATS[ending].into is None]


def published_formats(*, csv: bool) -> list[str]:
    """Return the endings of the formats that a release is written in, with CSV or without."""
    return [ending for ending in FORMATS if csv or ending != READ]
