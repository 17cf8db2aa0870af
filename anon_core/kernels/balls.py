"""Groups of at least k rows from a greedy cover by balls (Meyerson and Williams 2004)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import F64, I64
from anon_core.kernels.compiled import compiled


@compiled
def best_ball(
    distance: F64, ranked: I64, covered: npt.NDArray[np.bool_], k: int
) -> tuple[int, int]:
    """Return the ball that costs least per row it newly covers: its centre and its rows.

    Parameters
    ----------
    distance : float64 array of shape (rows, rows)
    ranked : int64 array of shape (rows, rows)
        For each centre all rows by distance.
    covered : bool array of shape (rows,)
    """
    rows = len(covered)
    best, centre, size = np.inf, -1, 0
    for c in range(rows):
        fresh = 0
        for j in range(rows):
            if not covered[ranked[c, j]]:
                fresh += 1
            if j + 1 < k or fresh == 0:
                continue
            ratio = 2.0 * distance[c, ranked[c, j]] / fresh
            if ratio < best:
                best, centre, size = ratio, c, j + 1
    return centre, size


@compiled
def apart(member: npt.NDArray[np.bool_], k: int) -> I64:
    """Turn a cover into a partition of groups of at least k rows; return the group of each row.

    A row in two sets leaves the one with rows to spare; two sets of k rows become one.

    Parameters
    ----------
    member : bool array of shape (sets, rows)
        Changed in place; every row is in a set, every set has at least k.
    """
    sets, rows = member.shape
    size = np.zeros(sets, np.int64)
    for s in range(sets):
        for i in range(rows):
            size[s] += member[s, i]
    for s in range(sets):
        for t in range(s):
            if size[t] == 0:
                continue
            for i in range(rows):
                if not (member[s, i] and member[t, i]):
                    continue
                if size[s] > k:
                    member[s, i] = False
                    size[s] -= 1
                elif size[t] > k:
                    member[t, i] = False
                    size[t] -= 1
                else:
                    for j in range(rows):
                        if member[t, j] and not member[s, j]:
                            member[s, j] = True
                            size[s] += 1
                        member[t, j] = False
                    size[t] = 0
                    break
    group = np.full(rows, -1, np.int64)
    number = 0
    for s in range(sets):
        # Sets of 2k rows and more are cut into groups of k, the last with what is left over.
        left, taken = size[s], 0
        for i in range(rows):
            if not member[s, i]:
                continue
            group[i] = number
            left -= 1
            taken += 1
            if taken >= k and left >= k:
                number += 1
                taken = 0
        if size[s] > 0:
            number += 1
    return group
