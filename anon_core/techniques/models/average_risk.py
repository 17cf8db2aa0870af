"""A bound on the mean risk: over all rows together, no more are picked right than that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context
from anon_core.base.params import number
from anon_core.base.registry import register
from anon_core.contracts.group_stats import GroupStats
from anon_core.contracts.model import ModelAim
from anon_core.data.frequency import dense_rank
from anon_core.methods.matching.fitting_people import matched, people_or_rows
from anon_core.methods.reidentification.reidentification import (
    RiskOfAll,
    as_written,
    mean_chance,
    rarest_first,
    riskiest_first,
    smallest_first,
)
from anon_core.release.knowledge.audience import Audience
from anon_core.release.outcome import Verdict, per_cent
from anon_core.release.private_reference import Reference
from anon_core.release.release import View


@register("model")
@dataclass(frozen=True, kw_only=True)
class AverageRisk(RiskOfAll):
    """#classes / n ≤ r (El Emam and Dankar 2008).

    Of the n published rows, anyone who guesses a person's row within each class finds one in each,
    so that classes / n are found. With a public table it is the marketer's share: the mean over the
    rows of 1 / people of the table who fit the row's class.

    By weights of a survey it is the mean of `individual_risk`, an estimate; the riskiest classes go
    first, equals together.

    Merging classes never raises it, whichever they are: there is one less, and
    t₁/p₁ + t₂/p₂ ≥ (t₁ + t₂)/(p₁ + p₂).
    Removing a class can raise it: of classes of 1 and 2 rows the share is 2/3, without the larger
    it is 1. What is removed are therefore the smallest classes, which is the fewest rows.
    """

    name: ClassVar[str] = "average-risk"
    title: ClassVar[str] = "Average risk"
    summary: ClassVar[str] = (
        "An attacker who guesses the person behind every published row is right for at most this "
        "share of the rows. A single person may be at higher risk."
    )
    formula: ClassVar[str] = (
        "#classes / n ≤ r; with a public table P: (1/n) Σ over classes of |G| / |people of P in G| "
        "≤ r; by survey weights: the mean of E[1/F | |G|], estimated from the weights in G"
    )
    source: ClassVar[str] = "El Emam and Dankar 2008, doi 10.1197/jamia.M2716"
    aim: ClassVar[ModelAim] = ModelAim(offered_at=3)

    risk: float = number(
        default=0.2, low=1e-6, high=1.0, help="Largest share of rows picked right.", label="Risk"
    )

    def settle(
        self, stats: GroupStats, keep: npt.NDArray[np.bool_], reference: Reference
    ) -> npt.NDArray[np.bool_]:
        """Return the classes left once the smallest, or those of the fewest people, are removed."""
        if self.weights:
            risk = self.estimated(stats, reference)
            return riskiest_first(stats.sizes, risk, keep, self.risk)
        assert stats.cells is not None
        columns = [column.astype(np.int32) for column in stats.cells.values()]

        def rank(which: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
            """Return the places of some classes by what they publish."""
            cells = [column[which] for column in columns]
            return dense_rank(cells, [int(column.max(initial=0)) + 1 for column in cells])[0]

        if stats.population is None:
            return smallest_first(stats.sizes, keep, rank, self.risk)
        return rarest_first(stats.sizes, stats.population, keep, rank, self.risk)

    def comes_to(self, stats: GroupStats, reference: Reference) -> str:
        """Return how often guessing in every class is right, over all rows."""
        classes, rows = len(stats.sizes), int(stats.sizes.sum())
        return (
            f"Guessing in each class is right for {classes} of {rows} rows, a share of "
            f"{classes / rows:.3g}; at most {self.risk:g} is allowed."
        )

    def in_words(self, quasi: int, together: str = "class") -> str:
        """Return of how many rows a guess is right."""
        of = per_cent(self.risk)
        if self.weights:
            return (
                f"By the weights in '{self.weights}', someone who names the person of every row "
                f"will be right for at most {of} of them, as estimated."
            )
        return f"An attacker who guesses for every row will be right for at most {of} of them."

    def measure(
        self, view: View, audience: Audience, reference: Reference, context: Context
    ) -> Sequence[Verdict]:
        """Return the mean chance over the published rows against the bound.

        Raises
        ------
        AnonError
            If the quasi-identifiers are in several link blocks.
        """
        if self.weights:
            return [self._by_weights(view, reference)]
        persons = matched(view)
        people, counted = people_or_rows(view, audience, persons, context)
        share = mean_chance(persons.sizes, people)
        among = "the public table" if counted else "the release"
        return [
            self.verdict(
                share <= as_written(self.risk),
                f"Guessing in {among} is right for {float(share):.4g} of the published "
                f"rows; at most {self.risk:g} was asked for.",
                bound=self.risk,
                reached=float(share),
                per_class=1.0 / np.maximum(people, 1),
            )
        ]

    def _by_weights(self, view: View, reference: Reference) -> Verdict:
        """Return the mean estimated risk of the published rows against the bound."""
        sizes, risk = self.estimated_of(view, reference)
        mean = float(sizes @ risk) / max(int(sizes.sum()), 1)
        return self.verdict(
            self.within(np.array([mean]))[0],
            f"Estimated from the weights, {mean:.4g} of the published rows are named "
            f"right; at most {self.risk:g} was asked for.",
            bound=self.risk,
            reached=mean,
            per_class=risk,
        )
