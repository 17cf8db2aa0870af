"""The public edition: the published table in canonical order, as an Arrow table.

It carries neither the seed nor the input's row order: rows are sorted by what they say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import numbers_of, of_numbers, of_texts
from anon_core.data.frequency import dense_rank, row_order, stable_order
from anon_core.data.values.formulas import may_be_formula, neutralised
from anon_core.release.grouping import shuffled
from anon_core.release.release import Release
from anon_core.verification.rows.membership import Witness

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, kw_only=True, eq=False)
class Drawn:
    """A release row by row, in the table's order, suppressed rows left out.

    Attributes
    ----------
    codes : mapping of str to int32 array of shape (published rows,)
        The published columns as codes into their vocabularies.
    member : int64 array of shape (published rows,)
        Class of each row.
    source : mapping of str to int64 array of shape (published rows,)
        By column, the row its cell was taken from: the link that a permutation cuts.
    row : int64 array of shape (published rows,)
        Number of the row in the table.
    """

    codes: Mapping[str, npt.NDArray[np.int32]]
    member: npt.NDArray[np.int64]
    source: Mapping[str, npt.NDArray[np.int64]]
    row: npt.NDArray[np.int64]


def draw_rows(release: Release, generator: np.random.Generator) -> Drawn:
    """Draw what a release leaves open: who of equal rows goes where, and the permutations.

    Columns of different link blocks are permuted independently within their groups. Draws follow
    `Problem.row_order`, so the order of the table plays no part.
    """
    problem, grouping = release.problem, release.grouping
    apart = len(release.blocks) > 1
    # An order of all rows is needed only where something is drawn.
    drawn = apart or not grouping.whole_keys
    every = grouping.of_rows(problem.frequency, generator, problem.row_order if drawn else None)
    row = np.flatnonzero(every >= 0)
    member = every[row]
    order = by_group = own = sizes = np.empty(0, dtype=np.int64)
    if apart:
        place = np.cumsum(every >= 0) - 1
        order = problem.row_order
        order = place[order[every[order] >= 0]]
        group = grouping.group[member[order]]
        sizes = np.bincount(group)
        by_group = stable_order(group, len(sizes))
        own = order[by_group]
    codes: dict[str, npt.NDArray[np.int32]] = {}
    source: dict[str, npt.NDArray[np.int64]] = {}
    for block in release.blocks:
        taken: npt.NDArray[np.int64] | None = None
        if apart:
            taken = np.empty(len(row), dtype=np.int64)
            taken[own] = order[shuffled(by_group, sizes, generator)]
        for name in block:
            if name in release.cells:
                column = release.cells[name][member]
            else:
                column = problem.leaf_codes(name)[row]
            codes[name] = column if taken is None else column[taken]
            source[name] = row if taken is None else row[taken]
    return Drawn(codes=codes, member=member, source=source, row=row)


@dataclass(frozen=True, kw_only=True, eq=False)
class Edition:
    """The public edition of a release, and where its rows come from.

    Attributes
    ----------
    tables : mapping of str to pyarrow.Table
        ``release`` alone, or ``quasi`` and ``sensitive`` joined by the column ``group``. Columns
        are dictionary-encoded texts in the input's order of columns.
    member : int64 array of shape (published rows,)
        Group of each row of the first table, as the view numbers groups.
    row_group : int64 array of shape (rows of the table,)
        Group of each row of the private table, -1 where it is removed. Not for publication.
    place : int64 array of shape (rows of the table,)
        Where each row of the private table is in the first table, from 0; -1 where it is
        removed. Of permuted columns nothing follows from it. Not for publication.
    """

    tables: Mapping[str, pa.Table]
    member: npt.NDArray[np.int64]
    row_group: npt.NDArray[np.int64]
    place: npt.NDArray[np.int64]


def public_edition(
    release: Release, generator: np.random.Generator, *, neutralise: bool = True
) -> Edition:
    """Return the published tables in canonical order.

    Rows are sorted by group, where groups are published, then by cell texts; groups are numbered
    by what they say in the first table, then in the second, so that the input's order cannot show.

    Parameters
    ----------
    generator : numpy.random.Generator
        Draws the permutations, where the release has several link blocks.
    neutralise : bool
        Put an apostrophe before cells that a spreadsheet would execute.
    """
    problem = release.problem
    names = problem.roles.published(problem.dataset)
    drawn = draw_rows(release, generator)
    texts = {name: list(release.vocabularies[name].texts) for name in names}
    if neutralise:
        texts = {
            name: list(map(neutralised, pool)) if may_be_formula(pool) else pool
            for name, pool in texts.items()
        }
    parts = release.tables or (names,)
    ordered = [
        in_text_order([drawn.codes[n] for n in part], [texts[n] for n in part]) for part in parts
    ]
    owner = release.seen_group[drawn.member]
    number: npt.NDArray[np.int64] | None = None
    if release.grouping.published:
        ranks = [dense_rank(*own)[0] for own in ordered]
        number = _group_numbers(owner, ranks)
        orders = [_by_number(number, rank) for rank in ranks]
    else:
        orders = [row_order(*own) for own in ordered]
    tables: dict[str, pa.Table] = {}
    for title, part, order in zip(table_names(len(parts)), parts, orders, strict=True):
        group = {} if number is None else {group_column(names): number[order]}
        tables[title] = _arrow(part, drawn.codes, texts, order, group)
    row_group = np.full(problem.rows, -1, dtype=np.int64)
    row_group[drawn.row] = owner
    place = np.full(problem.rows, -1, dtype=np.int64)
    place[drawn.row[orders[0]]] = np.arange(len(orders[0]))
    return Edition(tables=tables, member=owner[orders[0]], row_group=row_group, place=place)


def witness_of(release: Release, edition: Edition) -> Witness | None:
    """Return which row is where, if the files of a release do not tell it; else None.

    It is for the second computation, and never published.
    """
    if not release.replaced and len(release.blocks) < 2:
        return None
    problem = release.problem
    columns = [problem.dataset.column(name) for name in problem.roles.published(problem.dataset)]
    return Witness(
        texts={column.name: column.values for column in columns},
        codes={column.name: column.codes for column in columns},
        place=edition.place,
    )


def table_names(tables: int) -> tuple[str, ...]:
    """Return the names of one or two published tables."""
    return ("release",) if tables == 1 else ("quasi", "sensitive")


def _arrow(
    part: Sequence[str],
    codes: Mapping[str, npt.NDArray[np.int32]],
    texts: Mapping[str, list[str]],
    order: npt.NDArray[np.int64],
    group: Mapping[str, npt.NDArray[np.int64]],
) -> pa.Table:
    """Return one published table; `group` holds the column of group numbers, if there is one."""
    import pyarrow as pa

    columns: dict[str, tuple[npt.NDArray[np.int32], list[str]]] = {
        name: (
            number.astype(np.int32),
            [str(n + 1) for n in range(int(number.max(initial=-1)) + 1)],
        )
        for name, number in group.items()
    }
    columns |= {name: (codes[name][order], texts[name]) for name in part}
    arrays = [_dictionary(column, pool) for column, pool in columns.values()]
    return pa.Table.from_arrays(arrays, names=list(columns))


def _dictionary(codes: npt.NDArray[np.int32], texts: Sequence[str]) -> pa.Array[Any]:
    """Return a column whose dictionary holds only texts that are in a row.

    A Parquet file carries its dictionaries whole: a text that only a suppressed row had would be
    published by it.
    """
    import pyarrow as pa

    coded = pa.DictionaryArray.from_arrays(
        cast(Any, of_numbers(codes.astype(np.int32, copy=False))), of_texts(texts)
    )
    return _with_own_dictionary(coded)


def _with_own_dictionary(column: pa.DictionaryArray[Any, Any]) -> pa.Array[Any]:
    """Return a dictionary-encoded column without the texts that are in none of its rows."""
    import pyarrow as pa

    codes = numbers_of(column.indices)
    shown = np.zeros(len(column.dictionary), dtype=np.bool_)
    shown[codes] = True
    if shown.all():
        return column
    places = np.cumsum(shown, dtype=np.int32) - np.int32(1)
    used = column.dictionary.take(cast(Any, of_numbers(np.flatnonzero(shown))))
    return pa.DictionaryArray.from_arrays(cast(Any, of_numbers(places[codes])), used)


def group_column(names: Sequence[str]) -> str:
    """Return the name of the published group number: ``group``, longer where that is taken."""
    name = "group"
    while name in names:
        name += " number"
    return name


def _group_numbers(
    group: npt.NDArray[np.int64], ranks: Sequence[npt.NDArray[np.int64]]
) -> npt.NDArray[np.int64]:
    """Return the published number of each row's group: groups ordered by their sorted rows.

    Groups that say the same in the first table are ordered by the second.
    """
    member, _ = dense_rank([group.astype(np.int32)], [int(group.max(initial=-1)) + 1])
    sizes = np.bincount(member)
    tie = np.zeros(len(sizes), dtype=np.int64)
    for rank in ranks:
        tie = _places(tie, rank[_by_number(member, rank)], sizes)
    number = np.empty(len(sizes), dtype=np.int64)
    number[np.argsort(tie, kind="stable")] = np.arange(len(sizes))
    return number[member]


def _by_number(number: npt.NDArray[np.int64], rank: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the rows by the number of their group, and by their rank within it."""
    columns = [number.astype(np.int32), rank.astype(np.int32)]
    return row_order(columns, [int(column.max(initial=-1)) + 1 for column in columns])


def _places(
    tie: npt.NDArray[np.int64], values: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Return the place of every group among the distinct groups, ties counted once.

    Parameters
    ----------
    tie : int64 array of shape (groups,)
        Places so far.
    values : int64 array of shape (rows,)
        The groups' values, one group after the other, not below 0. Groups of one place are
        compared value by value, and where one is the other's beginning, the shorter comes first.
    sizes : int64 array of shape (groups,)
    """
    start = np.cumsum(sizes) - sizes
    begin, width = 0, 4
    while True:
        longer = np.zeros(len(tie), dtype=np.bool_)
        longer[tie[sizes > begin]] = True
        open_ = np.flatnonzero((np.bincount(tie)[tie] > 1) & longer[tie])
        if not len(open_):
            return tie
        nth = np.arange(begin, begin + width)
        inside = nth < sizes[open_, None]
        window = np.where(inside, values[np.minimum(start[open_, None] + nth, len(values) - 1)], -1)
        keys = np.vstack([window.T[::-1], tie[None, open_]])
        order = np.lexsort(keys)
        new = np.any(np.diff(keys[:, order], axis=1) != 0, axis=0)
        finer = np.zeros(len(tie), dtype=np.int64)
        finer[open_[order]] = np.concatenate([[0], np.cumsum(new)])
        tie = np.unique(tie * len(tie) + finer, return_inverse=True)[1].astype(np.int64)
        begin, width = begin + width, 2 * width


def in_text_order(
    codes: Sequence[npt.NDArray[np.int32]], texts: Sequence[Sequence[str]]
) -> tuple[list[npt.NDArray[np.int32]], list[int]]:
    """Return columns with codes in the order of their texts, and how many each may have."""
    ranked = [_place(pool)[column] for column, pool in zip(codes, texts, strict=True)]
    return ranked, [max(len(pool), 1) for pool in texts]


def _place(texts: Sequence[str]) -> npt.NDArray[np.int32]:
    """Return the place of each text among the distinct ones in order, shape (texts,)."""
    import pyarrow as pa
    import pyarrow.compute as pc

    # Bytes of UTF-8 are in the order of the characters.
    pool: Any = of_texts(texts, large=True)
    order = pc.call_function("array_sort_indices", [pool])
    ordered = pool.take(order)
    new = pc.call_function("not_equal", [ordered[1:], ordered[:-1]])
    place = np.zeros(len(texts), dtype=np.int32)
    place[numbers_of(order)[1:]] = np.cumsum(numbers_of(new.cast(pa.uint8())))
    return place
