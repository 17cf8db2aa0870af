"""Cuts of tuples into parts, in place, by a stack, and what each side of a cut must keep."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anon_core.base.arrays import I32, I64
from anon_core.kernels.compilation import compiled


class Seen(NamedTuple):
    """Room in which the sensitive values of a side are counted.

    Attributes
    ----------
    begin : int64 array of shape (columns + 1,)
        Where each column's values begin in the others.
    stamp, tally : int64 arrays of shape (values of all columns,)
        Rows of a value, valid where stamped with the epoch.
    """

    begin: I64
    stamp: I64
    tally: I64


@compiled
def room_for(sensitive: I32) -> Seen:
    """Return room for the values of sensitive columns."""
    begin = np.zeros(sensitive.shape[1] + 1, np.int64)
    for s in range(sensitive.shape[1]):
        widest = 0
        for t in range(sensitive.shape[0]):
            widest = max(widest, sensitive[t, s])
        begin[s + 1] = begin[s] + widest + 1
    return Seen(begin, np.zeros(begin[-1], np.int64), np.zeros(begin[-1], np.int64))


@compiled
def side_holds(
    order: I64, start: int, stop: int, count: I64, limits: Limits, seen: Seen, epoch: int
) -> bool:
    """Return whether tuples order[start:stop] have enough rows and varied sensitive values.

    A sensitive code of -1 is a missing value: it varies nothing, and its rows are in no share.
    """
    sensitive, distinct, share = limits.sensitive, limits.distinct, limits.share
    stamp_offset, stamp, tally = seen.begin, seen.stamp, seen.tally
    rows = 0
    for i in range(start, stop):
        rows += count[order[i]]
    if rows < limits.least:
        return False
    for s in range(sensitive.shape[1]):
        found = 0
        for i in range(start, stop):
            if found >= distinct[s]:
                break
            if sensitive[order[i], s] < 0:
                continue
            place = stamp_offset[s] + sensitive[order[i], s]
            if stamp[place] != epoch:
                stamp[place] = epoch
                found += 1
        if found < distinct[s]:
            return False
        if share[s] > 0:
            known = 0
            for i in range(start, stop):
                if sensitive[order[i], s] >= 0:
                    known += count[order[i]]
            if known < share[s]:
                return False
            # Stamped with the negative epoch, so that the two counts of one side stay separate.
            for i in range(start, stop):
                t = order[i]
                if sensitive[t, s] < 0:
                    continue
                place = stamp_offset[s] + sensitive[t, s]
                if stamp[place] != -epoch:
                    stamp[place] = -epoch
                    tally[place] = 0
                tally[place] += count[t]
                if tally[place] * share[s] > known:
                    return False
    return True


@compiled
def move_inside(
    order: I64, start: int, stop: int, codes: I32, d: int, first: int, last: int, spare: I64
) -> int:
    """Put tuples with a code in first..last first, keeping order; return where the rest begins."""
    left = start
    held = 0
    for i in range(start, stop):
        t = order[i]
        if first <= codes[t, d] <= last:
            order[left] = t
            left += 1
        else:
            spare[held] = t
            held += 1
    for i in range(held):
        order[left + i] = spare[i]
    return left


@compiled
def move_half(
    order: I64, start: int, stop: int, codes: I32, d: int, bar: int, ties: int, spare: I64
) -> int:
    """Put codes < bar first, then the first `ties` of those at it; return where the rest begins."""
    left = start
    held = 0
    for i in range(start, stop):
        t = order[i]
        c = codes[t, d]
        if c < bar or (c == bar and ties > 0):
            if c == bar:
                ties -= 1
            order[left] = t
            left += 1
        else:
            spare[held] = t
            held += 1
    for i in range(held):
        order[left + i] = spare[i]
    return left


@compiled
def ties_below(order: I64, start: int, stop: int, codes: I32, d: int, bar: int) -> int:
    """Return how many single rows at the median go below, so that half of all is there."""
    below = 0
    for i in range(start, stop):
        if codes[order[i], d] < bar:
            below += 1
    return (stop - start + 1) // 2 - below


@compiled
def weighted_median(
    order: I64, start: int, stop: int, tuples: Counted, d: int, low: int, high: int, tally: I64
) -> tuple[int, int, int]:
    """Return the lower median code, the largest code below it (-1: none), and the highest code."""
    codes, count = tuples.codes, tuples.rows
    rows = 0
    for i in range(start, stop):
        t = order[i]
        tally[codes[t, d]] += count[t]
        rows += count[t]
    half = (rows + 1) // 2
    seen = 0
    median = -1
    before = -1
    for c in range(low, high + 1):
        if tally[c] > 0:
            seen += tally[c]
            if seen >= half:
                median = c
                break
            before = c
    for i in range(start, stop):
        tally[codes[order[i], d]] = 0
    return median, before, high


class Counted(NamedTuple):
    """Tuples with their rows.

    Attributes
    ----------
    codes : int32 array of shape (tuples, attributes)
    rows : int64 array of shape (tuples,)
    """

    codes: I32
    rows: I64


class Cuts(NamedTuple):
    """An order of tuples, cut into parts; every part is a run of it.

    Attributes
    ----------
    order : int64 array of shape (tuples,), permuted in place
    stack : int64 array of shape (tuples + 1, 2)
        Start and stop of the parts that may still be cut; the first `depth` are in use.
    parts : int64 array of shape (tuples, 2)
        Start and stop of the parts that are done; the first `found` are in use.
    """

    order: I64
    stack: I64
    parts: I64


class Limits(NamedTuple):
    """What every part must keep.

    Attributes
    ----------
    least : int
        Rows.
    sensitive : int32 array of shape (tuples, columns)
        Values of the watched columns; -1 where missing.
    distinct, share : int64 arrays of shape (columns,)
        Different values of each, and l where no value may fill more than 1/l of the rows that have
        one, else 0.
    """

    least: int
    sensitive: I32
    distinct: I64
    share: I64
