"""Mean overlap of published rows with the predicates of count queries, group by group."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import F64, I32, I64
from anon_core.kernels.compilation import compiled

# Entries whose shares are held at a time, so that they stay near the processor.
_TILE = 1024


class Overlaps(NamedTuple):
    """Overlap of each published cell with each interval, column after column.

    Attributes
    ----------
    table : array of any dtype
        Row by row: indicators (small integers) where all cells are exact, else shares.
    at, wide : int64 arrays of shape (columns + 1,) and (columns,)
        Place of each column's part of `table`, and the width of its rows.
    """

    table: npt.NDArray[Any]
    at: I64
    wide: I64


def alone_in_arrays(
    start: I64,
    first: int,
    codes: I32,
    count: I64,
    size: F64,
    table: F64,
    which: I64,
    factor: F64,
) -> None:
    """Do what `alone` does, with whole arrays; `bincount` adds in the loop's order."""
    groups = factor.shape[1]
    here = slice(start[first], start[first + groups])
    group = np.repeat(np.arange(groups), np.diff(start[first : first + groups + 1]))
    mean = np.zeros((table.shape[0], groups))
    for d in range(table.shape[0]):
        total = np.bincount(group, table[d, codes[here]] * count[here], groups)
        np.divide(total, size[first : first + groups], out=mean[d], where=total > 0.0)
    asked = which >= 0
    factor[asked] *= mean[which[asked]]


@partial(compiled, in_arrays=alone_in_arrays)
def alone(
    start: I64,
    first: int,
    codes: I32,
    count: I64,
    size: F64,
    table: F64,
    which: I64,
    factor: F64,
) -> None:
    """Multiply `factor` by the mean overlap with one column's cells.

    Distinct intervals are far fewer than queries, so the mean is taken once for each of them.

    Parameters
    ----------
    start : int64 array of shape (groups + 1,)
        First entry of each group.
    first : int
        Group of the first column of `factor`.
    codes : int32 array of shape (entries,)
    count : int64 array of shape (entries,)
        Rows of each entry.
    size : float64 array of shape (groups,)
        Rows of each group.
    table : float64 array of shape (intervals, vocabulary)
        Overlap of each published cell with each interval.
    which : int64 array of shape (queries,)
        Interval each query asks for, -1 for none.
    factor : float64 array of shape (queries, groups of this call), changed in place
    """
    groups = factor.shape[1]
    mean = np.zeros((table.shape[0], groups))
    for d in range(table.shape[0]):
        for g in range(groups):
            total = 0.0
            for e in range(start[first + g], start[first + g + 1]):
                total += table[d, codes[e]] * count[e]
            if total > 0.0:
                mean[d, g] = total / size[first + g]
    for q in range(which.shape[0]):
        d = which[q]
        if d >= 0:
            for g in range(groups):
                factor[q, g] *= mean[d, g]


def _hit_together(
    begins: I64,
    ends: I64,
    codes: I32,
    count: npt.NDArray[Any],
    overlaps: Overlaps,
    which: I64,
    found: F64,
) -> None:
    """Count the rows of exact cells that each query hits, group by group; none of them is empty."""
    table, at, wide = overlaps
    here = slice(begins[0], ends[-1])
    hit = [
        table[at[c] : at[c + 1]].reshape(-1, wide[c]).astype(np.bool_)[:, codes[c, here]]
        for c in range(len(wide))
    ]
    for q in np.flatnonzero((which >= 0).any(axis=1)):
        own = [hit[c][d] for c, d in enumerate(which[q]) if d >= 0]
        rows = count[here] * np.logical_and.reduce(own)
        found[q] = np.add.reduceat(rows, begins - begins[0])


def together_in_arrays(
    start: I64,
    first: int,
    codes: I32,
    count: npt.NDArray[Any],
    size: F64,
    overlaps: Overlaps,
    which: I64,
    factor: F64,
) -> None:
    """Do what `together` does, a tile of whole arrays at a time; `cumsum` adds in its order."""
    table, at, wide = overlaps
    queries, columns = which.shape
    groups = factor.shape[1]
    begins, ends = start[first : first + groups], start[first + 1 : first + groups + 1]
    asked = (which >= 0).any(axis=1)
    found = np.zeros((queries, groups))
    if np.issubdtype(table.dtype, np.integer) and (begins < ends).all():
        _hit_together(begins, ends, codes, count, overlaps, which, found)
        factor[asked] *= found[asked] / size[first : first + groups]
        return
    for low in range(int(start[first]), int(start[first + groups]), _TILE):
        high = min(low + _TILE, int(start[first + groups]))
        product = np.ones((queries, high - low), table.dtype)
        for c in range(columns):
            part = table[at[c] : at[c + 1]].reshape(-1, wide[c])[:, codes[c, low:high]]
            named = which[:, c] >= 0
            product[named] *= part[which[named, c]]
        upto = np.zeros((queries, high - low + 1), count.dtype)
        np.cumsum(product * count[low:high], axis=1, out=upto[:, 1:])
        here = np.flatnonzero((begins < high) & (ends > low))
        left, right = np.maximum(begins[here], low) - low, np.minimum(ends[here], high) - low
        found[:, here] += upto[:, right] - upto[:, left]
    mean = np.zeros_like(found)
    np.divide(found, size[first : first + groups], out=mean, where=found > 0.0)
    factor[asked] *= mean[asked]


@partial(compiled, in_arrays=together_in_arrays)
def together(
    start: I64,
    first: int,
    codes: I32,
    count: npt.NDArray[Any],
    size: F64,
    overlaps: Overlaps,
    which: I64,
    factor: F64,
) -> None:
    """Multiply `factor` by the mean over rows of the product of several linked columns' overlaps.

    Parameters
    ----------
    start : int64 array of shape (groups + 1,)
        First entry of each group.
    first : int
        Group of the first column of `factor`.
    codes : int32 array of shape (columns, entries)
    count : int64 or float64 array of shape (entries,)
        Rows of each entry; whole numbers where the table is of indicators.
    size : float64 array of shape (groups,)
        Rows of each group.
    which : int64 array of shape (queries, columns)
        Interval each query asks for, -1 for none.
    factor : float64 array of shape (queries, groups of this call), changed in place
    """
    table, at, wide = overlaps
    queries, columns = which.shape
    groups = factor.shape[1]
    base = np.zeros(columns + 1, np.int64)
    for c in range(columns):
        base[c + 1] = base[c] + (at[c + 1] - at[c]) // wide[c]
    held = np.empty((base[columns], _TILE), table.dtype)
    product = np.empty(_TILE, table.dtype)
    # Most groups are short: one running sum is faster than a loop for each of them.
    upto = np.zeros(_TILE + 1, count.dtype)
    found = np.zeros((queries, groups))
    low, end = start[first], start[first + groups]
    g_low = 0
    while low < end:
        high = min(low + _TILE, end)
        while start[first + g_low + 1] <= low:
            g_low += 1
        within = start[first + g_low + 1] >= high
        for c in range(columns):
            for d in range(base[c + 1] - base[c]):
                row = at[c] + d * wide[c]
                for i in range(high - low):
                    held[base[c] + d, i] = table[row + codes[c, low + i]]
        for q in range(queries):
            used = 0
            for c in range(columns):
                if which[q, c] >= 0:
                    here = base[c] + which[q, c]
                    if used == 0:
                        for i in range(high - low):
                            product[i] = held[here, i]
                    else:
                        for i in range(high - low):
                            product[i] *= held[here, i]
                    used += 1
            if used == 0:
                continue
            if within:
                total = upto[0]
                for i in range(high - low):
                    total += product[i] * count[low + i]
                found[q, g_low] += total
                continue
            for i in range(high - low):
                upto[i + 1] = upto[i] + product[i] * count[low + i]
            g = g_low
            while g < groups and start[first + g] < high:
                left = max(start[first + g], low) - low
                right = min(start[first + g + 1], high) - low
                found[q, g] += upto[right] - upto[left]
                g += 1
        low = high
    for q in range(queries):
        asked = False
        for c in range(columns):
            asked = asked or which[q, c] >= 0
        if asked:
            for g in range(groups):
                if found[q, g] > 0.0:
                    factor[q, g] *= found[q, g] / size[first + g]
                else:
                    factor[q, g] = 0.0
