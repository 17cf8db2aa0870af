"""What a person says in plain words before a technique is chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

from anon_core.base.audiences import RELEASE_MODELS, USUAL_THRESHOLDS, ReleaseModel
from anon_core.base.errors import BadPlan, listing, nearest
from anon_core.contracts.model import Stops
from anon_core.contracts.purposes import Purpose

#: What a release is for, in words.
PURPOSES: Mapping[Purpose, str] = {
    "statistics": "Statistics: counts and averages",
    "training": "Training a model",
    "sharing": "Sharing the rows themselves",
    "teaching": "Teaching",
}
#: What must not be learned of a person, in words.
CONCEALED: Mapping[Stops, str] = {
    "identity": "Which row is theirs",
    "attribute": "What they have (the sensitive value)",
    "presence": "Whether they are in it at all",
}


@dataclass(frozen=True, kw_only=True)
class Request:
    """What the release is for, what must not be learned from it, and who gets it.

    Attributes
    ----------
    concealed : tuple of Stops
    chance : float or None
        The highest acceptable chance; None for what is usual for the recipient.
    """

    purpose: Purpose
    concealed: tuple[Stops, ...]
    recipient: ReleaseModel
    chance: float | None = None

    def __post_init__(self) -> None:
        """Refuse words that are none of those known, and a chance that is none.

        Raises
        ------
        BadPlan
        """
        _refuse_other("purpose", (self.purpose,), get_args(Purpose))
        _refuse_other("what must not be learned", self.concealed, get_args(Stops))
        _refuse_other("recipient", (self.recipient,), tuple(RELEASE_MODELS))
        if not self.concealed:
            raise BadPlan(
                "No threat was listed, so nothing would be protected.",
                remedy=f"Name at least one of {listing(get_args(Stops))}.",
            )
        if self.chance is not None and not 0 < self.chance <= 1:
            raise BadPlan(
                f"No release keeps a chance of at most {self.chance:g}.",
                remedy="Give a threshold above 0, and at most 1.",
            )

    @property
    def threshold(self) -> float:
        """The highest acceptable chance: what was said, or what is usual for the recipient."""
        usual = USUAL_THRESHOLDS[self.recipient].chance
        return usual if self.chance is None else self.chance

    @property
    def threshold_source(self) -> str:
        """Where the threshold comes from; empty where a person gave it."""
        return USUAL_THRESHOLDS[self.recipient].source if self.chance is None else ""


def _refuse_other(what: str, given: tuple[str, ...], known: tuple[str, ...]) -> None:
    for one in given:
        if one not in known:
            raise BadPlan(
                f"'{one}' is unknown for {what}; known are {listing(known)}.",
                remedy=f"Use one of these.{nearest(one, known)}",
            )
