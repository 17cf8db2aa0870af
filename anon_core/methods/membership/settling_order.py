"""The order in which types are settled, and how a state packs what is still open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import scipy

from anon_core.base.arrays import I64
from anon_core.base.context import Context
from anon_core.kernels.frontier import settling
from anon_core.methods.membership.equations import System

if TYPE_CHECKING:
    import scipy.special

_LOOK = 256  # types laid out between two looks at the clock
_WORD = 62  # bits of an int64 that never touch its sign


@dataclass(frozen=True, kw_only=True, eq=False)
class Layer:
    """One type to settle, with the places of its rows in a state.

    Attributes
    ----------
    row : int64 array of shape (rows of the type,)
    word, shift, mask : int64 arrays of shape (rows of the type,)
    later : int64 array of shape (rows of the type,)
        People the types still to come could add to each row.
    opening : int64 array of shape (words,)
        Added to every key first: totals of the rows that this type is the first of.
    step : int64 array of shape (words,)
        What one person takes from a key.
    ways : float64 array of shape (most + 1,)
        Choices of y people, scaled to a maximum of 1.
    log_scale : float
        Logarithm of what `ways` was divided by.
    """

    variable: int
    row: I64
    word: I64
    shift: I64
    mask: I64
    later: I64
    opening: I64
    step: I64
    most: int
    ways: npt.NDArray[np.float64]
    log_scale: float


@dataclass(frozen=True, kw_only=True, eq=False)
class Plan:
    """The layers of the dynamic program, in order.

    Attributes
    ----------
    words : int
        Width of a state.
    """

    layers: tuple[Layer, ...]
    words: int


def log_ways(people: int, shared: bool, lower: int, upper: int) -> npt.NDArray[np.float64]:
    """Return the logarithm of the choices of lower … upper people of a type.

    C(people, y), or 1/y! where the type is divided over several variables (the multinomial's
    factors); through lgamma, since the numbers themselves overflow from C(1030, 515) on.
    """
    y = np.arange(lower, upper + 1, dtype=np.float64)
    gammaln = scipy.special.gammaln
    if shared:
        return -gammaln(y + 1.0)
    return gammaln(people + 1.0) - gammaln(y + 1.0) - gammaln(people - y + 1.0)


def settle_order(rows: npt.NDArray[np.int32], size: int) -> list[int]:
    """Order variables so that few rows are open at a time; those without a row go last.

    Parameters
    ----------
    rows : int32 array of shape (variables, width)
        Rows of each variable, -1 for none.
    size : int
        Number of rows.
    """
    variable, column = np.nonzero(rows >= 0)
    row = rows[variable, column]
    start = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=size))]).astype(np.int64)
    member = variable[np.argsort(row, kind="stable")].astype(np.int64)
    order = np.empty(len(rows), dtype=np.int64)
    found = settling(rows, start, member, order)
    return order[:found].tolist() + np.flatnonzero((rows < 0).all(axis=1)).tolist()


class _Fields:
    """Bit fields of the open rows, given out first fit and taken back when a row closes."""

    def __init__(self) -> None:
        self._used: list[int] = []
        self._full: dict[int, int] = {}  # by length: words before this one have no such run

    def take(self, bits: int) -> tuple[int, int]:
        """Return the word and shift of a free run of `bits`."""
        run = (1 << bits) - 1
        for word in range(self._full.get(bits, 0), len(self._used)):
            free, long = ~self._used[word] & ((1 << _WORD) - 1), 1
            while free and long < bits:  # a bit stays where a run of length `long` begins
                step = min(long, bits - long)
                free, long = free & (free >> step), long + step
            if free:
                shift = (free & -free).bit_length() - 1
                self._used[word] |= run << shift
                self._full[bits] = word
                return word, shift
        self._used.append(run)
        self._full[bits] = len(self._used) - 1
        return len(self._used) - 1, 0

    def give(self, word: int, shift: int, bits: int) -> None:
        """Free a run."""
        self._used[word] &= ~(((1 << bits) - 1) << shift)
        for length, first in self._full.items():
            self._full[length] = min(first, word)

    @property
    def words(self) -> int:
        """Words ever used."""
        return len(self._used)


def plan(part: System, context: Context | None = None) -> Plan | None:
    """Lay out the dynamic program of a system; what is taken is counted from the lower bounds.

    Returns
    -------
    Plan, or None
        None where the context's time ran out, or someone cancelled.
    """
    context = context or Context()
    rows = [[int(r) for r in line if r >= 0] for line in part.rows.tolist()]
    total = (part.total - part.sums(part.lower)).tolist()
    room = (part.upper - part.lower).tolist()
    later = part.sums(part.upper - part.lower).tolist()
    bits = [max(int(t).bit_length(), 1) for t in total]
    order = settle_order(part.rows, len(total))
    remaining = [0] * len(total)
    for mine in rows:
        for r in mine:
            remaining[r] += 1
    fields = _Fields()
    at: dict[int, tuple[int, int]] = {}
    drafts: list[tuple[int, list[tuple[int, int, int, int]], list[tuple[int, int]]]] = []
    for done, j in enumerate(order):
        if done % _LOOK == 0 and (context.cancel.is_set() or context.out_of_time()):
            return None
        opening: list[tuple[int, int]] = []
        for r in rows[j]:
            later[r] -= room[j]
            if r not in at:
                at[r] = fields.take(bits[r])
                opening.append((at[r][0], total[r] << at[r][1]))
        places = [(*at[r], (1 << bits[r]) - 1, later[r]) for r in rows[j]]
        drafts.append((j, places, opening))
        for r in rows[j]:
            remaining[r] -= 1
            if not remaining[r]:
                fields.give(*at[r], bits[r])
    return Plan(
        layers=_layers(part, rows, drafts, max(fields.words, 1)), words=max(fields.words, 1)
    )


def _layers(
    part: System,
    rows: Sequence[Sequence[int]],
    drafts: Sequence[tuple[int, list[tuple[int, int, int, int]], list[tuple[int, int]]]],
    words: int,
) -> tuple[Layer, ...]:
    """Return the layers of a draft; their arrays are slices of a few that hold all of them."""
    ends = np.cumsum([0, *(len(places) for _, places, _ in drafts)]).tolist()
    flat = [place for _, places, _ in drafts for place in places]
    found = np.ascontiguousarray(np.array(flat, dtype=np.int64).reshape(len(flat), 4).T)
    row = np.array([r for j, _, _ in drafts for r in rows[j]], dtype=np.int64)
    start, step = np.zeros((2, len(drafts), words), dtype=np.int64)
    people, shared = part.people.tolist(), part.shared.tolist()
    lower, upper = part.lower.tolist(), part.upper.tolist()
    layers: list[Layer] = []
    for i, (j, places, opening) in enumerate(drafts):
        for word, value in opening:
            start[i, word] += value
        for word, shift, _, _ in places:
            step[i, word] += 1 << shift
        mine = slice(ends[i], ends[i + 1])
        ways, log_scale = _scaled_ways(people[j], shared[j], lower[j], upper[j])
        layers.append(
            Layer(
                variable=j,
                row=row[mine],
                word=found[0, mine],
                shift=found[1, mine],
                mask=found[2, mine],
                later=found[3, mine],
                opening=start[i],
                step=step[i],
                most=upper[j] - lower[j],
                ways=ways,
                log_scale=log_scale,
            )
        )
    return tuple(layers)


@lru_cache(maxsize=4096)
def _scaled_ways(
    people: int, shared: bool, lower: int, upper: int
) -> tuple[npt.NDArray[np.float64], float]:
    """Return the choices scaled to a maximum of 1, which no one changes, and the scale's log."""
    logs = log_ways(people, shared, lower, upper)
    top = float(logs.max())
    return np.exp(logs - top), top
