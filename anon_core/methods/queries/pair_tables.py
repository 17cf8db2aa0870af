"""Pairs of columns as published: how many rows are expected to show each pair of cells.

Where two columns are in one link block the rows are counted; where they are permuted separately, a
group shows every pair as often as its columns' shares multiply to.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
import scipy

from anon_core.base.arrays import F64, I32, I64
from anon_core.kernels.pair_counts import count_apart, count_linked
from anon_core.release.problem import Problem
from anon_core.release.release import BlockTable, View

if TYPE_CHECKING:
    import scipy.sparse

#: Pairs of cells up to which a table of them is made in full, up to which it is kept, and up to
#: which all that are kept of one view go together.
_FEW, _KEPT, _KEPT_IN_ALL = 1 << 20, 1 << 13, 1 << 22
#: Pairs of columns that a metric looks at; of more, evenly many are left out, and it says so.
MOST_PAIRS = 2_000
#: A sparse matrix of expected rows.
Table: TypeAlias = "scipy.sparse.csr_array"
#: The same, or a full array where it is small.
AnyTable: TypeAlias = "scipy.sparse.csr_array | F64"


@dataclass(frozen=True, kw_only=True)
class Pairs:
    """Pairs of columns that are looked at: all of them, or evenly many of a wide table's.

    Attributes
    ----------
    looked : tuple of pairs of str
        At most `MOST_PAIRS`.
    all : int
        How many there are.
    """

    looked: tuple[tuple[str, str], ...]
    all: int

    @property
    def left_out(self) -> str:
        """What was not looked at, as a sentence that begins with a blank; else empty."""
        if self.all == len(self.looked):
            return ""
        return f" Measured on {len(self.looked):,} of {self.all:,} pairs of columns, evenly chosen."

    @property
    def also(self) -> dict[str, float]:
        """The pairs that were left out, as a further figure of a metric; empty where none were."""
        gone = self.all - len(self.looked)
        return {"pairs of columns left out": float(gone)} if gone else {}


def pairs_of(problem: Problem) -> Pairs:
    """Return pairs of quasi-identifiers, then of a quasi-identifier and a sensitive column."""
    free = [name for name in problem.sensitive if name not in problem.quasi]
    found = [*combinations(problem.quasi, 2), *((q, s) for q in problem.quasi for s in free)]
    most = min(len(found), MOST_PAIRS)
    return Pairs(
        looked=tuple(found[place * len(found) // most] for place in range(most)), all=len(found)
    )


def by_group(view: View, column: str) -> Table:
    """Return the rows that show each cell in each group, shape (cells, groups)."""
    block = view.block_of(column)
    shape = len(view.vocabularies[column].texts), len(view.group_size)
    return scipy.sparse.csr_array(
        (block.count.astype(np.float64), (_cells(block, column), block.group)), shape=shape
    )


def linked(view: View, first: str, second: str) -> Table | None:
    """Return the rows that show each pair of cells, shape (cells, cells); None where not linked."""
    block = view.block_of(first)
    if second not in block.columns:
        return None
    one, two = (_cells(block, name) for name in (first, second))
    shape = len(view.vocabularies[first].texts), len(view.vocabularies[second].texts)
    return scipy.sparse.csr_array((block.count.astype(np.float64), (one, two)), shape=shape)


def few(view: View, first: str, second: str) -> F64 | None:
    """Return what `expected` does as a full array; None where it is not small.

    A sparse matrix costs more to build than a small table takes to be multiplied. Metrics ask for
    the same pairs of one view; each is counted once.
    """
    shape = len(view.vocabularies[first].texts), len(view.vocabularies[second].texts)
    if shape[0] * shape[1] > _FEW:
        return None
    if first > second:
        found = few(view, second, first)
        return None if found is None else found.T
    if shape[0] * shape[1] > _KEPT:
        return _full(view, first, second, shape)
    kept = _COUNTED.setdefault(view, _Kept())
    found = kept.tables.get((first, second))
    if found is None:
        found = _full(view, first, second, shape)
        found.flags.writeable = False
        kept.keep((first, second), found)
    return found


@dataclass
class _Kept:
    """Small tables by pair of columns in the order of their names, and their cells in all."""

    tables: dict[tuple[str, str], F64] = field(default_factory=dict[tuple[str, str], F64])
    cells: int = 0

    def keep(self, pair: tuple[str, str], table: F64) -> None:
        if self.cells + table.size <= _KEPT_IN_ALL:
            self.tables[pair] = table
            self.cells += table.size


#: Those of views that are in use.
_COUNTED: WeakKeyDictionary[View, _Kept] = WeakKeyDictionary()


def _full(view: View, first: str, second: str, shape: tuple[int, int]) -> F64:
    found: F64 = np.zeros(shape)
    one = view.block_of(first)
    if second in one.columns:
        count_linked(_cells(one, first), _cells(one, second), one.count, found)
    else:
        two = view.block_of(second)
        cells = _cells(one, first), _cells(two, second)
        count_apart(
            one.group, cells[0], one.count, two.group, cells[1], two.count, view.group_size, found
        )
    return found


def _cells(block: BlockTable, column: str) -> I32:
    return np.ascontiguousarray(block.codes[:, block.columns.index(column)])


def expected(view: View, first: str, second: str) -> AnyTable:
    """Return the expected rows with each pair of cells, whether linked or permuted separately.

    Parameters
    ----------
    first, second : str
        Published columns.

    Returns
    -------
    sparse or full array of shape (cells of the first, cells of the second)
        It adds up to the published rows. Not to be written to.
    """
    small = few(view, first, second)
    if small is not None:
        return small
    found = linked(view, first, second)
    return _apart(view, first, second) if found is None else found


def _apart(view: View, first: str, second: str) -> Table:
    return multiplied(by_group(view, first), view.group_size, by_group(view, second))


def multiplied(first: Table, sizes: I64, second: Table) -> Table:
    """Return Σ over groups of first · secondᵀ / size, shape (rows of first, rows of second)."""
    share = 1.0 / np.maximum(sizes, 1).astype(np.float64)
    return scipy.sparse.csr_array(weighted(first, share) @ second.T)


def weighted(table: Table, weights: F64) -> Table:
    """Return a table with each column multiplied by its weight."""
    found = scipy.sparse.csr_array(table, copy=True)
    found.data = found.data * weights[found.indices]
    return found


def margins(table: AnyTable) -> tuple[F64, F64]:
    """Return the sums over columns and over rows of a table."""
    rows, columns = (np.asarray(table.sum(axis=axis), dtype=np.float64) for axis in (1, 0))
    return rows.ravel(), columns.ravel()


def entries(table: AnyTable) -> tuple[I64, I64, F64]:
    """Return row, column and value of the entries that are not 0."""
    if isinstance(table, np.ndarray):
        row, column = np.nonzero(table > 0)
        return row, column, table[row, column]
    found = table.tocoo()
    row, column = (np.asarray(axis, dtype=np.int64) for axis in found.coords)
    count = np.asarray(found.data, dtype=np.float64)
    there = count > 0
    return row[there], column[there], count[there]
