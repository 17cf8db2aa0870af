"""Strict multidimensional partition (Mondrian) of distinct tuples, in place, by a stack."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .compiled import compiled

I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]

# 1 − 2/3 and 1/3 differ in the last bit; such ties go to the attribute named first.
_SAME_WIDTH = 1e-9


@compiled
def side_holds(
    order: I64,
    start: int,
    stop: int,
    count: I64,
    least: int,
    sensitive: I32,
    distinct: I64,
    share: I64,
    stamp: I64,
    tally: I64,
    stamp_offset: I64,
    epoch: int,
) -> bool:
    """Return whether tuples order[start:stop] have enough rows and varied sensitive values."""
    rows = 0
    for i in range(start, stop):
        rows += count[order[i]]
    if rows < least:
        return False
    for s in range(sensitive.shape[1]):
        found = 0
        for i in range(start, stop):
            place = stamp_offset[s] + sensitive[order[i], s]
            if stamp[place] != epoch:
                stamp[place] = epoch
                found += 1
                if found >= distinct[s]:
                    break
        if found < distinct[s]:
            return False
        if share[s] > 0:
            # Stamped with the negative epoch, so that the two counts of one side stay apart.
            for i in range(start, stop):
                t = order[i]
                place = stamp_offset[s] + sensitive[t, s]
                if stamp[place] != -epoch:
                    stamp[place] = -epoch
                    tally[place] = 0
                tally[place] += count[t]
                if tally[place] * share[s] > rows:
                    return False
    return True


@compiled
def move_below(order: I64, start: int, stop: int, codes: I32, d: int, bar: int, spare: I64) -> int:
    """Put tuples with code ≤ bar first, keeping their order; return where the rest begins."""
    left = start
    held = 0
    for i in range(start, stop):
        t = order[i]
        if codes[t, d] <= bar:
            order[left] = t
            left += 1
        else:
            spare[held] = t
            held += 1
    for i in range(held):
        order[left + i] = spare[i]
    return left


@compiled
def move_half(
    order: I64, start: int, stop: int, codes: I32, d: int, bar: int, ties: int, spare: I64
) -> int:
    """Put codes < bar first, then the first `ties` of those at it; return where the rest begins."""
    left = start
    held = 0
    for i in range(start, stop):
        t = order[i]
        c = codes[t, d]
        if c < bar or (c == bar and ties > 0):
            if c == bar:
                ties -= 1
            order[left] = t
            left += 1
        else:
            spare[held] = t
            held += 1
    for i in range(held):
        order[left + i] = spare[i]
    return left


@compiled
def ties_below(order: I64, start: int, stop: int, codes: I32, d: int, bar: int) -> int:
    """Return how many single rows at the median go below, so that half of all stands there."""
    below = 0
    for i in range(start, stop):
        if codes[order[i], d] < bar:
            below += 1
    return (stop - start + 1) // 2 - below


@compiled
def weighted_median(
    order: I64,
    start: int,
    stop: int,
    codes: I32,
    count: I64,
    d: int,
    low: int,
    high: int,
    tally: I64,
) -> tuple[int, int, int]:
    """Return the lower median code, the largest code below it (-1: none), and the highest code."""
    rows = 0
    for i in range(start, stop):
        t = order[i]
        tally[codes[t, d]] += count[t]
        rows += count[t]
    half = (rows + 1) // 2
    seen = 0
    median = -1
    before = -1
    for c in range(low, high + 1):
        if tally[c] > 0:
            seen += tally[c]
            if seen >= half:
                median = c
                break
            before = c
    for i in range(start, stop):
        tally[codes[order[i], d]] = 0
    return median, before, high


@compiled
def split(
    codes: I32,
    count: I64,
    order: I64,
    stack: I64,
    depth: int,
    parts: I64,
    found: int,
    least: int,
    sensitive: I32,
    distinct: I64,
    share: I64,
    weight: F64,
    position: F64,
    place_of: I64,
    missing: I64,
    by_tree: npt.NDArray[np.bool_],
    first_leaf: I64,
    levels: I64,
    tree_offset: I64,
    leaves: I64,
    work: int,
    relaxed: npt.NDArray[np.bool_],
) -> tuple[int, int]:
    """Split parts until none can be, or until about `work` tuple visits were spent.

    Parameters
    ----------
    codes : int32 array of shape (tuples, attributes)
        Leaf numbers.
    count : int64 array of shape (tuples,)
    order : int64 array of shape (tuples,)
        Permuted in place; every part is a run of it.
    stack : int64 array of shape (tuples + 1, 2), depth : int
        Parts still to be split, as start and stop in `order`.
    parts : int64 array of shape (tuples, 2), found : int
        Finished parts.
    least : int
        Rows every part needs.
    sensitive : int32 array of shape (tuples, columns), distinct : int64 array of shape (columns,)
        Sensitive leaf numbers, and how many different ones every part needs.
    share : int64 array of shape (columns,)
        l, where no value may fill more than 1/l of a part; 0 where that is not asked.
    weight : float64 array of shape (attributes,)
        Factor on the width of each attribute.
    position : float64 array, place_of : int64 array of shape (attributes,)
        Normalized position of every leaf, attribute after attribute.
    missing : int64 array of shape (attributes,)
        Leaf of the missing value, -1 where there is none.
    by_tree : bool array of shape (attributes,)
        Cut along the children of the covering node instead of at the median.
    first_leaf : int64 array, levels, tree_offset, leaves : int64 arrays of shape (attributes,)
        First leaf of the node of every leaf, level after level, for attributes cut by tree.
    work : int
        How many tuple visits to spend before returning.
    relaxed : bool array of shape (attributes,)
        Part the rows at the median over both sides, so that these are equally large; every tuple
        is then one row. Rows that stand earlier in `order` go below.

    Returns
    -------
    depth, found : int
        As the parameters; `depth` is 0 when all is done.
    """
    tuples, attributes = codes.shape
    spare = np.empty(tuples, np.int64)
    loose = relaxed.any()
    kept = np.empty(tuples if loose else 0, np.int64)
    low = np.empty(attributes, np.int64)
    high = np.empty(attributes, np.int64)
    width = np.empty(attributes, np.float64)
    tally = np.zeros(leaves.max() + 1, np.int64)
    cuts = np.empty(leaves.max() + 1, np.int64)
    stamp_offset = np.zeros(sensitive.shape[1] + 1, np.int64)
    for s in range(sensitive.shape[1]):
        widest = 0
        for t in range(tuples):
            widest = max(widest, sensitive[t, s])
        stamp_offset[s + 1] = stamp_offset[s] + widest + 1
    stamp = np.zeros(stamp_offset[-1], np.int64)
    held_of = np.zeros(stamp_offset[-1], np.int64)
    epoch = 0
    spent = 0
    while depth > 0 and spent < work:
        depth -= 1
        start, stop = stack[depth, 0], stack[depth, 1]
        rows = 0
        for d in range(attributes):
            low[d] = codes[order[start], d]
            high[d] = low[d]
        for i in range(start, stop):
            t = order[i]
            rows += count[t]
            for d in range(attributes):
                c = codes[t, d]
                if c < low[d]:
                    low[d] = c
                elif c > high[d]:
                    high[d] = c
        spent += stop - start
        for d in range(attributes):
            if low[d] == high[d]:
                width[d] = -1.0
            elif by_tree[d]:
                level = 0
                base = tree_offset[d]
                while first_leaf[base + low[d]] != first_leaf[base + high[d]]:
                    level += 1
                    base += leaves[d]
                inside = 0
                for leaf in range(leaves[d]):
                    if first_leaf[base + leaf] == first_leaf[base + low[d]]:
                        inside += 1
                width[d] = weight[d] * (inside - 1) / max(leaves[d] - 1, 1)
            else:
                width[d] = weight[d] * (
                    position[place_of[d] + high[d]] - position[place_of[d] + low[d]]
                )
        done = False
        if loose:  # every try starts from the order drawn
            kept[start:stop] = order[start:stop]
        if rows >= 2 * least:
            for _ in range(attributes):
                d = 0
                for other in range(1, attributes):
                    if width[other] > width[d] + _SAME_WIDTH:
                        d = other
                if width[d] < 0.0:
                    break
                width[d] = -1.0
                spent += stop - start
                if by_tree[d]:
                    level = 0
                    base = tree_offset[d]
                    while first_leaf[base + low[d]] != first_leaf[base + high[d]]:
                        level += 1
                        base += leaves[d]
                    base -= leaves[d]
                    # One side per child that holds rows; all must keep the promises.
                    pieces = 0
                    left = start
                    node = low[d]
                    holds = True
                    while left < stop:
                        # The last leaf of the child that holds leaf `node`.
                        bar = node
                        while (
                            bar + 1 < leaves[d]
                            and first_leaf[base + bar + 1] == first_leaf[base + node]
                        ):
                            bar += 1
                        middle = move_below(order, left, stop, codes, d, bar, spare)
                        if middle > left:
                            epoch += 1
                            if not side_holds(
                                order,
                                left,
                                middle,
                                count,
                                least,
                                sensitive,
                                distinct,
                                share,
                                stamp,
                                held_of,
                                stamp_offset,
                                epoch,
                            ):
                                holds = False
                                break
                            cuts[pieces] = left
                            pieces += 1
                        left = middle
                        node = bar + 1
                    if loose and not holds:
                        order[start:stop] = kept[start:stop]
                    if holds:
                        cuts[pieces] = stop
                        for p in range(pieces):
                            stack[depth, 0], stack[depth, 1] = cuts[p], cuts[p + 1]
                            depth += 1
                        done = True
                else:
                    median, before, last = weighted_median(
                        order, start, stop, codes, count, d, low[d], high[d], tally
                    )
                    # Missing values are cut off first: no range can hold them with others. Then at
                    # ≤ median; where ties leave too little above, at < median (E-18). A relaxed
                    # cut comes before these two: through the rows at the median.
                    for attempt in range(4):
                        if attempt == 1:
                            if not relaxed[d]:
                                continue
                            ties = ties_below(order, start, stop, codes, d, median)
                            middle = move_half(order, start, stop, codes, d, median, ties, spare)
                        else:
                            if attempt == 0:
                                bar = missing[d] - 1 if last == missing[d] else last
                            else:
                                bar = median if attempt == 2 else before
                            if bar < 0 or bar >= last:
                                continue
                            middle = move_below(order, start, stop, codes, d, bar, spare)
                        epoch += 2  # one for each side
                        if side_holds(
                            order,
                            start,
                            middle,
                            count,
                            least,
                            sensitive,
                            distinct,
                            share,
                            stamp,
                            held_of,
                            stamp_offset,
                            epoch - 1,
                        ) and side_holds(
                            order,
                            middle,
                            stop,
                            count,
                            least,
                            sensitive,
                            distinct,
                            share,
                            stamp,
                            held_of,
                            stamp_offset,
                            epoch,
                        ):
                            stack[depth, 0], stack[depth, 1] = start, middle
                            stack[depth + 1, 0], stack[depth + 1, 1] = middle, stop
                            depth += 2
                            done = True
                            break
                        if loose:
                            order[start:stop] = kept[start:stop]
                if done:
                    break
        if not done:
            parts[found, 0], parts[found, 1] = start, stop
            found += 1
    return depth, found
