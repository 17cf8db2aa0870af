"""Forming l-diverse groups: Anatomize's draws, and Li's bisection by growing boxes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .compiled import compiled

I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]


@compiled
def anatomize(left: I64, least: int, groups: int, value_of: I64) -> int:
    """Draw groups of `least` different values from the values with most rows left.

    Xiao and Tao 2006, algorithm Anatomize, steps 3 to 8: while at least `least` values have rows
    left, one row of each of the `least` most numerous forms a group.

    Parameters
    ----------
    left : int64 array of shape (values,)
        Rows left per value; changed in place.
    least : int
    groups : int
        Room of `value_of`.
    value_of : int64 array of shape (groups, least)
        Filled with the values of each group.

    Returns
    -------
    int
        Number of groups formed.
    """
    values = left.shape[0]
    # Values in buckets by rows left, so that the largest are found without sorting.
    most = 0
    for v in range(values):
        most = max(most, left[v])
    head = np.full(most + 1, -1, np.int64)
    after = np.full(values, -1, np.int64)
    alive = 0
    for v in range(values - 1, -1, -1):
        if left[v] > 0:
            after[v] = head[left[v]]
            head[left[v]] = v
            alive += 1
    formed = 0
    taken = np.empty(least, np.int64)
    while alive >= least and formed < groups:
        size = most
        while head[size] < 0:
            size -= 1
        most = size
        for i in range(least):
            while head[size] < 0:
                size -= 1
            v = head[size]
            head[size] = after[v]
            taken[i] = v
        for i in range(least):
            v = taken[i]
            value_of[formed, i] = v
            left[v] -= 1
            if left[v] > 0:
                after[v] = head[left[v]]
                head[left[v]] = v
            else:
                alive -= 1
        formed += 1
    return formed


@compiled
def next_random(state: npt.NDArray[np.uint64]) -> np.uint64:
    """Return the next number of a splitmix64 sequence; `state` has one element."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@compiled
def eligible(order: I64, start: int, stop: int, sensitive: I64, tally: I64, least: int) -> bool:
    """Return whether no value fills more than 1/least of rows order[start:stop]."""
    most = 0
    for i in range(start, stop):
        v = sensitive[order[i]]
        tally[v] += 1
        most = max(most, tally[v])
    for i in range(start, stop):
        tally[sensitive[order[i]]] = 0
    return bool(stop > start and most * least <= stop - start)


@compiled
def bisect(
    position: F64,
    sensitive: I64,
    order: I64,
    stack: I64,
    depth: int,
    parts: I64,
    found: int,
    least: int,
    tries: int,
    state: npt.NDArray[np.uint64],
    work: int,
) -> tuple[int, int]:
    """Halve sub-tables while both halves stay l-eligible (Li et al. 2015, algorithm 2).

    Each try shuffles the rows and adds every row to the half whose NCP grows less; the halves start
    from artificial tuples of all-highest and all-lowest values, which never count as rows.

    Parameters
    ----------
    position : float64 array of shape (rows, attributes)
        Normalized to [0, 1].
    sensitive : int64 array of shape (rows,)
    order : int64 array of shape (rows,)
        Permuted in place; every part is a run of it.
    stack : int64 array of shape (rows + 1, 2), depth : int
        Parts still to be halved.
    parts : int64 array of shape (rows, 2), found : int
        Finished parts.
    least, tries : int
        l, and how often a part is tried before it is left whole.
    state : uint64 array of shape (1,)
        Random state.
    work : int
        Row visits to spend before returning.

    Returns
    -------
    depth, found : int
        As the parameters; `depth` is 0 when all is done.
    """
    rows, attributes = position.shape
    spare = np.empty(rows, np.int64)
    values = 0
    for i in range(rows):
        values = max(values, sensitive[i] + 1)
    tally = np.zeros(values, np.int64)
    low = np.empty((2, attributes), np.float64)
    high = np.empty((2, attributes), np.float64)
    spent = 0
    while depth > 0 and spent < work:
        depth -= 1
        start, stop = stack[depth, 0], stack[depth, 1]
        done = False
        if stop - start >= 2 * least:
            for _ in range(tries):
                spent += stop - start
                for i in range(stop - 1, start, -1):
                    j = start + np.int64(next_random(state) % np.uint64(i - start + 1))
                    order[i], order[j] = order[j], order[i]
                for d in range(attributes):
                    low[0, d] = high[0, d] = 1.0
                    low[1, d] = high[1, d] = 0.0
                wide0, wide1 = 0.0, 0.0
                left, held = start, 0
                for i in range(start, stop):
                    t = order[i]
                    grow0 = 0.0
                    grow1 = 0.0
                    for d in range(attributes):
                        p = position[t, d]
                        grow0 += max(low[0, d] - p, 0.0) + max(p - high[0, d], 0.0)
                        grow1 += max(low[1, d] - p, 0.0) + max(p - high[1, d], 0.0)
                    # NCP of a half is rows × width of its box, the artificial row included.
                    more0 = (left - start + 1) * grow0 + wide0 + grow0
                    more1 = (held + 1) * grow1 + wide1 + grow1
                    side = 0 if more0 < more1 else 1
                    for d in range(attributes):
                        p = position[t, d]
                        low[side, d] = min(low[side, d], p)
                        high[side, d] = max(high[side, d], p)
                    if side == 0:
                        wide0 += grow0
                        order[left] = t
                        left += 1
                    else:
                        wide1 += grow1
                        spare[held] = t
                        held += 1
                for i in range(held):
                    order[left + i] = spare[i]
                if eligible(order, start, left, sensitive, tally, least) and eligible(
                    order, left, stop, sensitive, tally, least
                ):
                    stack[depth, 0], stack[depth, 1] = start, left
                    stack[depth + 1, 0], stack[depth + 1, 1] = left, stop
                    depth += 2
                    done = True
                    break
        if not done:
            parts[found, 0], parts[found, 1] = start, stop
            found += 1
    return depth, found
