"""Decide the open nodes of a part of the lattice by class sizes alone."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .compiled import compiled
from .roll_up import roll_word

I64 = npt.NDArray[np.int64]
U8 = npt.NDArray[np.uint8]


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
    sign : int
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
    words: I64,
    count: I64,
    bottom: I64,
    free: I64,
    height: I64,
    stride: I64,
    shift: I64,
    mask: I64,
    table: I64,
    offset: I64,
    leaves: I64,
    kinds: I64,
    places: I64,
    status: U8,
    least: int,
    most_work: int,
    spare_words: I64,
    spare_count: I64,
    slot: npt.NDArray[np.int32],
    looked: I64,
    removed: I64,
) -> int:
    """Decide open nodes where every row has to stand in a class of a least size.

    Along a path of open nodes it searches in halves, as `Classification` does.

    Parameters
    ----------
    words, count : int64 arrays of shape (keys,)
        The class set of a node below all those in `places`.
    bottom : int64 array of shape (quasi,)
        That node; it differs from those in `places` only in free attributes.
    free : int64 array of shape (free attributes,)
    height, stride, shift, mask, offset, leaves : int64 arrays of shape (quasi,)
    table : int64 array
        Per attribute from `offset`, level after level by leaf, the first leaf of the leaf's node,
        moved to its place in the word.
    kinds : int64 array of shape (quasi, most levels)
        Nodes of each level of a hierarchy.
    places : int64 array
        The nodes to decide, low ones first.
    status : uint8 array of shape (nodes,), changed in place
        0 where open, 1 where satisfied, 2 where failed.
    least : int
    most_work : int
        Keys to regroup after which no further path is begun.
    spare_words, spare_count, slot : arrays to work in, see `roll_word`
    looked, removed : int64 arrays, filled
        Places of the nodes that were looked at, and rows in classes that are too small there; as
        many as `places` at most, if these are all open nodes with the same levels of attributes
        that are not free.

    Returns
    -------
    int
        How many nodes were looked at; where it stopped early, some are still open.
    """
    quasi = stride.shape[0]
    path = np.empty(height.sum() + 1, np.int64)
    level = np.empty(quasi, np.int64)
    zero = np.zeros(quasi, np.int64)
    changed = np.empty(free.shape[0], np.int64)
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
            classes = 1
            for d in range(quasi):
                level[d] = path[middle] // stride[d] % (height[d] + 1)
                classes = min(classes * kinds[d, level[d]], words.shape[0])
            size = 16
            while size < 2 * classes:
                size *= 2
            many = 0
            keep = -1
            for f in range(free.shape[0]):
                d = free[f]
                if level[d] > bottom[d]:
                    changed[many] = d
                    keep &= ~(int(mask[d]) << int(shift[d]))
                    many += 1
            some = changed[:many]
            found = roll_word(
                words,
                count,
                keep,
                shift[some],
                mask[some],
                table,
                offset[some] + level[some] * leaves[some],
                slot,
                size,
                spare_words,
                spare_count,
            )
            work += words.shape[0]
            rows = 0
            for c in range(found):
                if spare_count[c] < least:
                    rows += spare_count[c]
            looked[done] = path[middle]
            removed[done] = rows
            done += 1
            if rows == 0:
                mark(status, stride, level, height, 1)
                high = middle - 1
            else:
                mark(status, stride, zero, level, 2)
                low = middle + 1
    return done
