"""Change of correlations: how far the association of columns moved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.base.context import Context
from anon_core.base.errors import AnonError
from anon_core.base.registry import register
from anon_core.contracts.metric import Metric, MetricScale, MetricUse
from anon_core.methods.queries.associations import association
from anon_core.methods.queries.pair_tables import pairs_of
from anon_core.release.attack_result import Details
from anon_core.release.outcome import Measure, share_of
from anon_core.release.problem import Problem
from anon_core.release.release import Release, raw_view


@register("metric")
@dataclass(frozen=True, kw_only=True)
class CorrelationChange(Metric):
    """Mean change of the association between pairs of columns, published cells as they are."""

    name: ClassVar[str] = "correlation-change"
    title: ClassVar[str] = "Change of correlations"
    summary: ClassVar[str] = (
        "How far the correlations in the published cells are from those in the table: Pearson's r"
        " between numbers (a range counts as its middle), Cramér's V (φ) between texts, the "
        "correlation ratio between a number and a text. Coarse cells can raise a correlation as "
        "well as lower it."
    )
    formula: ClassVar[str] = (
        "mean over pairs of |after − before|; for columns permuted separately, after is what "
        "their buckets lead one to expect. 0–1 form: Σ |after − before| / Σ |before|, which is 1 "
        "where every quasi-identifier is suppressed"
    )
    source: ClassVar[str] = (
        "Pearson's r, correlation ratio; Cramér 1946, Mathematical Methods of Statistics, ch. 21"
    )
    scale: ClassVar[MetricScale] = MetricScale(unit="of correlation, 0 to 1", counts_links=True)
    use: ClassVar[MetricUse] = MetricUse(at_once=False)

    def reason_not_applicable(self, problem: Problem) -> str:
        """Return why nothing can be measured, or an empty string."""
        return "" if pairs_of(problem).looked else "It needs two columns to look at together."

    def measure(self, problem: Problem, release: Release, context: Context) -> Measure:
        """Compare every pair of columns, suppressed rows left out.

        Raises
        ------
        AnonError
            If there is no pair of columns.
        """
        pairs = pairs_of(problem)
        if not pairs.looked:
            raise AnonError(self.reason_not_applicable(problem), remedy="Choose another metric.")
        found: dict[tuple[str, str], tuple[float, float]] = {}
        for place, pair in enumerate(pairs.looked):
            context.report(place / len(pairs.looked), "Comparing pairs of columns")
            found[pair] = (
                association(raw_view(problem), problem.hierarchies, *pair),
                association(release.view, problem.hierarchies, *pair),
            )
        before, after = np.array(list(found.values())).T
        moved = np.abs(after - before)
        per_column: dict[str, float] = {}
        for name in problem.quasi:
            own = np.array([name in pair for pair in pairs.looked])
            if own.any():
                whole = float(np.abs(before[own]).sum())
                per_column[name] = share_of(float(moved[own].sum()), whole)
        return Measure(
            metric=self.name,
            value=float(moved.mean()),
            share=share_of(float(moved.sum()), float(np.abs(before).sum())),
            per_column=per_column,
            also={"largest change": float(moved.max()), **pairs.also},
            details=(
                Details(
                    title="Correlations before and after",
                    rows=tuple(
                        {"pair": f"{a} × {b}", "before": old, "after": new}
                        for (a, b), (old, new) in found.items()
                    ),
                    x="pair",
                    y=("before", "after"),
                    drawn="table",
                    shares=False,
                    note="Pearson's r has a sign; Cramér's V and the correlation ratio have none."
                    + pairs.left_out,
                ),
            ),
        )
