"""Frontier dynamic programming: one layer forward, one layer back."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anon_core.base.arrays import B1, F64, I32, I64
from anon_core.kernels.best_gain_split import Prices, cover_price
from anon_core.kernels.compilation import compiled


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
def cheapest_groups(codes: I32, allowed: B1, prices: Prices) -> tuple[float, I64]:
    """Return the least price of groups that are allowed, and the group of each row.

    Parameters
    ----------
    codes : int32 array of shape (rows, attributes)
        At most 18 rows.
    allowed : bool array of shape (2 ** rows,)
        Which sets of rows, as masks, may be a group.
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
        if allowed[mask]:
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


class States(NamedTuple):
    """A layer's states.

    Attributes
    ----------
    keys : int64 array of shape (states, words)
        Residual of every open row, in bit fields.
    weight : float64 array of shape (states,)
        Ways to come here, scaled.
    """

    keys: I64
    weight: F64


class Edges(NamedTuple):
    """Edges between two layers: from which state, to which, and how many people one takes.

    Attributes
    ----------
    source, target, taken : int32 arrays of shape (edges,)
    """

    source: I32
    target: I32
    taken: I32


@compiled
def settling(rows: I32, start: I64, member: I64, order: I64) -> int:
    """Order types so that few rows are open at a time: finish the row with fewest left.

    Of equal rows one that is open already, then the first; a row's types in ascending order.

    Parameters
    ----------
    rows : int32 array of shape (types, width)
        Rows of each type, none of them twice; -1 for none.
    start : int64 array of shape (rows + 1,)
    member : int64 array
        Types of row r, ascending: member[start[r] : start[r + 1]].
    order : int64 array of shape (types,), filled

    Returns
    -------
    int
        How many are in order; types without a row are not.
    """
    size = start.shape[0] - 1
    left = start[1:] - start[:-1]
    opened = np.zeros(size, np.int64)
    done = np.zeros(rows.shape[0], np.bool_)
    found = 0
    while True:
        row = -1
        for r in range(size):
            if left[r] > 0 and (
                row < 0 or left[r] < left[row] or (left[r] == left[row] and opened[r] > opened[row])
            ):
                row = r
        if row < 0:
            return found
        for i in range(start[row], start[row + 1]):
            j = member[i]
            if done[j]:
                continue
            done[j] = True
            order[found] = j
            found += 1
            for c in range(rows.shape[1]):
                if rows[j, c] >= 0:
                    left[rows[j, c]] -= 1
                    opened[rows[j, c]] = 1


@compiled
def reach(
    keys: I64, word: I64, shift: I64, mask: I64, later: I64, most: int, low: I64, high: I64
) -> int:
    """Find how many people of the next type each state allows; return the number of edges.

    Parameters
    ----------
    keys : int64 array of shape (states, words)
        Residual of every open row, in bit fields.
    word, shift, mask : int64 arrays of shape (rows of the type,)
        Where each row's residual is.
    later : int64 array of shape (rows of the type,)
        People the types still to come could add to the row.
    most : int
        Upper bound of the type.
    low, high : int64 arrays of shape (states,)
        Filled with the range; empty where low > high.
    """
    edges = 0
    for s in range(keys.shape[0]):
        least, top = 0, most
        for c in range(word.shape[0]):
            left = (keys[s, word[c]] >> shift[c]) & mask[c]
            if left < top:
                top = left
            if left - later[c] > least:
                least = left - later[c]
        low[s], high[s] = least, top
        if top >= least:
            edges += top - least + 1
    return edges


@compiled
def advance(
    states: States,
    low: I64,
    high: I64,
    step: I64,
    ways: F64,
    limit: int,
    out: States,
    edges: Edges,
) -> int:
    """Take every edge and merge equal states; return their number, -1 if it exceeds `limit`.

    Parameters
    ----------
    low, high : int64 arrays of shape (states,)
    step : int64 array of shape (words,)
        What one person takes from a key.
    ways : float64 array of shape (most + 1,)
        Weight of taking y people, scaled.
    out : States, filled
        With room for at least min(edges, limit) of them.
    """
    keys, weight = states
    out_keys, out_weight = out
    source, target, taken = edges
    words = keys.shape[1]
    size = 16
    while size < 2 * out_keys.shape[0]:
        size *= 2
    slot = np.full(size, -1, np.int32)
    key = np.empty(words, np.int64)
    found = 0
    edge = 0
    for s in range(keys.shape[0]):
        for y in range(low[s], high[s] + 1):
            mixed = np.uint64(0)
            for w in range(words):
                key[w] = keys[s, w] - y * step[w]
                mixed = (mixed ^ np.uint64(key[w])) * np.uint64(0x9E3779B97F4A7C15)
                mixed ^= mixed >> np.uint64(29)
            place = np.int64(mixed & np.uint64(size - 1))
            at = -1
            while True:
                at = slot[place]
                if at < 0:
                    break
                same = True
                for w in range(words):
                    if out_keys[at, w] != key[w]:
                        same = False
                        break
                if same:
                    break
                place = (place + 1) & (size - 1)
            if at < 0:
                if found >= limit:
                    return -1
                at = found
                slot[place] = found
                for w in range(words):
                    out_keys[found, w] = key[w]
                out_weight[found] = 0.0
                found += 1
            out_weight[at] += weight[s] * ways[y]
            source[edge], target[edge], taken[edge] = s, at, y
            edge += 1
    return found


@compiled
def retreat(
    edges: Edges,
    ways: F64,
    forward: F64,
    back: F64,
    alive: B1,
    out_back: F64,
    out_alive: B1,
) -> tuple[float, float, int, int]:
    """Go one layer back over its edges.

    Parameters
    ----------
    ways : float64 array
    forward : float64 array of shape (states before,)
        Weights before the layer.
    back, alive : arrays of shape (states after,)
        Ways from a state to the end, scaled, and whether there is any: weights can underflow.
    out_back, out_alive : arrays of shape (states before,), zero on entry
        Filled.

    Returns
    -------
    whole, people : float
        Weight of the layer's edges, and the same times the people they take.
    least, most : int
        Fewest and most people on an edge that lies on a way from start to end.
    """
    source, target, taken = edges
    whole = 0.0
    people = 0.0
    least = 1 << 60
    most = -1
    for e in range(source.shape[0]):
        t = target[e]
        if not alive[t]:
            continue
        s, y = source[e], int(taken[e])
        out_alive[s] = True
        onward = ways[y] * back[t]
        out_back[s] += onward
        both = forward[s] * onward
        whole += both
        people += both * y
        if y < least:
            least = y
        if y > most:
            most = y
    return whole, people, least, most
