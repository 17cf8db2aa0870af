"""How likely each row of a group has each of the sensitive values dealt among its rows.

A group of N rows has N values, and all that is known is which: every deal of them is possible, and
is weighed by the product of what each row's columns say of its value. Kifer 2009,
doi 10.1145/1559845.1559861.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anon_core.base.arrays import F64, I32, I64
from anon_core.kernels.compiled import compiled

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
    """Deal the values of groups first..stop anew; return by how much any share changed at most.

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
