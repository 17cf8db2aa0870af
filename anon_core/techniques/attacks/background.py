"""Background knowledge: anyone who can rule out values of a group is left with the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.base.arrays import F64
from anon_core.base.errors import listing
from anon_core.base.params import Parameter, by_value, integer
from anon_core.base.registry import register
from anon_core.contracts.attack import AttackAim, AttackNeeds, AttackUse
from anon_core.methods.inference.bucket_posteriors import Ranked, ranked
from anon_core.methods.inference.sensitive_beliefs import Entries, SecretAttack, Secrets
from anon_core.release.attack_result import AttackResult, Details
from anon_core.release.knowledge.audience import Audience
from anon_core.release.outcome import per_cent
from anon_core.release.release import View

#: Values ruled out up to which the curve is drawn.
_DRAWN = 5


@register("attack")
@dataclass(frozen=True, kw_only=True)
class Background(SecretAttack):
    """Rule out values of a person's class by what is known of the person, and guess the rest."""

    name: ClassVar[str] = "background"
    title: ClassVar[str] = "Background knowledge"
    summary: ClassVar[str] = (
        "An attacker who knows a person well can rule out sensitive values of the group, or find "
        "some likelier than others. Fewer values are left, or only one."
    )
    formula: ClassVar[str] = (
        "c(v)·w(v) / Σ c(u)·w(u) over the values that are left, w as the attacker knows it (0 "
        "rules out); left are those but the r likeliest others; rate = its mean over people"
    )
    source: ClassVar[str] = (
        "Machanavajjhala et al. 2007, doi 10.1145/1217299.1217302, section 3.1; Samarati 2008"
    )
    aim: ClassVar[AttackAim] = AttackAim(discloses="inferential", answers=("inference",))
    needs: ClassVar[AttackNeeds] = AttackNeeds(
        from_groups=True,
        rows_only="It takes everybody to have one value, so that what is ruled out leaves the "
        "others; "
        "here one person may have several.",
    )
    use: ClassVar[AttackUse] = AttackUse(at_once=True)

    ruled_out: int = integer(
        default=1,
        low=0,
        high=1000,
        help="Values that the attacker rules out for each person: those that help most, none of "
        "them the person's own.",
        label="Values ruled out",
        unit="values",
    )
    knows: Mapping[str, float] = by_value(
        each=Parameter(
            name="weight",
            kind="number",
            default=0.0,
            low=0.0,
            high=999_999.0,
            help="How many times as likely as the others a value is for everybody, as the attacker "
            "knows; 0 rules it out.",
        ),
        help="Values that are ruled out for everybody, or are likelier than the groups say: for "
        "example flu = 0.",
        label="Known of single values",
        empty="as likely as the group says",
    )

    def reason_not_applicable(self, view: View, audience: Audience) -> str:
        """Ask for a sensitive column, and for values that there are."""
        reason = super().reason_not_applicable(view, audience)
        texts = {t for name in audience.secret for t in audience.hierarchies[name].leaves}
        unknown = [value for value in self.knows if value not in texts]
        if not reason and unknown:
            return (
                f"It assumes knowledge of {listing(unknown)}, which no sensitive column contains."
            )
        return reason

    def attack(self, view: View, audience: Audience, of: Secrets) -> AttackResult:
        """Attack every person, for one sensitive column.

        Of people whose value is ruled out for everybody the attacker is wrong: none is eligible.
        """
        texts = view.vocabularies[of.column].texts
        weight = np.array([float(self.knows.get(text, 1.0)) for text in texts])
        shown, raw = of.published, of.raw
        places = _ranked(shown, weight)
        chance = np.zeros(shown.classes)
        belief = places.beliefs(self.ruled_out)
        np.maximum.at(chance, places.group, belief)
        rows = shown.count[places.entry]
        certain = int(rows[places.size[places.group] <= self.ruled_out + 1].sum())
        succeeded = float((rows * belief).sum())
        of_raw = _ranked(raw, weight)
        alone = raw.together()
        return AttackResult(
            attack=self.name,
            column=of.column,
            attempted=of.attempted,
            eligible=int(rows.sum()),
            succeeded=succeeded,
            rate=succeeded / of.attempted,
            worst=float(chance.max(initial=0.0)),
            baseline=_expected(alone, _ranked(alone, weight), self.ruled_out) / of.attempted,
            raw=_expected(raw, of_raw, self.ruled_out) / of.attempted,
            at_risk=certain,
            threshold=1.0,
            per_class=chance,
            sentence=self._sentence(of, certain, succeeded / of.attempted),
            details=(_curve(shown, places, of),),
        )

    def _sentence(self, of: Secrets, certain: int, rate: float) -> str:
        if not of.eligible:
            return (
                f"No published row has a value of '{of.column}', so there is nothing to rule out."
            )
        many = f"{self.ruled_out} value{'' if self.ruled_out == 1 else 's'}"
        knowledge = [f"can rule out {many} of '{of.column}'"] if self.ruled_out else []
        knowledge += [f"knows what is likely of {listing(list(self.knows))}"] if self.knows else []
        return (
            f"Someone who {' and '.join(knowledge) or 'knows nothing else'} is certain of "
            f"{certain:,} of {of.attempted:,} people ({per_cent(certain / of.attempted)}), and "
            f"believes the true value with a chance of {per_cent(rate)} on average."
        )


def _ranked(entries: Entries, weight: F64) -> Ranked:
    return ranked(entries.group, entries.count * weight[entries.value], entries.classes)


def _expected(entries: Entries, places: Ranked, ruled_out: int) -> float:
    """Return the sum over people of how sure the attacker is of their value."""
    return float((entries.count[places.entry] * places.beliefs(ruled_out)).sum())


def _curve(shown: Entries, places: Ranked, of: Secrets) -> Details:
    """Return how much each further value that can be ruled out shows."""
    rows = shown.count[places.entry]
    most = int(places.size.max(initial=1))
    return Details(
        title=f"Values of '{of.column}' that can be ruled out",
        rows=tuple(
            {
                "values ruled out": r,
                "mean belief in the true value": _expected(shown, places, r) / of.attempted,
                "people certain": float(rows[places.size[places.group] <= r + 1].sum())
                / of.attempted,
            }
            for r in range(min(most, _DRAWN + 1))
        ),
        x="values ruled out",
        y=("mean belief in the true value", "people certain"),
        note="Each time those values of a person's group that help most, never the person's own.",
    )
