"""Chances and the sizes of groups that stay within them, decided in fractions."""

from __future__ import annotations

import math
from fractions import Fraction


def least_size(threshold: float) -> int:
    """Return the smallest size of a group with 1 in size at most a threshold, read as written.

    A third has no last digit: the number nearest to 1 in 3 stands for 1 in 3, as it does where an
    attack compares a chance with its threshold.

    Parameters
    ----------
    threshold : float
        A chance above 0.

    Examples
    --------
    >>> least_size(0.09), least_size(0.2), least_size(0.0909), least_size(0.05), least_size(1.0)
    (12, 5, 12, 20, 1)
    >>> least_size(1 / 3), least_size(0.33)
    (3, 4)
    """
    size = math.ceil(1 / Fraction(repr(float(threshold))))
    return size - 1 if size > 1 and 1 / (size - 1) <= threshold else size


def why_this_size(threshold: float) -> str:
    """Return which size a threshold asks for and why no smaller one does; empty where it is plain.

    Examples
    --------
    >>> why_this_size(0.09)
    '0.09 needs groups of at least 12: 1 in 11 is 0.0909, which is above it'
    >>> why_this_size(0.2)
    '0.2 needs groups of at least 5: 1 in 4 is 0.25, which is above it'
    >>> why_this_size(1.0)
    ''
    """
    size = least_size(threshold)
    if size < 2:
        return ""
    above = f"1 in {size - 1:,} is {1 / (size - 1):.3g}, which is above it"
    return f"{threshold:g} needs groups of at least {size:,}: {above}"
