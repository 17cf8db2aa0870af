"""How common a group's most common value is beside the rarer ones (recursive diversity).

With r_1 ≥ r_2 ≥ … the rows of a group's values: r_1 against r_j + r_(j+1) + …
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import I64
from anon_core.contracts.group_stats import Histogram
from anon_core.contracts.sensitive_share import least_level
from anon_core.methods.sensitive_statistics.exact_decimal import at_most, below


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
