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
    low: I32, high: I32, size: I64, prices: Prices, who: I64, start: int, stop: int, found: I64
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
    """
    boxes, attributes = low.shape
    for w in range(start, stop):
        b = who[w]
        best, nearest = np.inf, -1
        for other in range(boxes):
            if other == b:
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
