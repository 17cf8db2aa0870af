"""The deFinetti attack: what goes with what is learned from all groups at once, by all deals.

Expectation and maximization in turn, from the shares of each group on: what each column says of a
value is counted as the deals have it, and the deals are weighed by what the columns say. Without
chance, so that two people who attack find the same. Kifer 2009, doi 10.1145/1559845.1559861; the
paper draws instead of weighing.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from anon_core.base.arrays import F64, I64
from anon_core.base.context import Context
from anon_core.contracts.group_stats import Histogram, histogram
from anon_core.kernels.sliced import Dealt, deal
from anon_core.release.release import BlockTable, View

TOLERANCE = 1e-6
_ROWS = 20_000  # between two looks at the cancel button


@dataclass(frozen=True, kw_only=True, eq=False)
class Block:
    """The rows of one block of columns, and the values dealt among them.

    Attributes
    ----------
    columns : tuple of str
        Its quasi-identifiers.
    first_row : int64 array of shape (lines,)
        Where the rows of each line of the table begin.
    cells : tuple of int64 arrays
        By column, the published texts in the order of their cells.
    """

    table: BlockTable
    columns: tuple[str, ...]
    dealt: Dealt
    first_row: I64
    cells: tuple[I64, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Settled:
    """What the iteration came to.

    Attributes
    ----------
    share : float64 array of shape (shares,)
        How likely each row has each value of its group; see `Dealt`.
    says : float64 array of shape (cells, values)
        log of how likely each cell is with each value.
    """

    block: Block
    share: F64
    says: F64
    rounds: int
    converged: bool


def values_of_groups(view: View, column: str) -> Histogram:
    """Return the sensitive values of every group; a missing one is dealt like any other."""
    own = view.block_of(column)
    value = own.codes[:, own.columns.index(column)]
    groups, texts = len(view.group_size), len(view.vocabularies[column].texts)
    return histogram(own.group, value, own.count, groups, texts)


def rows_of(view: View, table: BlockTable, values: Histogram) -> Block:
    """Return the rows of a block that has the sensitive column elsewhere.

    Parameters
    ----------
    table : BlockTable
        Its entries are group by group.
    values : Histogram
        Those of every group; see `values_of_groups`.
    """
    columns = tuple(name for name in table.columns if name in view.quasi)
    line = np.repeat(np.arange(len(table.count)), table.count)
    cells: list[I64] = []
    numbers: list[np.ndarray[tuple[int, ...], np.dtype[np.int64]]] = []
    offset = 0
    for name in columns:
        used, number = np.unique(table.codes[:, table.columns.index(name)], return_inverse=True)
        cells.append(used.astype(np.int64))
        numbers.append(number.ravel() + offset)
        offset += len(used)
    distinct = np.bincount(values.group, minlength=values.groups)
    ends = [np.cumsum(n, dtype=np.int64) for n in (view.group_size, distinct)]
    starts = [np.concatenate([[0], e]) for e in (*ends, np.cumsum(view.group_size * distinct))]
    return Block(
        table=table,
        columns=columns,
        dealt=Dealt(
            row_start=starts[0],
            cell=np.stack(numbers, axis=1)[line].astype(np.int32),
            value_start=starts[1],
            value=values.value,
            times=values.count,
            share_start=starts[2],
        ),
        first_row=np.cumsum(table.count) - table.count,
        cells=tuple(cells),
    )


def settle(
    block: Block, values: int, rounds: int, context: Context, tolerance: float = TOLERANCE
) -> Settled:
    """Learn and weigh in turn until nothing changes.

    Parameters
    ----------
    values : int
        Number of sensitive values.
    rounds : int
        After as many it ends, converged or not.
    context : Context
        Asked for cancel between parts.
    tolerance : float
        Largest change of a share that counts as none.
    """
    dealt = block.dealt
    groups = len(dealt.row_start) - 1
    rows, kinds = np.diff(dealt.row_start), np.diff(dealt.value_start)
    each = np.repeat(kinds, rows)  # values of each row's group
    row = np.repeat(np.arange(len(each)), each)
    begin = np.repeat(dealt.value_start[:-1], rows)
    place = np.arange(len(row)) - np.repeat(np.cumsum(each) - each, each) + begin[row]
    value = dealt.value[place].astype(np.int64)
    share = dealt.times[place] / np.repeat(rows, rows * kinds)
    of_value = np.bincount(value, share, minlength=values).astype(np.float64)
    parts = _parts(dealt)
    says = _learned(block, share, row, value, of_value)
    done, converged = 0, False
    while done < rounds and not converged:
        done += 1
        changed = 0.0
        for first, stop in pairwise(parts):
            context.report(done / (rounds + 1), f"Round {done}")
            changed = max(changed, deal(dealt, says, first, stop, share))
        converged = changed < tolerance or not groups
        says = _learned(block, share, row, value, of_value)
    return Settled(block=block, share=share, says=says, rounds=done, converged=converged)


def _parts(dealt: Dealt) -> list[int]:
    """Return where runs of groups begin that are dealt between two looks at the cancel button."""
    groups = len(dealt.row_start) - 1
    marks = np.arange(0, dealt.row_start[-1], _ROWS)
    begins = np.searchsorted(dealt.row_start, marks, side="left")
    return np.unique([0, *begins.tolist(), groups]).tolist()


def _learned(block: Block, share: F64, row: I64, value: I64, of_value: F64) -> F64:
    """Return log θ(cell | value), with one more of each cell of a column."""
    values = len(of_value)
    found: list[F64] = []
    offset = 0
    for c, used in enumerate(block.cells):
        cell = block.dealt.cell[:, c].astype(np.int64) - offset
        rows = np.bincount(cell[row] * values + value, share, minlength=len(used) * values)
        counted = rows.reshape(len(used), values)
        found.append(np.log(counted + 1.0) - np.log(of_value + len(used)))
        offset += len(used)
    return np.concatenate(found)
