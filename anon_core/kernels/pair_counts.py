"""How many rows show each pair of two columns' cells: linked, or permuted apart within groups."""

from __future__ import annotations

from ..base.arrays import F64, I32, I64
from .compiled import compiled


@compiled
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
    begin, end = 0, 0
    for i in range(len(group)):
        while begin < len(other_group) and other_group[begin] < group[i]:
            begin += 1
        end = max(begin, end)
        while end < len(other_group) and other_group[end] == group[i]:
            end += 1
        share = rows[i] / sizes[group[i]]
        for j in range(begin, end):
            found[first[i], second[j]] += share * other_rows[j]
