"""How far apart a group's sensitive numbers are: (k, e)-anonymity and (ε, m)-anonymity.

Leaves of a column of numbers stand in ascending order, so that what is near a value is a run of
leaves. Runs are found once, in fractions of the numbers as they are written; groups are then
compared by leaf.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from ..base.arrays import I64
from ..contracts.group_stats import Histogram
from .written import as_written


def exact_numbers(number: npt.NDArray[np.float64]) -> list[Fraction]:
    """Return the numbers of leaves as they are written, ascending; a missing one is left out."""
    return [as_written(own) for own in number.tolist() if own == own]


def far_enough(numbers: list[Fraction], e: Fraction) -> I64:
    """Return, for every leaf, the first leaf that is at least e above it; shape (leaves,)."""
    return np.array([bisect_left(numbers, own + e) for own in numbers], dtype=np.int64)


def spans(counted: Histogram) -> tuple[I64, I64]:
    """Return the least and greatest leaf of every group, shape (groups,) each."""
    low = np.full(counted.groups, np.iinfo(np.int32).max, dtype=np.int64)
    high = np.full(counted.groups, -1, dtype=np.int64)
    np.minimum.at(low, counted.group, counted.value)
    np.maximum.at(high, counted.group, counted.value)
    return low, high


@dataclass(frozen=True, kw_only=True, eq=False)
class Near:
    """Which values are near which: first and last leaf of every leaf's neighbourhood.

    Attributes
    ----------
    first, last : int64 arrays of shape (leaves,)
    """

    first: I64
    last: I64


def near(numbers: list[Fraction], epsilon: Fraction, *, relative: bool) -> Near:
    """Return the neighbourhoods |y − x| ≤ ε, or |y − x| ≤ ε·x; ends are inside."""
    reach = [epsilon * own if relative else epsilon for own in numbers]
    ends = list(zip(numbers, reach, strict=True))
    return Near(
        first=np.array([bisect_left(numbers, x - r) for x, r in ends], dtype=np.int64),
        last=np.array([bisect_right(numbers, x + r) - 1 for x, r in ends], dtype=np.int64),
    )


def crowding(counted: Histogram, by: Near) -> I64:
    """Return the most rows near any one row of a group, itself included; shape (groups,)."""
    wide = len(by.first)
    order = np.argsort(counted.group * wide + counted.value)
    group, value = counted.group[order], counted.value[order]
    key = group * wide + value
    upto = np.concatenate([[0], np.cumsum(counted.count[order])])
    begin = np.searchsorted(key, group * wide + by.first[value])
    end = np.searchsorted(key, group * wide + by.last[value], side="right")
    found = np.zeros(counted.groups, dtype=np.int64)
    np.maximum.at(found, group, upto[end] - upto[begin])
    return found


def packed(counted: Histogram, by: Near, enough: int) -> I64:
    """Return how many values of a group lie pairwise apart, up to `enough`; shape (groups,).

    From the least value on, the next that is no longer near is taken: no other choice takes more.
    A group in which every row is near at most 1/m of all has at least m of them.
    """
    wide = len(by.first)
    key = np.sort(counted.group * wide + counted.value)
    found = np.zeros(counted.groups, dtype=np.int64)
    group = np.flatnonzero(counted.kinds)
    place = np.searchsorted(key, group * wide)
    while len(group) and enough:
        enough -= 1
        found[group] += 1
        value = key[place] - group * wide
        place = np.searchsorted(key, group * wide + by.last[value], side="right")
        inside = place < len(key)
        inside[inside] = key[place[inside]] // wide == group[inside]
        group, place = group[inside], place[inside]
    return found


def most_crowded(rows: I64, numbers: list[Fraction], epsilon: Fraction, *, relative: bool) -> int:
    """Return the most rows of a table in a window [x, x + ε], or [x, x(1 + ε)].

    Parameters
    ----------
    rows : int64 array of shape (leaves,)
    numbers : list of Fraction, ascending
    epsilon : Fraction
    relative : bool
    """
    upto = np.concatenate([[0], np.cumsum(rows[: len(numbers)])])
    ends = [bisect_right(numbers, x * (1 + epsilon) if relative else x + epsilon) for x in numbers]
    return max((int(upto[end] - upto[i]) for i, end in enumerate(ends)), default=0)
