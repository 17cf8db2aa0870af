"""Boxes around groups of tuples, and which of them grows least when another joins it."""

from __future__ import annotations

import numpy as np

from anon_core.base.arrays import I32, I64
from anon_core.kernels.best_gain_split import Prices, cover_price
from anon_core.kernels.compilation import compiled


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


@compiled
def widen_boxes(codes: I32, run: I64, key: I64, group: I64, low: I32, high: I32) -> None:
    """Widen the box of every group by its tuples.

    Parameters
    ----------
    codes : int32 array of shape (runs, attributes)
    run : int64 array of shape (keys,)
        Row of `codes` that belongs to each key.
    key, group : int64 arrays of shape (entries,)
        Keys and their group; -1 for none.
    low, high : int32 arrays of shape (groups, attributes), changed in place
    """
    for e in range(len(key)):
        g = group[e]
        if g >= 0:
            t = run[key[e]]
            for d in range(codes.shape[1]):
                low[g, d] = min(low[g, d], codes[t, d])
                high[g, d] = max(high[g, d], codes[t, d])
