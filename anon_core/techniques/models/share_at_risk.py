"""A bound on how many are at risk: rows beyond a chance are at most a share of those published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context
from anon_core.base.params import number
from anon_core.base.registry import register
from anon_core.base.terms import times
from anon_core.contracts.group_stats import GroupStats
from anon_core.data.frequency import dense_rank
from anon_core.methods.matching.fitting_people import matched, people_or_rows
from anon_core.methods.reidentification.reidentification import (
    RiskOfAll,
    as_written,
    least_people,
)
from anon_core.release.knowledge.audience import Audience
from anon_core.release.outcome import Verdict, per_cent
from anon_core.release.private_reference import Reference
from anon_core.release.release import View


@register("model")
@dataclass(frozen=True, kw_only=True)
class ShareAtRisk(RiskOfAll):
    """Rows with 1/N > θ are at most a share s of the published rows; θ = 1/2 is uniqueness.

    Merging never raises it: a class at risk is made of classes at risk. Removing one that is not
    can raise it: of classes of 1, 2 and 2 rows a fifth is unique, without one of the two a third.
    What is removed are whole classes at risk, those of the fewest people first. They are the
    riskiest; other classes may be fewer rows. By weights of a survey a row's chance is its
    `individual_risk`, an estimate.
    """

    name: ClassVar[str] = "share-at-risk"
    title: ClassVar[str] = "Share at risk"
    summary: ClassVar[str] = (
        "At most this share of the published rows is in classes where a guess is right with more "
        "than the given chance. With 1 in 2, these are the unique rows."
    )
    formula: ClassVar[str] = (
        "Σ {|G| : 1 / |G| > θ} ≤ s · n; with a public table P: 1 / |people of P in G| > θ; by "
        "survey weights: E[1/F | |G|] > θ, with F estimated from the weights in G"
    )
    source: ClassVar[str] = "Dankar et al. 2012, doi 10.1186/1472-6947-12-66"

    risk: float = number(
        default=0.2,
        low=1e-6,
        high=1.0,
        help="Chance of being picked beyond which a row is at risk.",
        label="Risk",
    )
    share: float = number(
        default=0.05,
        low=1e-6,
        high=1.0,
        help="Largest share of the published rows that may be at risk. For none, require a "
        "maximum risk.",
        label="Share",
    )

    def settle(
        self, stats: GroupStats, keep: npt.NDArray[np.bool_], reference: Reference
    ) -> npt.NDArray[np.bool_]:
        """Return the classes left once the riskiest are removed until few enough are at risk."""
        assert stats.cells is not None
        most = as_written(self.share)
        if self.weights:
            safety = -self.estimated(stats, reference)
            at_risk_now = ~self.within(-safety)
        else:
            people = stats.sizes if stats.population is None else stats.population
            safety, at_risk_now = people.astype(np.float64), self._risky(people)
        risky = np.flatnonzero(keep & at_risk_now & (stats.sizes > 0))
        columns = [column[risky].astype(np.int32) for column in stats.cells.values()]
        ranked = dense_rank(columns, [int(column.max(initial=0)) + 1 for column in columns])[0]
        order = risky[np.lexsort([ranked, stats.sizes[risky], safety[risky]])]
        rows = int(stats.sizes[keep].sum())
        at_risk = int(stats.sizes[risky].sum())
        gone = np.concatenate([[0], np.cumsum(stats.sizes[order])])
        good = (at_risk - gone) * most.denominator <= (rows - gone) * most.numerator
        left = keep.copy()
        left[order[: int(np.argmax(good))]] = False
        return left

    def comes_to(self, stats: GroupStats, reference: Reference) -> str:
        """Return how many rows are at risk."""
        rows, at_risk = int(stats.sizes.sum()), int(stats.sizes[self._risky(stats.sizes)].sum())
        return (
            f"{at_risk} of {rows} rows are at risk, a share of {at_risk / rows:.3g}; at most "
            f"{self.share:g} is allowed."
        )

    def in_words(self, quasi: int, together: str = "class") -> str:
        """Return of how many rows a guess may be right too often."""
        by = f"By the weights in '{self.weights}', of" if self.weights else "Of"
        estimated = ", as estimated" if self.weights else ""
        return (
            f"{by} at most {per_cent(self.share)} of the rows, a guess will be right more often "
            f"than {times(self.risk)}{estimated}."
        )

    def measure(
        self, view: View, audience: Audience, reference: Reference, context: Context
    ) -> Sequence[Verdict]:
        """Return the share of published rows at risk against the bound.

        Raises
        ------
        AnonError
            If the quasi-identifiers are in several link blocks.
        """
        if self.weights:
            sizes, chance = self.estimated_of(view, reference)
            beyond = ~self.within(chance)
            phrase = f"have a risk above {self.risk:g}, as estimated from the weights,"
        else:
            persons = matched(view)
            sizes = persons.sizes
            people, counted = people_or_rows(view, audience, persons, context)
            chance, beyond = 1.0 / np.maximum(people, 1), self._risky(people)
            among = "people of the public table" if counted else "published rows"
            phrase = f"are among fewer than {least_people(self.risk)} {among},"
        rows, at_risk = int(sizes.sum()), int(sizes[beyond].sum())
        share = Fraction(at_risk, max(rows, 1))
        return [
            self.verdict(
                share <= as_written(self.share),
                f"{at_risk:,} of {rows:,} rows {phrase} a share of {float(share):.4g}; at "
                f"most {self.share:g} was asked for.",
                bound=self.share,
                reached=float(share),
                per_class=chance,
            )
        ]

    def _risky(self, people: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        return people < least_people(self.risk)
