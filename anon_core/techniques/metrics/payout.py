"""Payout: what a publisher earns by a release that is attacked where an attack pays."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from anon_core.base.arrays import F64, I64
from anon_core.base.context import Context
from anon_core.base.params import number
from anon_core.base.registry import register
from anon_core.contracts.metric import Metric, MetricScale, MetricUse
from anon_core.methods.matching.fitting_people import matched, people_or_rows, why_not
from anon_core.release.knowledge.audience import audience_of
from anon_core.release.outcome import Measure
from anon_core.release.problem import Problem
from anon_core.release.release import Release


def size_without_attack(gain: float, cost: float) -> int:
    """Return the least class that no one attacks, ⌈G/C⌉: from there on G/N is at most C.

    Examples
    --------
    >>> size_without_attack(300, 4), size_without_attack(300, 100), size_without_attack(300, 7)
    (75, 3, 43)
    """
    return max(math.ceil(Fraction(str(gain)) / Fraction(str(cost))), 1)


@register("metric")
@dataclass(frozen=True, kw_only=True)
class Payout(Metric):
    """B (1 − IL) − [G/N > C] L/N of each published row; a suppressed row pays nothing.

    A row pays its benefit less what is lost of it, IL = Σ log leaves / Σ log |A|. Of N people who
    fit an attacker gains G/N on average: if that is above the cost C, the row is attacked, and the
    publisher loses L/N. All amounts are in one unit of money. A publisher who only wants no attack
    asks for k-anonymity with k = ⌈G/C⌉, or k-map where the population is a register.
    """

    name: ClassVar[str] = "payout"
    title: ClassVar[str] = "Payout of the publisher"
    summary: ClassVar[str] = (
        "What the published rows earn: the benefit of each, less what is lost of it, and less what "
        "an attack costs the publisher where it is worth its cost. State the amounts."
    )
    formula: ClassVar[str] = (
        "Σ over published rows of B (1 − IL) − [G/N > C] L/N, IL = Σ_j log leaves / Σ_j log |A_j|, "
        "N rows of the class, or people of a public table in it; share 1 − Σ / (n B), from 0 to 1"
    )
    source: ClassVar[str] = "Wan et al. 2015, doi 10.1371/journal.pone.0120592"
    scale: ClassVar[MetricScale] = MetricScale(unit="amount", more_is_better=True)
    use: ClassVar[MetricUse] = MetricUse(by_default=False)

    benefit: float = number(
        default=0.0,
        low=0.0,
        help="B, what a row earns as it is. State it; 0 is not measured.",
        label="Benefit of a row",
    )
    loss: float = number(
        default=0.0,
        low=0.0,
        help="L, what the publisher loses by each person who is found.",
        label="Loss by a person found",
    )
    gain: float = number(
        default=0.0,
        low=0.0,
        help="G, what an attacker gains by each person who is found.",
        label="Gain of the attacker",
    )
    cost: float = number(
        default=0.0,
        low=0.0,
        help="C, what an attack on a row costs the attacker.",
        label="Cost of an attack",
    )

    def reason_not_applicable(self, problem: Problem) -> str:
        """Ask for amounts: without them nothing is earned."""
        if not self.benefit:
            return "It needs amounts: state what a row earns, and the others of its settings."
        return "" if problem.quasi else "There are no quasi-identifiers."

    def not_defined_for(self, release: Release) -> str:
        """Ask for rows whose quasi-identifiers stay together."""
        return why_not(release.view)

    def measure(self, problem: Problem, release: Release, context: Context) -> Measure:
        """Return the payout of all published rows, and of those that pay."""
        sizes = release.grouping.sizes
        each = self.of_rows(_lost(problem, release), _people(problem, release, context))
        total = float(each @ sizes)
        most = self.benefit * problem.rows
        share = min(max(1 - total / most, 0.0), 1.0) if most else 0.0
        paying, safe = each > 0, self._safe_from()
        return Measure(
            metric=self.name,
            value=total,
            share=share,
            per_class=each,
            also={
                "payout of the rows that pay": float(each[paying] @ sizes[paying]),
                "rows that do not pay": float(sizes[~paying].sum()),
                **({"least class that no one attacks": safe} if math.isfinite(safe) else {}),
            },
        )

    def of_rows(self, lost: F64, people: I64) -> F64:
        """Return what a row of each class earns, shape (classes,).

        Parameters
        ----------
        lost : float64 array of shape (classes,)
            IL, 0 to 1.
        people : int64 array of shape (classes,)
            N, at least 1.
        """
        attacked = people < self._safe_from()
        return self.benefit * (1 - lost) - attacked * self.loss / people

    def _safe_from(self) -> float:
        """Return the least N that no one attacks; none is where an attack costs nothing."""
        if not self.gain:
            return 1.0
        return float(size_without_attack(self.gain, self.cost)) if self.cost else math.inf


def _lost(problem: Problem, release: Release) -> F64:
    """Return Σ log leaves / Σ log |A| of each class, shape (classes,); 0 of domains of one."""
    found, every = np.zeros(release.grouping.classes), 0.0
    for name in problem.quasi:
        hierarchy = problem.hierarchies[name]
        found += release.by_cover(
            name, lambda lo, hi, h=hierarchy: np.log(np.maximum(h.leaf_count(lo, hi), 1))
        )
        every += math.log(max(hierarchy.size, 1))
    return found / every if every else found


def _people(problem: Problem, release: Release, context: Context) -> I64:
    """Return who could be behind a row of each class, shape (classes,)."""
    persons = matched(release.view)
    behind, _ = people_or_rows(release.view, audience_of(problem), persons, context)
    of_group = np.ones(len(release.view.group_size), dtype=np.int64)
    of_group[persons.group] = np.maximum(behind, 1)
    return of_group[release.seen_group]
