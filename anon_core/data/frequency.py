"""The frequency set: distinct combinations of values with their counts. Searches see only this."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from anon_core.kernels.lines import in_digit_order

_WORD = 64  # bits of a word, its sign included
_NEAR = 1 << 16  # rows that are worked on at a time, so that they stay near the processor
_MANY = 1 << 12  # rows from which compiled code is faster than what sorts several at a time
_FEW = 2  # possible combinations per row up to which a table of all of them is made


def dense_rank(
    columns: Sequence[npt.NDArray[np.int32]], sizes: Sequence[int]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Number the distinct rows of several code columns in lexicographic order.

    Parameters
    ----------
    columns : sequence of int32 arrays of shape (rows,), values in [0, size)

    Returns
    -------
    rank : int64 array of shape (rows,)
        Number of each row's combination.
    first : int64 array of shape (combinations,)
        A row that has the combination.
    """
    packed, room = _packed(columns, sizes)
    if room <= _FEW * len(packed):  # counting is faster than sorting
        return _counted(packed, room)
    ordered, order = _in_order(packed, room)
    new = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    rank = packed  # which is not needed any more
    rank[order] = np.cumsum(new) - 1
    return rank, order[new]


def occur_once(
    columns: Sequence[npt.NDArray[np.int32]], sizes: Sequence[int]
) -> npt.NDArray[np.bool_]:
    """Return which rows of several code columns no other row equals, shape (rows,).

    Parameters
    ----------
    columns : sequence of int32 arrays of shape (rows,), values in [0, size)
    """
    packed, room = _packed(columns, sizes)
    if room <= _FEW * len(packed):
        return (np.bincount(packed, minlength=room) == 1)[packed]
    ordered, order = _in_order(packed, room)
    new = np.ones(len(ordered) + 1, dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:-1])
    found = np.empty(len(ordered), dtype=np.bool_)
    found[order] = new[1:] & new[:-1]
    return found


def _packed(
    columns: Sequence[npt.NDArray[np.int32]], sizes: Sequence[int]
) -> tuple[npt.NDArray[np.int64], int]:
    """Return the rows as whole numbers in [0, room) that are in their order, and the room."""
    packed = np.zeros(len(columns[0]) if columns else 0, dtype=np.int64)
    waiting: list[tuple[npt.NDArray[np.int32], int]] = []
    room, most = 1, 1 << (_WORD - 1 - _place_bits(packed))
    for column, size in zip(columns, sizes, strict=True):
        # Too wide for a word that holds the row's place too: rank what is packed so far.
        if room > most // max(size, 1):
            _pack_into(packed, waiting)
            waiting = []
            ordered, order = _in_order(packed, room)
            packed[order] = np.cumsum(np.diff(ordered, prepend=ordered[:1]) != 0)
            room = int(packed.max(initial=-1)) + 1
        waiting.append((column, size))
        room *= max(size, 1)
    _pack_into(packed, waiting)
    return packed, room


def _pack_into(
    packed: npt.NDArray[np.int64], columns: Sequence[tuple[npt.NDArray[np.int32], int]]
) -> None:
    """Append columns to packed rows, so many rows at a time as stay near the processor."""
    for begin in range(0, len(packed), _NEAR):
        part = packed[begin : begin + _NEAR]
        for column, size in columns:
            part *= size
            part += column[begin : begin + _NEAR]


def _counted(
    packed: npt.NDArray[np.int64], room: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Rank numbers in [0, room) by a table of all; return the ranks and first rows."""
    row = np.full(room, -1, dtype=np.int64)
    for begin in range(0, len(packed), _NEAR):
        part = packed[begin : begin + _NEAR]
        unseen = np.flatnonzero(row[part] < 0)[::-1]  # of equal ones the first is written last
        row[part[unseen]] = unseen + begin
    used = row >= 0
    number = np.cumsum(used) - 1
    for begin in range(0, len(packed), _NEAR):
        part = packed[begin : begin + _NEAR]
        part[:] = number[part]
    return packed, row[used]


def row_order(
    columns: Sequence[npt.NDArray[np.int32]], sizes: Sequence[int]
) -> npt.NDArray[np.int64]:
    """Return the rows of several code columns in lexicographic order, equal ones as they are.

    Parameters
    ----------
    columns : sequence of int32 arrays of shape (rows,), values in [0, size)
    """
    return _in_order(*_packed(columns, sizes))[1]


def stable_order(key: npt.NDArray[np.int64], size: int) -> npt.NDArray[np.int64]:
    """Return the places of whole numbers in ascending order, equal ones as they are.

    Parameters
    ----------
    key : int64 array of shape (rows,), values in [0, size)
    """
    return _in_order(key, size)[1]


def _place_bits(rows: npt.NDArray[np.int64]) -> int:
    """Return the bits that the place of each row takes."""
    return max(len(rows) - 1, 1).bit_length()


def _in_order(
    key: npt.NDArray[np.int64], size: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return whole numbers in [0, size) in ascending order, and the place of each.

    Words that hold a number and its place are sorted as they are; many of them by counting their
    digits, which is five times as fast. Where a word has no room for both, 16 bits after 16 bits
    are sorted by counting.
    """
    places, bits = _place_bits(key), max(size - 1, 1).bit_length()
    if places + bits < _WORD:
        words = key << places
        words |= np.arange(len(key))
        if len(words) < _MANY:
            words.sort()
        else:
            words = in_digit_order(words, np.empty_like(words), places, places + bits)
        order = words & ((1 << places) - 1)
        words >>= places
        return words, order
    order = np.argsort(key.astype(np.uint16), kind="stable").astype(np.int64)
    for shift in range(16, bits, 16):
        digit = (key[order] >> shift).astype(np.uint16)
        order = order[np.argsort(digit, kind="stable")]
    return key[order], order


@dataclass(frozen=True, kw_only=True, eq=False)
class FrequencySet:
    """Distinct keys (quasi-identifiers first, then sensitive columns), sorted, with row counts.

    Attributes
    ----------
    columns : tuple of str
        Names of the key's parts; the first `quasi` of them are the quasi-identifiers, the last
        `private` of them no one's to see.
    codes : int32 array of shape (keys, columns)
        Leaf numbers.
    count : int64 array of shape (keys,)
        Rows of the table with the key.
    row_key : int64 array of shape (rows,)
        Key of each row.
    private : int
        Columns that are never published: what privacy models look at that differ by person.
    """

    columns: tuple[str, ...]
    quasi: int
    codes: npt.NDArray[np.int32]
    count: npt.NDArray[np.int64]
    row_key: npt.NDArray[np.int64]
    private: int = 0

    @property
    def shown(self) -> tuple[str, ...]:
        """The columns that may be published."""
        return self.columns[: len(self.columns) - self.private]

    @property
    def _bare(self) -> bool:
        """Whether keys are quasi tuples and nothing else, so that each is a run."""
        return self.quasi == self.codes.shape[1]

    @cached_property
    def run(self) -> npt.NDArray[np.int64]:
        """Number of each key's run of equal quasi tuples, shape (keys,)."""
        if self._bare:
            return np.arange(len(self.count), dtype=np.int64)
        change = np.zeros(len(self.count), dtype=np.bool_)
        for d in range(self.quasi):
            change[1:] |= self.codes[1:, d] != self.codes[:-1, d]
        return np.cumsum(change, dtype=np.int64)

    @cached_property
    def run_start(self) -> npt.NDArray[np.int64]:
        """First key of each run, shape (runs,)."""
        if self._bare:
            return self.run
        return np.flatnonzero(np.diff(self.run, prepend=-1)).astype(np.int64)

    @cached_property
    def run_codes(self) -> npt.NDArray[np.int32]:
        """Distinct quasi tuples, shape (runs, quasi)."""
        if self._bare:
            return self.codes
        return np.ascontiguousarray(self.codes[self.run_start, : self.quasi])

    @cached_property
    def run_count(self) -> npt.NDArray[np.int64]:
        """Rows per quasi tuple, shape (runs,)."""
        if self._bare:
            return self.count
        return np.add.reduceat(self.count, self.run_start)

    @property
    def rows(self) -> int:
        """Number of rows counted."""
        return int(self.count.sum())


def frequency_set(
    names: Sequence[str],
    codes: Sequence[npt.NDArray[np.int32]],
    sizes: Sequence[int],
    *,
    quasi: int,
    private: int = 0,
) -> FrequencySet:
    """Count the distinct rows of leaf-code columns; the order of rows has no influence."""
    rank, first = dense_rank(codes, sizes)
    if 2 * len(first) > len(rank):  # what is adjacent is found at once
        keys = np.stack(codes, axis=1, dtype=np.int32).take(first, axis=0)
    else:
        keys = np.stack([column[first] for column in codes], axis=1, dtype=np.int32)
    return FrequencySet(
        columns=tuple(names),
        quasi=quasi,
        codes=keys,
        count=np.bincount(rank, minlength=len(first)).astype(np.int64),
        row_key=rank,
        private=private,
    )
