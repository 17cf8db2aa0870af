"""Chances and the sizes of groups that stay within them, decided in fractions."""

from __future__ import annotations

import math
from fractions import Fraction


def least_size(threshold: float) -> int:
    """Return the smallest size of a group with 1 in size at most a threshold, read as written.

    Parameters
    ----------
    threshold : float
        A chance above 0.

    Examples
    --------
    >>> least_size(0.09), least_size(0.2), least_size(0.0909), least_size(0.05), least_size(1.0)
    (12, 5, 12, 20, 1)
    """
    return math.ceil(1 / Fraction(repr(float(threshold))))


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
