"""How much likelier a group makes a value than the whole table does: β-likeness, δ-disclosure.

With c of a group's N rows and R of the table's n, a value's share grows from p = R/n to q = c/N.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

import numpy as np

from anon_core.base.arrays import B1, F64, I64
from anon_core.contracts.group_stats import Histogram
from anon_core.methods.sensitive_statistics.exact_decimal import (
    CLOSE,
    ROOM,
    as_decimal,
    at_most,
    log_of,
)


def gains(counted: Histogram, rows: I64) -> F64:
    """Return the largest (q − p) / p of every group's values, shape (groups,); 0 where none grows.

    Parameters
    ----------
    rows : int64 array of shape (leaves,)
        Rows of each value in the whole table.
    """
    found = np.zeros(counted.groups, dtype=np.float64)
    np.maximum.at(found, counted.group, _ratio(counted, rows) - 1.0)
    return found


def gains_at_most(counted: Histogram, rows: I64, beta: Fraction) -> B1:
    """Return in which groups no value's share grows by more than β of itself, shape (groups,)."""
    part, whole = _products(counted, rows)
    return _everywhere(counted, at_most(part, whole, 1 + beta))


def gains_below_surprise(counted: Histogram, rows: I64) -> B1:
    """Return in which groups no value's share grows by more than −ln p of itself, shape (groups,).

    −ln p is irrational but for p = 1, where a share cannot grow: there are no ties.
    """
    n = int(rows.sum())
    own = rows[counted.value]
    gain = _ratio(counted, rows) - 1.0
    limit = np.log(n) - np.log(own)
    good = (gain <= limit) | (own == n)
    for i in np.flatnonzero((np.abs(gain - limit) < CLOSE) & (own < n)).tolist():
        good[i] = _less_surprising(
            int(counted.count[i]), int(counted.rows[counted.group[i]]), int(own[i]), n
        )
    return _everywhere(counted, good)


@lru_cache(maxsize=65536)
def _less_surprising(count: int, size: int, rows: int, n: int) -> bool:
    gain = Fraction(count * n, rows * size) - 1
    return as_decimal(gain) <= log_of(Fraction(n, rows))


def disclosure(counted: Histogram, rows: I64) -> F64:
    """Return the largest |ln(q/p)| over all values of the table, shape (groups,).

    A value that a group does not show was ruled out: infinity.
    """
    found = np.zeros(counted.groups, dtype=np.float64)
    np.maximum.at(found, counted.group, np.abs(np.log(_ratio(counted, rows))))
    found[counted.kinds < np.count_nonzero(rows)] = np.inf
    return found


def disclosed_below(counted: Histogram, rows: I64, delta: Fraction) -> B1:
    """Return in which groups |ln(q/p)| < δ for every value of the table, shape (groups,).

    e^δ is irrational for every δ ≠ 0 that can be written: there are no ties.
    """
    n = int(rows.sum())
    found = np.abs(np.log(_ratio(counted, rows)))
    good = found < float(delta)
    for i in np.flatnonzero(np.abs(found - float(delta)) < CLOSE).tolist():
        good[i] = _is_below(
            int(counted.count[i]) * n,
            int(rows[counted.value[i]]) * int(counted.rows[counted.group[i]]),
            delta,
        )
    return _everywhere(counted, good) & (counted.kinds == np.count_nonzero(rows))


@lru_cache(maxsize=65536)
def _is_below(above: int, under: int, delta: Fraction) -> bool:
    return abs(log_of(Fraction(above, under))) < as_decimal(delta)


def likely_rows(counted: Histogram, rows: I64, beta: Fraction, *, enhanced: bool) -> F64:
    """Return Σ (1 + β_v)·p_v over the values each group shows, shape (groups,).

    β_v is β, or −ln p_v where that is less and `enhanced` says so. No value of a good group fills
    more than (1 + β_v)·p_v of it, so that a group with a sum below 1 holds none.
    """
    n = max(int(rows.sum()), 1)
    limit = np.full(len(rows), float(beta))
    share = rows / n
    if enhanced:
        surprise = -np.log(share, out=np.zeros(len(rows)), where=rows > 0)
        limit = np.minimum(limit, surprise)
    weight = ((1.0 + limit) * share)[counted.value]
    return np.bincount(counted.group, weight, minlength=counted.groups).astype(np.float64)


def _ratio(counted: Histogram, rows: I64) -> F64:
    """Return q / p of every entry, rounded, shape (entries,)."""
    size = counted.rows[counted.group].astype(np.float64)
    return (counted.count * float(rows.sum())) / (rows[counted.value] * size)


def _products(counted: Histogram, rows: I64) -> tuple[I64, I64]:
    """Return c · n and R · N of every entry: q / p is their quotient."""
    n = int(rows.sum())
    count, own, size = counted.count, rows[counted.value], counted.rows[counted.group]
    if n * n >= ROOM:
        count, own = count.astype(object), own.astype(object)
    return count * n, own * size


def _everywhere(counted: Histogram, good: B1) -> B1:
    """Return in which groups all entries are good, shape (groups,)."""
    return np.bincount(counted.group[~good], minlength=counted.groups) == 0
