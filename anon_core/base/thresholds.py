"""Chances and the sizes of groups that stay within them, decided in fractions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

ReleaseModel = Literal["public", "agreement", "secure environment", "internal"]

#: What each way of releasing means, in words.
RELEASE_MODELS: Mapping[ReleaseModel, str] = {
    "public": "Open to anyone",
    "agreement": "Handed to named recipients under an agreement",
    "secure environment": "Worked with in a secure environment only",
    "internal": "Kept within the organisation",
}


@dataclass(frozen=True, kw_only=True)
class UsualThreshold:
    """The highest chance of picking a person that is usual for a way of releasing.

    Attributes
    ----------
    chance : float
        As it is written, so that 0.09 is less than 1 in 11.
    source : str
        Where it is in use.
    """

    chance: float
    source: str


#: Which least sizes of cells custodians have used: 3 and 5 for those who are bound, 11 for anyone.
_PRECEDENTS = "El Emam 2013, cell size precedents, doi 10.1201/b14764"
#: A start for a person to change: what is acceptable depends on the data and its people.
USUAL_THRESHOLDS: Mapping[ReleaseModel, UsualThreshold] = {
    "public": UsualThreshold(
        chance=0.09,
        source="commonly used where clinical data are open to anyone, after a least cell size of "
        f"11 ({_PRECEDENTS})",
    ),
    "agreement": UsualThreshold(
        chance=0.2, source=f"least cell size 5, long the usual one ({_PRECEDENTS})"
    ),
    "secure environment": UsualThreshold(
        chance=0.33, source=f"least cell size 3, which some custodians use ({_PRECEDENTS})"
    ),
    "internal": UsualThreshold(
        chance=0.2, source="commonly used, as a least cell size of 5: colleagues may know people"
    ),
}


def least_size(threshold: float) -> int:
    """Return the smallest size of a group with 1 in size at most a threshold, read as written.

    A third has no last digit: the number nearest to 1 in 3 represents 1 in 3, as it does where an
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
