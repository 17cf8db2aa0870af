"""Groups of at least k rows with a proven factor: by a forest of neighbours, or by balls."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import F64, I32, I64
from anon_core.kernels.best_gain_split import Prices, cover_price
from anon_core.kernels.compilation import compiled
from anon_core.kernels.cuts import Counted


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


class PairPrices(NamedTuple):
    """Prices of covering two leaves, looked up where the table is small enough.

    Attributes
    ----------
    table : float64 array
        Leaf by leaf, attribute after attribute.
    table_of : int64 array of shape (attributes,)
        Where an attribute begins in it; -1 where it must be computed.
    least : float
        The least price of two tuples that differ: nothing nearer need be looked for.
    """

    prices: Prices
    table: F64
    table_of: I64
    least: float


class Forest(NamedTuple):
    """Trees of tuples; at first every tuple is one.

    Attributes
    ----------
    owner, size, top : int64 arrays of shape (tuples,)
        Tree of each tuple; rows and topmost tuple of each tree.
    parent : int64 array of shape (tuples,)
        -1 for the top of a tree.
    """

    owner: I64
    size: I64
    top: I64
    parent: I64


@compiled
def tuple_distance(pairs: PairPrices, codes: I32, one: int, other: int, most: float) -> float:
    """Return what a row pays in a class of two tuples; a sum past `most` is not finished."""
    total = 0.0
    for d in range(codes.shape[1]):
        a, b = codes[one, d], codes[other, d]
        if a != b:
            if pairs.table_of[d] >= 0:
                total += float(pairs.table[pairs.table_of[d] + a * pairs.prices.leaves[d] + b])
            else:
                total += cover_price(pairs.prices, d, min(a, b), max(a, b))
            if total >= most:
                break
    return total


@compiled
def fill_pairs(prices: Prices, d: int, start: int, table: F64) -> None:
    """Fill in the prices of all pairs of leaves of attribute d."""
    leaves = prices.leaves[d]
    for a in range(leaves):
        for b in range(leaves):
            table[start + a * leaves + b] = cover_price(prices, d, min(a, b), max(a, b))


@compiled
def root_of(owner: I64, t: int) -> int:
    """Return the tree a tuple belongs to, and shorten the way there."""
    while owner[t] != t:
        owner[t] = owner[owner[t]]
        t = int(owner[t])
    return t


@compiled
def grow_forest(
    tuples: Counted, k: int, pairs: PairPrices, forest: Forest, at: int, work: int
) -> int:
    """Link the top of every tree of fewer than k rows to the nearest tuple of another tree.

    Parameters
    ----------
    forest : Forest, changed in place
    at : int
        Tuple to go on from, 0 at first.
    work : int
        How many pairs to compare before returning.

    Returns
    -------
    int
        Where to go on; the number of tuples when all trees have k rows or only one is left.
    """
    codes, number = tuples.codes, len(tuples.rows)
    owner, size, top, parent = forest
    spent = 0
    while at < number and spent < work:
        tree = root_of(owner, at)
        if size[tree] >= k:
            at += 1
            continue
        here = top[tree]
        best, nearest = np.inf, -1
        # Tuples are sorted, so near ones tend to be neighbours.
        for step in range(1, number):
            for other in (here - step, here + step):
                if 0 <= other < number:
                    spent += 1
                    distance = tuple_distance(pairs, codes, here, other, best)
                    if distance < best and root_of(owner, other) != tree:
                        best, nearest = distance, other
            if best <= pairs.least:
                break
        if nearest < 0:  # the table has fewer than k rows
            return number
        joined = root_of(owner, nearest)
        parent[here] = nearest
        owner[tree] = joined
        size[joined] += size[tree]
    return at


@compiled
def part_forest(parent: I64, k: int) -> I64:
    """Part trees of at least k rows into groups of k to 3k − 3 rows; return the group of each row.

    Bundles of fewer than k rows travel up. Where those that meet in one row make k or more, they
    are a group; what is left at the top joins a group that touches it. Groups use different edges,
    so that together they pay for each edge at most 3k − 3 times.

    Parameters
    ----------
    parent : int64 array of shape (rows,)
        -1 for the top of a tree.
    """
    rows = len(parent)
    group = np.full(rows, -1, np.int64)
    near = np.full(rows, -1, np.int64)
    head = np.full(rows, -1, np.int64)
    tail = np.full(rows, -1, np.int64)
    after = np.full(rows, -1, np.int64)
    held = np.zeros(rows, np.int64)
    open_children = np.zeros(rows, np.int64)
    queue = np.empty(rows, np.int64)
    for v in range(rows):
        if parent[v] >= 0:
            open_children[parent[v]] += 1
    begin, end, found = 0, 0, 0
    for v in range(rows):
        if open_children[v] == 0:
            queue[end] = v
            end += 1
    while begin < end:
        v = queue[begin]
        begin += 1
        # 1. The row joins the bundle of its children.
        after[v] = head[v]
        if head[v] < 0:
            tail[v] = v
        head[v] = v
        held[v] += 1
        if held[v] >= k:
            at = head[v]
            while at >= 0:
                group[at] = found
                at = after[at]
            near[v] = found
            found += 1
            held[v] = 0
        up = parent[v]
        if up < 0:
            if held[v] > 0:  # 2. What is left at the top joins a group that touches it.
                at = head[v]
                while at >= 0:
                    group[at] = max(near[v], 0)
                    at = after[at]
                found = max(found, 1)
            continue
        # 3. Else it travels up; where it makes k rows with others, they are a group.
        if held[v] > 0:
            if head[up] < 0:
                head[up], tail[up] = head[v], tail[v]
            else:
                after[tail[up]] = head[v]
                tail[up] = tail[v]
            held[up] += held[v]
            if held[up] >= k:
                at = head[up]
                while at >= 0:
                    group[at] = found
                    at = after[at]
                near[up] = found
                found += 1
                held[up], head[up], tail[up] = 0, -1, -1
        if near[up] < 0:
            near[up] = near[v]
        open_children[up] -= 1
        if open_children[up] == 0:
            queue[end] = up
            end += 1
    return group
