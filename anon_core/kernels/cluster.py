"""Clusters of at least k rows: grown, cut from an order, halved between two seeds, or by MDAV."""

from __future__ import annotations

import numpy as np

from anon_core.base.arrays import F64, I32, I64
from anon_core.kernels.best_gain_split import Prices, cover_price
from anon_core.kernels.compilation import compiled
from anon_core.kernels.cuts import Counted, Cuts


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


@compiled
def pair_price(prices: Prices, codes: I32, one: int, other: int) -> float:
    """Return what a row pays in a class of two tuples."""
    total = 0.0
    for d in range(codes.shape[1]):
        a, b = codes[one, d], codes[other, d]
        total += cover_price(prices, d, min(a, b), max(a, b))
    return total


@compiled
def farthest(prices: Prices, codes: I32, group: I64, here: int) -> int:
    """Return the tuple without a group that is farthest from a tuple; -1 where there is none."""
    most, found = -1.0, -1
    for t in range(len(group)):
        if group[t] < 0:
            distance = pair_price(prices, codes, here, t)
            if distance > most:
                most, found = distance, t
    return found


@compiled
def grow_cluster(
    prices: Prices, codes: I32, count: I64, group: I64, number: int, seed: int, k: int
) -> int:
    """Grow a cluster from a seed by the tuple that costs least until it has k rows.

    Returns
    -------
    int
        The tuple added last; -1 where tuples ran out before, and the cluster was dissolved.
    """
    attributes = codes.shape[1]
    low, high = codes[seed].copy(), codes[seed].copy()
    group[seed] = number
    rows, last = count[seed], seed
    while rows < k:
        best, nearest = np.inf, -1
        for t in range(len(group)):
            if group[t] >= 0:
                continue
            price = 0.0
            for d in range(attributes):
                c = codes[t, d]
                price += cover_price(prices, d, min(c, low[d]), max(c, high[d]))
            price *= rows + count[t]
            if price < best:
                best, nearest = price, t
        if nearest < 0:
            for t in range(len(group)):
                if group[t] == number:
                    group[t] = -1
            return -1
        group[nearest] = number
        rows += count[nearest]
        last = nearest
        for d in range(attributes):
            low[d] = min(low[d], codes[nearest, d])
            high[d] = max(high[d], codes[nearest, d])
    return last


@compiled
def cheapest_runs(prices: Prices, codes: I32, count: I64, k: int) -> I64:
    """Cut a sequence of tuples into runs of at least k rows at the least price; return the runs.

    Runs that can be cut into two of k rows are not looked at: two cost no more than one.

    Parameters
    ----------
    codes : int32 array of shape (tuples, attributes), count : int64 array of shape (tuples,)
        In the order to cut; at least k rows.

    Returns
    -------
    int64 array of shape (tuples,)
        Number of each tuple's run.
    """
    tuples, attributes = codes.shape
    best = np.full(tuples + 1, np.inf)
    best[0] = 0.0
    start = np.zeros(tuples + 1, np.int64)
    low = np.empty(attributes, np.int32)
    high = np.empty(attributes, np.int32)
    for stop in range(1, tuples + 1):
        rows, least = 0, 0  # `least`: rows of the shortest run that ends here
        low[:] = codes[stop - 1]
        high[:] = codes[stop - 1]
        for i in range(stop - 1, -1, -1):
            rows += count[i]
            if least > 0 and rows - least >= k:
                break
            for d in range(attributes):
                low[d] = min(low[d], codes[i, d])
                high[d] = max(high[d], codes[i, d])
            if rows < k:
                continue
            least = least if least > 0 else rows
            price = 0.0
            for d in range(attributes):
                price += cover_price(prices, d, low[d], high[d])
            if best[i] + price * rows < best[stop]:
                best[stop], start[stop] = best[i] + price * rows, i
    run = np.empty(tuples, np.int64)
    stop, number = tuples, 0
    while stop > 0:
        run[start[stop] : stop] = number
        number += 1
        stop = int(start[stop])
    return run


@compiled
def halve(
    prices: Prices, tuples: Counted, cuts: Cuts, depth: int, found: int, k: int, work: int
) -> tuple[int, int]:
    """Halve parts between two distant seeds for as long as both sides have k rows.

    Each tuple joins the side that grows less. `depth` parts are on the stack of the cuts and
    `found` are done, which is returned again after about `work` looks at a tuple.
    """
    codes, count = tuples.codes, tuples.rows
    order, stack, parts = cuts.order, cuts.stack, cuts.parts
    attributes = codes.shape[1]
    spare = np.empty(len(order), np.int64)
    low = np.empty((2, attributes), np.int32)
    high = np.empty((2, attributes), np.int32)
    spent = 0
    while depth > 0 and spent < work:
        depth -= 1
        start, stop = int(stack[depth, 0]), int(stack[depth, 1])
        spent += 5 * (stop - start)
        # 1. The seeds: three steps from the farthest to the farthest.
        one, other = int(order[start]), int(order[start])
        for _ in range(3):
            most = -1.0
            for i in range(start, stop):
                distance = pair_price(prices, codes, other, order[i])
                if distance > most:
                    most, one = distance, int(order[i])
            one, other = other, one
        # 2. Each tuple joins the side that grows less, the smaller one where both grow alike.
        low[0], high[0] = codes[one], codes[one]
        low[1], high[1] = codes[other], codes[other]
        rows = np.zeros(2, np.int64)
        left, held = start, 0
        for i in range(start, stop):
            t = order[i]
            grown = np.zeros(2)
            for s in range(2):
                for d in range(attributes):
                    c = codes[t, d]
                    grown[s] += cover_price(prices, d, min(c, low[s, d]), max(c, high[s, d]))
                    grown[s] -= cover_price(prices, d, low[s, d], high[s, d])
            s = 0
            if grown[1] < grown[0] or (grown[1] == grown[0] and rows[1] < rows[0]):
                s = 1
            if t == one:
                s = 0
            elif t == other:
                s = 1
            for d in range(attributes):
                low[s, d] = min(low[s, d], codes[t, d])
                high[s, d] = max(high[s, d], codes[t, d])
            rows[s] += count[t]
            if s == 0:
                order[left] = t
                left += 1
            else:
                spare[held] = t
                held += 1
        for i in range(held):
            order[left + i] = spare[i]
        # 3. A side of fewer than k rows takes the nearest tuples that the other can spare.
        s = 0 if rows[0] < rows[1] else 1
        while rows[s] < k and rows[0] + rows[1] >= 2 * k:
            least, chosen = np.inf, -1
            for i in range(left if s == 0 else start, stop if s == 0 else left):
                t = order[i]
                if rows[1 - s] - count[t] < k:
                    continue
                grown_by = 0.0
                for d in range(attributes):
                    c = codes[t, d]
                    grown_by += cover_price(prices, d, min(c, low[s, d]), max(c, high[s, d]))
                if grown_by < least:
                    least, chosen = grown_by, i
            if chosen < 0:
                break
            at = left if s == 0 else left - 1
            t = order[chosen]
            order[chosen], order[at] = order[at], t
            left += 1 if s == 0 else -1
            for d in range(attributes):
                low[s, d] = min(low[s, d], codes[t, d])
                high[s, d] = max(high[s, d], codes[t, d])
            rows[s] += count[t]
            rows[1 - s] -= count[t]
        # 4. Both sides go on, or the part stays whole.
        if rows[0] >= k and rows[1] >= k and one != other:
            stack[depth, 0], stack[depth, 1] = start, left
            stack[depth + 1, 0], stack[depth + 1, 1] = left, stop
            depth += 2
        else:
            parts[found, 0], parts[found, 1] = start, stop
            found += 1
    return depth, found
