"""How large a class must be for (ε, δ), recomputed: by sizes of tables, not of samples.

Shares are bounded by a series in fractions; δ is the greatest of the chances P[Bin(n, β) > γ n], as
the definition has it, from the least n on for which a class can be published. These chances come
from the incomplete beta function, a little raised, so that a tie counts against the release.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

_TERMS = 200
_GRAIN = 1 << 64
_FINE = 1 << 400
#: Floats of the incomplete beta function are good to about 10**-12.
_RAISED = 1 + 1e-9
#: Sizes of tables that are looked at; beyond, nothing is decided.
MOST_SIZES = 20_000_000


def falling(exponent: Fraction) -> tuple[Fraction, Fraction]:
    """Return a lower and an upper bound of e^−x for x up to 64: 1 over the series of e^x.

    Examples
    --------
    >>> low, high = falling(Fraction(1))
    >>> low < high, float(low) == float(high) == 0.36787944117144233
    (True, True)
    """
    # e^(x/64) by its first terms: the rest is less than twice the last. Then its 64th power.
    part = exponent / 64
    term = total = Fraction(1)
    for n in range(1, _TERMS):
        term = Fraction(math.ceil(term * part / n * _FINE), _FINE)
        total += term
    short = total - Fraction(2 * _TERMS, _FINE)  # every term is raised by less than two parts
    long = total + 2 * term
    return (1 / long) ** 64, (1 / short) ** 64


def share_of(epsilon: Fraction, most: Fraction) -> tuple[Fraction, Fraction]:
    """Return β and a lower bound of γ = 1 − (1 − β) e^−ε."""
    upper = falling(epsilon)[1]
    share = Fraction(math.floor(min(1 - upper, most) * _GRAIN), _GRAIN)
    return share, 1 - (1 - share) * upper


def least_of(share: Fraction, gamma: Fraction, delta: Fraction) -> int | None:
    """Return the least k with δ(k) ≤ δ; None where that takes too many sizes of tables.

    δ(k) is the greatest chance over n ≥ ⌈k/γ − 1⌉. Let n be the last whose chance exceeds δ: k is
    the least for which ⌈k/γ − 1⌉ > n, that is k > γ (n + 1).
    """
    from scipy.special import betainc

    near, far = float(gamma), float(1 - gamma)
    entropy = near * math.log(float(gamma / share))
    entropy += far * math.log(float((1 - gamma) / (1 - share)))
    sizes = math.ceil(-math.log(float(delta)) / (entropy * (1 - 1e-6))) + 1
    if sizes > MOST_SIZES:
        return None
    # ⌊γ n⌋ in whole numbers; γ is taken down to 2**-200, which can only lower it.
    scaled = math.floor(gamma * (1 << 200))
    rows = np.arange(1, sizes + 1, dtype=np.float64)
    drawn = np.array([(scaled * n) >> 200 for n in range(1, sizes + 1)], dtype=np.float64) + 1
    possible = drawn <= rows
    chance = np.zeros(sizes)
    chance[possible] = betainc(drawn[possible], rows[possible] - drawn[possible] + 1, float(share))
    over = np.flatnonzero(chance * _RAISED > float(delta))
    last = int(over[-1]) + 1 if len(over) else 0
    return math.floor(gamma * (last + 1)) + 1 if last else 1
