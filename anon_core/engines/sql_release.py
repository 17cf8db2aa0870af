"""A release found on counted tuples, joined back to every row in the engine, or drawn there.

Rows are ordered by their published cells, as `public_edition` orders them: numbers represent texts
in their order, packed into few words, so that the engine compares those only. The input's order has
no part in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import AnonError, BadInput
from anon_core.data.column import Column
from anon_core.data.frequency import dense_rank, frequency_set
from anon_core.data.values.formulas import neutralised
from anon_core.engines.counted_table import CountedTable, Groups
from anon_core.pipeline.publish.file_formats import ROW_GROUP
from anon_core.pipeline.publish.published_table import Edition, public_edition, witness_of
from anon_core.release.problem import Problem, leaf_codes
from anon_core.release.release import Release
from anon_core.verification.rows.membership import Witness

if TYPE_CHECKING:
    import pyarrow as pa

#: A word is a signed number of 64 bits in every engine; its sign is not used.
_BITS = 63


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassOfRow:
    """How the rows in the engine find their classes.

    Attributes
    ----------
    groups : mapping of str to int64 array of shape (texts,)
        By column, the number that represents each number; see `CountedTable.grouped`.
    keys : mapping of str to int64 array of shape (lines,)
        What distinct lines are known by: the numbers ``k0``, ``k1`` and so on of quasi-identifiers,
        or the ``part``.
    member : int64 array of shape (lines,)
        The class of each line, -1 where its rows are suppressed.
    through : str
        The relation of the engine that has the part of all numbers; empty where they are the keys.
    """

    groups: Groups
    keys: Mapping[str, npt.NDArray[np.int64]]
    member: npt.NDArray[np.int64]
    through: str = ""


def class_of_tuples(
    tuples: Sequence[npt.NDArray[np.int64]],
    sizes: Sequence[int],
    member: npt.NDArray[np.int64],
    groups: Groups,
) -> ClassOfRow:
    """Return how rows find classes by their numbers.

    Parameters
    ----------
    tuples : sequence of int64 arrays of shape (tuples,)
        The numbers of each quasi-identifier; equal tuples are in one class.
    sizes : sequence of int
        Numbers are below these.
    member : int64 array of shape (tuples,)
    groups : mapping of str to int64 array of shape (texts,)
    """
    _, first = dense_rank([t.astype(np.int32) for t in tuples], sizes)
    keys = {f"k{d}": codes[first] for d, codes in enumerate(tuples)}
    return ClassOfRow(groups=groups, keys=keys, member=member[first])


def published_parts(
    table: CountedTable, release: Release, rows_of: ClassOfRow, *, neutralise: bool
) -> Iterator[pa.Table]:
    """Yield the published table in canonical order, `ROW_GROUP` rows at a time.

    Parameters
    ----------
    release : Release
        Of one block.
    neutralise : bool
        Put an apostrophe before cells that a spreadsheet would execute.

    Raises
    ------
    AnonError
        If rows were lost on the way, which no join must do.
    BadInput
        If disk or memory are short.
    """
    import pyarrow as pa

    problem = release.problem
    names = problem.roles.published(table.dataset)
    texts = {
        name: [neutralised(t) if neutralise else t for t in release.vocabularies[name].texts]
        for name in names
    }
    sorted_texts = {name: sorted(set(pool)) for name, pool in texts.items()}
    rank: dict[str, npt.NDArray[np.int32]] = {}
    for name in names:
        place = {text: i for i, text in enumerate(sorted_texts[name])}
        rank[name] = np.array([place[text] for text in texts[name]], dtype=np.int32)
    quasi = problem.quasi
    kept = rows_of.member >= 0
    member = rows_of.member[kept]
    spare = {n: len(table.coded[n].tally) for n in names if n not in quasi}
    sizes = [max(len(sorted_texts[name]), spare.get(name, 0)) for name in names]
    field = dict(zip(names, packed_fields(sizes), strict=True))
    terms: list[list[str]] = [[] for _ in range(1 + field[names[-1]].word)]
    classes: dict[str, npt.NDArray[Any]] = {
        name: numbers[kept].astype(np.uint32) for name, numbers in rows_of.keys.items()
    }
    for name in quasi:
        says = rank[name][release.cells[name][member]].astype(np.int64)
        word = field[name].word
        if f"w{word}" not in classes:
            terms[word].append(f"classes.w{word}")
            classes[f"w{word}"] = np.zeros_like(says)
        classes[f"w{word}"] += says << field[name].shift
    table.lend("classes", pa.table(cast(Any, classes)))
    shown, coded = table.grouped(quasi, rows_of.groups)
    through = rows_of.through or "classes"
    joins = [
        f"JOIN {through} ON "
        + " AND ".join(f"{own} = {through}.k{d}" for d, own in enumerate(shown))
    ]
    if rows_of.through:
        joins.append(f"JOIN classes ON {through}.part = classes.part")
    for place, name in enumerate(names):
        if name in quasi:
            continue
        leaf = leaf_codes(table.coded[name].column, problem.hierarchies[name])
        says, at = rank[name][leaf].astype(np.int64), field[name]
        if np.array_equal(says, np.arange(len(says))):
            terms[at.word].append(f"CAST(coded.{table.called(name)} AS BIGINT) * {1 << at.shift}")
            continue
        own: Any = {"c": np.arange(len(says), dtype=np.uint32), "p": says << at.shift}
        table.lend(f"column{place}", pa.table(own))
        joins.append(f"JOIN column{place} ON coded.{table.called(name)} = column{place}.c")
        terms[at.word].append(f"column{place}.p")
    words = ", ".join(f"{' + '.join(term)} AS w{word}" for word, term in enumerate(terms))
    order = ", ".join(str(word + 1) for word in range(len(terms)))
    found = table.ordered(f"SELECT {words} FROM {coded} {' '.join(joins)} ORDER BY {order}")
    pools = [pa.array(sorted_texts[name], type=pa.string()) for name in names]
    rows = 0
    for batch in _batches(found):
        packed = [column.to_numpy() for column in batch.columns]
        arrays = [
            pa.DictionaryArray.from_arrays(field[name].of(packed[field[name].word]), pool)
            for name, pool in zip(names, pools, strict=True)
        ]
        rows += batch.num_rows
        yield pa.Table.from_arrays(arrays, names=list(names))
    if rows != release.view.rows:
        raise AnonError(
            f"{rows:,} rows came out of the join, and {release.view.rows:,} are published.",
            remedy="Nothing was released. This is an error of the workbench; please report it.",
        )


def _batches(found: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield rows `ROW_GROUP` at a time, the last fewer."""
    import pyarrow as pa

    waiting: list[pa.RecordBatch] = []
    held = 0
    for batch in found:
        waiting.append(batch)
        held += batch.num_rows
        while held >= ROW_GROUP:
            whole = pa.Table.from_batches(waiting).combine_chunks()
            yield whole.slice(0, ROW_GROUP).to_batches()[0]
            rest = whole.slice(ROW_GROUP)
            waiting, held = rest.to_batches(), rest.num_rows
    if held:
        yield pa.Table.from_batches(waiting).combine_chunks().to_batches()[0]


#: Bytes that a published cell takes, verification included, measured on 80 million of them.
BYTES_A_CELL = 100


def refuse_many_rows(table: CountedTable, columns: int) -> None:
    """Refuse a table whose rows do not fit into memory, before anything is searched.

    Raises
    ------
    BadInput
    """
    rows = table.dataset.rows
    needed = rows * columns * BYTES_A_CELL
    if needed > table.memory:
        raise BadInput(
            f"Which of equal rows goes where is drawn row by row. The {rows:,} rows of {columns} "
            f"columns need {needed / 1e9:.1f} GB for that, and the run may take "
            f"{table.memory / 1e9:.1f} GB.",
            remedy=f"Give it more, with --memory {-(-needed // 10**9)}GB, publish fewer columns, "
            "or choose a technique that publishes classes in which equal rows say the same.",
        )


def drawn_edition(
    table: CountedTable, release: Release, generator: np.random.Generator, *, neutralise: bool
) -> tuple[Edition, Witness | None]:
    """Return what `public_edition` and `witness_of` do of rows in memory.

    Parameters
    ----------
    table : CountedTable
        It is let go as soon as its rows are here.
    release : Release
        Found on its counts.
    neutralise : bool
        Put an apostrophe before cells that a spreadsheet would execute.
    """
    found = replace(release, problem=_with_rows(table, release.problem))
    table.close()
    edition = public_edition(found, generator, neutralise=neutralise)
    return edition, witness_of(found, edition)


def _with_rows(table: CountedTable, problem: Problem) -> Problem:
    """Return the problem of the rows themselves; in which order they come plays no part."""
    names = problem.roles.published(table.dataset)
    codes = _codes(table, names)
    dataset = replace(
        problem.dataset,
        columns=tuple(
            _column(table.coded[column.name].column, codes[column.name])
            if column.name in codes
            else column
            for column in problem.dataset.columns
        ),
    )
    counted = problem.frequency
    rows = replace(problem, dataset=dataset)
    frequency = frequency_set(
        counted.columns,
        [rows.leaf_codes(name) for name in counted.columns],
        [len(problem.hierarchies[name].leaves) for name in counted.columns],
        quasi=counted.quasi,
    )
    return replace(rows, frequency=frequency)


def _codes(table: CountedTable, names: tuple[str, ...]) -> dict[str, npt.NDArray[np.int32]]:
    """Return the numbers that an engine holds for some columns, (rows,) each."""
    place = packed_fields([len(table.coded[name].tally) for name in names])
    terms: list[list[str]] = [[] for _ in range(1 + place[-1].word)]
    for name, at in zip(names, place, strict=True):
        terms[at.word].append(f"CAST({table.called(name)} AS BIGINT) * {1 << at.shift}")
    shown = ", ".join(f"{' + '.join(term)} AS w{word}" for word, term in enumerate(terms))
    found = {name: np.empty(table.dataset.rows, dtype=np.int32) for name in names}
    begin = 0
    for batch in table.ordered(f"SELECT {shown} FROM coded"):
        words = [column.to_numpy() for column in batch.columns]
        for name, at in zip(names, place, strict=True):
            found[name][begin : begin + batch.num_rows] = at.of(words[at.word])
        begin += batch.num_rows
    return found


def _column(counted: Column, number: npt.NDArray[np.int32]) -> Column:
    """Return a column of rows: each has the value of the distinct text that its number means."""
    return Column(
        name=counted.name,
        kind=counted.kind,
        codes=counted.codes[number],
        values=counted.values,
        measure=counted.measure,
        notes=counted.notes,
        thousands=counted.thousands,
        undecided=counted.undecided,
    )


@dataclass(frozen=True, kw_only=True)
class _Field:
    """Where the numbers of one column are.

    Attributes
    ----------
    word : int
        In which word, from 0.
    shift : int
        How many bits of it come after them.
    bits : int
        How many they take.
    """

    word: int
    shift: int
    bits: int

    def of(self, words: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        """Return the column's numbers from its words."""
        return ((words >> self.shift) & ((1 << self.bits) - 1)).astype(np.int32)


def packed_fields(sizes: Sequence[int]) -> list[_Field]:
    """Return where columns are so that words in order are rows in order, the first before all.

    Parameters
    ----------
    sizes : sequence of int
        One more than each column's largest number.
    """
    widths = [max(1, (size - 1).bit_length()) for size in sizes]
    words: list[list[int]] = [[]]
    for width in widths:
        if sum(words[-1]) + width > _BITS:
            words.append([])
        words[-1].append(width)
    return [
        _Field(word=word, shift=sum(held[place + 1 :]), bits=width)
        for word, held in enumerate(words)
        for place, width in enumerate(held)
    ]
