"""Share limit: no sensitive value fills more than a share of a class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context
from anon_core.base.params import number, sensitive_column
from anon_core.base.registry import register
from anon_core.contracts.group_stats import GroupStats, Histogram, sensitive_histogram
from anon_core.contracts.model import GroupModel, ModelAim, ModelLogic, sensitive_columns
from anon_core.data.roles.roles import ByRole
from anon_core.release.knowledge.audience import Audience
from anon_core.release.outcome import Verdict
from anon_core.release.private_reference import Reference
from anon_core.release.release import View


@register("model")
@dataclass(frozen=True, kw_only=True)
class ShareLimit(GroupModel):
    """No value fills more than a share of a class; a missing value is a value."""

    name: ClassVar[str] = "share-limit"
    title: ClassVar[str] = "Share limit"
    summary: ClassVar[str] = "No sensitive value fills more than a share of a class."
    formula: ClassVar[str] = "max c(v) ≤ share · |G| over all classes G and values v, also missing"
    source: ClassVar[str] = "An example, 2026"
    # Say `stops`; a model of sensitive values may build on `contracts/sensitive_values.py`,
    # which says it.
    aim: ClassVar[ModelAim] = ModelAim(stops="attribute")
    # A class that satisfies the model may break it when merged with one that breaks it, but not
    # when merged with one that satisfies it, too.
    logic: ClassVar[ModelLogic] = ModelLogic(monotone_merge=False, closed_under_union=True)

    share: float = number(
        default=0.7, low=1e-6, high=1.0, help="Largest share of a class.", label="Share"
    )
    column: str = sensitive_column(help="The sensitive column to protect.")

    def needs(self, columns: ByRole) -> tuple[str, ...]:
        """Return the sensitive columns concerned."""
        return sensitive_columns(columns, self.column, self.title)

    def per_group(self, stats: GroupStats, reference: Reference) -> npt.NDArray[np.bool_]:
        """Return which groups satisfy the model."""
        kept = [self._keeps(counted, stats.sizes) for counted in stats.histograms.values()]
        return np.logical_and.reduce(kept)

    def _keeps(self, counted: Histogram, sizes: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        share = Fraction(str(self.share))  # whole numbers decide, no quotient
        return counted.most_alike * share.denominator <= sizes * share.numerator

    def measure(
        self, view: View, audience: Audience, reference: Reference, context: Context
    ) -> Sequence[Verdict]:
        """Return, per sensitive column, the largest share in any class."""
        return [self._measure(view, column) for column in self.needs(audience)]

    def _measure(self, view: View, column: str) -> Verdict:
        persons, counted = sensitive_histogram(view, column)
        share = counted.most_alike / persons.sizes
        worst = float(share.max(initial=0.0))
        return Verdict(
            model=self.name,
            parameters=self.as_mapping(),
            state="holds" if self._keeps(counted, persons.sizes).all() else "broken",
            bound=self.share,
            reached=worst,
            per_class=share,
            column=column,
            sentence=f"In the worst class a value of '{column}' fills {worst:.3g}; {self.share:g} "
            "was allowed.",
        )
