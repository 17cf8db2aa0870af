"""Entropy of a group's sensitive values (Machanavajjhala et al. 2007, doi 10.1145/1217299.1217302).

H ≥ log l is N^N ≥ l^N · Π c^c in whole numbers. Logarithms decide it where they are far from each
other; where they are not, whole numbers do, so that l values in equal numbers always have entropy
l.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import F64, I64
from anon_core.contracts.group_stats import Histogram
from anon_core.contracts.sensitive_share import least_level
from anon_core.methods.sensitive_statistics.exact_decimal import CLOSE, at_most, below


def tails(counted: Histogram, first: int) -> I64:
    """Return r_first + r_(first+1) + … per group, 0 where it has fewer values; shape (groups,)."""
    most = int(counted.count.max(initial=0)) + 1
    # One sort puts entries in order of their group, the most common values first.
    key = np.sort(counted.group * most + (most - 1 - counted.count))
    group = key // most
    start = np.cumsum(counted.kinds) - counted.kinds
    rare = np.arange(len(key)) - start[group] >= first - 1
    count = most - 1 - key[rare] % most
    return np.bincount(group[rare], count, minlength=counted.groups).astype(np.int64)


def recursive(counted: Histogram, c: Fraction, l: int) -> npt.NDArray[np.bool_]:  # noqa: E741
    """Return which groups have r_1 < c · (r_l + … + r_m), shape (groups,)."""
    return below(counted.most_alike, tails(counted, l), c)


def bounded(counted: Histogram, factor: Fraction, first: int) -> npt.NDArray[np.bool_]:
    """Return which groups have r_1 ≤ factor · (r_first + … + r_m), shape (groups,)."""
    return at_most(counted.most_alike, tails(counted, first), factor)


def least_ratio(rows: npt.NDArray[np.int64], first: int, removable: int) -> Fraction | None:
    """Return the least r_1 / (r_first + …) of what is left of a table, None where nothing is.

    Rows that keep no more than x of every value have the ratio x / Σ_(i ≥ first) min(c_i, x) at
    least, which falls with x: the least x within the budget is best.
    """
    if len(rows) < first:
        return None
    level = least_level(rows, removable)
    kept = np.sort(np.minimum(rows, level))[::-1]
    tail = int(kept[first - 1 :].sum())
    return Fraction(level, tail)


def entropy(counted: Histogram) -> F64:
    """Return the entropy of every group in nats, shape (groups,); 0 for a group without rows."""
    weighted = counted.count * np.log(counted.count)
    total = np.bincount(counted.group, weighted, minlength=counted.groups)
    rows = np.maximum(counted.rows, 1)
    return np.maximum(np.log(rows) - total / rows, 0.0)


def keeps_entropy(counted: Histogram, l: Fraction) -> npt.NDArray[np.bool_]:  # noqa: E741
    """Return which groups have an entropy of at least log l, shape (groups,)."""
    kinds, rows = counted.kinds, counted.rows
    asked = math.log(l.numerator) - math.log(l.denominator)
    found = entropy(counted)
    holds = found >= asked
    # Values in equal numbers: the entropy is log of how many there are.
    even = kinds * counted.most_alike == rows
    enough = np.array([n >= l for n in range(int(kinds.max(initial=0)) + 1)], dtype=np.bool_)
    holds[even] = enough[kinds[even]]
    close = np.flatnonzero(~even & (np.abs(found - asked) < CLOSE))
    if len(close):
        open_ = np.isin(counted.group, close)
        order = np.argsort(counted.group[open_], kind="stable")
        counts = np.split(
            counted.count[open_][order],
            np.flatnonzero(np.diff(counted.group[open_][order])) + 1,
        )
        holds[close] = [_decided(tuple(sorted(own.tolist())), l) for own in counts]
    return holds


@lru_cache(maxsize=4096)
def _decided(counts: tuple[int, ...], l: Fraction) -> bool:  # noqa: E741
    """Say whether N^N ≥ l^N · Π c^c; what all counts share makes no difference."""
    shared = math.gcd(*counts)
    rows = sum(counts) // shared
    least = l.numerator**rows
    for count, times in Counter(counts).items():
        least *= (count // shared) ** (count // shared * times)
    return (rows * l.denominator) ** rows >= least


def best_entropy(rows: npt.NDArray[np.int64], removable: int) -> float:
    """Return the largest l that a release of a table reaches, rounded; see `best_counts`.

    Examples
    --------
    >>> [best_entropy(np.array([3, 1]), removable) for removable in (0, 2)]
    [1.7547653506033232, 2.0]
    """
    return max((_effective(own) for own in best_counts(rows, removable)), default=0.0)


def reachable(rows: npt.NDArray[np.int64], removable: int, l: Fraction) -> bool:  # noqa: E741
    """Say whether a release of a table can have an entropy of at least log l in every group."""
    asked = math.log(l.numerator) - math.log(l.denominator)
    for own in best_counts(rows, removable):
        over = math.log(_effective(own)) - asked
        # Near each other, whole numbers decide.
        if over > CLOSE or (over >= -CLOSE and _decided(tuple(sorted(own[own > 0].tolist())), l)):
            return True
    return False


def best_counts(rows: npt.NDArray[np.int64], removable: int) -> list[npt.NDArray[np.int64]]:
    """Return the rows of each value that can be left where the entropy is largest: one of these.

    Entropy is concave, so one group of all rows left reaches as much as any grouping of them.
    Taking a row from the most common value never lowers the entropy while it stays most common; so
    the best is the table cut to the lowest level within the budget, or that with as many rows of
    the next level taken as the budget still has. Between two levels the entropy falls at first, if
    at all, and then rises, so that nothing in between is better.

    Parameters
    ----------
    rows : int64 array of shape (values,)
        Rows of each value that occurs.
    """
    if not len(rows):
        return []
    level = least_level(rows, removable)
    even = np.minimum(rows, level)
    left = removable - int((rows - even).sum())
    if left <= 0 or level == 1:
        return [even]
    more = even.copy()
    more[np.flatnonzero(even == level)[:left]] -= 1
    return [even, more]


def _effective(rows: npt.NDArray[np.int64]) -> float:
    share = rows[rows > 0] / rows.sum()
    if np.all(share == share[0]):
        return float(len(share))
    return float(np.exp(-np.sum(share * np.log(share))))
