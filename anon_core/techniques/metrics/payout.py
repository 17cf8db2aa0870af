"""Payout: what a publisher earns by a release that is attacked where an attack pays."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.base.arrays import I64
from anon_core.base.context import Context
from anon_core.base.registry import register
from anon_core.contracts.metric import Metric, MetricScale, MetricUse
from anon_core.methods.matching.fitting_people import matched, people_or_rows, why_not
from anon_core.methods.reidentification.payout import Amounts, share_lost
from anon_core.release.knowledge.audience import audience_of
from anon_core.release.outcome import Measure
from anon_core.release.problem import Problem
from anon_core.release.release import Release


@register("metric")
@dataclass(frozen=True, kw_only=True)
class Payout(Amounts, Metric):
    """B (1 − IL) − [G/N > C] L/N of each published row; a suppressed row pays nothing.

    A row pays its benefit less what is lost of it, IL = Σ log leaves / Σ log |A|. Of N people who
    fit an attacker gains G/N on average: if that is above the cost C, the row is attacked, and the
    publisher loses L/N. A publisher who only wants no attack asks for k-anonymity with k = ⌈G/C⌉,
    or k-map where the population is a register; one who wants no row that does not pay, for
    profitability.
    """

    name: ClassVar[str] = "payout"
    title: ClassVar[str] = "Payout of the publisher"
    summary: ClassVar[str] = (
        "What the published rows earn: the benefit of each, minus the information lost, minus the"
        " loss by an attack if attacking pays. State the amounts."
    )
    formula: ClassVar[str] = (
        "Σ over published rows of B (1 − IL) − [G/N > C] L/N, IL = Σ_j log leaves / Σ_j log |A_j|, "
        "N rows of the class, or people of a public table in it; share 1 − Σ / (n B), from 0 to 1"
    )
    source: ClassVar[str] = "Wan et al. 2015, doi 10.1371/journal.pone.0120592"
    scale: ClassVar[MetricScale] = MetricScale(unit="amount", more_is_better=True)
    use: ClassVar[MetricUse] = MetricUse(by_default=False)

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
        lost = share_lost(problem.hierarchies, problem.quasi, release.by_cover)
        each = self.of_rows(lost, _people(problem, release, context))
        total = float(each @ sizes)
        most = self.benefit * problem.rows
        paying, safe = self.pays(each), self.safe_from()
        return Measure(
            metric=self.name,
            value=total,
            share=min(max(1 - total / most, 0.0), 1.0) if most else 0.0,
            per_class=each,
            also={
                "payout of the rows that pay": float(each[paying] @ sizes[paying]),
                "rows that do not pay": float(sizes[~paying].sum()),
                **({"least class that no one attacks": safe} if math.isfinite(safe) else {}),
            },
        )


def _people(problem: Problem, release: Release, context: Context) -> I64:
    """Return who could be behind a row of each class, shape (classes,)."""
    persons = matched(release.view)
    behind, _ = people_or_rows(release.view, audience_of(problem), persons, context)
    of_group = np.ones(len(release.view.group_size), dtype=np.int64)
    of_group[persons.group] = np.maximum(behind, 1)
    return of_group[release.seen_group]
