"""How many rows show each pair of two columns' cells: linked, or permuted within groups."""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import F64, I32, I64
from anon_core.kernels.compilation import compiled


@compiled
def shuffle_runs(rows: I64, sizes: I64, drawn: npt.NDArray[np.uint64]) -> None:
    """Shuffle each run of rows in place (Durstenfeld 1964).

    The remainder of 64 bits is in for a number drawn below i: of i, no choice is likelier than
    another by more than i/2**64.

    Parameters
    ----------
    rows : int64 array of shape (rows,)
    sizes : int64 array of shape (runs,)
        Rows of each run, one after the other.
    drawn : uint64 array of shape (rows,)
        Independent and uniform.
    """
    start = 0
    for size in sizes:
        for i in range(start + size - 1, start, -1):
            j = start + np.int64(drawn[i] % np.uint64(i - start + 1))
            rows[i], rows[j] = rows[j], rows[i]
        start += size


def count_linked_in_arrays(first: I32, second: I32, rows: I64, found: F64) -> None:
    """Do what `count_linked` does, with whole arrays."""
    pair = first * np.int64(found.shape[1]) + second
    found += np.bincount(pair, rows, found.size).reshape(found.shape)


@partial(compiled, in_arrays=count_linked_in_arrays)
def count_linked(first: I32, second: I32, rows: I64, found: F64) -> None:
    """Add the rows of every entry to its pair of cells.

    Parameters
    ----------
    first, second : int32 arrays of shape (entries,)
        Cells of the two columns.
    rows : int64 array of shape (entries,)
    found : float64 array of shape (cells of the first, cells of the second)
        Added to.
    """
    for i in range(len(rows)):
        found[first[i], second[i]] += rows[i]


@compiled
def count_apart(
    group: I64,
    first: I32,
    rows: I64,
    other_group: I64,
    second: I32,
    other_rows: I64,
    sizes: I64,
    found: F64,
) -> None:
    """Add how often each group is expected to show each pair, all pairings equally likely.

    Parameters
    ----------
    group, other_group : int64 arrays of shape (entries,) each
        Ascending.
    first, second : int32 arrays of shape (entries,) each
        Cells of the two columns.
    rows, other_rows : int64 arrays of shape (entries,) each
    sizes : int64 array of shape (groups,)
        Rows of each group, 1 at least where it has an entry.
    found : float64 array of shape (cells of the first, cells of the second)
        Added to.
    """
    # Blocks of several columns have many entries for one cell: they are added up first, or a group
    # would take as many steps as it has pairs of entries.
    most, other_most = found.shape
    tally, shown = np.zeros(most, np.int64), np.empty(most, np.int64)
    other_tally, other_shown = np.zeros(other_most, np.int64), np.empty(other_most, np.int64)
    begin, other_begin = 0, 0
    while begin < len(group):
        now = group[begin]
        while other_begin < len(other_group) and other_group[other_begin] < now:
            other_begin += 1
        begin, cells = _add_up(now, begin, group, first, rows, tally, shown)
        other_begin, others = _add_up(
            now, other_begin, other_group, second, other_rows, other_tally, other_shown
        )
        for a in shown[:cells]:
            share = tally[a] / sizes[now]
            for b in other_shown[:others]:
                found[a, b] += share * other_tally[b]
        tally[shown[:cells]] = 0
        other_tally[other_shown[:others]] = 0


@compiled
def _add_up(
    now: int, begin: int, group: I64, cell: I32, rows: I64, tally: I64, shown: I64
) -> tuple[int, int]:
    """Add the rows of a group's entries up by cell; return where it ends, and how many cells."""
    cells = 0
    while begin < len(group) and group[begin] == now:
        at = cell[begin]
        if rows[begin] > 0:
            if tally[at] == 0:
                shown[cells] = at
                cells += 1
            tally[at] += rows[begin]
        begin += 1
    return begin, cells
