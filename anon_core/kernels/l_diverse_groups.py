"""Forming l-diverse groups: Anatomize's draws, and Li's bisection by growing boxes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..base.arrays import F64, I64
from .compiled import compiled
from .cuts import Cuts

#: Rows that are fetched at a time.
NEAR = 64


class Points(NamedTuple):
    """Rows, and the sensitive value of each.

    Attributes
    ----------
    position : float64 array of shape (rows, attributes)
        Normalized to [0, 1].
    sensitive : int64 array of shape (rows,)
        -1 where missing.
    """

    position: F64
    sensitive: I64


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
    # Values in buckets by rows left, so that the largest are found without sorting. Buckets that
    # are in use are linked from the largest down: others may lie between them by the thousand.
    top = 0
    for v in range(values):
        top = max(top, left[v])
    head = np.full(top + 2, -1, np.int64)
    below, above = np.zeros(top + 2, np.int64), np.zeros(top + 2, np.int64)
    after = np.full(values, -1, np.int64)
    alive = 0
    for v in range(values - 1, -1, -1):
        if left[v] > 0:
            after[v] = head[left[v]]
            head[left[v]] = v
            alive += 1
    size = top + 1  # stands above all
    for other in range(top, -1, -1):
        if head[other] >= 0 or other == 0:
            below[size], above[other] = other, size
            size = other
    formed = 0
    taken = np.empty(least, np.int64)
    while alive >= least and formed < groups:
        size = below[top + 1]
        for i in range(least):
            while head[size] < 0:
                size = below[size]
            v = head[size]
            head[size] = after[v]
            taken[i] = v
        for i in range(least):
            v = taken[i]
            value_of[formed, i] = v
            size = left[v]
            left[v] -= 1
            if left[v] > 0:
                if below[size] != left[v]:  # the bucket below comes into use
                    other = below[size]
                    below[size], above[left[v]] = left[v], size
                    below[left[v]], above[other] = other, left[v]
                after[v] = head[left[v]]
                head[left[v]] = v
            else:
                alive -= 1
        for i in range(least):
            size = left[taken[i]] + 1
            if head[size] < 0 and below[above[size]] == size:  # the bucket goes out of use
                below[above[size]], above[below[size]] = below[size], above[size]
        formed += 1
    return formed


@compiled
def next_random(state: npt.NDArray[np.uint64]) -> np.uint64:
    """Return the next number of a xoshiro256** sequence; `state` has four elements."""
    found = state[1] * np.uint64(5)
    found = ((found << np.uint64(7)) | (found >> np.uint64(57))) * np.uint64(9)
    shifted = state[1] << np.uint64(17)
    state[2] ^= state[0]
    state[3] ^= state[1]
    state[1] ^= state[2]
    state[0] ^= state[3]
    state[2] ^= shifted
    state[3] = (state[3] << np.uint64(45)) | (state[3] >> np.uint64(19))
    return found


@compiled
def eligible(order: I64, start: int, stop: int, sensitive: I64, tally: I64, least: int) -> bool:
    """Return whether no value fills more than 1/least of the rows order[start:stop] that have one.

    Rows without a value have -1; one row at least must have one.
    """
    most = 0
    known = 0
    for i in range(start, stop):
        v = sensitive[order[i]]
        if v >= 0:
            known += 1
            tally[v] += 1
            most = max(most, tally[v])
    for i in range(start, stop):
        if sensitive[order[i]] >= 0:
            tally[sensitive[order[i]]] = 0
    return bool(known > 0 and most * least <= known)


@compiled
def bisect(
    points: Points,
    cuts: Cuts,
    depth: int,
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
    points : Points
    cuts : Cuts
    depth, found : int
        Parts on its stack, and parts done.
    least, tries : int
        l, and how often a part is tried before it is left whole.
    state : uint64 array of shape (4,)
        Random state, not all 0: as long as the secret it comes from.
    work : int
        Row visits to spend before returning.

    Returns
    -------
    depth, found : int
        As the parameters; `depth` is 0 when all is done.
    """
    position, sensitive = points.position, points.sensitive
    order, stack, parts = cuts.order, cuts.stack, cuts.parts
    rows, attributes = position.shape
    spare = np.empty(rows, np.int64)
    values = 0
    for i in range(rows):
        values = max(values, sensitive[i] + 1)
    tally = np.zeros(values, np.int64)
    low = np.empty((2, attributes), np.float64)
    high = np.empty((2, attributes), np.float64)
    near = np.empty((NEAR, attributes), np.float64)
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
                    at = (i - start) % NEAR
                    if at == 0:  # rows lie far apart: many are fetched at once
                        for j in range(i, min(i + NEAR, stop)):
                            for d in range(attributes):
                                near[j - i, d] = position[order[j], d]
                    grow0 = 0.0
                    grow1 = 0.0
                    for d in range(attributes):
                        p = near[at, d]
                        grow0 += max(low[0, d] - p, 0.0) + max(p - high[0, d], 0.0)
                        grow1 += max(low[1, d] - p, 0.0) + max(p - high[1, d], 0.0)
                    # NCP of a half is rows × width of its box, the artificial row included.
                    more0 = (left - start + 1) * grow0 + wide0 + grow0
                    more1 = (held + 1) * grow1 + wide1 + grow1
                    side = 0 if more0 < more1 else 1
                    for d in range(attributes):
                        p = near[at, d]
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
