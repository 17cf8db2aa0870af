"""Skewness: a class whose values are spread otherwise than everyone's shows of its people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.base.params import number
from anon_core.base.registry import register
from anon_core.contracts.attack import AttackAim, AttackNeeds, AttackUse
from anon_core.methods.inference.sensitive_beliefs import Entries, SecretAttack, Secrets
from anon_core.release.attack_result import AttackResult, Details
from anon_core.release.knowledge.audience import Audience
from anon_core.release.outcome import per_cent
from anon_core.release.release import View

#: Values that are listed, those first that grow most.
_LISTED = 100


@register("attack")
@dataclass(frozen=True, kw_only=True)
class Skewness(SecretAttack):
    """Say of everyone the value whose share grew most from the whole release to the class."""

    name: ClassVar[str] = "skewness"
    title: ClassVar[str] = "Skewness"
    summary: ClassVar[str] = (
        "An attacker who knows how common each sensitive value is finds a person's class, and "
        "sees that a value is much more common there: for example, one in five have it in "
        "general, and three in four in the class."
    )
    formula: ClassVar[str] = (
        "gain of a class = max over values of c(v)/|G| − share of v; rate = its mean over people: "
        "how much more often the value that grew most is right than it would be blindly"
    )
    source: ClassVar[str] = (
        "Li, Li and Venkatasubramanian 2007, doi 10.1109/ICDE.2007.367856, section 3.1"
    )
    aim: ClassVar[AttackAim] = AttackAim(discloses="inferential", answers=("inference",))
    needs: ClassVar[AttackNeeds] = AttackNeeds(from_groups=True, counts_people=True)
    use: ClassVar[AttackUse] = AttackUse(at_once=True)

    gain: float = number(
        default=0.2,
        low=0.0,
        high=1.0,
        help="Growth of a value's share above which the people of a class count as at risk: 0.2 is "
        "from 20% to 40%.",
        label="Acceptable growth",
    )

    def attack(self, view: View, audience: Audience, of: Secrets) -> AttackResult:
        """Attack every person, for one sensitive column."""
        shown, raw = of.published, of.raw
        grown = shown.highest(shown.gain)
        succeeded = _summed(of, grown[shown.group])
        of_raw = raw.highest(raw.gain)
        return AttackResult(
            attack=self.name,
            column=of.column,
            attempted=of.attempted,
            eligible=of.eligible,
            succeeded=succeeded,
            rate=succeeded / of.attempted,
            worst=float(grown.max(initial=0.0)),
            baseline=0.0,  # without the release no share grows
            raw=_summed(of, of_raw[raw.group], raw=True) / of.attempted,
            at_risk=of.people(grown > self.gain),
            threshold=self.gain,
            per_class=grown,
            sentence=_sentence(view, of),
            details=(_values(view, of),),
        )


def _summed(
    of: Secrets, of_entry: np.ndarray[tuple[int, ...], np.dtype[np.float64]], *, raw: bool = False
) -> float:
    reached, people = of.per_person(of_entry, raw=raw)
    return float((reached * people).sum())


def _sentence(view: View, of: Secrets) -> str:
    shown = of.published
    if not len(shown.value):
        return f"No published row has a value of '{of.column}', so no share can grow."
    most = int(np.argmax(shown.gain))
    ratio = int(np.argmax(_times(shown)))
    sentence = _grows(view, of, most)
    if ratio != most:
        sentence += f"; {_grows(view, of, ratio)}, {_times(shown)[ratio]:.3g} times as likely"
    else:
        sentence += f", {_times(shown)[most]:.3g} times as likely"
    return f"In the class that reveals most about '{of.column}', {sentence}."


def _grows(view: View, of: Secrets, entry: int) -> str:
    shown = of.published
    value = int(shown.value[entry])
    return (
        f"'{view.vocabularies[of.column].texts[value]}' goes from "
        f"{per_cent(float(shown.share[value]))} of everyone to "
        f"{per_cent(float(shown.belief[entry]))}"
    )


def _times(shown: Entries) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return shown.belief / shown.share[shown.value]


def _values(view: View, of: Secrets) -> Details:
    """Return each value's share of everyone, next to its largest share of a class."""
    shown = of.published
    texts = view.vocabularies[of.column].texts
    highest = np.zeros(len(shown.share))
    np.maximum.at(highest, shown.value, shown.belief)
    listed = np.argsort(shown.share - highest, kind="stable")[:_LISTED]
    return Details(
        title=f"Shares of '{of.column}': of everyone, and of the class that has most",
        rows=tuple(
            {
                "value": texts[v],
                "of everyone": float(shown.share[v]),
                "of a class, at most": float(highest[v]),
                "times": float(highest[v] / shown.share[v]),
            }
            for v in listed.tolist()
            if shown.share[v] > 0
        ),
        x="value",
        y=("of everyone", "of a class, at most"),
        drawn="bars",
    )
