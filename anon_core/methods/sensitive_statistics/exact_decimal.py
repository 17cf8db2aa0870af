"""Numbers as they are written, and comparisons with them that no rounding can turn over."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import I64

#: Whole numbers below it can be added and subtracted once more in 64 bits.
ROOM = 1 << 62
#: Binary logarithms as near as this to each other are distinguished by decimals.
CLOSE = 1e-9
_DIGITS = 60
_EXACT_IN_FLOATS = 1 << 53


def as_written(number: float) -> Fraction:
    """Return a parameter as the decimal that was written, not as its binary neighbour.

    Examples
    --------
    >>> as_written(0.1), as_written(3.0)
    (Fraction(1, 10), Fraction(3, 1))
    """
    return Fraction(str(number))


def at_most(part: I64, whole: I64, ratio: Fraction) -> npt.NDArray[np.bool_]:
    """Return where part ≤ ratio · whole, decided in whole numbers.

    Parameters
    ----------
    part, whole : int64 (or object) arrays of one shape, not negative
    ratio : Fraction
        Not negative.

    Examples
    --------
    >>> at_most(np.array([3, 4]), np.array([10, 10]), Fraction(3, 10)).tolist()
    [True, False]
    """
    left, right = _scaled(part, whole, ratio)
    return (left <= right).astype(np.bool_)


def below(part: I64, whole: I64, ratio: Fraction) -> npt.NDArray[np.bool_]:
    """Return where part < ratio · whole; as `at_most`."""
    left, right = _scaled(part, whole, ratio)
    return (left < right).astype(np.bool_)


def _scaled(part: I64, whole: I64, ratio: Fraction) -> tuple[I64, I64]:
    above, under = ratio.numerator, ratio.denominator
    most = max(int(part.max(initial=0)) * under, int(whole.max(initial=0)) * above)
    if most >= ROOM:  # whole numbers of any length
        part, whole = part.astype(object), whole.astype(object)
    return part * under, whole * above


def sums(group: I64, number: I64, groups: int) -> I64:
    """Return the sum of whole numbers per group, shape (groups,), exact.

    Parameters
    ----------
    group : int64 array of shape (entries,)
    number : int64 (or object) array of shape (entries,), not negative
    """
    if number.dtype != object:
        if int(number.max(initial=0)) * max(len(number), 1) < _EXACT_IN_FLOATS:
            return np.bincount(group, number, minlength=groups).astype(np.int64)
        found = np.zeros(groups, dtype=np.int64)
    else:
        found = np.zeros(groups, dtype=object)
    np.add.at(found, group, number)
    return found


def log_of(number: Fraction) -> Decimal:
    """Return the natural logarithm to 60 digits."""
    with localcontext() as exact:
        exact.prec = _DIGITS
        return Decimal(number.numerator).ln() - Decimal(number.denominator).ln()


def as_decimal(number: Fraction) -> Decimal:
    """Return a fraction to 60 digits."""
    with localcontext() as exact:
        exact.prec = _DIGITS
        return Decimal(number.numerator) / Decimal(number.denominator)
