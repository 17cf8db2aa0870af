"""How large classes must be for (ε, δ)-differential privacy; roundings never understate δ.

Each row of the table is kept with probability β, the sample is coarsened by rules that no row has
a part in, and classes of fewer than k sampled rows are left out (Li, Qardaji, Su 2012,
doi 10.1145/2414456.2414474; Bild, Kuhn, Prasser 2018, doi 10.1515/popets-2018-0004).

One row more, or one less, changes the sampled size of one class. Of n rows, one of them the row in
question, j are drawn with probability f(j; n, β); without that row it is f(j; n − 1, β), smaller by
the factor n (1 − β) / (n − j). That factor is at most e^ε exactly where j ≤ γ n, with

    γ = 1 − (1 − β) e^−ε,

and never below 1 − β, which is at least e^−ε where β ≤ 1 − e^−ε. So what is left to δ is
P[Bin(n, β) > γ n], of the sizes that are published at all: max over n of P[Bin(n, β) ≥
max(k, ⌊γ n⌋ + 1)]. Where ⌊γ n⌋ + 1 = j stays the same, the chance grows with n up to
n_j = ⌈j / γ⌉ − 1, hence

    δ(k) = max over j ≥ k of P[Bin(n_j, β) ≥ j].

Each of these falls where γ rises, so a γ rounded down overstates δ. All sums are of positive
decimals, every step rounded up.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from math import ceil, comb

_DIGITS = 60
_UP = Context(prec=_DIGITS, rounding=ROUND_CEILING)
_DOWN = Context(prec=_DIGITS, rounding=ROUND_FLOOR)
#: Decimal's exp and ln are off by less than one unit of their last digit.
_UNIT = Decimal(10) ** (2 - _DIGITS)
#: A share of rows is a number of 2**-64, so that one draw of 64 bits decides exactly.
GRAIN = 1 << 64


@dataclass(frozen=True, kw_only=True)
class SampleRule:
    """What makes a sample of rows (ε, δ)-differentially private.

    Attributes
    ----------
    share : Fraction
        β, the chance of every row to be kept; a multiple of 2**-64.
    least : int
        k, the least number of sampled rows of a class that is published.
    delta : Fraction
        δ(k), rounded up: at most what was asked for.
    """

    share: Fraction
    least: int
    delta: Fraction


@lru_cache(maxsize=256)
def sample_rule(epsilon: Fraction, delta: Fraction, most: Fraction = Fraction(1)) -> SampleRule:
    """Return the rule that keeps most classes for a budget.

    Parameters
    ----------
    epsilon : Fraction
        ε, above 0.
    delta : Fraction
        δ, above 0 and below 1.
    most : Fraction
        Keep no larger share of the rows than this, though ε allows more.

    Examples
    --------
    >>> [sample_rule(Fraction(1), Fraction(1, 10**n)).least for n in (3, 4, 5)]
    [34, 47, 61]
    """
    share, gamma = share_and_gamma(epsilon, most)
    least, reached = least_size(share, gamma, delta)
    return SampleRule(share=share, least=least, delta=reached)


def share_and_gamma(epsilon: Fraction, most: Fraction = Fraction(1)) -> tuple[Fraction, Fraction]:
    """Return β, the largest share up to `most` that ε allows, and γ, both rounded down."""
    exponent = _UP.minus(_decimal(epsilon, _DOWN))
    lowered = Fraction(_UP.multiply(_UP.exp(exponent), 1 + _UNIT))  # e^−ε, rounded up
    share = Fraction(int(min(1 - lowered, most) * GRAIN), GRAIN)
    return share, 1 - (1 - share) * lowered


def least_size(share: Fraction, gamma: Fraction, delta: Fraction) -> tuple[int, Fraction]:
    """Return the least k with δ(k) ≤ δ, and δ(k).

    From a size on at which even the bound of `_tail_bound` is small enough, sizes are tried one by
    one downwards until one is too much.
    """
    rate = _rate(share, gamma)
    size = 1
    while _tail_bound(largest(size, gamma), rate) > delta:
        size *= 2
    low, high = size // 2, size  # the bound suffices at `high`, not at `low`
    while high - low > 1:
        middle = (low + high) // 2
        if _tail_bound(largest(middle, gamma), rate) > delta:
            low = middle
        else:
            high = middle
    size = high
    while size > 1 and chance_of(size - 1, share, gamma) <= delta:
        size -= 1
    return size, delta_of(size, share, gamma)


def delta_of(size: int, share: Fraction, gamma: Fraction) -> Fraction:
    """Return δ(k), rounded up.

    Examples
    --------
    >>> str(delta_of(10, Fraction(1, 2), Fraction(3, 4)))
    '189/4096'
    """
    rate = _rate(share, gamma)
    worst = Fraction(0)
    while not worst or _tail_bound(largest(size, gamma), rate) > worst:
        worst = max(worst, chance_of(size, share, gamma))
        size += 1
    return worst


def largest(size: int, gamma: Fraction) -> int:
    """Return n_j: the most rows of which `size` drawn ones are more than γ n."""
    return ceil(size / gamma) - 1


def chance_of(size: int, share: Fraction, gamma: Fraction) -> Fraction:
    """Return P[Bin(n_j, β) ≥ j] for j = `size`, rounded up."""
    rows = largest(size, gamma)
    return tail(rows, size, share)


def tail(rows: int, size: int, share: Fraction) -> Fraction:
    """Return P[Bin(`rows`, `share`) ≥ `size`], rounded up."""
    if size > rows:
        return Fraction(0)
    yes, no = _decimal(share, _UP), _decimal(1 - share, _UP)
    odds = _UP.divide(yes, _decimal(1 - share, _DOWN))
    term = _UP.multiply(_power(yes, size), _power(no, rows - size))
    term = _UP.multiply(term, _UP.create_decimal(comb(rows, size)))
    total = term
    for drawn in range(size, rows):
        grown = _UP.multiply(_UP.multiply(term, odds), Decimal(rows - drawn))
        following = _UP.divide(grown, Decimal(drawn + 1))
        if following < _UP.multiply(total, _UNIT):
            # From here on every term is at most `ratio` times the one before it.
            ratio = _UP.divide(following, term)
            rest = _UP.divide(following, _DOWN.subtract(Decimal(1), ratio))
            total = _UP.add(total, rest)
            break
        term = following
        total = _UP.add(total, term)
    return Fraction(total)


def _power(base: Decimal, exponent: int) -> Decimal:
    """Return a power by repeated squaring, every step rounded up."""
    found = Decimal(1)
    while exponent:
        if exponent & 1:
            found = _UP.multiply(found, base)
        base = _UP.multiply(base, base)
        exponent >>= 1
    return found


def _rate(share: Fraction, gamma: Fraction) -> Decimal:
    """Return the relative entropy of γ and β, rounded down."""
    apart = _decimal((1 - gamma) / (1 - share), _DOWN)
    near = _DOWN.multiply(_decimal(gamma, _DOWN), _DOWN.ln(_decimal(gamma / share, _DOWN)))
    far = _DOWN.multiply(_decimal(1 - gamma, _UP), _DOWN.ln(apart))
    return _DOWN.subtract(_DOWN.add(near, far), 10 * _UNIT)


def _tail_bound(rows: int, rate: Decimal) -> Fraction:
    """Return a bound of P[Bin(n, β) > γ n] for every n from `rows` on: e^−(n · entropy)."""
    bound = _UP.exp(_UP.minus(_DOWN.multiply(Decimal(rows), rate)))
    return Fraction(_UP.multiply(bound, 1 + _UNIT))


def _decimal(value: Fraction, rounded: Context) -> Decimal:
    return rounded.divide(Decimal(value.numerator), Decimal(value.denominator))
