"""deFinetti: groups that hide who has which value, taken together, tell what goes with what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.base.context import Context, part_of
from anon_core.base.errors import AnonError
from anon_core.base.params import integer, number
from anon_core.base.registry import register
from anon_core.contracts.attack import AttackAim, AttackNeeds, AttackUse
from anon_core.contracts.group_stats import Histogram, sensitive_histogram
from anon_core.methods.bucketized.slice_chances import exact_cells
from anon_core.methods.inference.bucket_posteriors import score, with_learned
from anon_core.methods.inference.definetti import Settled, rows_of, settle, values_of_groups
from anon_core.methods.inference.naive_bayes import base_rates, learn, too_large
from anon_core.methods.inference.prediction_scores import above_control, by_sureness, control_of
from anon_core.methods.inference.sensitive_beliefs import AboutSecrets
from anon_core.release.attack_result import AttackResult, Details
from anon_core.release.ground_truth import Truth
from anon_core.release.knowledge.audience import Audience
from anon_core.release.outcome import per_cent
from anon_core.release.release import View

#: Rows times values of the largest group that is dealt: beyond, cancel would be heard too late.
_MOST = 2_000_000


@register("attack")
@dataclass(frozen=True, kw_only=True)
class DeFinetti(AboutSecrets):
    """Learn from all groups at once what goes with what, and undo the permutation by it."""

    name: ClassVar[str] = "definetti"
    title: ClassVar[str] = "deFinetti"
    summary: ClassVar[str] = (
        "An attacker who knows people's groups learns from all groups together which sensitive "
        "value goes with which age, place or job, and infers who in a group has which value. The "
        "share of the value in the group does not limit the guess."
    )
    formula: ClassVar[str] = (
        "P(t, s) by all deals of a group's values, each weighed by Π θ_i(t_i | s); θ_i(v | s) = "
        "(Σ P(t, s)[t_i = v] + 1) / (Σ P(t, s) + |D_i|); in turn until both stay"
    )
    source: ClassVar[str] = "Kifer 2009, doi 10.1145/1559845.1559861"
    aim: ClassVar[AttackAim] = AttackAim(
        discloses="inferential", learns=True, answers=("inference",)
    )
    needs: ClassVar[AttackNeeds] = AttackNeeds(
        permuted=True,
        rows_only="It is about groups that deal their values out, one to a person; here one person "
        "has several rows, and techniques that permute columns refuse them.",
    )
    use: ClassVar[AttackUse] = AttackUse(by_default=False)

    rounds: int = integer(
        default=200,
        low=1,
        high=10_000,
        help="Rounds of learning and weighing after which it ends, settled or not.",
        label="Rounds",
    )
    sure: float = number(
        default=0.9,
        low=0.0,
        high=1.0,
        help="Belief in a guess above which the person counts as at risk.",
        label="Sure of a guess",
    )

    def reason_not_applicable(self, view: View, audience: Audience) -> str:
        """Ask for a sensitive column that quasi-identifiers of exact cells are permuted against."""
        if all(_apart(view, column) == () for column in audience.secret or ("",)):
            return "It needs columns that are permuted separately; here rows stay whole."
        reason = super().reason_not_applicable(view, audience)
        if not reason and not exact_cells(view):
            return "It is for quasi-identifiers published as they are; here cells are coarsened."
        if not reason and not self._columns(view, audience):
            return "Its groups or columns are too large to be dealt."
        return reason

    def _columns(self, view: View, audience: Audience) -> list[str]:
        """Return the sensitive columns that it is run on."""
        return [
            column
            for column in audience.secret
            if _apart(view, column)
            and not too_large(view, audience, column)
            and int((view.group_size * values_of_groups(view, column).kinds).max(initial=0))
            <= _MOST
        ]

    def run(
        self, view: View, audience: Audience, truth: Truth, context: Context
    ) -> Sequence[AttackResult]:
        """Attack everyone whose group is known, for every sensitive column.

        Raises
        ------
        AnonError
            If it does not apply.
        """
        reason = self.reason_not_applicable(view, audience)
        if reason:
            raise AnonError(reason, remedy="Use it where columns are permuted separately.")
        columns = self._columns(view, audience)
        found: list[AttackResult] = []
        for number_, column in enumerate(columns):
            part = part_of(context, number_ / len(columns), (number_ + 1) / len(columns))
            values = values_of_groups(view, column)
            texts = len(view.vocabularies[column].texts)
            blocks = [b for b in view.blocks if b.columns in _apart(view, column)]
            settled = [settle(rows_of(view, b, values), texts, self.rounds, part) for b in blocks]
            found.append(self._scored(view, audience, truth, column, settled, part))
        return found

    def _scored(
        self,
        view: View,
        audience: Audience,
        truth: Truth,
        column: str,
        settled: Sequence[Settled],
        context: Context,
    ) -> AttackResult:
        scored = score(view, column, settled, truth.frequency, truth.places, context)
        counted = learn(view, column, base_rates(audience))
        outside = with_learned(view, counted, settled)
        control = control_of(outside, truth.holdout, column, context)
        known = sensitive_histogram(view, column)[1]
        raw = sensitive_histogram(truth.raw_in_groups, column)[1]
        eligible = int(known.known.sum())
        succeeded = float((scored.count * scored.right).sum())
        chance = np.zeros(len(view.group_size))
        np.maximum.at(chance, scored.group, scored.belief)
        rate = succeeded / truth.rows
        rows = truth.known_rows(column)
        baseline = int(rows.max(initial=0)) / truth.rows
        words, compared, interval = above_control(succeeded, truth.rows, baseline, control)
        return AttackResult(
            attack=self.name,
            column=column,
            attempted=truth.rows,
            eligible=eligible,
            succeeded=succeeded,
            rate=rate,
            worst=max(float(chance.max(initial=0.0)), rate) if eligible else 0.0,
            baseline=baseline,
            raw=int(raw.most.sum()) / truth.rows,
            at_risk=int(scored.count[scored.belief > self.sure].sum()),
            threshold=self.sure,
            per_class=chance,
            estimated=True,
            interval=interval,
            control=None if control is None else control.rate,
            sentence=f"{_sentence(column, truth.rows, succeeded, known, settled)} {words}",
            details=(
                _against_chance(rate, known, truth.rows, baseline),
                *compared,
                by_sureness(scored.belief, scored.count, scored.right > 0, truth.rows, column),
            ),
        )


def _apart(view: View, column: str) -> tuple[tuple[str, ...], ...]:
    """Return the blocks of quasi-identifiers that the column is permuted against."""
    if not column or not view.published:
        return ()
    return tuple(
        b.columns
        for b in view.blocks
        if column not in b.columns and any(name in view.quasi for name in b.columns)
    )


def _sentence(
    column: str, rows: int, succeeded: float, known: Histogram, settled: Sequence[Settled]
) -> str:
    """Return what is guessed rightly, next to guessing the commonest value of the group."""
    if not known.known.sum():
        return f"No published row has a value of '{column}', so there is nothing to learn."
    commonest, rounds = int(known.most.sum()), max(one.rounds for one in settled)
    ended = "" if all(one.converged for one in settled) else f" Not converged in {rounds} rounds."
    return (
        f"Someone who knows everyone's group and learns from all groups guesses '{column}' rightly "
        f"for {succeeded:,.0f} of {rows:,} people ({per_cent(succeeded / rows)}); the commonest "
        f"value of each group is right for {commonest:,} ({per_cent(commonest / rows)}).{ended}"
    )


def _against_chance(rate: float, known: Histogram, rows: int, baseline: float) -> Details:
    """Return the attack next to ways to guess that learn nothing."""
    kinds = known.distinct[known.known > 0]
    shares: dict[str, float] = {
        "deFinetti": rate,
        "commonest value of the group": int(known.most.sum()) / rows,
        "one over the fewest values of a group": 1 / int(kinds.min(initial=rows)),
        "commonest value of the table": baseline,
    }
    return Details(
        title="Right guesses, compared with ways that learn nothing",
        rows=tuple({"guess": guess, "right": share} for guess, share in shares.items()),
        x="guess",
        y=("right",),
        drawn="bars",
    )
