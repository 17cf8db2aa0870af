"""Who matches which bucket of a sliced table, and what follows of the sensitive value."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anon_core.base.arrays import F64, I8, I32, I64
from anon_core.kernels.compilation import compiled

#: Rows of the largest group whose deals are weighed one by one.
MOST_EXACT = 8
_ROUNDS = 50
_CLOSE = 1e-9
_LEAST = -80.0  # of a log: products of as many rows as are weighed one by one stay above 0


class Dealt(NamedTuple):
    """Groups of rows, and the values that are dealt in each.

    Attributes
    ----------
    row_start : int64 array of shape (groups + 1,)
        Where the rows of each group begin.
    cell : int32 array of shape (rows, columns)
        Number of each row's cell of each column, over all columns.
    value_start : int64 array of shape (groups + 1,)
        Where the distinct values of each group begin.
    value : int32 array of shape (values of all groups,)
    times : int64 array of shape (values of all groups,)
        How many rows of the group have it; at least 1, in sum its rows.
    share_start : int64 array of shape (groups + 1,)
        Where the shares of each group begin: row by row, in the order of its values.
    """

    row_start: I64
    cell: I32
    value_start: I64
    value: I32
    times: I64
    share_start: I64


@compiled
def deal_exactly(weight: F64, times: I64, share: F64) -> None:
    """Weigh every deal of a small group; fill in how likely each row has each value.

    What is left of each value is a number of mixed radix; from both ends the weight of all ways to
    get there is summed.

    Parameters
    ----------
    weight : float64 array of shape (rows, values)
        What each row says of each value, above 0.
    times : int64 array of shape (values,)
        In sum the rows.
    share : float64 array of shape (rows, values)
        Filled in.
    """
    rows, values = weight.shape
    step = np.ones(values + 1, np.int64)
    for v in range(values):
        step[v + 1] = step[v] * (times[v] + 1)
    states = step[values]
    after = np.full((states, values), -1, np.int64)  # where a value leads from a state
    for state in range(states):
        for v in range(values):
            if state // step[v] % (times[v] + 1) < times[v]:
                after[state, v] = state + step[v]
    ahead = np.zeros((rows + 1, states))
    ahead[0, 0] = 1.0
    for r in range(rows):
        for state in range(states):
            if ahead[r, state] > 0.0:
                for v in range(values):
                    if after[state, v] >= 0:
                        ahead[r + 1, after[state, v]] += ahead[r, state] * weight[r, v]
    whole = ahead[rows, states - 1]
    behind = np.zeros((2, states))  # of the rows from the next on, and from this one
    behind[rows % 2, states - 1] = 1.0
    for r in range(rows - 1, -1, -1):
        for v in range(values):
            share[r, v] = 0.0
        for state in range(states):
            here = 0.0
            if ahead[r, state] > 0.0:
                for v in range(values):
                    if after[state, v] >= 0:
                        left = weight[r, v] * behind[(r + 1) % 2, after[state, v]]
                        here += left
                        share[r, v] += ahead[r, state] * left
            behind[r % 2, state] = here
        for v in range(values):
            share[r, v] /= whole


@compiled
def deal_by_scaling(weight: F64, times: I64, share: F64) -> None:
    """Scale rows and values of a group in turn, until each row has one value and each its rows.

    Parameters
    ----------
    weight, times, share
        As in `deal_exactly`, of which this is the approximation for larger groups.
    """
    rows, values = weight.shape
    column = np.ones(values)
    for _ in range(_ROUNDS):
        summed = np.zeros(values)
        for r in range(rows):
            total = 0.0
            for v in range(values):
                total += weight[r, v] * column[v]
            for v in range(values):
                summed[v] += weight[r, v] * column[v] / total
        off = 0.0
        for v in range(values):
            off = max(off, abs(summed[v] / times[v] - 1.0))
            column[v] *= times[v] / summed[v]
        if off < _CLOSE:
            break
    for r in range(rows):
        total = 0.0
        for v in range(values):
            share[r, v] = weight[r, v] * column[v]
            total += share[r, v]
        for v in range(values):
            share[r, v] /= total


@compiled
def deal(dealt: Dealt, says: F64, first: int, stop: int, share: F64) -> float:
    """Deal the values of groups first..stop again; return by how much any share changed at most.

    Parameters
    ----------
    says : float64 array of shape (cells, values)
        log of how likely each cell is with each value.
    share : float64 array of shape (shares,)
        How likely each row has each value of its group; overwritten.
    """
    changed = 0.0
    for g in range(first, stop):
        rows = dealt.row_start[g + 1] - dealt.row_start[g]
        times = dealt.times[dealt.value_start[g] : dealt.value_start[g + 1]]
        values = len(times)
        weight = np.zeros((rows, values))
        for r in range(rows):
            best = -np.inf
            for v in range(values):
                of = dealt.value[dealt.value_start[g] + v]
                for c in range(dealt.cell.shape[1]):
                    weight[r, v] += says[dealt.cell[dealt.row_start[g] + r, c], of]
                best = max(best, weight[r, v])
            for v in range(values):
                weight[r, v] = np.exp(max(weight[r, v] - best, _LEAST))
        new = np.zeros((rows, values))
        if rows <= MOST_EXACT:
            deal_exactly(weight, times, new)
        else:
            deal_by_scaling(weight, times, new)
        at = dealt.share_start[g]
        for r in range(rows):
            for v in range(values):
                changed = max(changed, abs(new[r, v] - share[at]))
                share[at] = new[r, v]
                at += 1
    return changed


_BITS = 31
_LIMBS = 600  # whole numbers of 18,600 bits; beyond them a sign is undecided
#: Rounding of sums of positive numbers stays far below; what is nearer is decided in whole numbers.
_NEAR = 1e-9


class Sliced(NamedTuple):
    """A sliced table from the people's side: which buckets publish what each of them shows.

    Attributes
    ----------
    value : int64 array of shape (people, blocks)
        Number of what a person shows in each block, over all blocks; -1 where no bucket has it.
    star : int
        Block of the sensitive column; without quasi-identifiers it has one value that all show.
    value_start : int64 array of shape (values of all blocks + 1,)
        Where the buckets of each value begin in `group` and `rows`.
    group, rows : int64 arrays of shape (pairs,)
        Buckets that publish a value, ascending, and in how many rows; in the block `star`, in how
        many rows that have a sensitive value.
    size : int64 array of shape (buckets,)
    entry_start : int64 array of shape (pairs + 1,)
        Where the sensitive values next to each pair begin in `sensitive` and `next to`; only pairs
        of the block `star` have some.
    sensitive : int32 array of shape (entries,), next to : int64 array of shape (entries,)
        Sensitive values next to a value in a bucket, and their rows.
    """

    value: I64
    star: int
    value_start: I64
    group: I64
    rows: I64
    size: I64
    entry_start: I64
    sensitive: I32
    together: I64


class Posteriors(NamedTuple):
    """What a sliced table says of people.

    Attributes
    ----------
    highest : float64 array of shape (people,)
        max p(t, s) over sensitive values s; 0 where no bucket matches.
    state : int8 array of shape (people,)
        1 where p(t, s) ≤ 1/l for all s, -1 where one is above, 0 where it was not decided. Found
        in whole numbers wherever a quotient comes near to 1/l. Where no row that matches has a
        sensitive value there is no crowd to hide in, and p counts as 1.
    worst : float64 array of shape (buckets,)
        Highest `highest` of anyone who matches the bucket.
    """

    highest: F64
    state: I8
    worst: F64


@compiled
def times(limbs: I64, used: int, factor: int) -> int:
    """Multiply a number of 31-bit limbs by a factor below 2³¹; return its limbs, -1 if too many."""
    carry = 0
    for i in range(used):
        carry += limbs[i] * factor
        limbs[i] = carry & ((1 << _BITS) - 1)
        carry >>= _BITS
    if carry > 0:
        if used == len(limbs):
            return -1
        limbs[used] = carry
        used += 1
    return used


@compiled
def added(total: I64, limbs: I64, used: int) -> bool:
    """Add a number to another; return False where it does not fit."""
    carry = 0
    for i in range(len(total)):
        carry += total[i] + (limbs[i] if i < used else 0)
        total[i] = carry & ((1 << _BITS) - 1)
        carry >>= _BITS
        if carry == 0 and i >= used:
            return True
    return carry == 0


@compiled
def sign_of_sum(excess: I64, factor: I64, size: I64, power: int, terms: int) -> int:
    """Return the sign of Σ excess·Π factor / size^power, in whole numbers; 2 where it is too large.

    Parameters
    ----------
    excess : int64 array of shape (at least terms,)
        Below 2³¹ in size.
    factor : int64 array of shape (at least terms, factors)
    size : int64 array of shape (at least terms,)
    """
    positive = np.zeros(_LIMBS, np.int64)
    negative = np.zeros(_LIMBS, np.int64)
    limbs = np.zeros(_LIMBS, np.int64)
    for i in range(terms):
        if excess[i] == 0:
            continue
        limbs[0] = abs(excess[i])
        used = 1
        for j in range(factor.shape[1]):
            used = times(limbs, used, factor[i, j])
            if used < 0:
                return 2
        for other in range(terms):
            if other != i:
                for _ in range(power):
                    used = times(limbs, used, size[other])
                    if used < 0:
                        return 2
        if not added(positive if excess[i] > 0 else negative, limbs, used):
            return 2
    for i in range(_LIMBS - 1, -1, -1):
        if positive[i] != negative[i]:
            return 1 if positive[i] > negative[i] else -1
    return 0


@compiled
def place_of(group: I64, start: int, stop: int, wanted: int) -> int:
    """Return where `wanted` is in the ascending run group[start:stop], -1 if nowhere."""
    end = stop
    while start < stop:
        middle = (start + stop) // 2
        if group[middle] < wanted:
            start = middle + 1
        else:
            stop = middle
    if start < end and group[start] == wanted:
        return start
    return -1


@compiled
def posteriors(
    buckets: Sliced, most: I64, first: int, last: int, values: int, least: int, found: Posteriors
) -> None:
    """Find, of people first:last, the highest p(t, s) and whether it is above 1/l.

    Parameters
    ----------
    most : int64 array of shape (pairs,)
        Rows of the most common sensitive value next to each pair.
    values : int
        Number of sensitive values.
    least : int
        l.
    found : Posteriors
        Written for these people; the worst of a bucket is raised.
    """
    value, star, value_start, group, rows, size, entry_start, sensitive, count = buckets
    highest, state, worst = found
    blocks = value.shape[1]
    mass = np.zeros(values, np.float64)
    seen = np.zeros(values, np.bool_)
    touched = np.empty(values, np.int64)
    room = 64
    at = np.empty(room, np.int64)
    weight = np.empty(room, np.float64)
    factor = np.ones((room, blocks), np.int64)
    for t in range(first, last):
        highest[t] = 0.0
        state[t] = 1
        lead = 0
        shortest = -1
        for b in range(blocks):
            v = value[t, b]
            wide = value_start[v + 1] - value_start[v] if v >= 0 else 0
            if shortest < 0 or wide < shortest:
                lead, shortest = b, wide
        if shortest == 0:
            continue
        matches = 0
        fine = True
        for p in range(value_start[value[t, lead]], value_start[value[t, lead] + 1]):
            g = group[p]
            if matches == room:
                room *= 2
                larger_at, larger_weight = np.empty(room, np.int64), np.empty(room, np.float64)
                larger_factor = np.ones((room, blocks), np.int64)
                larger_at[:matches] = at[:matches]
                larger_weight[:matches] = weight[:matches]
                larger_factor[:matches] = factor[:matches]
                at, weight, factor = larger_at, larger_weight, larger_factor
            share = 1.0
            inside = True
            for b in range(blocks):
                start = int(value_start[value[t, b]])
                stop = int(value_start[value[t, b] + 1])
                q = p if b == lead else place_of(group, start, stop, g)
                if q < 0:
                    inside = False
                    break
                share /= size[g]
                if b == star:
                    at[matches] = q
                    factor[matches, b] = 1
                else:
                    share *= rows[q]
                    factor[matches, b] = rows[q]
            if inside:
                weight[matches] = share
                fine = fine and least * most[at[matches]] <= rows[at[matches]]
                matches += 1
        if matches == 0:
            continue
        # p(t, s) = Σ w·c(s) / Σ w·n, where n rows of a bucket show what the person shows next to s.
        listed = 0
        total = 0.0
        for i in range(matches):
            q = at[i]
            total += weight[i] * rows[q]
            for e in range(entry_start[q], entry_start[q + 1]):
                s = sensitive[e]
                if not seen[s]:
                    seen[s] = True
                    touched[listed] = s
                    listed += 1
                mass[s] += weight[i] * count[e]
        if total <= 0.0:
            highest[t] = 1.0
            state[t] = -1
        for i in range(listed):
            s = touched[i]
            p = mass[s] / total
            highest[t] = max(highest[t], p)
            if not fine and state[t] >= 0 and least * p > 1.0 - _NEAR:
                if least * p > 1.0 + _NEAR:
                    state[t] = -1
                else:
                    excess = np.empty(matches, np.int64)
                    sizes = np.empty(matches, np.int64)
                    for j in range(matches):
                        q = at[j]
                        excess[j] = -rows[q]
                        sizes[j] = size[group[q]]
                        for e in range(entry_start[q], entry_start[q + 1]):
                            if sensitive[e] == s:
                                excess[j] += least * count[e]
                    sign = sign_of_sum(excess, factor, sizes, blocks, matches)
                    if sign == 1:
                        state[t] = -1
                    elif sign == 2:
                        state[t] = 0
            mass[s] = 0.0
            seen[s] = False
        for i in range(matches):
            g = group[at[i]]
            worst[g] = max(worst[g], highest[t])
