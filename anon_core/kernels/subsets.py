"""The cheapest grouping of a handful of rows, by dynamic programming over all their subsets."""

from __future__ import annotations

import numpy as np

from anon_core.base.arrays import F64, I32, I64
from anon_core.kernels.best_gain_split import Prices, cover_price
from anon_core.kernels.compiled import compiled


@compiled
def cheapest_partition(price: F64) -> tuple[F64, I64]:
    """Return the least price of parting each set into groups, and the group of its lowest row.

    Sets are masks of rows. It takes 3 to the power of the rows steps.

    Parameters
    ----------
    price : float64 array of shape (2 ** rows,)
        Of every set of rows as one group; infinity where it is none that is allowed.

    Returns
    -------
    best : float64 array of shape (2 ** rows,)
        Infinity where a set cannot be parted.
    chosen : int64 array of shape (2 ** rows,)
        0 where a set cannot be parted.
    """
    subsets = price.shape[0]
    best = np.full(subsets, np.inf)
    best[0] = 0.0
    chosen = np.zeros(subsets, np.int64)
    for mask in range(1, subsets):
        # The group of the lowest row: every subset of the others with it.
        lowest = mask & -mask
        others = mask ^ lowest
        some = others
        while True:
            own = some | lowest
            if price[own] + best[mask ^ own] < best[mask]:
                best[mask] = price[own] + best[mask ^ own]
                chosen[mask] = own
            if some == 0:
                break
            some = (some - 1) & others
    return best, chosen


@compiled
def cheapest_groups(codes: I32, k: int, prices: Prices) -> tuple[float, I64]:
    """Return the least price of groups of k to 2k − 1 rows, and the group of each row.

    A larger group can be parted without paying more, so these sizes are enough.

    Parameters
    ----------
    codes : int32 array of shape (rows, attributes)
        At most 18 rows, at least k.
    """
    rows, attributes = codes.shape
    subsets = 1 << rows
    low = np.empty((subsets, attributes), np.int32)
    high = np.empty((subsets, attributes), np.int32)
    members = np.zeros(subsets, np.int64)
    price = np.full(subsets, np.inf)
    for mask in range(1, subsets):
        first = 0
        while not (mask >> first) & 1:
            first += 1
        rest = mask & (mask - 1)
        members[mask] = members[rest] + 1
        total = 0.0
        for d in range(attributes):
            c = codes[first, d]
            low[mask, d] = c if rest == 0 else min(c, low[rest, d])
            high[mask, d] = c if rest == 0 else max(c, high[rest, d])
            total += cover_price(prices, d, low[mask, d], high[mask, d])
        if k <= members[mask] < 2 * k:
            price[mask] = total * members[mask]
    best, chosen = cheapest_partition(price)
    group = np.zeros(rows, np.int64)
    left, number = subsets - 1, 0
    while left and chosen[left]:
        for i in range(rows):
            if (chosen[left] >> i) & 1:
                group[i] = number
        left ^= chosen[left]
        number += 1
    return float(best[subsets - 1]), group
