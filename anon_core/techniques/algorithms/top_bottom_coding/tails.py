"""The tails of a column of numbers or dates: where they begin, and what its cells then say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import I32
from anon_core.data.hierarchy import Hierarchy
from anon_core.data.values.kinds import KINDS, ColumnKind
from anon_core.release.vocabulary import TAILS, Vocabulary, of_level, refuse_ambiguous


@dataclass(frozen=True, kw_only=True)
class Tails:
    """Leaves that are coded together at both ends of a column.

    Attributes
    ----------
    bottom : int
        Last leaf of the lower tail, -1 where there is none.
    top : int
        First leaf of the upper tail, the number of leaves where there is none.
    low, high : str
        The limits as they are written.
    """

    bottom: int
    top: int
    low: str
    high: str


def tails_by_share(
    hierarchy: Hierarchy, rows: npt.NDArray[np.int64], low: float, high: float
) -> Tails:
    """Return the shortest tails that hold at least a share of the rows each.

    Parameters
    ----------
    hierarchy : Hierarchy
        Of a column of numbers or dates.
    rows : int64 array of shape (leaves,)
        Rows per leaf; those without a value do not count.
    low, high : float
        Shares of the rows with a value, 0 for no tail.
    """
    size = len(rows) - hierarchy.has_missing
    told = rows[:size]
    whole = int(told.sum())
    bottom, top = -1, len(rows)
    if low > 0 and whole:
        bottom = int(np.searchsorted(np.cumsum(told), low * whole - 1e-9))
    if high > 0 and whole:
        top = size - 1 - int(np.searchsorted(np.cumsum(told[::-1]), high * whole - 1e-9))
    return Tails(
        bottom=bottom,
        top=top,
        low=hierarchy.leaves[bottom] if bottom >= 0 else "",
        high=hierarchy.leaves[top] if top < size else "",
    )


def tails_by_limits(hierarchy: Hierarchy, kind: ColumnKind, low: str, high: str) -> Tails:
    """Return the tails of all values up to `low` and from `high` on; empty is no limit."""
    size = len(hierarchy.leaves) - hierarchy.has_missing
    measure = np.zeros(0) if hierarchy.measure is None else hierarchy.measure[:size]
    read = KINDS[kind].measure
    bottom, top = -1, size
    if low:
        bottom = int(np.searchsorted(measure, read(low), side="right")) - 1
    if high:
        top = int(np.searchsorted(measure, read(high), side="left"))
    return Tails(
        bottom=bottom, top=top if top < size else len(hierarchy.leaves), low=low, high=high
    )


def coded(hierarchy: Hierarchy, tails: Tails) -> tuple[Vocabulary, I32]:
    """Return what a column says when its tails are coded, and the code of every leaf in that.

    Tails that meet leave nothing between: the whole column says the same.

    Raises
    ------
    BadHierarchy
        If the text of a tail stands for other values in the column's hierarchy.
    """
    size = len(hierarchy.leaves)
    last = size - 1 - hierarchy.has_missing
    whole = of_level(hierarchy, hierarchy.height)
    if tails.top <= tails.bottom and len(whole.texts) == 1:
        return whole, np.zeros(size, dtype=np.int32)
    lower = np.arange(tails.bottom + 1)
    upper = np.arange(max(tails.top, tails.bottom + 1), last + 1)
    low = np.arange(size, dtype=np.int32)
    high = low.copy()
    for tail in (lower, upper):
        if len(tail):
            low[tail], high[tail] = tail[0], tail[-1]
    starts, code = np.unique(low, return_inverse=True)
    texts = [hierarchy.labels[0][i] for i in starts.tolist()]
    level = np.zeros(len(starts), dtype=np.int32)
    for tail, text in ((lower, TAILS[0] + tails.low), (upper, TAILS[1] + tails.high)):
        if len(tail):
            texts[int(code[tail[0]])] = text
            level[code[tail[0]]] = -1
    found = Vocabulary(
        column=hierarchy.column,
        texts=tuple(texts),
        lo=starts.astype(np.int32),
        hi=high[starts],
        level=level,
    )
    refuse_ambiguous(found, hierarchy)
    return found, code.astype(np.int32)


def untouched(hierarchy: Hierarchy) -> tuple[Vocabulary, I32]:
    """Return what a column says that is published exactly, and the code of every leaf in that."""
    return of_level(hierarchy, 0), np.arange(len(hierarchy.leaves), dtype=np.int32)
