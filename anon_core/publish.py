"""The public edition: the published table in canonical order, as an Arrow table, CSV and Parquet.

It carries neither the seed nor the input's row order: rows are sorted by what they say.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from .frequency import dense_rank
from .release import Release
from .table import as_number

if TYPE_CHECKING:
    import pyarrow as pa

_TRIGGERS = ("=", "+", "-", "@", "\t", "\r")


def neutralised(text: str) -> str:
    """Return a cell that no spreadsheet executes: an apostrophe goes before a formula.

    Plain numbers stay, negative ones too.

    Examples
    --------
    >>> neutralised("=cmd|' /C calc'!A0"), neutralised("-5"), neutralised("Flu")
    ("'=cmd|' /C calc'!A0", '-5', 'Flu')
    """
    if text.startswith(_TRIGGERS) and np.isnan(as_number(text)):
        return "'" + text
    return text


def row_codes(
    release: Release, generator: np.random.Generator
) -> tuple[dict[str, npt.NDArray[np.int32]], npt.NDArray[np.int64]]:
    """Return the published columns row by row, as codes into their vocabularies, and the classes.

    Rows stand in the table's order here; removed rows are left out. Columns of different link
    blocks are permuted independently within their groups.

    Returns
    -------
    codes : dict of str to int32 array of shape (published rows,)
    member : int64 array of shape (published rows,)
        Class of each row.
    """
    problem = release.problem
    member = release.grouping.of_rows(problem.frequency, generator)
    kept = member >= 0
    codes: dict[str, npt.NDArray[np.int32]] = {}
    for block in release.blocks:
        order = _permuted(release, member[kept], generator) if len(release.blocks) > 1 else None
        for name in block:
            if name in release.cells:
                column = release.cells[name][member[kept]]
            else:
                column = problem.leaf_codes(name)[kept]
            codes[name] = column if order is None else column[order]
    return codes, member[kept]


def _permuted(
    release: Release, member: npt.NDArray[np.int64], generator: np.random.Generator
) -> npt.NDArray[np.int64]:
    group = release.grouping.group[member]
    stable = np.argsort(group, kind="stable")
    drawn = generator.permutation(len(group))
    found = np.empty(len(group), dtype=np.int64)
    found[stable] = drawn[np.argsort(group[drawn], kind="stable")]
    return found


def published_table(
    release: Release, generator: np.random.Generator, *, neutralise: bool = True
) -> tuple[pa.Table, npt.NDArray[np.int64]]:
    """Return the published table in canonical order, and the class of each of its rows.

    Parameters
    ----------
    release : Release
    generator : numpy.random.Generator
        Draws the permutations, where the release has several link blocks.
    neutralise : bool
        Put an apostrophe before cells that a spreadsheet would execute.

    Returns
    -------
    table : pyarrow.Table
        Columns as dictionary-encoded texts, in the input's column order, sorted by cell texts.
    member : int64 array of shape (rows,)
    """
    import pyarrow as pa

    names = release.problem.roles.published(release.problem.dataset)
    codes, member = row_codes(release, generator)
    texts = {
        name: [neutralised(t) if neutralise else t for t in release.vocabularies[name].texts]
        for name in names
    }
    order = canonical_order([codes[n] for n in names], [texts[n] for n in names])
    arrays = [_dictionary(codes[name][order], texts[name]) for name in names]
    return pa.Table.from_arrays(arrays, names=list(names)), member[order]


def _dictionary(codes: npt.NDArray[np.int32], texts: Sequence[str]) -> pa.Array[Any]:
    """Return a column whose dictionary holds only texts that stand in a row.

    A Parquet file carries its dictionaries whole: a text that only a removed row had would be
    published by it.
    """
    import pyarrow as pa

    used, place = np.unique(codes, return_inverse=True)
    return pa.DictionaryArray.from_arrays(
        pa.array(place.astype(np.int32), type=pa.int32()),
        pa.array([texts[code] for code in used.tolist()], type=pa.string()),
    )


def canonical_order(
    codes: Sequence[npt.NDArray[np.int32]], texts: Sequence[Sequence[str]]
) -> npt.NDArray[np.int64]:
    """Return the order of rows by their cells' texts, column by column, shape (rows,)."""
    ranked: list[npt.NDArray[np.int32]] = []
    for column, pool in zip(codes, texts, strict=True):
        place = {t: i for i, t in enumerate(sorted(set(pool)))}
        ranked.append(np.array([place[t] for t in pool], dtype=np.int32)[column])
    rank, _ = dense_rank(ranked, [max(len(pool), 1) for pool in texts])
    return np.argsort(rank, kind="stable").astype(np.int64)


def as_csv(table: pa.Table) -> bytes:
    """Return the public edition as CSV: UTF-8, comma, quotes only where a cell needs them.

    Works on the distinct texts of each column; the lines are put together by Arrow.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    alone = table.num_columns == 1
    header = ",".join(_cell(name, alone=alone) for name in table.column_names) + "\n"
    if table.num_rows == 0:
        return header.encode()
    columns: list[pa.Array[Any]] = []
    for position in range(table.num_columns):
        column = cast("pa.DictionaryArray[Any, Any]", table.column(position).combine_chunks())
        end = "\n" if position == table.num_columns - 1 else ""
        texts = [_cell(str(t), alone=alone) + end for t in column.dictionary.to_pylist()]
        columns.append(pa.array(texts, type=pa.large_string()).take(column.indices))
    comma = pa.scalar(",", type=pa.large_string())
    lines = cast("pa.Array[Any]", pc.call_function("binary_join_element_wise", [*columns, comma]))
    # The values of a string array lie one after the other in its last buffer: that is the file.
    _, ends, text = (b.to_pybytes() if b is not None else b"" for b in lines.buffers())
    place = np.frombuffer(ends, dtype=np.int64)
    return header.encode() + text[place[lines.offset] : place[lines.offset + len(lines)]]


def _cell(text: str, *, alone: bool) -> str:
    # In a table of one column an empty cell would be an empty line, which readers skip.
    if any(c in text for c in ',"\n\r') or (alone and not text):
        return '"' + text.replace('"', '""') + '"'
    return text


def as_parquet(table: pa.Table) -> bytes:
    """Return the public edition as Parquet; texts stay dictionary encoded."""
    import pyarrow.parquet as pq

    sink = io.BytesIO()
    pq.write_table(table.replace_schema_metadata(None), sink, compression="zstd")
    return sink.getvalue()
