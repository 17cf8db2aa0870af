"""Reconstruction by EM: the distribution behind noisy numbers, and what noise still discloses."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.base.arrays import F64
from anon_core.base.context import Context
from anon_core.base.params import flag, integer, number
from anon_core.base.registry import register
from anon_core.contracts.metric import Metric, MetricNeeds, MetricScale, MetricUse
from anon_core.release.attack_result import Details
from anon_core.release.changed_rows import ChangedColumn, changed_column
from anon_core.release.outcome import Measure
from anon_core.release.problem import Problem
from anon_core.release.release import Release

_NEAR, _ROUNDS = 1e-6, 5000


@register("metric")
@dataclass(frozen=True, kw_only=True)
class EmReconstruction(Metric):
    """Expectation maximisation over bins, with the noise's chances averaged over each bin.

    Likelihood never falls, so its limit is a maximum. Late rounds grow spikes, which is right for a
    column that has them and wrong for a smooth one: the count is said, and the distance in the
    first round whose fit chance alone could explain.
    """

    name: ClassVar[str] = "em-reconstruction"
    title: ClassVar[str] = "Distribution reconstructed (EM)"
    summary: ClassVar[str] = (
        "How far the distribution that a reader reconstructs from numbers with additive noise is "
        "from the true one. Use it if readers know the noise and want histograms. Never use it "
        "for other changes: it does not know their probabilities."
    )
    formula: ClassVar[str] = (
        "θ_k ← θ_k Σ_i (n_i/n) A_ki / Σ_l A_li θ_l from uniform, A_ki = P(x' in bin i | x in bin "
        "k), until max |Δθ| < 10⁻⁶; value ½ Σ |θ − θ̂|; lost privacy 1 − 2^(−I(X; X'))"
    )
    source: ClassVar[str] = (
        "Agrawal and Srikant 2000, doi 10.1145/342009.335438; Agrawal and Aggarwal 2001, "
        "doi 10.1145/375551.375602"
    )
    scale: ClassVar[MetricScale] = MetricScale(unit="share of rows in a wrong bin")
    needs: ClassVar[MetricNeeds] = MetricNeeds(changed=True)
    use: ClassVar[MetricUse] = MetricUse(by_default=False)

    alpha: float = number(
        default=0.1,
        low=0.0,
        help="Variance of the noise as a share of the column's variance, as it was drawn.",
        label="α",
        unit="share of the variance",
    )
    restored: bool = flag(default=False, help="Whether variances were restored.", label="Restored")
    bins: int = integer(
        default=50, low=2, high=200, help="Equal parts of the published range.", label="Bins"
    )

    def reason_not_applicable(self, problem: Problem) -> str:
        """Return why nothing can be reconstructed, or an empty string."""
        if not _numbers(problem):
            return "It needs a changed column of numbers."
        return "" if self.alpha > 0 else "Noise with α = 0 leaves nothing to reconstruct."

    def measure(self, problem: Problem, release: Release, context: Context) -> Measure:
        """Reconstruct each changed column of numbers, and compare with what it was."""
        lost: dict[str, float] = {}
        also: dict[str, float] = {}
        details: list[Details] = []
        for column in _numbers(problem):
            context.check()
            found = self._of(column)
            if found is None:
                continue
            edges, chances, true, published = found
            share, rounds, converged = reconstructed(chances, published)
            lost[column.name] = apart(true, share)
            bits, worst = disclosed(chances, true)
            name = column.name
            early = first_fit(chances, published)
            if early is not None:
                also[f"in the first round that fits, '{name}'"] = apart(true, early[0])
            also |= {
                f"published as it is, '{name}'": apart(true, published / published.sum()),
                f"information in bits, '{name}'": bits,
                f"lost privacy, '{name}'": 1 - 2**-bits,
                f"surest guess of a bin, '{name}'": worst,
            }
            details.append(
                Details(
                    title=f"Distribution of '{name}': true, reconstructed, published",
                    rows=tuple(
                        {"from": low, "true": t, "reconstructed": s, "published": p}
                        for low, t, s, p in zip(
                            edges.tolist(),
                            true.tolist(),
                            share.tolist(),
                            (published / published.sum()).tolist(),
                            strict=False,
                        )
                    ),
                    x="from",
                    y=("true", "reconstructed", "published"),
                    note=(
                        f"{rounds:,} rounds. "
                        if converged
                        else f"Not converged in {rounds:,} rounds. "
                    )
                    + ("No round fits. " if early is None else f"Round {early[1]:,} fits. ")
                    + (
                        ""
                        if identified(chances)
                        else "Not identified: other distributions explain "
                        "the published numbers as well."
                    ),
                )
            )
        mean = float(np.mean(list(lost.values()))) if lost else 0.0
        return Measure(
            metric=self.name,
            value=mean,
            share=mean,
            per_column=lost,
            also=also,
            details=tuple(details),
        )

    def _of(self, column: ChangedColumn) -> tuple[F64, F64, F64, F64] | None:
        """Return the bins' edges, their chances, true shares and published rows."""
        both = ~np.isnan(column.was) & ~np.isnan(column.now)
        was, now = column.was[both], column.now[both]
        spread = float(np.std(now, ddof=1)) if len(now) > 1 else 0.0
        if spread <= 0:
            return None
        if self.restored:  # c (x + e) + (1 − c) x̄
            grown = math.sqrt(1 + self.alpha)
            now, spread = now.mean() + (now - now.mean()) * grown, spread * grown
        edges = np.linspace(now.min(), now.max(), self.bins + 1)
        noise = spread * math.sqrt(self.alpha / (1 + self.alpha))
        inner = edges[1:-1]
        true, published = (
            np.bincount(np.searchsorted(inner, v, side="right"), minlength=self.bins).astype(float)
            for v in (was, now)
        )
        return edges, normal_chances(edges, noise), true / true.sum(), published


def _numbers(problem: Problem) -> list[ChangedColumn]:
    if problem.before is None:
        return []
    named = [changed_column(problem.dataset, problem.before, n) for n in problem.replaced]
    return [c for c in named if c.amount]


def normal_chances(edges: F64, spread: float) -> F64:
    """Return the chance of each published bin given each true one, shape (true, published).

    A number is uniform within its bin; what falls below or above all bins is in the outermost.
    """
    from scipy.special import erf

    def below(z: F64) -> F64:  # the integral of the normal distribution function
        return z * (1 + erf(z / math.sqrt(2))) / 2 + np.exp(-z * z / 2) / math.sqrt(2 * math.pi)

    low, high = edges[:-1, None], edges[1:, None]
    inner = edges[None, 1:-1]
    part = (below((inner - low) / spread) - below((inner - high) / spread)) * spread / (high - low)
    ends = np.ones((len(low), 1))
    return np.diff(np.clip(part, 0.0, 1.0), axis=1, prepend=0 * ends, append=ends)


def stepped(chances: F64, published: F64, share: F64) -> F64:
    """Return the shares after one round.

    Parameters
    ----------
    chances : float64 array of shape (true bins, published bins)
        Rows sum to 1.
    published : float64 array of shape (published bins,)
        Rows counted in each.
    """
    expected = share @ chances
    ratio = np.divide(published, expected, out=np.zeros_like(expected), where=expected > 0)
    return share * (chances @ ratio) / published.sum()


def reconstructed(chances: F64, published: F64) -> tuple[F64, int, bool]:
    """Return the limit of rounds from uniform shares, their number, and whether it was reached."""
    share = np.full(len(chances), 1 / len(chances))
    for rounds in range(1, _ROUNDS + 1):
        now = stepped(chances, published, share)
        if float(np.abs(now - share).max()) < _NEAR:
            return now, rounds, True
        share = now
    return share, _ROUNDS, False


def first_fit(chances: F64, published: F64) -> tuple[F64, int] | None:
    """Return the first shares that explain what is published as well as the true ones would.

    Their deviance, 2 Σ n_i ln(n_i / expected), is at most the number of bins: that of the true
    shares is about as much (Wilks 1938), and rounds beyond it fit chance (Morozov 1966).
    """
    share = np.full(len(chances), 1 / len(chances))
    held = published > 0
    for rounds in range(1, _ROUNDS + 1):
        now = stepped(chances, published, share)
        expected = (now @ chances)[held] * published.sum()
        if expected.all():  # else these shares leave a published number unexplained
            deviance = 2 * float((published[held] * np.log(published[held] / expected)).sum())
            if deviance <= len(chances):
                return now, rounds
        if float(np.abs(now - share).max()) < _NEAR:
            return None
        share = now
    return None


def identified(chances: F64) -> bool:
    """Say whether different shares are published differently, as far as floats can tell."""
    return int(np.linalg.matrix_rank(chances)) == len(chances)


def apart(true: F64, found: F64) -> float:
    """Return half the sum of absolute differences."""
    return float(np.abs(true - found).sum() / 2)


def disclosed(chances: F64, share: F64) -> tuple[float, float]:
    """Return what a published bin discloses: bits on average, and the surest guess."""
    joint = share[:, None] * chances
    of_published = joint.sum(axis=0)
    apart_of = share[:, None] * of_published[None, :]
    held = joint > 0
    bits = float((joint[held] * np.log2(joint[held] / apart_of[held])).sum())
    some = of_published > 0
    return max(bits, 0.0), float((joint.max(axis=0)[some] / of_published[some]).max(initial=0.0))
