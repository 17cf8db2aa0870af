"""Published tables written as files part by part, so that no file is held in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from anon_core.base.arrays import I64, of_numbers
from anon_core.pipeline.publish.file_formats import (
    FORMATS,
    ROW_GROUP,
    let_go,
    part_ends,
    part_names,
)
from anon_core.recipe.dialect import Dialect

if TYPE_CHECKING:
    import pyarrow as pa

    from anon_core.release.problem import Problem

#: The file of the mean weights of classes.
CLASS_WEIGHTS = "weights.csv"

# Rows of a published table on their way into one file or several, as they come.


class RowStream:
    """The rows of tables that follow each other, taken some at a time.

    Parameters
    ----------
    tables : iterator of pyarrow.Table
        Of the same columns.
    """

    def __init__(self, tables: Iterator[pa.Table]) -> None:
        self._tables = tables
        self._waiting: list[pa.Table] = []
        self._held = 0

    def take(self, rows: int) -> Iterator[pa.Table]:
        """Yield the next rows, `ROW_GROUP` at a time, the last fewer; one empty table of none."""
        while True:
            wanted = min(rows, ROW_GROUP)
            while self._held < wanted or not self._waiting:
                table = next(self._tables, None)
                if table is None:
                    break
                self._waiting.append(table)
                self._held += table.num_rows
            yield self._first(min(wanted, self._held))
            rows -= wanted
            if rows <= 0:
                return

    def finish(self) -> int:
        """Return how many rows are left, when no one wants more; anyone who made them may look."""
        return self._held + sum(table.num_rows for table in self._tables)

    def _first(self, rows: int) -> pa.Table:
        import pyarrow as pa

        whole = self._waiting[0] if len(self._waiting) == 1 else pa.concat_tables(self._waiting)
        rest = whole.slice(rows)
        self._waiting, self._held = [rest], rest.num_rows
        return whole.slice(0, rows)


def write_table(
    title: str,
    tables: Iterator[pa.Table],
    rows: int,
    folder: Path,
    *,
    parts: int,
    endings: Sequence[str],
) -> list[str]:
    """Write a published table in the formats that can be written part by part.

    The files need not be on the disk yet: see `Staged.flush`.

    Parameters
    ----------
    tables : iterator of pyarrow.Table
        Its rows, some at a time.
    rows : int
        How many they are.
    parts : int
        How many files of each format it is written in.
    endings : sequence of str
        Of the formats; others than those that are written part by part are left out.

    Returns
    -------
    list of str
        What its files are called, without endings.
    """
    stream, begin = RowStream(tables), 0
    names = part_names(title, parts)
    for name, end in zip(names, part_ends(rows, parts), strict=True):
        _write(stream.take(end - begin), folder, name, endings)
        begin = end
    stream.finish()
    return names


def class_means(problem: Problem, table: pa.Table, member: I64, row_group: I64) -> dict[str, bytes]:
    """Return the file of the mean survey weight of each class, by name.

    The weight itself distinguishes rows that are otherwise alike. Its class mean is the same for
    all of them, and keeps the sum of the weights of the published rows.

    Parameters
    ----------
    problem : Problem
        Whose rows have weights.
    table : pyarrow.Table
        The published table.
    member : int64 array of shape (published rows,)
        Class of each of its rows.
    row_group : int64 array of shape (rows,)
        Class of each row of the private table, -1 where it is suppressed.

    Returns
    -------
    dict of str to bytes
        ``weights.csv``: the quasi-identifiers of each class, its rows, and their mean weight to
        six decimals; classes in the order of their texts.
    """
    import pyarrow as pa

    weight = problem.row_weight
    assert weight is not None  # `refuse_no_class_weights` sees to it
    names = [name for name in table.column_names if name in problem.quasi]
    group, first = np.unique(member, return_index=True)
    kept = row_group >= 0
    most = int(member.max(initial=-1)) + 1
    rows = np.bincount(row_group[kept], minlength=most)[group].tolist()
    total = np.bincount(row_group[kept], weight[kept], minlength=most)[group].tolist()
    shown = table.select(names).take(cast(Any, of_numbers(first)))
    cells = [[str(cell) for cell in column.to_pylist()] for column in shown.columns]
    lines = sorted(
        (*own, str(n), _short(w / n))
        for own, n, w in zip(zip(*cells, strict=True), rows, total, strict=True)
    )
    header = [*names, rows_column(names), problem.roles.weight]
    columns = [*zip(*lines, strict=True)] if lines else [()] * len(header)
    texts = [pa.array(list(c), pa.string()).dictionary_encode() for c in columns]
    return {CLASS_WEIGHTS: Dialect().write(pa.Table.from_arrays(texts, names=header))}


def rows_column(names: Sequence[str]) -> str:
    """Return what the number of rows is called next to some columns: ``rows``, or longer."""
    name = "rows"
    while name in names:
        name += " number"
    return name


def _short(number: float) -> str:
    return f"{number:.6f}".rstrip("0").rstrip(".")


def digest_of(files: Iterable[Path]) -> str:
    """Return the SHA-256 over files, one after the other."""
    digest = hashlib.sha256()
    for path in files:
        with path.open("rb") as file:
            while piece := file.read(1 << 20):
                digest.update(piece)
    return digest.hexdigest()


def _write(parts: Iterator[pa.Table], folder: Path, title: str, endings: Sequence[str]) -> None:
    """Write one file in some formats, part by part."""
    with ExitStack() as opened:
        files = {
            ending: opened.enter_context((folder / f"{title}.{ending}").open("xb"))
            for ending in endings
            if FORMATS[ending].into is not None
        }
        into = [make(file) for e, file in files.items() if (make := FORMATS[e].into)]
        opened.callback(let_go, into)

        # One part is written while the next is made ready, each file by a thread of its own.
        with ThreadPoolExecutor(max(len(into), 1)) as writers:
            before: list[Future[None]] = []
            for part in parts:
                for one in before:
                    one.result()
                before = [writers.submit(one.add, part) for one in into]
            for one in before:
                one.result()
        for one in into:
            one.close()
