"""Noise filter: the best linear guess of what stood behind additive noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.base.arrays import F64
from anon_core.base.context import Context
from anon_core.base.params import choice, flag, number
from anon_core.base.registry import register
from anon_core.contracts.attack import (
    Attack,
    AttackAim,
    AttackNeeds,
    AttackUse,
)
from anon_core.data.values.kinds import KINDS
from anon_core.methods.changes.closeness import filtered, spectral
from anon_core.release.attack_result import AttackResult
from anon_core.release.ground_truth import Truth
from anon_core.release.knowledge.audience import Audience
from anon_core.release.outcome import per_cent
from anon_core.release.release import View

#: How near a guess has to be to count as right, as a share of the true number.
_NEAR = 0.1


@register("attack")
@dataclass(frozen=True, kw_only=True)
class NoiseFilter(Attack):
    """Take noise of a known covariance away (Kargupta et al. 2003; Wiener's linear filter)."""

    name: ClassVar[str] = "noise-filter"
    title: ClassVar[str] = "Noise filter"
    summary: ClassVar[str] = (
        "An attacker who knows how noise was drawn removes as much of it as the correlations of "
        "the columns allow, and guesses each number to within 10 %."
    )
    formula: ClassVar[str] = (
        "x̄' + Σ_x (Σ_x + Σ_e)⁻¹ (x' − x̄'), Σ_x = S' − Σ_e cut at 0; spectral: eigenvalues above "
        "σ²(1 + √(d/n))² are kept"
    )
    source: ClassVar[str] = (
        "Kargupta, Datta, Wang and Sivakumar 2003, doi 10.1109/ICDM.2003.1250908"
    )
    aim: ClassVar[AttackAim] = AttackAim(discloses="inferential", answers=("inference",))
    needs: ClassVar[AttackNeeds] = AttackNeeds(changed=True)
    use: ClassVar[AttackUse] = AttackUse(by_default=False)

    alpha: float = number(
        default=0.1,
        low=0.0,
        help="Variance of the noise as a share of the column's variance, as it was drawn.",
        label="α",
        unit="share of the variance",
    )
    noise: str = choice(
        default="correlated",
        options={"correlated": "Correlated as the columns", "uncorrelated": "Each by itself"},
        help="How the noise was drawn.",
        label="Noise",
    )
    restored: bool = flag(default=False, help="Whether variances were restored.", label="Restored")
    method: str = choice(
        default="linear",
        options={"linear": "Linear", "spectral": "Spectral"},
        help="Which filter is used. The spectral one is for uncorrelated noise of one size.",
        label="Filter",
    )

    def reason_not_applicable(self, view: View, audience: Audience) -> str:
        """Ask for numbers."""
        kinds = (audience.kinds.get(n) for n in view.replaced)
        if not any(kind is not None and KINDS[kind].amount for kind in kinds):
            return "It needs a column of numbers whose values were replaced."
        return ""

    def run(
        self, view: View, audience: Audience, truth: Truth, context: Context
    ) -> Sequence[AttackResult]:
        """Guess every number; see `Attack.run`."""
        columns = [c for c in truth.changed if c.amount and c.name in view.replaced]
        whole = ~np.any([np.isnan(c.now) | np.isnan(c.was) for c in columns], axis=0)
        whole &= truth.row_group >= 0
        now = np.stack([c.now[whole] for c in columns], axis=1)
        guess = self.guessed(now)
        size = len(view.group_size)
        found: list[AttackResult] = []
        for d, column in enumerate(columns):
            was = column.was[whole]
            spread = float(np.std(was, ddof=1))
            off = float(np.sqrt(np.mean((guess[:, d] - was) ** 2))) / (spread or 1.0)
            right = np.abs(guess[:, d] - was) <= _NEAR * np.abs(was)
            bare = np.abs(now[:, d].mean() - was) <= _NEAR * np.abs(was)
            rate = float(right.mean()) if len(right) else 0.0
            found.append(
                AttackResult(
                    attack=self.name,
                    column=column.name,
                    attempted=max(len(was), 1),
                    eligible=len(was),
                    succeeded=float(right.sum()),
                    rate=rate,
                    worst=rate,
                    baseline=float(bare.mean()) if len(bare) else 0.0,
                    raw=1.0,
                    at_risk=0,
                    threshold=1.0,
                    per_class=np.zeros(size),
                    estimated=True,
                    sentence=f"'{column.name}' is guessed to within 10% for {per_cent(rate)} of "
                    f"rows; guesses are {off:.2f} standard deviations off on average, and 1 is the "
                    "mean's.",
                )
            )
        return found

    def guessed(self, now: F64) -> F64:
        """Return a guess of every number, shape (rows, columns)."""
        mean = now.mean(axis=0)
        if self.restored:  # c (x + e) + (1 − c) x̄
            now = mean + (now - mean) * math.sqrt(1 + self.alpha)
        covariance = np.atleast_2d(np.cov(now, rowvar=False)) * (self.alpha / (1 + self.alpha))
        noise = covariance if self.noise == "correlated" else np.diag(np.diag(covariance))
        if self.method == "linear":
            return filtered(now, noise)
        spread = np.sqrt(np.diag(noise))
        spread = np.where(spread > 0, spread, 1.0)
        return spectral(now / spread, 1.0) * spread
