"""Fake tuples: what a sliced table could also be, next to the people who are in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.base.context import Context
from anon_core.base.errors import AnonError
from anon_core.base.params import integer
from anon_core.base.registry import register
from anon_core.contracts.attack import Attack, AttackAim, AttackNeeds
from anon_core.methods.bucketized.slice_chances import Listed, Pairings, pairings
from anon_core.release.attack_result import AttackResult, Details
from anon_core.release.ground_truth import Truth
from anon_core.release.knowledge.audience import Audience
from anon_core.release.release import View

#: Matching groups that are reported one by one; more of them are reported together.
_WIDEST = 20


@register("attack")
@dataclass(frozen=True, kw_only=True)
class FakeTuples(Attack):
    """Take every combination a group could hold for real; count how many of them are."""

    name: ClassVar[str] = "fake-tuples"
    title: ClassVar[str] = "Fake tuples"
    summary: ClassVar[str] = (
        "An attacker without a public table takes combinations that the buckets could hold for "
        "real people. The more of them are fake, the less they reveal about who is in the table. "
        "With a public table, membership is the stronger attack."
    )
    formula: ClassVar[str] = (
        "original / (original + fake) tuples with a matching group; shown with Li's lemma value Π "
        "n_i / N^d, which is the chance of one fixed row and no bound on presence"
    )
    aim: ClassVar[AttackAim] = AttackAim(discloses="presence")
    needs: ClassVar[AttackNeeds] = AttackNeeds(
        permuted=True,
        rows_only="It takes every combination of a group for a person of its own; here one "
        "person has "
        "several rows, and techniques that permute columns refuse them.",
    )
    source: ClassVar[str] = (
        "Li, Li, Zhang and Molloy 2012, doi 10.1109/TKDE.2010.236; Toth 2015, 3.1.3.1"
    )

    most: int = integer(
        default=1_000_000,
        low=1,
        high=50_000_000,
        help="Combinations up to which they are listed; beyond, the attack is not run.",
        label="Largest list",
    )

    def reason_not_applicable(self, view: View, audience: Audience) -> str:
        """Ask for permuted groups of exact values that are not too large to list."""
        found = pairings(view)
        if found is None:
            return "It needs columns that are permuted separately; here rows stay whole."
        if found.total > self.most:
            return (
                f"The groups could hold {found.total:,.0f} combinations; {self.most:,} are listed "
                "at most."
            )
        return ""

    def run(
        self, view: View, audience: Audience, truth: Truth, context: Context
    ) -> Sequence[AttackResult]:
        """List the combinations of every group.

        Raises
        ------
        AnonError
            If it does not apply.
        """
        found = pairings(view)
        reason = self.reason_not_applicable(view, audience)
        if found is None or reason:
            raise AnonError(reason, remedy="Use it on smaller permuted groups.")
        return [self._result(view, truth, found, context)]

    def _result(self, view: View, truth: Truth, found: Pairings, context: Context) -> AttackResult:
        listed = found.listed(view, truth.frequency, context)
        original, fake = listed.original, listed.fake
        rate = len(original) / max(len(original) + len(fake), 1)
        worst = float(listed.per_group.max(initial=0.0))
        return AttackResult(
            attack=self.name,
            attempted=truth.rows,
            eligible=view.rows,
            succeeded=rate * truth.rows,
            rate=rate,
            worst=max(worst, rate),
            baseline=0.0,
            raw=1.0,
            at_risk=int(view.group_size[listed.per_group >= 1.0].sum()),
            threshold=1.0,
            per_class=listed.per_group,
            sentence=(
                f"Of the {len(original) + len(fake):,} combinations that the groups could hold, "
                f"{len(original):,} are in the table and {len(fake):,} are fake: taking one "
                f"for real is right {rate:.1%} of the time. A real one fits "
                f"{_groups(original)} on average, a fake one {_groups(fake)}. Shuffled by "
                f"chance, a group shows a person's quasi-identifiers together in "
                f"{listed.expected:.3g} of its rows on average, and any one row shows them with a "
                f"chance of at most {listed.lemma:.3g} (Li's lemma value, no bound on presence)."
            ),
            details=(_histograms(listed),),
        )


def _histograms(listed: Listed) -> Details:
    """Return how many groups combinations match: those of the table next to the fake ones."""
    most = max(int(listed.original.max(initial=1)), int(listed.fake.max(initial=1)))
    real, fake = (
        np.bincount(np.minimum(found, _WIDEST), minlength=min(most, _WIDEST) + 1)
        for found in (listed.original, listed.fake)
    )
    return Details(
        title="Groups that a combination matches: of the table, and fake",
        rows=tuple(
            {
                "groups": f"{at} or more" if at == _WIDEST else str(at),
                "in the table": int(real[at]),
                "fake": int(fake[at]),
            }
            for at in range(1, len(real))
        ),
        x="groups",
        y=("in the table", "fake"),
        drawn="bars",
        shares=False,
        note="The more alike both are, the less the number of matching groups gives a person away.",
    )


def _groups(buckets: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> str:
    mean = f"{float(buckets.mean()) if len(buckets) else 0.0:.3g}"
    return f"{mean} group{'' if mean == '1' else 's'}"
