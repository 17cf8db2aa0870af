"""A release in which equal rows part or links are cut, of a table that an engine holds.

Groups were found on counted tuples. Which row goes where is drawn row by row, from the canonical
order of all rows, so that here the columns that are published are brought to memory as numbers.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import BadInput
from anon_core.data.column import Column
from anon_core.data.frequency import frequency_set
from anon_core.engines.bit_packing import fields
from anon_core.engines.counted_table import CountedTable
from anon_core.pipeline.publish.published_table import Edition, public_edition, witness_of
from anon_core.release.problem import Problem
from anon_core.release.release import Release
from anon_core.verification.rows.membership import Witness

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
    place = fields([len(table.coded[name].tally) for name in names])
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
