"""Probabilistic: how much surer someone gets of each person's true value by the release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.base.arrays import F64, I64
from anon_core.base.params import number
from anon_core.base.registry import register
from anon_core.contracts.attack import AttackAim, AttackNeeds, AttackUse
from anon_core.methods.inference.sensitive_beliefs import SecretAttack, Secrets
from anon_core.release.attack_result import AttackResult, Details
from anon_core.release.knowledge.audience import Audience
from anon_core.release.outcome import per_cent
from anon_core.release.release import View

#: Steps of a tenth in which gains are drawn, from −1 to 1.
_STEPS = np.arange(-10, 11)


@register("attack")
@dataclass(frozen=True, kw_only=True)
class Probabilistic(SecretAttack):
    """Compare what is believed of everyone's true value before the release and after it."""

    name: ClassVar[str] = "probabilistic"
    title: ClassVar[str] = "Change of belief"
    summary: ClassVar[str] = (
        "An attacker forms a belief about everyone from the whole release, then looks at a "
        "person's class. The release reveals little if the two beliefs in the true value are "
        "close."
    )
    formula: ClassVar[str] = (
        "gain of a person = c(v)/|G| − share of v, v the true value; rate = Σ gains / n: how much "
        "more often a guess drawn by belief is right"
    )
    source: ClassVar[str] = (
        "Machanavajjhala et al. 2007, doi 10.1145/1217299.1217302, uninformative principle; Toth "
        "2015, 2.1.2"
    )
    aim: ClassVar[AttackAim] = AttackAim(discloses="inferential", answers=("inference",))
    needs: ClassVar[AttackNeeds] = AttackNeeds(from_groups=True, counts_people=True)
    use: ClassVar[AttackUse] = AttackUse(at_once=True)

    gain: float = number(
        default=0.2,
        low=0.0,
        high=1.0,
        help="Growth of the belief in a person's true value above which the person counts as at "
        "risk: 0.2 is from 20% to 40%.",
        label="Acceptable growth",
    )

    def attack(self, view: View, audience: Audience, of: Secrets) -> AttackResult:
        """Attack every person, for one sensitive column."""
        shown = of.published
        gain, people = of.per_person(shown.gain)
        of_raw, raw_people = of.per_person(of.raw.gain, raw=True)
        # Chances cannot fall on average; a rounding might.
        succeeded = max(float((gain * people).sum()), 0.0)
        largest = shown.highest(shown.gain)
        return AttackResult(
            attack=self.name,
            column=of.column,
            attempted=of.attempted,
            eligible=of.eligible,
            succeeded=succeeded,
            rate=succeeded / of.attempted,
            worst=float(largest.max(initial=0.0)),
            baseline=0.0,  # without the release no belief changes
            raw=max(float((of_raw * raw_people).sum()), 0.0) / of.attempted,
            at_risk=int(people[gain > self.gain].sum()),
            threshold=self.gain,
            per_class=largest,
            sentence=_sentence(of, gain, people, self.gain),
            details=(_distribution(of, gain, people),),
        )


def _sentence(of: Secrets, gain: F64, people: I64, limit: float) -> str:
    if not len(gain):
        return f"No published row has a value of '{of.column}', so no belief changes."
    shown = of.published
    most = int(np.argmax(shown.gain))
    above = int(people[gain > limit].sum())
    if shown.gain[most] <= 0:  # as where somebody has several values, each shown by one class
        return f"No class makes any value of '{of.column}' likelier than the whole release does."
    return (
        f"The belief in a person's '{of.column}' grows from "
        f"{per_cent(float(shown.share[shown.value[most]]))} to "
        f"{per_cent(float(shown.belief[most]))} at worst, and by more than {per_cent(limit)} for "
        f"{above:,} of {of.attempted:,} people ({per_cent(above / of.attempted)})."
    )


def _distribution(of: Secrets, gain: F64, people: I64) -> Details:
    """Return how many people gain how much, in steps of a tenth."""
    step = np.clip(np.rint(gain * 10).astype(np.int64) + 10, 0, 20)
    counted = np.bincount(step, people, minlength=len(_STEPS)) / max(of.attempted, 1)
    return Details(
        title=f"Growth of the belief in everyone's true '{of.column}'",
        rows=tuple(
            {"growth": round(at / 10, 1), "people": share}
            for at, share in zip(_STEPS.tolist(), counted.tolist(), strict=True)
        ),
        x="growth",
        y=("people",),
        drawn="bars",
        note="Rounded to tenths; below 0 the true value is believed less than before.",
    )
