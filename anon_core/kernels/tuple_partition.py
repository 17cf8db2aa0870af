"""Slicing's tuple partition: halve buckets while everyone stays l-diverse over all of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .compiled import compiled
from .sides import move_half, move_inside, side_holds, ties_below, weighted_median
from .sliced import sign_of_sum

I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]
F64 = npt.NDArray[np.float64]

_SAME_WIDTH = 1e-9
_NEAR = 1e-9  # what comes nearer to 1/l is decided in whole numbers


@compiled
def count_side(
    order: I64,
    start: int,
    stop: int,
    tuple_of: I64,
    value: I64,
    pair: I64,
    star: I64,
    side: int,
    epoch: int,
    shown: I64,
    stamp: I64,
    top: I64,
    tally: I64,
    tally_stamp: I64,
) -> None:
    """Count what order[start:stop] shows, and the most common sensitive value beside each.

    Parameters
    ----------
    tuple_of : int64 array of shape (rows,)
    value : int64 array of shape (tuples, blocks)
        What a tuple shows in each block, numbered over all blocks.
    pair : int64 array of shape (rows, columns)
        Number of the row's value in the block of a sensitive column with its sensitive value.
    star : int64 array of shape (columns,)
        Block of each sensitive column.
    shown, stamp : int64 arrays of shape (2, values)
        Rows that show a value on this side, valid where stamped with `epoch`.
    top : int64 array of shape (2, columns, values)
    tally, tally_stamp : int64 arrays of shape (2, pairs)
    """
    for i in range(start, stop):
        row = order[i]
        t = tuple_of[row]
        for b in range(value.shape[1]):
            v = value[t, b]
            if stamp[side, v] != epoch:
                stamp[side, v] = epoch
                shown[side, v] = 0
                for j in range(len(star)):
                    top[side, j, v] = 0
            shown[side, v] += 1
        for j in range(len(star)):
            p = pair[row, j]
            if tally_stamp[side, p] != epoch:
                tally_stamp[side, p] = epoch
                tally[side, p] = 0
            tally[side, p] += 1
            v = value[t, star[j]]
            top[side, j, v] = max(top[side, j, v], tally[side, p])


@compiled
def on_side(
    value: I64,
    t: int,
    side: int,
    epoch: int,
    stamp: I64,
    shown: I64,
    top: I64,
    star: I64,
    least: I64,
) -> int:
    """Return 0 where a side does not match a tuple, 1 where it keeps 1/l by itself, else 2."""
    for b in range(value.shape[1]):
        if stamp[side, value[t, b]] != epoch:
            return 0
    for j in range(len(star)):
        v = value[t, star[j]]
        if least[j] * top[side, j, v] > shown[side, v]:
            return 2
    return 1


@compiled
def mean_holds(
    t: int,
    matches: int,
    begin: I64,
    end: I64,
    factor: I64,
    order: I64,
    tuple_of: I64,
    value: I64,
    sensitive: I32,
    star: I64,
    least: I64,
    mass: F64,
    seen: npt.NDArray[np.bool_],
) -> bool:
    """Return whether p(t, s) ≤ 1/l for every sensitive value, over the buckets that match.

    Parameters
    ----------
    t, matches : int
    begin, end : int64 arrays of shape (at least matches,)
        The matching buckets as runs of `order`.
    factor : int64 array of shape (at least matches, blocks)
        Rows of each bucket that show what the tuple shows, block by block.
    sensitive : int32 array of shape (rows, columns)
    mass : float64 array, seen : bool array of shape (sensitive values,)
        Room, left as it was.
    """
    blocks = value.shape[1]
    for j in range(len(star)):
        v = value[t, star[j]]
        weight = np.empty(matches, np.float64)
        others = factor[:matches].copy()
        others[:, star[j]] = 1
        total = 0.0
        rows = 0
        for i in range(matches):
            weight[i] = 1.0
            for b in range(blocks):
                weight[i] *= others[i, b] / (end[i] - begin[i])
            total += weight[i] * factor[i, star[j]]
            rows += factor[i, star[j]]
        touched = np.empty(rows, np.int64)
        found = 0
        for i in range(matches):
            for place in range(begin[i], end[i]):
                row = order[place]
                if value[tuple_of[row], star[j]] == v:
                    s = sensitive[row, j]
                    if not seen[s]:
                        seen[s] = True
                        touched[found] = s
                        found += 1
                    mass[s] += weight[i]
        holds = True
        for k in range(found):
            s = touched[k]
            p = least[j] * mass[s] / total
            mass[s] = 0.0
            seen[s] = False
            if not holds or p < 1.0 - _NEAR:
                continue
            if p > 1.0 + _NEAR:
                holds = False
                continue
            excess = np.empty(matches, np.int64)
            for i in range(matches):
                excess[i] = -factor[i, star[j]]
                for place in range(begin[i], end[i]):
                    row = order[place]
                    if sensitive[row, j] == s and value[tuple_of[row], star[j]] == v:
                        excess[i] += least[j]
            size = end[:matches] - begin[:matches]
            holds = sign_of_sum(excess, others, size, blocks, matches) < 1
        if not holds:
            return False
    return True


@compiled
def still_diverse(
    bucket: int,
    start: int,
    middle: int,
    stop: int,
    epoch: int,
    order: I64,
    runs: I64,
    tuple_of: I64,
    value: I64,
    pair: I64,
    sensitive: I32,
    star: I64,
    least: I64,
    shown: I64,
    stamp: I64,
    top: I64,
    tally: I64,
    tally_stamp: I64,
    head: I64,
    first: I64,
    node: I64,
    node_rows: I64,
    bad: I64,
    mass: F64,
    seen: npt.NDArray[np.bool_],
    open_: I64,
) -> bool:
    """Return whether everyone stays l-diverse when a bucket is cut in two (algorithm 4).

    Only people who match the bucket are touched. Whoever meets 1/l in each of the buckets that
    match keeps it in their mean; the mean itself is taken of the others.
    """
    for side in range(2):
        count_side(
            order,
            start if side == 0 else middle,
            middle if side == 0 else stop,
            tuple_of,
            value,
            pair,
            star,
            side,
            epoch,
            shown,
            stamp,
            top,
            tally,
            tally_stamp,
        )
    waiting = 0
    n = head[bucket]
    while n >= 0:
        t = node[n, 0]
        left = on_side(value, t, 0, epoch, stamp, shown, top, star, least)
        right = on_side(value, t, 1, epoch, stamp, shown, top, star, least)
        elsewhere = bad[t] - node[n, 4]
        if left == 2 or right == 2 or elsewhere > 0:
            # Alone in one bucket that does not keep it: no mean can help.
            single = node[first[t], 3] < 0
            if single and (left == 0 or right == 0):
                return False
            open_[waiting] = t
            waiting += 1
        n = node[n, 2]
    blocks = value.shape[1]
    for w in range(waiting):
        t = open_[w]
        matches = 2
        n = first[t]
        while n >= 0:
            matches += 1
            n = node[n, 3]
        begin, end = np.empty(matches, np.int64), np.empty(matches, np.int64)
        factor = np.empty((matches, blocks), np.int64)
        matches = 0
        n = first[t]
        while n >= 0:
            if node[n, 1] != bucket:
                begin[matches], end[matches] = runs[node[n, 1], 0], runs[node[n, 1], 1]
                factor[matches] = node_rows[n]
                matches += 1
            n = node[n, 3]
        for side in range(2):
            if on_side(value, t, side, epoch, stamp, shown, top, star, least) > 0:
                begin[matches] = start if side == 0 else middle
                end[matches] = middle if side == 0 else stop
                for b in range(blocks):
                    factor[matches, b] = shown[side, value[t, b]]
                matches += 1
        if not mean_holds(
            t,
            matches,
            begin,
            end,
            factor,
            order,
            tuple_of,
            value,
            sensitive,
            star,
            least,
            mass,
            seen,
        ):
            return False
    return True


@compiled
def replace_nodes(
    bucket: int,
    left: int,
    right: int,
    epoch: int,
    value: I64,
    star: I64,
    least: I64,
    shown: I64,
    stamp: I64,
    top: I64,
    head: I64,
    first: I64,
    node: I64,
    node_rows: I64,
    bad: I64,
    used: int,
) -> int:
    """Let the people who match a bucket match its two halves instead; return the nodes used."""
    head[left] = -1
    head[right] = -1
    n = head[bucket]
    while n >= 0:
        following = node[n, 2]
        t = node[n, 0]
        bad[t] -= node[n, 4]
        if first[t] == n:
            first[t] = node[n, 3]
        else:
            before = first[t]
            while node[before, 3] != n:
                before = node[before, 3]
            node[before, 3] = node[n, 3]
        free = n
        for side in range(2):
            fit = on_side(value, t, side, epoch, stamp, shown, top, star, least)
            if fit == 0:
                continue
            if free < 0:
                free = used
                used += 1
            mine = left if side == 0 else right
            node[free, 0], node[free, 1] = t, mine
            node[free, 2], node[free, 3] = head[mine], first[t]
            node[free, 4] = fit - 1
            for b in range(value.shape[1]):
                node_rows[free, b] = shown[side, value[t, b]]
            head[mine], first[t] = free, free
            bad[t] += fit - 1
            free = -1
        n = following
    return used


@compiled
def tuple_partition(
    codes: I32,
    order: I64,
    runs: I64,
    next_: int,
    buckets: int,
    final: npt.NDArray[np.bool_],
    size: int,
    limited: I32,
    distinct: I64,
    share: I64,
    position: F64,
    place_of: I64,
    missing: I64,
    relaxed: npt.NDArray[np.bool_],
    tuple_of: I64,
    value: I64,
    pair: I64,
    sensitive: I32,
    star: I64,
    least: I64,
    head: I64,
    first: I64,
    node: I64,
    node_rows: I64,
    bad: I64,
    used: int,
    values: int,
    pairs: int,
    work: int,
) -> tuple[int, int, int, bool]:
    """Cut buckets in the order they were made, until none can be or some work is done.

    Parameters
    ----------
    codes : int32 array of shape (rows, attributes)
    order : int64 array of shape (rows,), runs : int64 array of shape (rows · 2, 2)
        Buckets are runs of `order`.
    next_, buckets : int
        The next bucket to cut, and how many were made.
    final : bool array of shape (rows · 2,)
        Buckets that could not be cut.
    size, limited, distinct, share
        What every bucket has to keep by itself, as in `kernels.split`.
    position, place_of, missing, relaxed
        As in `kernels.split`.
    tuple_of, value, pair, sensitive, star, least
        As in `count_side` and `mean_holds`; `least` is l by sensitive column.
    head, first : int64 arrays of shape (rows · 2,) and (tuples,)
        First node of a bucket, of a tuple.
    node : int64 array of shape (room, 5)
        Meetings of a tuple and a bucket: tuple, bucket, next of the bucket, next of the tuple, and
        whether the bucket by itself exceeds 1/l for the tuple.
    node_rows : int64 array of shape (room, blocks)
        Rows of the bucket that show what the tuple shows.
    bad : int64 array of shape (tuples,)
        Meetings that exceed 1/l.
    used, values, pairs, work : int
        Nodes in use; numbers of values, pairs, and row visits before returning.

    Returns
    -------
    next_, buckets, used : int
    room : bool
        False where more room for nodes is needed.
    """
    rows, attributes = codes.shape
    spare, kept = np.empty(rows, np.int64), np.empty(rows, np.int64)
    width, low, high = (
        np.empty(attributes),
        np.empty(attributes, np.int64),
        np.empty(attributes, np.int64),
    )
    ones = np.ones(rows, np.int64)
    highest = 0
    for d in range(attributes):
        for i in range(rows):
            highest = max(highest, codes[i, d])
    count = np.zeros(highest + 1, np.int64)
    stamp_offset = np.zeros(limited.shape[1] + 1, np.int64)
    for s in range(limited.shape[1]):
        widest = 0
        for i in range(rows):
            widest = max(widest, limited[i, s])
        stamp_offset[s + 1] = stamp_offset[s] + widest + 1
    limit_stamp = np.zeros(stamp_offset[-1], np.int64)
    held_of = np.zeros(stamp_offset[-1], np.int64)
    shown, stamp = np.zeros((2, values), np.int64), np.zeros((2, values), np.int64)
    top = np.zeros((2, len(star), values), np.int64)
    tally, tally_stamp = np.zeros((2, pairs), np.int64), np.zeros((2, pairs), np.int64)
    most = 0
    for i in range(rows):
        for j in range(len(star)):
            most = max(most, sensitive[i, j])
    mass, seen = np.zeros(most + 1, np.float64), np.zeros(most + 1, np.bool_)
    open_ = np.empty(len(first), np.int64)
    epoch, limit_epoch, spent = 0, 0, 0
    while next_ < buckets and spent < work:
        start, stop = int(runs[next_, 0]), int(runs[next_, 1])
        spent += stop - start
        # The bucket is cut in two by one of the attributes that vary, the widest first.
        for d in range(attributes):
            low[d] = codes[order[start], d]
            high[d] = low[d]
        for i in range(start, stop):
            for d in range(attributes):
                c = codes[order[i], d]
                low[d] = min(low[d], c)
                high[d] = max(high[d], c)
        for d in range(attributes):
            width[d] = -1.0
            if low[d] < high[d]:
                width[d] = position[place_of[d] + high[d]] - position[place_of[d] + low[d]]
        kept[start:stop] = order[start:stop]
        cut = -1
        for _ in range(attributes):
            d = 0
            for other in range(1, attributes):
                if width[other] > width[d] + _SAME_WIDTH:
                    d = other
            if width[d] < 0.0 or stop - start < 2 * size:
                break
            width[d] = -1.0
            median, before, last = weighted_median(
                order, start, stop, codes, ones, d, low[d], high[d], count
            )
            for attempt in range(4):
                spent += stop - start
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
                    middle = move_inside(order, start, stop, codes, d, 0, bar, spare)
                holds = True
                for side in range(2):
                    limit_epoch += 1
                    holds = holds and side_holds(
                        order,
                        start if side == 0 else middle,
                        middle if side == 0 else stop,
                        ones,
                        size,
                        limited,
                        distinct,
                        share,
                        limit_stamp,
                        held_of,
                        stamp_offset,
                        limit_epoch,
                    )
                if holds and len(star):
                    epoch += 1
                    holds = still_diverse(
                        next_,
                        start,
                        middle,
                        stop,
                        epoch,
                        order,
                        runs,
                        tuple_of,
                        value,
                        pair,
                        sensitive,
                        star,
                        least,
                        shown,
                        stamp,
                        top,
                        tally,
                        tally_stamp,
                        head,
                        first,
                        node,
                        node_rows,
                        bad,
                        mass,
                        seen,
                        open_,
                    )
                if holds:
                    cut = middle
                    break
                order[start:stop] = kept[start:stop]
            if cut >= 0:
                break
        if cut < 0:
            final[next_] = True
            next_ += 1
            continue
        if len(star):
            meeting = 0
            n = head[next_]
            while n >= 0:
                meeting += 1
                n = node[n, 2]
            if used + meeting > len(node):
                order[start:stop] = kept[start:stop]
                return next_, buckets, used, False
            used = replace_nodes(
                next_,
                buckets,
                buckets + 1,
                epoch,
                value,
                star,
                least,
                shown,
                stamp,
                top,
                head,
                first,
                node,
                node_rows,
                bad,
                used,
            )
        runs[buckets, 0], runs[buckets, 1] = start, cut
        runs[buckets + 1, 0], runs[buckets + 1, 1] = cut, stop
        buckets += 2
        next_ += 1
    return next_, buckets, used, True
