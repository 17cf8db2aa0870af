"""Maximum distance to average vector: groups of k rows around the points farthest out."""

from __future__ import annotations

import numpy as np

from anon_core.base.arrays import F64, I64
from anon_core.kernels.compiled import compiled


@compiled
def apart(points: F64, one: int, centre: F64) -> float:
    """Return the squared Euclidean distance of a point from a centre."""
    total = 0.0
    for d in range(points.shape[1]):
        off = points[one, d] - centre[d]
        total += off * off
    return total


@compiled
def farthest_from_mean(points: F64, count: I64, left: I64, size: int) -> int:
    """Return which of the points left is farthest from their mean, the first of several.

    Parameters
    ----------
    points : float64 array of shape (tuples, attributes)
    count : int64 array of shape (tuples,)
        Rows of each tuple.
    left : int64 array
        The first `size` entries are the tuples left, ascending.
    """
    centre = np.zeros(points.shape[1])
    rows = 0
    for i in range(size):
        t = left[i]
        rows += count[t]
        for d in range(points.shape[1]):
            centre[d] += count[t] * points[t, d]
    for d in range(points.shape[1]):
        centre[d] /= rows
    most, found = -1.0, -1
    for i in range(size):
        distance = apart(points, left[i], centre)
        if distance > most:
            most, found = distance, int(left[i])
    return found


@compiled
def take_nearest(
    points: F64, count: I64, left: I64, size: int, seed: int, k: int, group: I64, number: int
) -> tuple[int, int, int]:
    """Group the tuples nearest to a seed, as few as hold k rows, and take them away from `left`.

    Of equally near ones the first are taken.

    Returns
    -------
    size : int
        Tuples left.
    farthest : int
        Of these, the one farthest from the seed, the first of several; -1 where none is left.
    rows : int
        Rows of the group.
    """
    centre = points[seed].copy()
    near = np.empty(k, np.int64)  # nearest first; every tuple has a row, so k are enough
    distance = np.empty(k)
    held, rows = 0, 0
    most, farthest = -1.0, -1
    for i in range(size):
        t = left[i]
        own = apart(points, t, centre)
        if own > most:
            most, farthest = own, int(t)
        if rows >= k and own >= distance[held - 1]:
            continue
        # Let go of what is not needed once this one is in, so that there is room for it.
        while held and rows - count[near[held - 1]] + count[t] >= k and own < distance[held - 1]:
            held -= 1
            rows -= count[near[held]]
        at = held
        while at > 0 and own < distance[at - 1]:
            near[at], distance[at] = near[at - 1], distance[at - 1]
            at -= 1
        near[at], distance[at] = t, own
        held += 1
        rows += count[t]
    for i in range(held):
        group[near[i]] = number
    kept = 0
    for i in range(size):
        t = left[i]
        if group[t] != number:
            left[kept] = t
            kept += 1
    if kept == 0:
        return 0, -1, int(rows)
    if group[farthest] == number:  # everything was equally far
        farthest = int(left[0])
    return kept, farthest, int(rows)
