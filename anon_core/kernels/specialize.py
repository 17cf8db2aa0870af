"""Top-down local recoding: part tuples along their hierarchies, each part by itself, by a stack."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import F64, I32, I64
from anon_core.kernels.compilation import compiled
from anon_core.kernels.cuts import Counted, Cuts, Limits, room_for, side_holds

# Equal scores differ in their last bits; such ties go to the attribute named first.
_MORE = 1.0 + 1e-9


class PricedLevels(NamedTuple):
    """Hierarchies, attribute after attribute, level after level, by leaf.

    Attributes
    ----------
    first : int64 array, price : float64 array
        First leaf of the leaf's node, and price of that node.
    offset, leaves, levels : int64 arrays of shape (quasi,)
        Where an attribute begins in these, its leaves, and its levels.
    """

    first: I64
    price: F64
    offset: I64
    leaves: I64
    levels: I64


@compiled
def common_level(
    order: I64, start: int, stop: int, codes: I32, d: int, first: I64, leaves: int, levels: int
) -> int:
    """Return the lowest level of attribute `d` at which all tuples of a part are one node."""
    low = codes[order[start], d]
    high = low
    for i in range(start + 1, stop):
        c = codes[order[i], d]
        low = min(low, c)
        high = max(high, c)
    level = 0
    while level < levels - 1 and first[level * leaves + low] != first[level * leaves + high]:
        level += 1
    return level


@compiled
def count_children(
    order: I64,
    start: int,
    stop: int,
    tuples: Counted,
    d: int,
    below: I64,
    tally: I64,
    child: I64,
) -> int:
    """Count the rows of every child of a part's node; return how many children have rows.

    `below` holds the child's first leaf of every leaf; `tally` by that leaf must be 0 where it is
    not in use; `child` is filled with the first leaves found, in the order of the tuples.
    """
    codes, count = tuples.codes, tuples.rows
    found = 0
    for i in range(start, stop):
        t = order[i]
        at = below[codes[t, d]]
        if tally[at] == 0:
            child[found] = at
            found += 1
        tally[at] += count[t]
    return found


@compiled
def pool_small(
    child: I64, found: int, tally: I64, least: int, pooled: npt.NDArray[np.bool_]
) -> int:
    """Mark the children that stay together at the parent; return how many are by themselves.

    Children of fewer than `least` rows stay together; if those are too few, the smallest of the
    others join them.
    """
    rest = 0
    alone = 0
    for c in range(found):
        pooled[c] = tally[child[c]] < least
        if pooled[c]:
            rest += tally[child[c]]
        else:
            alone += 1
    while 0 < rest < least and alone > 0:
        smallest = -1
        for c in range(found):
            if pooled[c]:
                continue
            other = child[max(smallest, 0)]
            if smallest < 0 or (tally[child[c]], child[c]) < (tally[other], other):
                smallest = c
        pooled[smallest] = True
        rest += tally[child[smallest]]
        alone -= 1
    return alone


@compiled
def specialize(
    tuples: Counted,
    cuts: Cuts,
    depth: int,
    found: int,
    limits: Limits,
    hierarchies: PricedLevels,
    by_entropy: float,
    work: int,
) -> tuple[int, int]:
    """Part tuples for as long as that saves cost and every part keeps its privacy models.

    Of all attributes the one is taken whose children save most, divided by the entropy of the
    split to the power `by_entropy`: what a split uses up cannot be used by the others.

    Parameters
    ----------
    cuts : Cuts
        A part is done where it cannot be parted.
    depth, found : int
        Parts on its stack, and parts done.
    work : int
        Tuple visits after which to return for a look at the clock.

    Returns
    -------
    depth, found : int
        Parts still open, parts that are done.
    """
    codes, count = tuples.codes, tuples.rows
    order, stack, parts = cuts.order, cuts.stack, cuts.parts
    least, watched = limits.least, limits.sensitive.shape[1]
    first, price, offset = hierarchies.first, hierarchies.price, hierarchies.offset
    leaves, levels = hierarchies.leaves, hierarchies.levels
    quasi = codes.shape[1]
    most = 1
    for d in range(quasi):
        most = max(most, leaves[d])
    tally = np.zeros(most, np.int64)
    child = np.empty(most, np.int64)
    pooled = np.empty(most, np.bool_)
    target = np.full(most, -1, np.int64)
    begin = np.empty(most + 2, np.int64)
    spare = np.empty(codes.shape[0], np.int64)
    score = np.empty(quasi, np.float64)
    seen = room_for(limits.sensitive)
    epoch = 0
    visits = 0
    while depth > 0 and visits < work:
        depth -= 1
        start, stop = stack[depth, 0], stack[depth, 1]
        rows = 0
        for i in range(start, stop):
            rows += count[order[i]]
        visits += (stop - start) * quasi
        if rows >= 2 * least and stop - start > 1:
            for d in range(quasi):
                score[d] = 0.0
                here = first[offset[d] :]
                level = common_level(order, start, stop, codes, d, here, leaves[d], levels[d])
                if level == 0:
                    continue
                below = here[(level - 1) * leaves[d] :]
                kinds = count_children(order, start, stop, tuples, d, below, tally, child)
                alone = pool_small(child, kinds, tally, least, pooled)
                saved = 0.0
                entropy = 0.0
                rest = rows
                now = price[offset[d] + level * leaves[d] + child[0]]
                for c in range(kinds):
                    if not pooled[c]:
                        own = tally[child[c]]
                        rest -= own
                        then = price[offset[d] + (level - 1) * leaves[d] + child[c]]
                        saved += own * (now - then)
                        entropy -= own * np.log(own / rows)
                if rest > 0:
                    entropy -= rest * np.log(rest / rows)
                for c in range(kinds):
                    tally[child[c]] = 0
                if (alone > 1 or (alone == 1 and rest > 0)) and saved > 0.0:
                    score[d] = saved / max(entropy, 1e-9) ** by_entropy
        else:
            for d in range(quasi):
                score[d] = 0.0
        parted = False
        while not parted:
            best = -1
            for d in range(quasi):
                if score[d] > 0.0 and (best < 0 or score[d] > score[best] * _MORE):
                    best = d
            if best < 0:
                break
            score[best] = 0.0
            d = best
            here = first[offset[d] :]
            level = common_level(order, start, stop, codes, d, here, leaves[d], levels[d])
            below = here[(level - 1) * leaves[d] :]
            kinds = count_children(order, start, stop, tuples, d, below, tally, child)
            pool_small(child, kinds, tally, least, pooled)
            # Place 0 is for those that stay together; the others follow in the order found.
            pieces = 1
            for c in range(kinds):
                if pooled[c]:
                    target[child[c]] = 0
                else:
                    target[child[c]] = pieces
                    pieces += 1
                tally[child[c]] = 0
            for p in range(pieces + 1):
                begin[p] = 0
            for i in range(start, stop):
                begin[target[below[codes[order[i], d]]] + 1] += 1
            for p in range(pieces):
                begin[p + 1] += begin[p]
            for i in range(start, stop):
                t = order[i]
                p = target[below[codes[t, d]]]
                spare[begin[p]] = t
                begin[p] += 1
            # Filling moved every begin to its end.
            for i in range(start, stop):
                order[i] = spare[i - start]
            parted = True
            left = start
            for p in range(pieces):
                right = start + begin[p]
                if watched and right > left:
                    epoch += 1
                    if not side_holds(order, left, right, count, limits, seen, epoch):
                        parted = False
                left = right
            if parted:
                left = start
                for p in range(pieces):
                    right = start + begin[p]
                    if right > left:
                        stack[depth, 0] = left
                        stack[depth, 1] = right
                        depth += 1
                    left = right
        if not parted:
            parts[found, 0] = start
            parts[found, 1] = stop
            found += 1
    return depth, found
