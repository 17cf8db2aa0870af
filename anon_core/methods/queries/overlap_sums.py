"""The sum behind every count query: Σ over groups of size · Π over parts of their mean overlap.

Groups are taken in stretches, on as many threads as there are processors; stretches are added up
in their own order, so that the answer never depends on which thread was faster.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context
from anon_core.kernels.query_overlap import Overlaps, alone, together
from anon_core.methods.queries.count_queries import Workload

#: (place in the workload, first leaves, last leaves) → overlap, shape (intervals, published cells).
Table = Callable[[int, npt.NDArray[np.int32], npt.NDArray[np.int32]], npt.NDArray[np.float64]]
# (first group, queries × groups) → None: multiplies by one part's means.
_Step = Callable[[int, npt.NDArray[np.float64]], None]

# Cells of look-up tables, and of the products of one stretch (a second-level cache of float64).
_TABLE = 1 << 22
_PRODUCTS = 1 << 17
_LEAST_STRETCHES = 16
_MOST_THREADS = 4


@dataclass(frozen=True, kw_only=True, eq=False)
class Part:
    """Columns that are linked row by row, as entries that lie group after group.

    Attributes
    ----------
    places : tuple of int
        The columns' places in the workload.
    start : int64 array of shape (groups + 1,)
        First entry of each group.
    codes : int32 array of shape (columns, entries)
        Published cells, as numbers of the columns of their table.
    count : int64 array of shape (entries,)
        Rows of each entry.
    """

    places: tuple[int, ...]
    start: npt.NDArray[np.int64]
    codes: npt.NDArray[np.int32]
    count: npt.NDArray[np.int64]


def answers(
    parts: Sequence[Part],
    size: npt.NDArray[np.float64],
    workload: Workload,
    cells: int,
    table: Table,
    context: Context,
) -> npt.NDArray[np.float64]:
    """Return the sum for every query.

    Parameters
    ----------
    parts : sequence of Part
    size : float64 array of shape (groups,)
        Rows of each group.
    workload : Workload
        A part that a query does not ask about multiplies by 1.
    cells : int
        Published cells of all parts' columns, the width of the tables.
    table : callable
    context : Context
        Looked at for cancellation before every stretch.

    Returns
    -------
    float64 array of shape (queries,)
    """
    several = max(_TABLE // max(cells, 1), 1)
    found = [np.empty(0, dtype=np.float64)]
    for start in range(0, workload.queries, several):
        some = workload.part(start, start + several)
        steps = [_step(part, size, some, table) for part in parts if part.places]
        found.append(_total(steps, size, some.queries, context))
    return np.concatenate(found)


def _total(
    steps: Sequence[_Step], size: npt.NDArray[np.float64], queries: int, context: Context
) -> npt.NDArray[np.float64]:
    wide = max(min(_PRODUCTS // queries, -(-len(size) // _LEAST_STRETCHES)), 1)

    def stretch(first: int) -> npt.NDArray[np.float64]:
        context.check()
        product = np.tile(size[first : first + wide], (queries, 1))
        for step in steps:
            step(first, product)
        return product.sum(axis=1)

    firsts = range(0, len(size), wide)
    total = np.zeros(queries, dtype=np.float64)
    threads = min(len(firsts), os.cpu_count() or 1, _MOST_THREADS)
    if threads <= 1:
        for first in firsts:
            total += stretch(first)
        return total
    with ThreadPoolExecutor(threads) as pool:
        for found in pool.map(stretch, firsts):
            total += found
    return total


def _step(part: Part, size: npt.NDArray[np.float64], workload: Workload, table: Table) -> _Step:
    asked = [workload.intervals(place) for place in part.places]
    tables = [table(place, lo, hi) for place, (lo, hi, _) in zip(part.places, asked, strict=True)]
    if len(part.places) == 1:
        return _alone(part, size, tables[0], asked[0][2])
    return _together(part, size, tables, np.stack([which for _, _, which in asked], axis=1))


def _alone(
    part: Part,
    size: npt.NDArray[np.float64],
    table: npt.NDArray[np.float64],
    which: npt.NDArray[np.int64],
) -> _Step:
    codes = part.codes[0]

    def multiply(first: int, product: npt.NDArray[np.float64]) -> None:
        alone(part.start, first, codes, part.count, size, table, which, product)

    return multiply


def _together(
    part: Part,
    size: npt.NDArray[np.float64],
    tables: Sequence[npt.NDArray[np.float64]],
    which: npt.NDArray[np.int64],
) -> _Step:
    at = np.cumsum([0, *(t.size for t in tables)]).astype(np.int64)
    wide = np.array([t.shape[1] for t in tables], dtype=np.int64)
    shares = np.concatenate([t.ravel() for t in tables])
    exact = bool(np.all((shares == 0.0) | (shares == 1.0)))
    # Indicators are multiplied many at a time, and added up without rounding.
    overlaps = Overlaps(shares.astype(np.int16) if exact else shares, at, wide)
    count = part.count if exact else part.count.astype(np.float64)

    def multiply(first: int, product: npt.NDArray[np.float64]) -> None:
        together(part.start, first, part.codes, count, size, overlaps, which, product)

    return multiply
