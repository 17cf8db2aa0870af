"""Who gets a release, in words, and the threshold that is usual for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
