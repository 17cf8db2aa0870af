"""Answers to count queries: exact on the table, estimated on what is published of it.

One estimator serves every release: Σ over groups of N · Π over link blocks of the mean, over the
group's rows of the block, of the overlap of the row's cells with the predicates. It is the
estimate of generalization where one block holds boxes, of Anatomy where two blocks hold exact
cells, and of permutation anonymization where every column is a block (Li et al. 2015, examples 1
and 2; the second term of example 2 must read 3/4 × 2/4).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context
from anon_core.base.errors import AnonError
from anon_core.data.hierarchy import Hierarchy
from anon_core.kernels.query_overlap import Overlaps, alone, together
from anon_core.methods.queries.count_queries import Workload
from anon_core.release.problem import Problem
from anon_core.release.release import BlockTable, View
from anon_core.release.vocabulary import Vocabulary, of_level

# The sum behind every count query: Σ over groups of size · Π over parts of their mean overlap.
#
# Groups are taken in stretches, on as many threads as there are processors; stretches are added up
# in their own order, so that the answer never depends on which thread was faster.


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
    size : float64 array of shape (groups,)
        Rows of each group.
    workload : Workload
        A part that a query does not ask about multiplies by 1.
    cells : int
        Published cells of all parts' columns, the width of the tables.
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


#: How a coarsened cell is spread over what it covers: evenly over leaves, or over a length.
Spread = Literal["leaves", "length"]

# Keys of a table that are counted as if they were one group.
_KEYS = 1 << 12
_UNITS = 1e6  # of a person, in which weights are added up
# Entries from which a vocabulary may hold many that no cell says.
_LONG = 1 << 12


def overlap(
    hierarchy: Hierarchy,
    vocabulary: Vocabulary,
    lo: npt.NDArray[np.int32],
    hi: npt.NDArray[np.int32],
    *,
    spread: Spread = "leaves",
) -> npt.NDArray[np.float64]:
    """Return which share of each published cell lies in each interval.

    Parameters
    ----------
    lo, hi : int32 arrays of shape (intervals,)
        First and last leaf of each interval.
    spread : {'leaves', 'length'}
        By counted leaves, or, for numbers and dates, by length between the first and the last
        value. Cells of one value are 0 or 1 either way. By length an interval of one value has no
        share of a wider cell. Cells that hide a missing value have no length and go by leaves.
        A number that replaces values lies in an interval, or not.

    Returns
    -------
    float64 array of shape (intervals, entries of the vocabulary)
    """
    first, last = vocabulary.lo.astype(np.int64), vocabulary.hi.astype(np.int64)
    low = np.maximum(first, lo[:, None])
    high = np.minimum(last, hi[:, None])
    meets = low <= high
    if vocabulary.shown is None and np.array_equal(first, last):  # each of them one value
        return meets.astype(np.float64)
    below = np.concatenate([[0], np.cumsum(hierarchy.counted)])
    # Cells of leaves that only a population has, none of them counted, are taken leaf by leaf.
    plain = below[last + 1] == below[first]
    whole = np.where(plain, last + 1 - first, below[last + 1] - below[first]).astype(np.float64)
    part = np.where(plain, high + 1 - low, below[high + 1] - below[low]).astype(np.float64)
    if spread == "length" and hierarchy.measure is not None:
        at = np.nan_to_num(hierarchy.measure)
        long = last > first
        if hierarchy.has_missing:
            long &= last < len(hierarchy.leaves) - 1
        whole = np.where(long, at[last] - at[first], whole)
        part = np.where(long, at[high] - at[low], part)
    found = np.where(meets, part / whole, 0.0)
    if vocabulary.shown is not None and hierarchy.measure is not None:
        # An interval up to the missing value has no upper end; one of it alone holds no number.
        ends = np.nan_to_num(hierarchy.measure, nan=np.inf)
        inside = (ends[lo][:, None] <= vocabulary.shown) & (vocabulary.shown <= ends[hi][:, None])
        found = np.where(np.isnan(vocabulary.shown), found, inside)
    return found


def counts(
    problem: Problem, workload: Workload, context: Context | None = None
) -> npt.NDArray[np.int64]:
    """Return how many rows of the table each query hits, suppressed rows included.

    Parameters
    ----------
    context : Context, optional
        Looked at for cancellation between parts of the work.

    Returns
    -------
    int64 array of shape (queries,)

    Raises
    ------
    AnonError
        If the workload asks about a column that is neither quasi-identifier nor sensitive.
    """
    found = _of_keys(problem, workload, problem.frequency.count, context)
    return np.rint(found).astype(np.int64)


def people(
    problem: Problem, workload: Workload, context: Context | None = None
) -> npt.NDArray[np.float64] | None:
    """Return how many people the rows that each query hits represent by a survey's weights.

    Of all rows, suppressed ones included, to a millionth of a person. None without weights.

    Returns
    -------
    float64 array of shape (queries,), or None
    """
    weight = problem.row_weight
    if weight is None:
        return None
    frequency = problem.frequency
    own = np.bincount(frequency.row_key, weight, len(frequency.count))
    units = np.rint(own * _UNITS).astype(np.int64)
    return _of_keys(problem, workload, units, context) / _UNITS


def _of_keys(
    problem: Problem,
    workload: Workload,
    count: npt.NDArray[np.int64],
    context: Context | None,
) -> npt.NDArray[np.float64]:
    """Return what the keys that each query hits count together, shape (queries,)."""
    frequency = problem.frequency
    asked = _asked(workload, frequency.shown)
    columns = [frequency.columns.index(workload.columns[place]) for place in asked]
    keys = len(frequency.count)
    # Keys are linked whole; dealing them into groups only lets them be counted side by side.
    start = np.append(np.arange(0, keys, _KEYS), keys).astype(np.int64)
    size = np.add.reduceat(count, start[:-1]).astype(np.float64)
    codes = np.ascontiguousarray(frequency.codes[:, columns].T)
    part = Part(places=asked, start=start, codes=codes, count=count)
    exact = {name: of_level(problem.hierarchies[name], 0) for name in frequency.shown}
    return _answers([part], size, exact, problem.hierarchies, workload, "leaves", context)


def estimates(
    view: View,
    hierarchies: Mapping[str, Hierarchy],
    workload: Workload,
    *,
    spread: Spread = "leaves",
    context: Context | None = None,
) -> npt.NDArray[np.float64]:
    """Return how many rows each query is expected to hit, by what is published alone.

    Parameters
    ----------
    spread : {'leaves', 'length'}
        See `overlap`.
    context : Context, optional
        Looked at for cancellation between parts of the work.

    Returns
    -------
    float64 array of shape (queries,)

    Raises
    ------
    AnonError
        If the workload asks about a column that is not published.
    """
    parts = _parts(view, workload)
    size = view.group_size.astype(np.float64)
    return _answers(parts, size, view.vocabularies, hierarchies, workload, spread, context)


def _answers(
    parts: Sequence[Part],
    size: npt.NDArray[np.float64],
    vocabularies: Mapping[str, Vocabulary],
    hierarchies: Mapping[str, Hierarchy],
    workload: Workload,
    spread: Spread,
    context: Context | None,
) -> npt.NDArray[np.float64]:
    parts, vocabularies = _used_alone(parts, vocabularies, workload)

    def table(
        place: int, lo: npt.NDArray[np.int32], hi: npt.NDArray[np.int32]
    ) -> npt.NDArray[np.float64]:
        name = workload.columns[place]
        return overlap(hierarchies[name], vocabularies[name], lo, hi, spread=spread)

    widths = [
        len(vocabularies[workload.columns[place]].texts) for part in parts for place in part.places
    ]
    return answers(parts, size, workload, sum(widths), table, context or Context())


def _used_alone(
    parts: Sequence[Part], vocabularies: Mapping[str, Vocabulary], workload: Workload
) -> tuple[list[Part], dict[str, Vocabulary]]:
    """Leave out of long vocabularies what no cell says: each interval is laid over the rest."""
    used_vocabularies = dict(vocabularies)
    number: dict[int, npt.NDArray[np.int32]] = {}
    for place in {place for part in parts for place in part.places}:
        own = vocabularies[workload.columns[place]]
        if len(own.texts) < _LONG:
            continue
        used = np.zeros(len(own.texts), dtype=np.bool_)
        for part in parts:
            for at, codes in zip(part.places, part.codes, strict=True):
                if at == place:
                    used[codes] = True
        number[place] = np.cumsum(used, dtype=np.int32) - np.int32(1)
        used_vocabularies[own.column] = own.among(np.flatnonzero(used))

    def numbered(part: Part) -> Part:
        if number.keys().isdisjoint(part.places):
            return part
        codes = [
            number[place][own] if place in number else own
            for place, own in zip(part.places, part.codes, strict=True)
        ]
        return replace(part, codes=np.stack(codes))

    return [numbered(part) for part in parts], used_vocabularies


def _asked(workload: Workload, known: Sequence[str]) -> tuple[int, ...]:
    """Return the places of the columns that any query asks about."""
    used = np.unique(workload.column[workload.column >= 0]).tolist()
    for place in used:
        if workload.columns[place] not in known:
            raise AnonError(
                f"Column '{workload.columns[place]}' cannot be asked about; it is neither "
                "quasi-identifier nor sensitive, or not published.",
                remedy="Ask about quasi-identifiers and sensitive columns.",
            )
    return tuple(used)


def _parts(view: View, workload: Workload) -> list[Part]:
    """Split blocks into parts whose means multiply.

    A column whose cells are equal throughout every group (a box) multiplies with anything, and so
    do columns that no query asks about together; only what is left must be taken row by row.
    """
    asked = _asked(workload, [name for block in view.blocks for name in block.columns])
    parts: list[Part] = []
    for block in view.blocks:
        columns = [p for p in asked if workload.columns[p] in block.columns]
        parts += _split(block, view.group_size, workload, columns)
    return parts


def _split(
    block: BlockTable, size: npt.NDArray[np.int64], workload: Workload, places: Sequence[int]
) -> list[Part]:
    order = np.argsort(block.group, kind="stable")
    group, count = block.group[order], block.count[order]
    at = [block.columns.index(workload.columns[p]) for p in places]
    codes = np.ascontiguousarray(block.codes[order][:, at].T)
    every = np.arange(len(size) + 1)
    start = np.searchsorted(group, every).astype(np.int64)
    head = np.flatnonzero(np.diff(group, prepend=-1))
    start_of_head = np.searchsorted(group[head], every).astype(np.int64)
    same_group = group[1:] == group[:-1]
    varies = np.array(
        [bool(np.any((line[1:] != line[:-1]) & same_group)) for line in codes], dtype=np.bool_
    )
    free = np.flatnonzero(varies).tolist()
    together = [places[i] for i in free]
    linked = np.isin(workload.column, together).sum(axis=1).max(initial=0) > 1
    parts: list[Part] = []
    if linked:
        parts.append(Part(places=tuple(together), start=start, codes=codes[free], count=count))
    for i, place in enumerate(places):
        if not varies[i]:
            cells, rows = codes[i : i + 1, head], size[group[head]]
            parts.append(Part(places=(place,), start=start_of_head, codes=cells, count=rows))
        elif not linked:
            parts.append(Part(places=(place,), start=start, codes=codes[i : i + 1], count=count))
    return parts
