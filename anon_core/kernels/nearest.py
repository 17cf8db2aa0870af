"""Which box grows least when another joins it."""

from __future__ import annotations

import numpy as np

from anon_core.base.arrays import I32, I64
from anon_core.kernels.best_gain_split import Prices, cover_price
from anon_core.kernels.compiled import compiled


@compiled
def nearest_boxes(
    low: I32,
    high: I32,
    size: I64,
    prices: Prices,
    who: I64,
    start: int,
    stop: int,
    found: I64,
) -> None:
    """Find for boxes who[start:stop] the box to join with at the least additional price.

    Parameters
    ----------
    low, high : int32 arrays of shape (boxes, attributes)
    size : int64 array of shape (boxes,)
        Rows of each box.
    who : int64 array of shape (searchers,)
    found : int64 array of shape (searchers,)
        Filled in; -1 where there is no other box.
    """
    boxes, attributes = low.shape
    apart = np.zeros(boxes)
    for b in range(boxes):
        for d in range(attributes):
            apart[b] += size[b] * cover_price(prices, d, low[b, d], high[b, d])
    for w in range(start, stop):
        b = who[w]
        best, nearest = np.inf, -1
        for other in range(boxes):
            if other == b:
                continue
            # What the columns seen so far cost already rules most boxes out.
            joint, rows, d = 0.0, size[b] + size[other], 0
            while d < attributes and joint * rows - apart[other] < best:
                lo, hi = min(low[b, d], low[other, d]), max(high[b, d], high[other, d])
                joint += cover_price(prices, d, lo, hi)
                d += 1
            if joint * rows - apart[other] < best:
                best, nearest = joint * rows - apart[other], other
        found[w] = nearest
