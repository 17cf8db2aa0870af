"""How far from each other a group's sensitive numbers are: (k, e)-anonymity and (ε, m)-anonymity.

Leaves of a column of numbers are in ascending order, so that what is near a value is a run of
leaves. Runs are found once, in whole numbers of the unit in which they are written; groups are then
compared by leaf.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import I64
from anon_core.contracts.group_stats import Histogram
from anon_core.methods.sensitive_statistics.exact_decimal import ROOM


def exact_numbers(number: npt.NDArray[np.float64]) -> Sequence[Fraction]:
    """Return the numbers of leaves as they are written, ascending; a missing one is left out."""
    return _exact(number.tobytes())


@lru_cache(maxsize=4)  # every question about a column asks for them again
def _exact(number: bytes) -> tuple[Fraction, ...]:
    written = np.frombuffer(number, dtype=np.float64).tolist()
    return tuple(Fraction(Decimal(str(own))) for own in written if own == own)


def far_enough(numbers: Sequence[Fraction], e: Fraction) -> I64:
    """Return, for every leaf, the first leaf that is at least e above it; shape (leaves,)."""
    whole, reach = _whole(numbers, e, relative=False)
    return np.searchsorted(whole, whole + reach).astype(np.int64)


def _whole(
    numbers: Sequence[Fraction], reach: Fraction, *, relative: bool
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return numbers and what is near each as whole numbers of one unit, shape (leaves,) each."""
    unit = math.lcm(*{own.denominator for own in numbers})
    scaled = [own.numerator * (unit // own.denominator) for own in numbers]
    far, by = reach.numerator, reach.denominator
    most = max((abs(own) for own in scaled[:1] + scaled[-1:]), default=0)
    # Beyond 64 bits, whole numbers of any length.
    dtype: Any = np.int64 if (most + unit) * (by + far) < ROOM else np.object_
    whole, wide = np.array(scaled, dtype=dtype), np.array([unit], dtype=dtype)
    return whole * by, np.broadcast_to((whole if relative else wide) * far, whole.shape)


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


def near(numbers: Sequence[Fraction], epsilon: Fraction, *, relative: bool) -> Near:
    """Return the neighbourhoods |y − x| ≤ ε, or |y − x| ≤ ε·x; ends are inside."""
    whole, reach = _whole(numbers, epsilon, relative=relative)
    return Near(
        first=np.searchsorted(whole, whole - reach).astype(np.int64),
        last=np.searchsorted(whole, whole + reach, side="right").astype(np.int64) - 1,
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
    """Return how many values of each group are pairwise so far from each other, up to `enough`.

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


def most_crowded(
    rows: I64, numbers: Sequence[Fraction], epsilon: Fraction, *, relative: bool
) -> int:
    """Return the most rows of a table in a window [x, x + ε], or [x, x(1 + ε)].

    Parameters
    ----------
    rows : int64 array of shape (leaves,)
    """
    upto = np.concatenate([[0], np.cumsum(rows[: len(numbers)])])
    whole, reach = _whole(numbers, epsilon, relative=relative)
    ends = np.searchsorted(whole, whole + reach, side="right")
    return int((upto[ends] - upto[: len(ends)]).max(initial=0))
