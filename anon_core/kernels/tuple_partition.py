"""Slicing's tuple partition: halve buckets while everyone stays l-diverse over all of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anon_core.base.arrays import B1, F64, I32, I64
from anon_core.kernels.compilation import compiled
from anon_core.kernels.cuts import (
    Counted,
    Limits,
    move_half,
    move_inside,
    room_for,
    side_holds,
    ties_below,
    weighted_median,
)
from anon_core.kernels.sliced import sign_of_sum

_SAME_WIDTH = 1e-9
_NEAR = 1e-9  # what comes nearer to 1/l is decided in whole numbers


class People(NamedTuple):
    """What rows show in each column set, and which sensitive values are watched next to it.

    Attributes
    ----------
    tuple_of : int64 array of shape (rows,)
    value : int64 array of shape (tuples, blocks)
        What a tuple shows in each block, numbered over all blocks.
    pair : int64 array of shape (rows, columns)
        Number of the row's value in the block of a sensitive column with its sensitive value; -1
        where that is missing.
    sensitive : int32 array of shape (rows, columns)
        -1 where missing: p(t, s) is the chance among rows that have a value.
    star, least : int64 arrays of shape (columns,)
        Block of each sensitive column, and l.
    values, pairs : int
        How many of them there are.
    """

    tuple_of: I64
    value: I64
    pair: I64
    sensitive: I32
    star: I64
    least: I64
    values: int
    pairs: int


class Axes(NamedTuple):
    """The attributes that buckets are cut by.

    Attributes
    ----------
    codes : int32 array of shape (rows, attributes)
    position : float64 array
        Normalized position of every leaf, attribute after attribute.
    place_of, missing : int64 arrays of shape (attributes,)
        Where an attribute begins in these, and the leaf of its missing value, or -1.
    relaxed : bool array of shape (attributes,)
        Whether rows at a median may part.
    """

    codes: I32
    position: F64
    place_of: I64
    missing: I64
    relaxed: B1


class Runs(NamedTuple):
    """Buckets as runs of an order of the rows.

    Attributes
    ----------
    order : int64 array of shape (rows,), permuted in place
    runs : int64 array of shape (2 · rows, 2)
        Start and stop of each bucket.
    final : bool array of shape (2 · rows,)
        Buckets that could not be cut.
    """

    order: I64
    runs: I64
    final: B1


class Meetings(NamedTuple):
    """Which tuples match which buckets, as lists of nodes.

    Attributes
    ----------
    head, first : int64 arrays of shape (2 · rows,) and (tuples,)
        First node of a bucket, of a tuple.
    node : int64 array of shape (room, 5)
        Meetings of a tuple and a bucket: tuple, bucket, next of the bucket, next of the tuple, and
        whether the bucket by itself exceeds 1/l for the tuple.
    node_rows : int64 array of shape (room, blocks)
        Rows of the bucket that show what the tuple shows.
    bad : int64 array of shape (tuples,)
        Meetings that exceed 1/l.
    """

    head: I64
    first: I64
    node: I64
    node_rows: I64
    bad: I64


class Progress(NamedTuple):
    """How far cutting has come: the next bucket to cut, the buckets made, the nodes in use."""

    next_: int
    made: int
    used: int


class Sides(NamedTuple):
    """What the two sides of a cut show; valid where stamped with its epoch.

    Attributes
    ----------
    shown, stamp : int64 arrays of shape (2, values)
        Rows that show a value on this side.
    top : int64 array of shape (2, 2 · columns, values)
        Of the rows that show a value: those with the most common sensitive value, and, after all
        columns of these, those that have a sensitive value.
    tally, tally_stamp : int64 arrays of shape (2, pairs)
    """

    shown: I64
    stamp: I64
    top: I64
    tally: I64
    tally_stamp: I64


class Room(NamedTuple):
    """Room to decide whether a cut holds, left as it was.

    Attributes
    ----------
    mass : float64 array, seen : bool array of shape (sensitive values,)
    open_ : int64 array of shape (tuples,)
    """

    mass: F64
    seen: B1
    open_: I64


class Matches(NamedTuple):
    """Buckets that match a tuple.

    Attributes
    ----------
    begin, end : int64 arrays of shape (at least the matches,)
        As runs of the order.
    factor : int64 array of shape (at least the matches, blocks)
        Rows of each bucket that show what the tuple shows, block by block.
    """

    begin: I64
    end: I64
    factor: I64


class Cut(NamedTuple):
    """A bucket, cut at `middle` in what is from `start` to `stop`, with an epoch of its own."""

    bucket: int
    start: int
    middle: int
    stop: int
    epoch: int


@compiled
def count_side(
    order: I64, start: int, stop: int, people: People, side: int, epoch: int, sides: Sides
) -> None:
    """Count what order[start:stop] shows, and the most common sensitive value next to each."""
    tuple_of, value, pair, star = people.tuple_of, people.value, people.pair, people.star
    shown, stamp, top = sides.shown, sides.stamp, sides.top
    tally, tally_stamp = sides.tally, sides.tally_stamp
    for i in range(start, stop):
        row = order[i]
        t = tuple_of[row]
        for b in range(value.shape[1]):
            v = value[t, b]
            if stamp[side, v] != epoch:
                stamp[side, v] = epoch
                shown[side, v] = 0
                for j in range(2 * len(star)):
                    top[side, j, v] = 0
            shown[side, v] += 1
        for j in range(len(star)):
            p = pair[row, j]
            if p < 0:
                continue
            if tally_stamp[side, p] != epoch:
                tally_stamp[side, p] = epoch
                tally[side, p] = 0
            tally[side, p] += 1
            v = value[t, star[j]]
            top[side, j, v] = max(top[side, j, v], tally[side, p])
            top[side, len(star) + j, v] += 1


@compiled
def on_side(people: People, t: int, side: int, epoch: int, sides: Sides) -> int:
    """Return 0 where a side does not match a tuple, 1 where it keeps 1/l by itself, else 2."""
    value, star, least = people.value, people.star, people.least
    stamp, top = sides.stamp, sides.top
    for b in range(value.shape[1]):
        if stamp[side, value[t, b]] != epoch:
            return 0
    for j in range(len(star)):
        v = value[t, star[j]]
        if least[j] * max(top[side, j, v], 1) > top[side, len(star) + j, v]:
            return 2
    return 1


@compiled
def mean_holds(
    t: int, matches: int, found: Matches, order: I64, people: People, room: Room
) -> bool:
    """Return whether p(t, s) ≤ 1/l for every sensitive value, over the buckets that match.

    Where none of the rows that match has a value, there is no crowd to hide in.
    """
    begin, end, factor = found.begin, found.end, found.factor
    tuple_of, value, sensitive = people.tuple_of, people.value, people.sensitive
    star, least = people.star, people.least
    mass, seen = room.mass, room.seen
    blocks = value.shape[1]
    for j in range(len(star)):
        v = value[t, star[j]]
        weight = np.empty(matches, np.float64)
        known = np.zeros(matches, np.int64)
        others = factor[:matches].copy()
        others[:, star[j]] = 1
        total = 0.0
        rows = 0
        for i in range(matches):
            weight[i] = 1.0
            for b in range(blocks):
                weight[i] *= others[i, b] / (end[i] - begin[i])
            rows += factor[i, star[j]]
        touched = np.empty(rows, np.int64)
        listed = 0
        for i in range(matches):
            for place in range(begin[i], end[i]):
                row = order[place]
                if value[tuple_of[row], star[j]] == v:
                    s = sensitive[row, j]
                    if s < 0:
                        continue
                    known[i] += 1
                    if not seen[s]:
                        seen[s] = True
                        touched[listed] = s
                        listed += 1
                    mass[s] += weight[i]
            total += weight[i] * known[i]
        holds = total > 0.0
        for k in range(listed):
            s = touched[k]
            if not holds:
                mass[s] = 0.0
                seen[s] = False
                continue
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
                excess[i] = -known[i]
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
    cut: Cut, by: Runs, people: People, sides: Sides, meetings: Meetings, room: Room
) -> bool:
    """Return whether everyone stays l-diverse when a bucket is cut in two (algorithm 4).

    Only people who match the bucket are touched. Anyone who meets 1/l in each of the buckets that
    match keeps it in their mean; the mean itself is taken of the others.
    """
    bucket, start, middle, stop, epoch = cut
    order, runs = by.order, by.runs
    head, first, bad = meetings.head, meetings.first, meetings.bad
    node, node_rows = meetings.node, meetings.node_rows
    value, shown, open_ = people.value, sides.shown, room.open_
    count_side(order, start, middle, people, 0, epoch, sides)
    count_side(order, middle, stop, people, 1, epoch, sides)
    waiting = 0
    n = head[bucket]
    while n >= 0:
        t = node[n, 0]
        left = on_side(people, t, 0, epoch, sides)
        right = on_side(people, t, 1, epoch, sides)
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
            if on_side(people, t, side, epoch, sides) > 0:
                begin[matches] = start if side == 0 else middle
                end[matches] = middle if side == 0 else stop
                for b in range(blocks):
                    factor[matches, b] = shown[side, value[t, b]]
                matches += 1
        found = Matches(begin, end, factor)
        if not mean_holds(t, matches, found, order, people, room):
            return False
    return True


@compiled
def replace_nodes(
    bucket: int,
    left: int,
    right: int,
    epoch: int,
    people: People,
    sides: Sides,
    meetings: Meetings,
    used: int,
) -> int:
    """Let the people who match a bucket match its two halves instead; return the nodes used."""
    head, first, bad = meetings.head, meetings.first, meetings.bad
    node, node_rows = meetings.node, meetings.node_rows
    value, shown = people.value, sides.shown
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
            fit = on_side(people, t, side, epoch, sides)
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
    axes: Axes,
    by: Runs,
    limits: Limits,
    people: People,
    meetings: Meetings,
    progress: Progress,
    work: int,
) -> tuple[Progress, bool]:
    """Cut buckets in the order they were made, until none can be or some work is done.

    Parameters
    ----------
    limits : Limits
        What every bucket has to keep by itself.
    work : int
        Row visits before returning.

    Returns
    -------
    progress : Progress
    room : bool
        False where more room for nodes is needed.
    """
    codes, position, place_of = axes.codes, axes.position, axes.place_of
    missing, relaxed = axes.missing, axes.relaxed
    order, runs, final = by.order, by.runs, by.final
    star, sensitive, size = people.star, people.sensitive, limits.least
    head, node = meetings.head, meetings.node
    next_, buckets, used = progress
    rows, attributes = codes.shape
    spare, kept = np.empty(rows, np.int64), np.empty(rows, np.int64)
    width, low, high = (
        np.empty(attributes),
        np.empty(attributes, np.int64),
        np.empty(attributes, np.int64),
    )
    ones = np.ones(rows, np.int64)
    alone = Counted(codes, ones)
    highest = 0
    for d in range(attributes):
        for i in range(rows):
            highest = max(highest, codes[i, d])
    count = np.zeros(highest + 1, np.int64)
    held = room_for(limits.sensitive)
    values, pairs = people.values, people.pairs
    sides = Sides(
        np.zeros((2, values), np.int64),
        np.zeros((2, values), np.int64),
        np.zeros((2, 2 * len(star), values), np.int64),
        np.zeros((2, pairs), np.int64),
        np.zeros((2, pairs), np.int64),
    )
    most = 0
    for i in range(rows):
        for j in range(len(star)):
            most = max(most, sensitive[i, j])
    room = Room(
        np.zeros(most + 1, np.float64),
        np.zeros(most + 1, np.bool_),
        np.empty(len(meetings.first), np.int64),
    )
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
                order, start, stop, alone, d, low[d], high[d], count
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
                    begin = start if side == 0 else middle
                    end = middle if side == 0 else stop
                    holds = holds and side_holds(order, begin, end, ones, limits, held, limit_epoch)
                if holds and len(star):
                    epoch += 1
                    here = Cut(next_, start, middle, stop, epoch)
                    holds = still_diverse(here, by, people, sides, meetings, room)
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
                return Progress(next_, buckets, used), False
            used = replace_nodes(next_, buckets, buckets + 1, epoch, people, sides, meetings, used)
        runs[buckets, 0], runs[buckets, 1] = start, cut
        runs[buckets + 1, 0], runs[buckets + 1, 1] = cut, stop
        buckets += 2
        next_ += 1
    return Progress(next_, buckets, used), True
