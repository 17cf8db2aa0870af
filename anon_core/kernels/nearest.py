"""Which box grows least when another joins it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .compiled import compiled
from .gain import Prices, cover_price

I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]


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
    apart_only: bool,
) -> None:
    """Find for boxes who[start:stop] the box to join with at the least additional price.

    Parameters
    ----------
    low, high : int32 arrays of shape (boxes, attributes)
    size : int64 array of shape (boxes,)
        Rows of each box.
    prices : Prices
    who : int64 array of shape (searchers,)
    found : int64 array of shape (searchers,)
        Filled in; -1 where there is no other box.
    apart_only : bool
        Skip boxes that are equal already.
    """
    boxes, attributes = low.shape
    for w in range(start, stop):
        b = who[w]
        best, nearest = np.inf, -1
        for other in range(boxes):
            same = True
            for d in range(attributes):
                same = same and low[b, d] == low[other, d] and high[b, d] == high[other, d]
            if other == b or (apart_only and same):
                continue
            joint, apart = 0.0, 0.0
            for d in range(attributes):
                lo, hi = min(low[b, d], low[other, d]), max(high[b, d], high[other, d])
                joint += cover_price(prices, d, lo, hi)
                apart += size[other] * cover_price(prices, d, low[other, d], high[other, d])
            grown = joint * (size[b] + size[other]) - apart
            if grown < best:
                best, nearest = grown, other
        found[w] = nearest


@compiled
def growth(low: I32, high: I32, size: I64, prices: Prices, b: int, codes: I32, t: int) -> float:
    """Return the additional price when box b takes in tuple t; infinity where it covers it."""
    before, after, outside = 0.0, 0.0, False
    for d in range(codes.shape[1]):
        c = codes[t, d]
        outside = outside or c < low[b, d] or c > high[b, d]
        before += cover_price(prices, d, low[b, d], high[b, d])
        after += cover_price(prices, d, min(c, low[b, d]), max(c, high[b, d]))
    return float(size[b] * (after - before)) if outside else np.inf


@compiled
def nearest_tuple(low: I32, high: I32, size: I64, prices: Prices, b: int, codes: I32) -> int:
    """Return the tuple that box b takes in for the least price; -1 where it covers all."""
    best, nearest = np.inf, -1
    for t in range(len(codes)):
        grown = growth(low, high, size, prices, b, codes, t)
        if grown < best:
            best, nearest = grown, t
    return nearest


@compiled
def nearest_taker(low: I32, high: I32, size: I64, prices: Prices, codes: I32, t: int) -> int:
    """Return the box that takes tuple t in for the least price; -1 where all cover it."""
    best, nearest = np.inf, -1
    for b in range(len(low)):
        grown = growth(low, high, size, prices, b, codes, t)
        if grown < best:
            best, nearest = grown, b
    return nearest
