"""Proven brackets around chances of presence where the solutions are too many to count.

Someone who fits several groups is set against the people who fit only one of them and look alike
there. Exchanging the person for one of those turns a solution with the person outside into one with
the person in the group, and back. Both ways of counting such exchanges give the same number:
N(outside) · E[alike people in the group | outside] = N(in it) · E[alike people not in it | in it].
How many of the alike people are in a group is known between narrow bounds, so the odds are too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from anon_core.base.arrays import B1, F64, I64
from anon_core.methods.membership.equations import System

_ROUNDS = 6  # people held at once; each round narrows by the share of people who fit several groups
_MOST = 1e6  # odds above are taken for unbounded, so that sums of them stay precise
_SLACK = 1e-9  # far above rounding; brackets are widened by it


@dataclass(frozen=True, kw_only=True, eq=False)
class _Shared:
    """The variables of people who fit several groups.

    Attributes
    ----------
    at : int64 array of shape (entries,)
        Variables that say how many of a type are in a group.
    person : int64 array of shape (entries,)
        Type of each, numbered from 0.
    outside : int64 array of shape (types,)
        Variable that says how many of the type are in no group.
    twin : int64 array of shape (entries,)
        Variable of the people who look alike in the group and fit no other; -1 where no one does.
    """

    at: I64
    person: I64
    outside: I64
    twin: I64


def expected(system: System, lower: I64, upper: I64) -> tuple[F64, F64]:
    """Return bounds on the expected value of every variable over all equally likely choices.

    Parameters
    ----------
    system : System
        With at least one solution; of parts without one the bounds mean nothing.
    lower, upper : int64 arrays of shape (variables,)
        No solution lies outside.

    Returns
    -------
    low, high : float64 arrays of shape (variables,)
        People.

    Notes
    -----
    Exchanging is the switching method of counting matrices with given sums (McKay 1981, for
    graphs), here by exact sums over all solutions. What holds with some people's places known
    narrows what holds with one fewer known.
    """
    low, high = lower.astype(np.float64), upper.astype(np.float64)
    shared = _shared(system)
    if len(shared.at):
        share_low, share_high, out_low, out_high = _shares(system, shared, lower, upper)
        at, people = shared.at, system.people
        low[at] = np.maximum(low[at], people[at] * share_low)
        high[at] = np.minimum(high[at], people[at] * share_high)
        at = shared.outside
        low[at] = np.maximum(low[at], people[at] * out_low)
        high[at] = np.minimum(high[at], people[at] * out_high)
    low, high = _propagated(system, low, high)
    fixed = lower == upper
    low = np.where(fixed, lower, np.maximum(low - _SLACK * (1.0 + high), lower))
    high = np.where(fixed, upper, np.minimum(high + _SLACK * (1.0 + high), upper))
    return low, high


def limits(system: System, lower: I64, upper: I64, outside: B1) -> tuple[F64, F64]:
    """Return proven limits of every variable's share of people, as `expected` does of people.

    Parameters
    ----------
    lower, upper : int64 arrays of shape (variables,)
    outside : bool array of shape (variables,)
        Variables that count the people in no group; theirs are the limits of all others' share.

    Returns
    -------
    low, high : float64 arrays of shape (variables,)
        0 and 1 where no one fits several groups: then they say no more than the bounds do.
    """
    if not system.shared.any():
        return np.zeros(system.variables), np.ones(system.variables)
    low, high = (mean / np.maximum(system.people, 1) for mean in expected(system, lower, upper))
    return np.where(outside, 1.0 - high, low), np.where(outside, 1.0 - low, high)


def _shared(system: System) -> _Shared:
    rows = system.rows
    inside = rows >= 0
    alone = system.shared & (inside.sum(axis=1) == 1)
    outside = np.flatnonzero(alone)
    choice = np.full(len(system.total) + 1, -1, dtype=np.int64)
    row = rows[outside].max(axis=1, initial=-1)
    often = np.bincount(row, minlength=len(choice))
    outside, row = outside[often[row] == 1], row[often[row] == 1]
    choice[row] = np.arange(len(outside))
    person = choice[rows].max(axis=1, initial=-1)
    # What is in no published row is not distinguished from the people outside.
    at = np.flatnonzero(system.shared & ~alone & (person >= 0))
    own = np.sort(np.where(choice[rows] >= 0, -1, rows), axis=1)
    single = np.flatnonzero(~system.shared & inside.any(axis=1))
    _, key = np.unique(np.concatenate([own[single], own[at]]), axis=0, return_inverse=True)
    key = key.ravel()
    twin = np.full(int(key.max(initial=-1)) + 1, -1, dtype=np.int64)
    twin[key[: len(single)]] = single
    return _Shared(at=at, person=person[at], outside=outside, twin=twin[key[len(single) :]])


def _shares(system: System, shared: _Shared, lower: I64, upper: I64) -> tuple[F64, F64, F64, F64]:
    """Return bounds on the chance of one person to be in each group, and in none."""
    at, types = shared.at, len(shared.outside)
    people = system.people[at]
    never, always = upper[at] == 0, (lower[at] == people) & (people > 0)
    low, high = always.astype(np.float64), 1.0 - never
    out_low, out_high = np.zeros(types), np.ones(types)
    for held in reversed(range(_ROUNDS)):
        least, most = _odds(system, shared, lower, upper, (low, high), held)
        least, most = np.where(never, 0.0, least), np.where(never, 0.0, most)
        endless = ~(most < _MOST)
        sure = np.minimum(least, _MOST)
        finite = np.where(endless, 0.0, most)
        sum_low = np.bincount(shared.person, sure, types)
        sum_high = np.bincount(shared.person, finite, types)
        without = np.bincount(shared.person, endless, types)
        others = np.maximum(sum_low[shared.person] - sure - _SLACK, 0.0)
        found_high = np.where(endless, 1.0, finite / (1.0 + finite + others))
        others = sum_high[shared.person] - finite + _SLACK
        bounded = without[shared.person] - endless == 0
        found_low = np.where(bounded, sure / (1.0 + sure + others), 0.0)
        low, high = np.maximum(always, found_low), np.minimum(1.0 - never, found_high)
        out_low = np.where(without == 0, 1.0 / (1.0 + sum_high + _SLACK), 0.0)
        out_high = 1.0 / (1.0 + np.maximum(sum_low - _SLACK, 0.0))
    return low, high, out_low, out_high


def _odds(
    system: System,
    shared: _Shared,
    lower: I64,
    upper: I64,
    share: tuple[F64, F64],
    held: int,
) -> tuple[F64, F64]:
    """Return bounds on a person's odds of each group against none, `held` others' places known.

    Parameters
    ----------
    share : tuple of float64 arrays of shape (entries,)
        Bounds on the chance of each group with one more place known.
    """
    size = len(system.total)
    at, rows = shared.at, system.rows
    people = system.people[at].astype(np.float64)
    low, high = share
    known = shared.twin >= 0
    twin = np.maximum(shared.twin, 0)
    least_out = lower[twin].astype(np.float64)
    most_out = upper[twin].astype(np.float64)
    least_in, most_in = least_out.copy(), most_out.copy()
    others = np.ones(system.variables, dtype=np.bool_)
    others[at] = False
    padded = np.where(rows < 0, size, rows)
    single = np.bincount(padded[others].ravel(), minlength=size + 1)
    flat, width = padded[at].ravel(), rows.shape[1]
    sums = [np.bincount(flat, np.repeat(w, width), size + 1) for w in (people * low, people * high)]
    whole = np.bincount(flat, np.repeat(people, width), size + 1)
    for row in padded[at].T:
        # In such a row anyone who is not one of the alike people fits several groups.
        only = (single[row] == 1) & (padded[twin] == row[:, None]).any(axis=1) & (row < size)
        total = np.append(system.total, 0)[row]
        fewest = np.maximum(sums[0][row] - low - held, 0.0)
        most = np.minimum(sums[1][row] - high + held, whole[row] - 1.0)
        least_out = np.where(only, np.maximum(least_out, total - most), least_out)
        most_out = np.where(only, np.minimum(most_out, total - fewest), most_out)
        least_in = np.where(only, np.maximum(least_in, total - most - 1.0), least_in)
        most_in = np.where(only, np.minimum(most_in, total - fewest - 1.0), most_in)
    pool = system.people[twin].astype(np.float64)
    out_low, out_high = np.maximum(least_out, 0.0), np.maximum(most_out, 0.0)
    in_low, in_high = np.maximum(pool - most_in, 0.0), np.maximum(pool - least_in, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        least = np.where(known & (out_low > 0), out_low / in_high, 0.0)
        most = np.where(known & (in_low > 0), out_high / in_low, np.inf)
    return least * (1.0 - _SLACK), most * (1.0 + _SLACK)


def _propagated(system: System, low: F64, high: F64) -> tuple[F64, F64]:
    """Narrow expected values by what their rows add up to: expectations add up as values do."""
    size, width = len(system.total), system.rows.shape[1]
    rows = np.where(system.rows < 0, size, system.rows)
    flat = rows.ravel()
    total = np.append(system.total, 0).astype(np.float64)
    for _ in range(_ROUNDS):
        room = total - np.bincount(flat, np.repeat(low, width), size + 1)
        need = total - np.bincount(flat, np.repeat(high, width), size + 1)
        room[size], need[size] = np.inf, -np.inf
        slack = _SLACK * (1.0 + high)
        most = low + room[rows].min(axis=1, initial=np.inf) + slack
        least = high + need[rows].max(axis=1, initial=-np.inf) - slack
        low, high = np.maximum(low, least), np.minimum(high, most)
    return low, high
