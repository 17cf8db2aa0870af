"""Boxes of their own: which tuples they cover, and which to take in next for the least price.

Tuples are sorted, so that those that begin alike are together: a whole run of them is passed over
as soon as what they share costs too much.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anon_core.base.arrays import B1, F64, I32, I64
from anon_core.kernels.best_gain_split import Prices, cover_price
from anon_core.kernels.compilation import compiled

# What lies outside costs something even where its price is nothing: only what is covered is free.
_NEXT_TO_NOTHING = 1e-12
# Tuples next to a box's own that are looked at first: most often one of them is near.
_NEAR = 8


class Sorted(NamedTuple):
    """Distinct tuples in lexicographic order.

    Attributes
    ----------
    codes : int32 array of shape (tuples, attributes)
    rows : int64 array of shape (tuples,)
        Of each.
    turn : int64 array of shape (tuples,)
        First attribute in which a tuple differs from the one before; 0 at the first.
    skip : int64 array of shape (tuples, attributes)
        Next tuple that differs in an attribute up to this one.
    """

    codes: I32
    rows: I64
    turn: I64
    skip: I64


class Parts(NamedTuple):
    """Strongly connected components of who can change places, and the links between them.

    Attributes
    ----------
    of_tuple, of_box : int64 arrays of shape (tuples,) and (boxes,)
        Each one's part.
    first_box, box : int64 arrays of shape (parts + 1,) and (boxes listed,)
        The boxes of each part that may be widened begin at `first_box`.
    first_few, few : int64 arrays
        Tuples that have too few matches within their part, alike.
    first_ahead, ahead, first_behind, behind : int64 arrays
        The parts whose boxes cover tuples of each part, and those whose tuples its boxes cover.
    """

    of_tuple: I64
    of_box: I64
    first_box: I64
    box: I64
    first_few: I64
    few: I64
    first_ahead: I64
    ahead: I64
    first_behind: I64
    behind: I64


class Boxes(NamedTuple):
    """Boxes that are widened.

    Attributes
    ----------
    low, high : int32 arrays of shape (boxes, attributes), changed in place
        What each shows.
    size : int64 array of shape (boxes,)
        Rows that publish each.
    home : int64 array of shape (boxes,)
        A tuple of each.
    """

    low: I32
    high: I32
    size: I64
    home: I64


class Joins(NamedTuple):
    """What closes a cycle for some parts.

    Attributes
    ----------
    who : int64 array of shape (searchers,)
        The parts.
    price, widened, taken : float64, int64 and int64 arrays of shape (searchers,)
        The box that takes in the tuple, and what that costs; infinity and -1 where there is none.
    """

    who: I64
    price: F64
    widened: I64
    taken: I64


@compiled
def shown_ends(prices: Prices, d: int, lo: int, hi: int) -> tuple[int, int]:
    """Return the first and last leaf of what a cell shows that must cover two leaves."""
    if lo == hi:
        return lo, hi
    if not prices.by_node[d]:  # a range with the missing value is the whole column
        return (0, hi) if hi == prices.missing[d] else (lo, hi)
    base = prices.tree_offset[d]
    while prices.first_leaf[base + lo] != prices.first_leaf[base + hi]:
        base += prices.leaves[d]
    first = int(prices.first_leaf[base + lo])
    while hi + 1 < prices.leaves[d] and prices.first_leaf[base + hi + 1] == first:
        hi += 1
    return first, hi


@compiled
def widen(prices: Prices, low: I32, high: I32, b: int, codes: I32, t: int) -> None:
    """Let box b cover tuple t, and all that its cells then show."""
    for d in range(codes.shape[1]):
        c = codes[t, d]
        lo, hi = shown_ends(prices, d, min(low[b, d], c), max(high[b, d], c))
        low[b, d] = lo
        high[b, d] = hi


@compiled
def show(prices: Prices, low: I32, high: I32) -> None:
    """Widen all boxes to what their cells show."""
    for b in range(len(low)):
        for d in range(low.shape[1]):
            lo, hi = shown_ends(prices, d, low[b, d], high[b, d])
            low[b, d] = lo
            high[b, d] = hi


@compiled
def box_price(prices: Prices, low: I32, high: I32, size: I64) -> float:
    """Return what all rows of all boxes cost together."""
    total = 0.0
    for b in range(len(low)):
        for d in range(low.shape[1]):
            total += size[b] * cover_price(prices, d, low[b, d], high[b, d])
    return total


@compiled
def growth_by_code(prices: Prices, low: I32, high: I32, b: int, grown: F64) -> None:
    """Fill in what box b would cost more per row if it took in each code of each attribute."""
    for d in range(low.shape[1]):
        lo, hi = low[b, d], high[b, d]
        own = cover_price(prices, d, lo, hi)
        for c in range(prices.leaves[d]):
            more = 0.0
            if c < lo or c > hi:
                more = cover_price(prices, d, min(c, lo), max(c, hi)) - own
                more = max(more, _NEXT_TO_NOTHING)
            grown[prices.place_of[d] + c] = more


@compiled
def nearest_outside(
    prices: Prices, tuples: Sorted, grown: F64, home: int, part: I64, wanted: B1
) -> tuple[int, float, int]:
    """Return the tuple that costs least to take in, its price, and the rows that are covered.

    Of equal prices the first tuple counts.

    Parameters
    ----------
    grown : float64 array
        See `growth_by_code`.
    home : int
        A tuple next to which to look first.
    part : int64 array of shape (tuples,)
    wanted : bool array of shape (parts,)
        Only tuples of these parts are taken in; -1 and infinity where there is none.
    """
    size, attributes = tuples.codes.shape
    best, nearest, rows = np.inf, -1, 0
    for t in range(max(home - _NEAR, 0), min(home + _NEAR + 1, size)):
        price = 0.0
        for d in range(attributes):
            price += float(grown[prices.place_of[d] + tuples.codes[t, d]])
        if 0.0 < price < best and wanted[part[t]]:
            best, nearest = price, t
    so_far = np.zeros(attributes + 1)
    t = 0
    while t < size:
        d = tuples.turn[t]
        while d < attributes:
            so_far[d + 1] = so_far[d] + grown[prices.place_of[d] + tuples.codes[t, d]]
            if so_far[d + 1] > best:
                break
            d += 1
        if d < attributes:
            t = tuples.skip[t, d]
            continue
        if so_far[attributes] == 0.0:
            rows += tuples.rows[t]
        elif wanted[part[t]] and (so_far[attributes] < best or t < nearest):
            best, nearest = float(so_far[attributes]), t
        t += 1
    return nearest, best, rows


@compiled
def reach_out(prices: Prices, tuples: Sorted, boxes: Boxes, k: int, start: int, stop: int) -> None:
    """Widen boxes start..stop, each to the nearest tuple again and again, until k rows fit it."""
    low, high, home = boxes.low, boxes.high, boxes.home
    grown = np.empty(prices.leaves.sum(), np.float64)
    part = np.zeros(len(tuples.codes), np.int64)
    wanted = np.ones(1, np.bool_)
    for b in range(start, stop):
        while True:
            growth_by_code(prices, low, high, b, grown)
            nearest, _, rows = nearest_outside(prices, tuples, grown, int(home[b]), part, wanted)
            if rows >= k or nearest < 0:
                break
            widen(prices, low, high, b, tuples.codes, nearest)


@compiled
def take_in(
    prices: Prices,
    codes: I32,
    boxes: Boxes,
    who: I64,
    fits: I64,
    k: int,
    start: int,
    stop: int,
) -> None:
    """Let tuples who[start:stop] be covered by the boxes that cost least, by k rows each.

    Parameters
    ----------
    codes : int32 array of shape (tuples, attributes)
    who : int64 array of shape (searchers,)
    fits : int64 array of shape (searchers,)
        Rows that cover each at least; below k.
    """
    low, high, size = boxes.low, boxes.high, boxes.size
    number, attributes = low.shape
    best = np.empty(k, np.float64)
    taker = np.empty(k, np.int64)
    for w in range(start, stop):
        t = who[w]
        room = k - fits[w]
        held, rows = 0, 0
        for b in range(number):
            worst = best[room - 1] if held == room else np.inf
            # A box of several rows gives several matches at once, as far as they are needed.
            weight = size[b] / min(size[b], room)
            grown, outside = 0.0, False
            for d in range(attributes):
                c, lo, hi = codes[t, d], low[b, d], high[b, d]
                if c < lo or c > hi:
                    outside = True
                    more = cover_price(prices, d, min(c, lo), max(c, hi))
                    grown += (more - cover_price(prices, d, lo, hi)) * weight
                    if grown >= worst:
                        break
            if not outside:
                rows += size[b]
                continue
            if grown >= worst:
                continue
            at = held if held < room else room - 1
            while at > 0 and best[at - 1] > grown:
                best[at], taker[at] = best[at - 1], taker[at - 1]
                at -= 1
            best[at], taker[at] = grown, b
            held = min(held + 1, room)
        for i in range(held):
            if rows >= k:
                break
            widen(prices, low, high, taker[i], codes, t)
            rows += size[taker[i]]


@compiled
def mark_reached(first: I64, following: I64, part: int, most: int, seen: B1, reached: I64) -> int:
    """Mark the parts that links lead to from a part, the nearest first, and list them.

    Parameters
    ----------
    first, following : int64 arrays of shape (parts + 1,) and (links,)
        The links of each part begin at `first`.
    part : int
        Not marked itself.
    most : int
        Parts listed at most.
    seen : bool array of shape (parts,)
    reached : int64 array
        Room for `most` parts.

    Returns
    -------
    int
        Parts listed.
    """
    held, at, here = 0, -1, part
    while at < held:
        for i in range(first[here], first[here + 1]):
            to = following[i]
            if to != part and not seen[to] and held < most:
                seen[to] = True
                reached[held] = to
                held += 1
        at += 1
        if at < held:
            here = reached[at]
    return held


@compiled
def cheapest_joins(
    prices: Prices,
    tuples: Sorted,
    boxes: Boxes,
    parts: Parts,
    most: int,
    start: int,
    stop: int,
    joins: Joins,
) -> None:
    """Find for parts start..stop the box and the tuple whose match closes a cycle for least.

    A box of the part takes in a tuple that links lead to, or a lacking tuple of the part is taken
    in by a box from which links lead to the part.

    Parameters
    ----------
    prices, tuples, boxes, parts
        See above.
    most : int
        Parts looked at in either direction, at most.
    joins : Joins, filled in
    """
    low, high, size, home = boxes
    who, price, widened, taken = joins
    grown = np.empty(prices.leaves.sum(), np.float64)
    seen = np.zeros(len(parts.first_box) - 1, np.bool_)
    reached = np.empty(most, np.int64)
    for w in range(start, stop):
        p = who[w]
        price[w], widened[w], taken[w] = np.inf, -1, -1
        held = mark_reached(parts.first_ahead, parts.ahead, p, most, seen, reached)
        for i in range(parts.first_box[p], parts.first_box[p + 1]):
            b = parts.box[i]
            growth_by_code(prices, low, high, b, grown)
            t, more, _ = nearest_outside(prices, tuples, grown, int(home[b]), parts.of_tuple, seen)
            if t >= 0 and more * size[b] < price[w]:
                price[w], widened[w], taken[w] = more * size[b], b, t
        seen[reached[:held]] = False
        held = mark_reached(parts.first_behind, parts.behind, p, most, seen, reached)
        for i in range(parts.first_few[p], parts.first_few[p + 1]):
            t = parts.few[i]
            for b in range(len(low)):
                if not seen[parts.of_box[b]]:
                    continue
                more = 0.0
                for d in range(low.shape[1]):
                    c, lo, hi = tuples.codes[t, d], low[b, d], high[b, d]
                    if c < lo or c > hi:
                        more += cover_price(prices, d, min(c, lo), max(c, hi)) * size[b]
                        more -= cover_price(prices, d, lo, hi) * size[b]
                        if more >= price[w]:
                            break
                if more < price[w]:
                    price[w], widened[w], taken[w] = more, b, t
        seen[reached[:held]] = False


@compiled
def join(
    prices: Prices, tuples: Sorted, boxes: Boxes, parts: Parts, order: I64, joins: Joins
) -> int:
    """Widen the boxes found, the cheapest first, where neither part has been joined before.

    Returns
    -------
    int
        Boxes widened.
    """
    done = np.zeros(len(parts.first_box) - 1, np.bool_)
    joined = 0
    for w in order:
        b, t = int(joins.widened[w]), int(joins.taken[w])
        if b < 0:
            continue
        one, other = parts.of_box[b], parts.of_tuple[t]
        if not (done[one] and done[other]):
            widen(prices, boxes.low, boxes.high, b, tuples.codes, t)
            joined += 1
        done[one] = True
        done[other] = True
    return joined


@compiled
def covered_pairs(
    tuples: Sorted, low: I32, high: I32, start: int, stop: int, box: I64, at: I64, held: int
) -> int:
    """List the tuples that boxes start..stop cover, after the first `held` pairs.

    Returns
    -------
    int
        Pairs there are now; those beyond the room of `box` and `at` are counted only.
    """
    size, attributes = tuples.codes.shape
    for b in range(start, stop):
        t = 0
        while t < size:
            d = tuples.turn[t]
            while d < attributes and low[b, d] <= tuples.codes[t, d] <= high[b, d]:
                d += 1
            if d < attributes:
                t = tuples.skip[t, d]
                continue
            if held < len(box):
                box[held], at[held] = b, t
            held += 1
            t += 1
    return held
