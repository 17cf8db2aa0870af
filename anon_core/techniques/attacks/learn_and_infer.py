"""Learn and infer: what goes with what in the release, applied to everyone, and to others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.base.arrays import I64
from anon_core.base.context import Context
from anon_core.base.params import number
from anon_core.base.registry import register
from anon_core.contracts.attack import AttackAim, AttackNeeds, AttackUse
from anon_core.contracts.group_stats import sensitive_histogram
from anon_core.methods.inference.naive_bayes import (
    Guesses,
    Learned,
    base_rates,
    guesses,
    learn,
    too_large,
)
from anon_core.methods.inference.prediction_scores import (
    Once,
    above_control,
    by_sureness,
    control_of,
    once_each,
)
from anon_core.methods.inference.sensitive_beliefs import AboutSecrets
from anon_core.release.attack_result import AttackResult
from anon_core.release.ground_truth import Truth
from anon_core.release.knowledge.audience import Audience
from anon_core.release.outcome import per_cent
from anon_core.release.release import View


@register("attack")
@dataclass(frozen=True, kw_only=True)
class LearnAndInfer(AboutSecrets):
    """Learn a naive Bayes classifier from the release, and guess everyone's sensitive value.

    Where one person has several rows, each person is guessed once, by the published row of theirs
    whose guess is believed most, and the guess is right where the person has the value in any row.
    The control is of persons who have no row in the table.
    """

    name: ClassVar[str] = "learn-and-infer"
    title: ClassVar[str] = "Learn and infer"
    summary: ClassVar[str] = (
        "An attacker learns from the whole release which sensitive value goes with which age, "
        "place or job, and guesses everyone's value from what is known of them. If the guess is "
        "as good for people outside the release, the release leaks nothing about its people."
    )
    formula: ClassVar[str] = (
        "argmax of share(s) Π θ_i(v_i | s), θ counted in the release; risk = (rate − control) / "
        "(1 − control), each a Wilson estimate; where one person has several rows, a guess a person"
    )
    source: ClassVar[str] = (
        "Cormode 2011, doi 10.1145/2020408.2020598; Giomi et al. 2023, doi "
        "10.56553/popets-2023-0055"
    )
    aim: ClassVar[AttackAim] = AttackAim(
        discloses="inferential", learns=True, answers=("inference",)
    )
    needs: ClassVar[AttackNeeds] = AttackNeeds(counts_people=True)
    use: ClassVar[AttackUse] = AttackUse(by_default=False)

    sure: float = number(
        default=0.9,
        low=0.0,
        high=1.0,
        help="Belief in a guess above which the person counts as at risk.",
        label="Sure of a guess",
    )

    def reason_not_applicable(self, view: View, audience: Audience) -> str:
        """Ask for cells that cover values, and for columns that are not too large."""
        reason = super().reason_not_applicable(view, audience)
        if reason:
            return reason
        if view.averaged:
            return "Averages replace the values: a cell does not show which values it covers."
        if all(too_large(view, audience, column) for column in audience.secret):
            return "The columns have too many values to be learned together."
        return ""

    def run(
        self, view: View, audience: Audience, truth: Truth, context: Context
    ) -> Sequence[AttackResult]:
        """Attack every person, for every sensitive column that is not too large."""
        base = base_rates(audience)
        found: list[AttackResult] = []
        for column in audience.secret:
            if not too_large(view, audience, column):
                context.check()
                learned = learn(view, column, base)
                raw = learn(truth.raw, column, base)
                found.append(self._scored(view, truth, column, learned, raw, context))
        return found

    def _scored(
        self,
        view: View,
        truth: Truth,
        column: str,
        learned: Learned,
        raw: Learned,
        context: Context,
    ) -> AttackResult:
        people = truth.frequency
        places, true = truth.places, people.codes[:, people.columns.index(column)]
        guess = guesses(learned, people.run_codes, context)
        groups = len(view.group_size)
        here = (places.group >= 0) & (places.group < groups)
        key, group, count = places.key[here], places.group[here], places.count[here]
        run = people.run[key]
        present = true[key] != learned.missing
        right = ((guess.value[run] == true[key]) & present)[present]
        chance = np.zeros(groups)
        np.maximum.at(chance, group, guess.belief[run])
        belief, count = guess.belief[run][present], count[present]
        everyone, rows = truth.rows, truth.known_rows(column)
        known = int(sensitive_histogram(view, column)[1].known.sum())
        crowd, raw_crowd, person = truth.crowd, truth.raw_crowd, truth.key_person
        if crowd is not None and raw_crowd is not None and person is not None:
            everyone, rows = crowd.total, raw_crowd.people_of_values(column)
            known = crowd.having(column)
            once = _once(guess, truth, column, learned.missing, key[present])
            belief, right = once.belief, once.right
            count = np.ones(len(right), dtype=np.int64)
        succeeded = float(count[right].sum())
        baseline = int(rows.max(initial=0)) / everyone
        control = control_of(learned, truth.holdout, column, context)
        words, compared, interval = above_control(succeeded, everyone, baseline, control)
        rate = succeeded / everyone
        return AttackResult(
            attack=self.name,
            column=column,
            attempted=everyone,
            eligible=known,
            succeeded=succeeded,
            rate=rate,
            worst=max(float(chance.max(initial=0.0)), rate) if known else 0.0,
            baseline=baseline,
            raw=_right(raw, truth, column, context) / everyone,
            at_risk=int(count[belief > self.sure].sum()),
            threshold=self.sure,
            per_class=chance,
            estimated=True,
            interval=interval,
            control=None if control is None else control.rate,
            sentence=(
                f"Someone who learns from the release guesses '{column}' rightly for "
                f"{succeeded:,.0f} of {everyone:,} people ({per_cent(rate)}); naming the "
                f"commonest value is right for {per_cent(baseline)}. {words}"
                if known
                else f"No published row has a value of '{column}', so there is nothing to learn."
            ),
            details=(
                *compared,
                by_sureness(belief, count, right, everyone, column),
            ),
        )


def _once(guess: Guesses, truth: Truth, column: str, missing: int, key: I64) -> Once:
    """Guess every person of some keys of the frequency set once; see `once_each`."""
    people, person = truth.frequency, truth.key_person
    assert person is not None
    true = people.codes[:, people.columns.index(column)]
    known, run = true != missing, people.run[key]
    return once_each(person[key], guess.value[run], guess.belief[run], person[known], true[known])


def _right(learned: Learned, truth: Truth, column: str, context: Context) -> float:
    """Return of how many people of the table the guess is right."""
    people = truth.frequency
    true = people.codes[:, people.columns.index(column)]
    guess: Guesses = guesses(learned, people.run_codes, context)
    if truth.key_person is not None:
        present = np.flatnonzero(true != learned.missing)
        once = _once(guess, truth, column, learned.missing, present)
        return float(np.count_nonzero(once.right))
    right = (guess.value[people.run] == true) & (true != learned.missing)
    return float(people.count[right].sum())
