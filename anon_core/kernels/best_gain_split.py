"""Partition of distinct tuples by the cut that saves most, in place, by a stack."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anon_core.base.arrays import B1, F64, I32, I64
from anon_core.kernels.compilation import compiled
from anon_core.kernels.cuts import Counted, Cuts, Limits, move_inside, room_for, side_holds

# Sums in another order differ in their last bits; such prices count as equal.
_SAME_PRICE = 1e-9


class Prices(NamedTuple):
    """What a cell costs that must cover two leaves, attribute after attribute.

    Attributes
    ----------
    by_node : bool array of shape (attributes,)
        Publish the smallest node of the hierarchy; else the range from leaf to leaf.
    position, place_of : float64 array, int64 array of shape (attributes,)
        Where each leaf is; a range costs the distance of its ends, and `step` more.
    step : float64 array of shape (attributes,)
    whole, missing : float64 and int64 arrays of shape (attributes,)
        Price of everything, which a range pays that mixes the missing leaf (-1: none) with others.
    node_price, first_leaf : float64 and int64 arrays
        Price and first leaf of the node of every leaf, level after level.
    tree_offset, leaves : int64 arrays of shape (attributes,)
        Where an attribute begins in these, and its number of leaves.
    """

    by_node: B1
    position: F64
    place_of: I64
    step: F64
    whole: F64
    missing: I64
    node_price: F64
    first_leaf: I64
    tree_offset: I64
    leaves: I64


class Tally(NamedTuple):
    """Room for the rows and boxes of each code of one attribute within a part.

    Attributes
    ----------
    slot : int64 array of shape (codes,), -1 between uses
    seen : int32 array of shape (codes,)
    rows : int64 array of shape (codes,)
    low, high, head_low, head_high, tail_low, tail_high : int32 arrays of shape (codes, attributes)
        Box of the tuples with a code, of those up to it, and of those from it on.
    """

    slot: I64
    seen: I32
    rows: I64
    low: I32
    high: I32
    head_low: I32
    head_high: I32
    tail_low: I32
    tail_high: I32


@compiled
def cover_price(prices: Prices, d: int, lo: int, hi: int) -> float:
    """Return the price of a cell that must cover leaves lo and hi of attribute d."""
    if lo == hi:
        return 0.0
    if not prices.by_node[d]:
        if hi == prices.missing[d]:
            return prices.whole[d]
        place = prices.place_of[d]
        distance = prices.position[place + hi] - prices.position[place + lo]
        return float(distance + prices.step[d])
    base = prices.tree_offset[d]
    while prices.first_leaf[base + lo] != prices.first_leaf[base + hi]:
        base += prices.leaves[d]
    return float(prices.node_price[base + lo])


@compiled
def tally_codes(order: I64, start: int, stop: int, tuples: Counted, d: int, tally: Tally) -> int:
    """Count the rows of each code of attribute d, and the boxes; return how many codes."""
    codes, count = tuples.codes, tuples.rows
    attributes = codes.shape[1]
    found = 0
    for i in range(start, stop):
        c = codes[order[i], d]
        if tally.slot[c] < 0:
            tally.slot[c] = 0
            tally.seen[found] = c
            found += 1
    tally.seen[:found].sort()
    for j in range(found):
        tally.slot[tally.seen[j]] = j
        tally.rows[j] = 0
        for e in range(attributes):
            tally.low[j, e] = 2147483647
            tally.high[j, e] = -1
    for i in range(start, stop):
        t = order[i]
        j = tally.slot[codes[t, d]]
        tally.rows[j] += count[t]
        for e in range(attributes):
            c = codes[t, e]
            if c < tally.low[j, e]:
                tally.low[j, e] = c
            if c > tally.high[j, e]:
                tally.high[j, e] = c
    for j in range(found):
        tally.slot[tally.seen[j]] = -1
    for e in range(attributes):
        lo, hi = tally.low[0, e], tally.high[0, e]
        for j in range(found):
            lo, hi = min(lo, tally.low[j, e]), max(hi, tally.high[j, e])
            tally.head_low[j, e], tally.head_high[j, e] = lo, hi
        lo, hi = tally.low[found - 1, e], tally.high[found - 1, e]
        for j in range(found - 1, -1, -1):
            lo, hi = min(lo, tally.low[j, e]), max(hi, tally.high[j, e])
            tally.tail_low[j, e], tally.tail_high[j, e] = lo, hi
    return found


@compiled
def price_apart(
    prices: Prices, tally: Tally, found: int, first: int, last: int, inside: int, rows: int
) -> float:
    """Return the price of all rows when the codes numbered first..last are split from the rest."""
    total = 0.0
    for e in range(tally.low.shape[1]):
        lo, hi = tally.low[first, e], tally.high[first, e]
        for j in range(first + 1, last + 1):
            lo, hi = min(lo, tally.low[j, e]), max(hi, tally.high[j, e])
        total += inside * cover_price(prices, e, lo, hi)
        if first > 0 and last < found - 1:
            lo = min(tally.head_low[first - 1, e], tally.tail_low[last + 1, e])
            hi = max(tally.head_high[first - 1, e], tally.tail_high[last + 1, e])
        elif first > 0:
            lo, hi = tally.head_low[first - 1, e], tally.head_high[first - 1, e]
        else:
            lo, hi = tally.tail_low[last + 1, e], tally.tail_high[last + 1, e]
        total += (rows - inside) * cover_price(prices, e, lo, hi)
    return total


@compiled
def quartile(tally: Tally, found: int, rows: int, quarter: int) -> int:
    """Return the number of the code at which a quarter, half or three quarters are reached."""
    seen = 0
    for j in range(found):
        seen += tally.rows[j]
        if 4 * seen >= quarter * rows:
            return j
    return found - 1


@compiled
def best_apart(
    prices: Prices, tally: Tally, found: int, d: int, rows: int, least: int, quartiles: bool
) -> tuple[float, int, int]:
    """Return the cheapest way to cut attribute d: price, first and last code set aside.

    A range is cut in two at one place; of a hierarchy's column one node below the covering one is
    set except for the rest. Among equal prices the more even cut wins; -1 where none is large
    enough.
    """
    best, even, first, last = np.inf, 0, -1, -1
    if not prices.by_node[d]:
        inside = 0
        for j in range(found - 1):
            inside += tally.rows[j]
            if inside < least or rows - inside < least:
                continue
            if quartiles:
                wanted = False
                for quarter in range(1, 4):
                    at = quartile(tally, found, rows, quarter)
                    # ≤ the quartile, and < where ties block that (E-18).
                    wanted = wanted or j == at or j == at - 1
                if not wanted:
                    continue
            total = 0.0
            for e in range(tally.low.shape[1]):
                total += inside * cover_price(
                    prices, e, tally.head_low[j, e], tally.head_high[j, e]
                ) + (rows - inside) * cover_price(
                    prices, e, tally.tail_low[j + 1, e], tally.tail_high[j + 1, e]
                )
            smaller = min(inside, rows - inside)
            if total < best - _SAME_PRICE * rows or (
                total < best + _SAME_PRICE * rows and smaller > even
            ):
                best, even, first, last = min(total, best), smaller, 0, j
        if first < 0:
            return best, -1, -1
        return best, tally.seen[first], tally.seen[last]
    base = prices.tree_offset[d]
    low, high = tally.seen[0], tally.seen[found - 1]
    while prices.first_leaf[base + low] != prices.first_leaf[base + high]:
        begin = 0
        while begin < found:
            node = prices.first_leaf[base + tally.seen[begin]]
            end, inside = begin, 0
            while end < found and prices.first_leaf[base + tally.seen[end]] == node:
                inside += tally.rows[end]
                end += 1
            if inside >= least and rows - inside >= least:
                total = price_apart(prices, tally, found, begin, end - 1, inside, rows)
                smaller = min(inside, rows - inside)
                if total < best - _SAME_PRICE * rows or (
                    total < best + _SAME_PRICE * rows and smaller > even
                ):
                    best, even, first, last = min(total, best), smaller, begin, end - 1
            begin = end
        base += prices.leaves[d]
    if first < 0:
        return best, -1, -1
    return best, tally.seen[first], tally.seen[last]


@compiled
def split_by_gain(
    tuples: Counted,
    cuts: Cuts,
    depth: int,
    found: int,
    limits: Limits,
    prices: Prices,
    quartiles: bool,
    work: int,
) -> tuple[int, int]:
    """Split parts until none can be, or until about `work` tuple visits were spent.

    Parameters
    ----------
    depth, found : int
        Parts on its stack, and parts done.
    quartiles : bool
        Cut ranges at a quartile only, instead of anywhere.
    work : int
        Tuple visits after which to return.

    Returns
    -------
    depth, found : int
        As the parameters; `depth` is 0 when all is done.
    """
    codes, count = tuples.codes, tuples.rows
    order, stack, parts = cuts.order, cuts.stack, cuts.parts
    attributes = codes.shape[1]
    room = prices.leaves.max() + 1
    tally = Tally(
        np.full(room, -1, np.int64),
        np.empty(room, np.int32),
        np.empty(room, np.int64),
        np.empty((room, attributes), np.int32),
        np.empty((room, attributes), np.int32),
        np.empty((room, attributes), np.int32),
        np.empty((room, attributes), np.int32),
        np.empty((room, attributes), np.int32),
        np.empty((room, attributes), np.int32),
    )
    spare = np.empty(codes.shape[0], np.int64)
    price = np.empty(attributes, np.float64)
    first = np.empty(attributes, np.int64)
    last = np.empty(attributes, np.int64)
    held = room_for(limits.sensitive)
    epoch = 0
    spent = 0
    while depth > 0 and spent < work:
        depth -= 1
        start, stop = stack[depth, 0], stack[depth, 1]
        spent += (stop - start) * attributes
        rows = 0
        for i in range(start, stop):
            rows += int(count[order[i]])
        done = False
        if rows >= 2 * limits.least:
            for d in range(attributes):
                price[d] = np.inf
                seen = tally_codes(order, start, stop, tuples, d, tally)
                if seen > 1:
                    price[d], first[d], last[d] = best_apart(
                        prices, tally, seen, d, rows, limits.least, quartiles
                    )
            for _ in range(attributes):
                d = 0
                for other in range(1, attributes):
                    if price[other] < price[d] - _SAME_PRICE * rows:
                        d = other
                if price[d] == np.inf:
                    break
                price[d] = np.inf
                middle = move_inside(order, start, stop, codes, d, first[d], last[d], spare)
                epoch += 2  # one for each side
                if side_holds(order, start, middle, count, limits, held, epoch - 1) and side_holds(
                    order, middle, stop, count, limits, held, epoch
                ):
                    stack[depth, 0], stack[depth, 1] = start, middle
                    stack[depth + 1, 0], stack[depth + 1, 1] = middle, stop
                    depth += 2
                    done = True
                    break
        if not done:
            parts[found, 0], parts[found, 1] = start, stop
            found += 1
    return depth, found
