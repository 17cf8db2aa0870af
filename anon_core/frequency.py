"""The frequency set: distinct combinations of values with their counts. Searches see only this."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

_ROOM = 1 << 62
_FEW = 8  # possible combinations per row up to which a table of all of them is made


def dense_rank(
    columns: Sequence[npt.NDArray[np.int32]], sizes: Sequence[int]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Number the distinct rows of several code columns in lexicographic order.

    Parameters
    ----------
    columns : sequence of int32 arrays of shape (rows,), values in [0, size)
    sizes : sequence of int

    Returns
    -------
    rank : int64 array of shape (rows,)
        Number of each row's combination.
    first : int64 array of shape (combinations,)
        A row that has the combination.
    """
    packed = np.zeros(len(columns[0]) if columns else 0, dtype=np.int64)
    room = 1
    for column, size in zip(columns, sizes, strict=True):
        if room > _ROOM // max(size, 1):  # too wide for one word: rank what is packed so far
            found, packed = np.unique(packed, return_inverse=True)
            packed = packed.astype(np.int64)
            room = len(found)
        packed = packed * size + column
        room *= max(size, 1)
    if room <= _FEW * len(packed):  # counting is faster than sorting
        row = np.full(room, -1, dtype=np.int64)
        row[packed[::-1]] = np.arange(len(packed) - 1, -1, -1)
        used = row >= 0
        return (np.cumsum(used) - 1)[packed], row[used]
    order = stable_order(packed, room)
    new = np.concatenate([[True], np.diff(packed[order]) != 0])[: len(packed)]
    rank = np.empty(len(packed), dtype=np.int64)
    rank[order] = np.cumsum(new) - 1
    return rank, order[new]


def stable_order(key: npt.NDArray[np.int64], size: int) -> npt.NDArray[np.int64]:
    """Return the places of whole numbers in ascending order, equal ones as they stand.

    Numbers of 16 bits are sorted by counting, so larger ones are taken 16 bits at a time.

    Parameters
    ----------
    key : int64 array of shape (rows,), values in [0, size)
    size : int
    """
    order = np.argsort(key.astype(np.uint16), kind="stable").astype(np.int64)
    for shift in range(16, max(size - 1, 1).bit_length(), 16):
        digit = (key[order] >> shift).astype(np.uint16)
        order = order[np.argsort(digit, kind="stable")]
    return order


@dataclass(frozen=True, kw_only=True, eq=False)
class FrequencySet:
    """Distinct keys (quasi-identifiers first, then sensitive columns), sorted, with row counts.

    Attributes
    ----------
    columns : tuple of str
        Names of the key's parts; the first `quasi` of them are the quasi-identifiers.
    quasi : int
    codes : int32 array of shape (keys, columns)
        Leaf numbers.
    count : int64 array of shape (keys,)
        Rows of the table with the key.
    row_key : int64 array of shape (rows,)
        Key of each row.
    """

    columns: tuple[str, ...]
    quasi: int
    codes: npt.NDArray[np.int32]
    count: npt.NDArray[np.int64]
    row_key: npt.NDArray[np.int64]

    @cached_property
    def run(self) -> npt.NDArray[np.int64]:
        """Number of each key's run of equal quasi tuples, shape (keys,)."""
        part = self.codes[:, : self.quasi]
        change = np.any(part[1:] != part[:-1], axis=1)
        return np.concatenate([[0], np.cumsum(change)]).astype(np.int64)

    @cached_property
    def run_start(self) -> npt.NDArray[np.int64]:
        """First key of each run, shape (runs,)."""
        return np.flatnonzero(np.diff(self.run, prepend=-1)).astype(np.int64)

    @cached_property
    def run_codes(self) -> npt.NDArray[np.int32]:
        """Distinct quasi tuples, shape (runs, quasi)."""
        return np.ascontiguousarray(self.codes[self.run_start, : self.quasi])

    @cached_property
    def run_count(self) -> npt.NDArray[np.int64]:
        """Rows per quasi tuple, shape (runs,)."""
        return np.add.reduceat(self.count, self.run_start)

    @property
    def rows(self) -> int:
        """Number of rows counted."""
        return len(self.row_key)


def frequency_set(
    names: Sequence[str],
    codes: Sequence[npt.NDArray[np.int32]],
    sizes: Sequence[int],
    *,
    quasi: int,
) -> FrequencySet:
    """Count the distinct rows of leaf-code columns; the order of rows has no influence."""
    rank, first = dense_rank(codes, sizes)
    return FrequencySet(
        columns=tuple(names),
        quasi=quasi,
        codes=np.stack([c[first] for c in codes], axis=1).astype(np.int32),
        count=np.bincount(rank, minlength=len(first)).astype(np.int64),
        row_key=rank,
    )
