"""Profitability: no published row costs its publisher more than it earns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.base.arrays import B1, F64
from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, Infeasible
from anon_core.base.registry import register
from anon_core.contracts.group_stats import GroupStats
from anon_core.contracts.model import GroupModel, ModelLogic, ModelScope
from anon_core.methods.matching.fitting_people import matched, people_or_rows
from anon_core.methods.reidentification.payout import Amounts, Width, share_lost
from anon_core.release.knowledge.audience import Audience
from anon_core.release.outcome import Verdict
from anon_core.release.private_reference import Reference
from anon_core.release.problem import Problem
from anon_core.release.release import View


@register("model")
@dataclass(frozen=True, kw_only=True)
class Profitability(Amounts, GroupModel):
    """B (1 − IL) − [G/N > C] L/N > 0 for every published row; rows that do not pay are removed.

    What is lost of a row, IL, follows from the cells of its class, so that it is decided where
    every column has one level. Merging classes lowers the loss by an attack and what rows earn, so
    neither keeps it: a search looks at every node.
    """

    name: ClassVar[str] = "profitability"
    title: ClassVar[str] = "Profitability"
    summary: ClassVar[str] = (
        "Every published row earns more than it costs its publisher: its benefit, minus the "
        "information lost, minus the loss by an attack if attacking pays. State the amounts."
    )
    formula: ClassVar[str] = (
        "B (1 − IL) − [G/N > C] L/N > 0, IL = Σ_j log leaves / Σ_j log |A_j|, N = |G|, or people "
        "of a public table in G; that no attack pays is |G| ≥ ⌈G/C⌉, k-anonymity"
    )
    source: ClassVar[str] = "Wan et al. 2015, doi 10.1371/journal.pone.0120592"
    scope: ClassVar[ModelScope] = ModelScope(whole_rows=True, may_count_public=True, by_cells=True)
    logic: ClassVar[ModelLogic] = ModelLogic(monotone_merge=False)

    def of_release(self) -> bool:
        """Return that it is asked with the cells of all classes."""
        return True

    def removal_nests(self) -> bool:
        """Return that which classes go changes from node to node."""
        return False

    def check(self, problem: Problem, removable: int = 0) -> None:
        """Refuse amounts that are not stated, or by which no row can pay.

        Raises
        ------
        BadPlan
            If there is no benefit.
        Infeasible
            If even a row as it is, among everyone, does not pay.
        """
        if not self.benefit:
            raise BadPlan(
                f"{self.title} needs amounts, and no benefit is stated.",
                remedy="Set benefit, what a row earns as it is, and loss, gain and cost.",
            )
        people = problem.population
        among = people.size if people is not None and self.counts_public(people) else problem.rows
        best = self.of_rows(np.zeros(1), np.array([max(among, 1)]))
        if not self.pays(best)[0]:
            raise Infeasible(
                f"{self.title}: even a row as it is, among {among:,}, earns {float(best[0]):.4g}.",
                remedy="State a higher benefit or cost, or a lower loss or gain.",
                best=float(best[0]),
                best_of="payout of a row",
            )

    def per_group(self, stats: GroupStats, reference: Reference) -> B1:
        """Return which groups pay; where it is not known what is lost of them, at best."""
        return self.pays(self._earned(stats)) | (stats.sizes == 0)

    def settle(self, stats: GroupStats, keep: B1, reference: Reference) -> B1:
        """Return the classes that pay."""
        return keep & self.per_group(stats, reference)

    def comes_to(self, stats: GroupStats, reference: Reference) -> str:
        """Return what a row of the worst group earns."""
        return (
            f"A row as it is earns {float(self._earned(stats).min()):.4g} in the group that is "
            "attacked most; more than 0 is asked for."
        )

    def in_words(self, quasi: int, together: str = "class") -> str:
        """Return what every row earns, and from which class on no one attacks."""
        safe = self.safe_from()
        attacked = (
            f", and is attacked among fewer than {safe:,.0f}" if 1 < safe < float("inf") else ""
        )
        return (
            f"Every published row will earn its publisher more than it costs: it has a benefit of "
            f"{self.benefit:g} as it is{attacked}."
        )

    def measure(
        self, view: View, audience: Audience, reference: Reference, context: Context
    ) -> Sequence[Verdict]:
        """Return what the worst published row earns.

        Raises
        ------
        AnonError
            If the quasi-identifiers are in several link blocks.
        """
        persons = matched(view)
        people, counted = people_or_rows(view, audience, persons, context)
        place = {name: d for d, name in enumerate(persons.columns)}

        def widths(name: str, width: Width) -> F64:
            vocabulary = view.vocabularies[name]
            return width(vocabulary.lo, vocabulary.hi)[persons.codes[:, place[name]]]

        lost = share_lost(audience.hierarchies, persons.columns, widths)
        each = self.of_rows(lost, np.maximum(people, 1))
        worst, rows = float(each.min(initial=np.inf)), int(persons.sizes.sum())
        total = float(each @ persons.sizes)
        among = "people of the public table" if counted else "published rows"
        return [
            self.verdict(
                self.pays(each).all(),
                f"The published row that earns least earns {worst:.4g}, more than 0 was "
                f"asked for; all {rows:,} earn {total:,.2f}, by the {among} that they are among.",
                bound=0.0,
                reached=worst if rows else 0.0,
                per_class=each,
            )
        ]

    def _earned(self, stats: GroupStats) -> F64:
        people = stats.sizes if stats.population is None else stats.population
        lost = np.zeros(len(stats.sizes)) if stats.lost is None else stats.lost
        return self.of_rows(lost, np.maximum(people, 1))
