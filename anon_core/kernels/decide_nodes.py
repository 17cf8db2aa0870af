"""Decide the open nodes of a part of the lattice by class sizes alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anon_core.base.arrays import I64, U8
from anon_core.kernels.compiled import compiled
from anon_core.kernels.packing import Packing, Spare
from anon_core.kernels.roll_up import roll_to


class Below(NamedTuple):
    """A class set to roll up from.

    Attributes
    ----------
    words, rows : int64 arrays of shape (keys,)
    node : int64 array of shape (quasi,)
        Where it stands.
    free : int64 array of shape (free attributes,)
        The attributes in which nodes above it differ.
    """

    words: I64
    rows: I64
    node: I64
    free: I64


class Looked(NamedTuple):
    """Nodes that were looked at, in order: places, and rows in classes that are too small there."""

    place: I64
    removed: I64


@compiled
def mark(status: U8, stride: I64, low: I64, high: I64, sign: int) -> None:
    """Give every node from `low` to `high` a status.

    Parameters
    ----------
    status : uint8 array of shape (nodes,), changed in place
    stride : int64 array of shape (quasi,)
        How far neighbours in an attribute stand apart; 1 for the last.
    low, high : int64 arrays of shape (quasi,)
        Levels, both included.
    """
    quasi = stride.shape[0]
    last = quasi - 1
    level = low.copy()
    place = 0
    for d in range(quasi):
        place += low[d] * stride[d]
    wide = high[last] - low[last] + 1
    while True:
        for n in range(wide):
            status[place + n] = sign
        d = last - 1
        while d >= 0 and level[d] == high[d]:
            place -= (level[d] - low[d]) * stride[d]
            level[d] = low[d]
            d -= 1
        if d < 0:
            return
        level[d] += 1
        place += stride[d]


@compiled
def climb(status: U8, stride: I64, level: I64, height: I64, free: I64, path: I64) -> int:
    """Follow open nodes (status 0) upwards, one level of a free attribute at a time.

    Parameters
    ----------
    status : uint8 array of shape (nodes,)
    stride, height : int64 arrays of shape (quasi,)
    level : int64 array of shape (quasi,)
        The open node to begin with; left at the end of the path.
    free : int64 array of shape (free attributes,)
    path : int64 array of shape (at least Σ height + 1,), filled

    Returns
    -------
    int
        Nodes on the path; their places fill the first so many entries.
    """
    place = 0
    for d in range(level.shape[0]):
        place += level[d] * stride[d]
    path[0] = place
    steps = 1
    climbing = True
    while climbing:
        climbing = False
        for f in range(free.shape[0]):
            d = free[f]
            if level[d] < height[d] and status[place + stride[d]] == 0:
                level[d] += 1
                place += stride[d]
                path[steps] = place
                steps += 1
                climbing = True
                break
    return steps


@compiled
def settle(
    below: Below,
    packing: Packing,
    places: I64,
    status: U8,
    least: int,
    most_work: int,
    spare: Spare,
    looked: Looked,
) -> int:
    """Decide open nodes where every row has to stand in a class of a least size.

    Along a path of open nodes it searches in halves, as `Classification` does.

    Parameters
    ----------
    below : Below
        Of a node below all those in `places`, from which they differ only in free attributes.
    packing : Packing
        Of keys of one word.
    places : int64 array
        The nodes to decide, low ones first.
    status : uint8 array of shape (nodes,), changed in place
        0 where open, 1 where satisfied, 2 where failed.
    most_work : int
        Keys to regroup after which no further path is begun.
    looked : Looked, filled
        As many as `places` at most, if these are all open nodes with the same levels of attributes
        that are not free.

    Returns
    -------
    int
        How many nodes were looked at; where it stopped early, some are still open.
    """
    words, count, bottom, free = below
    height, stride = packing.height, packing.stride
    spare_rows = spare.rows
    place, removed = looked
    quasi = stride.shape[0]
    path = np.empty(height.sum() + 1, np.int64)
    level = np.empty(quasi, np.int64)
    zero = np.zeros(quasi, np.int64)
    done = 0
    work = 0
    for i in range(places.shape[0]):
        if status[places[i]] != 0:
            continue
        if work > most_work:
            return done
        for d in range(quasi):
            level[d] = places[i] // stride[d] % (height[d] + 1)
        low, high = 0, climb(status, stride, level, height, free, path) - 1
        while low <= high:
            middle = (low + high) // 2
            for d in range(quasi):
                level[d] = path[middle] // stride[d] % (height[d] + 1)
            found = roll_to(words, count, bottom, level, packing, spare, 1)
            work += words.shape[0]
            rows = 0
            for c in range(found):
                if spare_rows[c] < least:
                    rows += spare_rows[c]
            place[done] = path[middle]
            removed[done] = rows
            done += 1
            if rows == 0:
                mark(status, stride, level, height, 1)
                high = middle - 1
            else:
                mark(status, stride, zero, level, 2)
                low = middle + 1
    return done
