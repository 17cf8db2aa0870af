"""Cell key: noise that depends on the rows of a cell, so that one cell always has one value.

Each row has a secret key. The fractional part of a cell's sum of keys looks its noise up in a
table. Totals do not add up, and bounded noise gives a reader certain intervals.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np
from scipy.optimize import root

from anon_core.base.errors import BadPlan, brief
from anon_core.tables.system import Number, shown

Row = dict[int, Fraction]
#: Keys are whole numbers below it, so that sums are exact.
UNITS = 2**64


def record_keys(secret: int, rows: int) -> list[Fraction]:
    """Return the key of each row; anyone who has the secret has them all."""
    base = hashlib.sha256(str(secret).encode()).digest()
    return [
        Fraction(
            int.from_bytes(
                hashlib.blake2b(row.to_bytes(8, "big"), key=base, digest_size=8).digest(), "big"
            ),
            UNITS,
        )
        for row in range(rows)
    ]


def cell_key(keys: Iterable[Fraction]) -> Fraction:
    """Return the fractional part of the sum of keys.

    Examples
    --------
    >>> cell_key([Fraction(9, 10), Fraction(3, 10), Fraction(3, 5)])
    Fraction(4, 5)
    """
    return sum(keys, Fraction(0)) % 1


def noise_row(count: int, most: int, variance: Number, least: int = 1) -> Row:
    """Return the chances of each noise for a count: mean 0, the variance, maximum entropy.

    Parameters
    ----------
    count : int
        0 stays as it is.
    most : int
        D: the largest noise.
    least : int
        js: no result of 1 to this number appears.

    Raises
    ------
    BadPlan
        If no noise of this size has the variance.
    """
    if count == 0:
        return {0: Fraction(1)}
    support = [v for v in range(-most, most + 1) if count + v == 0 or count + v > least]
    low, high = _variances(support)
    if not low <= variance <= high:
        raise BadPlan(
            f"Noise of at most {most} for a count of {count} cannot have the variance "
            f"{brief(float(variance))}; allowed are {shown(low)} to {shown(high)}.",
            remedy="Change the variance or the largest noise.",
        )
    if len(support) == 3:
        return _three(support, Fraction(variance))
    points = np.array(support, dtype=float)

    def off(x: np.ndarray) -> list[float]:
        p = np.exp(x[0] + x[1] * points + x[2] * points**2)
        return [p.sum() - 1, (p * points).sum(), (p * points**2).sum() - float(variance)]

    found = root(off, [-math.log(len(support)), 0.0, 0.0], tol=1e-13)
    p = np.exp(found.x[0] + found.x[1] * points + found.x[2] * points**2)
    if not found.success or max(map(abs, off(found.x))) > 1e-9:
        raise BadPlan(
            f"No noise of maximum entropy was found for a count of {count} and the variance "
            f"{brief(float(variance))}.",
            remedy=f"Choose a variance well inside {shown(low)} to {shown(high)}.",
        )
    return {v: Fraction(float(x)) for v, x in zip(support, p, strict=True)}


def _variances(support: Sequence[int]) -> tuple[Fraction, Fraction]:
    """Return least and greatest variance of noise of mean 0 on these values."""
    below = [v for v in support if v < 0]
    above = [v for v in support if v > 0]
    if 0 in support:
        low = Fraction(0)
    elif not below or not above:
        return Fraction(1), Fraction(0)
    else:
        low = Fraction(-max(below) * min(above))
    return low, Fraction(-min(support) * max(support))


def _three(support: Sequence[int], variance: Fraction) -> Row:
    """Solve sum 1, mean 0 and the variance for three values, exactly (Lagrange)."""
    a, b, c = support
    moments = {
        a: (variance + b * c) / ((a - b) * (a - c)),
        b: (variance + a * c) / ((b - a) * (b - c)),
        c: (variance + a * b) / ((c - a) * (c - b)),
    }
    return {v: Fraction(p) for v, p in moments.items()}


def noise(row: Row, key: Fraction) -> int:
    """Return the first noise whose cumulated chance is above the key; the upper end is excluded."""
    total = Fraction(0)
    for value, chance in sorted(row.items()):
        total += chance
        if key < total:
            return value
    return max(row)


def perturbed(count: int, key: Fraction, rows: Sequence[Row]) -> int:
    """Return a count with the noise of its row; large counts share the last row."""
    return count + noise(rows[min(count, len(rows) - 1)], key)


def perturbed_amount(
    value: Number, largest: Number, share: Fraction, key: Fraction, rows: Sequence[Row]
) -> Fraction:
    """Return a sum with noise in units of its largest contribution, between two rows."""
    unit = share * Fraction(largest)
    if not unit:
        return Fraction(value)
    place = min(abs(Fraction(value)) / unit, Fraction(len(rows) - 1))
    below = math.floor(place)
    part = place - below
    above = min(below + 1, len(rows) - 1)
    drawn = (1 - part) * noise(rows[below], key) + part * noise(rows[above], key)
    return Fraction(value) + unit * drawn
