"""Eigenvalue difference: what changes did to the correlations of all numbers together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.base.arrays import F64
from anon_core.base.context import Context
from anon_core.base.registry import register
from anon_core.contracts.metric import Metric, MetricNeeds, MetricScale
from anon_core.data.values.kinds import KINDS
from anon_core.release.changed_rows import changed_column
from anon_core.release.outcome import Measure
from anon_core.release.problem import Problem
from anon_core.release.release import Release

#: An eigenvalue below it makes a matrix of correlations singular.
_NONE = 1e-9


@register("metric")
@dataclass(frozen=True, kw_only=True)
class EigenvalueDifference(Metric):
    """Blind to names of columns, and to the sign of a correlation."""

    name: ClassVar[str] = "eigenvalue-difference"
    title: ClassVar[str] = "Eigenvalues of correlations"
    summary: ClassVar[str] = (
        "How much the eigenvalues of the correlations of all numbers changed, relative to before."
        " Does not see the sign of a correlation."
    )
    formula: ClassVar[str] = "Σ |λ − λ'| / λ over the eigenvalues of both correlation matrices"
    source: ClassVar[str] = "Templ, Kowarik and Meindl 2015, doi 10.18637/jss.v067.i04"
    scale: ClassVar[MetricScale] = MetricScale(unit="sum of relative changes")
    needs: ClassVar[MetricNeeds] = MetricNeeds(changed=True)

    def reason_not_applicable(self, problem: Problem) -> str:
        """Return why nothing can be measured, or an empty string."""
        if _matrices(problem) is None:
            return (
                "It needs two columns of numbers, a changed one among them, none of which follows "
                "from the others."
            )
        return ""

    def measure(self, problem: Problem, release: Release, context: Context) -> Measure:
        """Compare the eigenvalues of both matrices."""
        found = _matrices(problem)
        value = 0.0 if found is None else difference(*found)
        wide = 1 if found is None else len(found[0])
        return Measure(metric=self.name, value=value, share=min(value / wide, 1.0))


def difference(was: F64, now: F64) -> float:
    """Return the sum of relative changes of the eigenvalues of two correlation matrices."""
    one, other = np.linalg.eigvalsh(was), np.linalg.eigvalsh(now)
    return float(np.sum(np.abs(one - other) / one))


def _matrices(problem: Problem) -> tuple[F64, F64] | None:
    """Return the correlations before and after, of rows that miss no number; None if undefined."""
    if problem.before is None:
        return None
    names = [
        n
        for n in problem.roles.published(problem.dataset)
        if KINDS[problem.dataset.column(n).kind].amount
    ]
    if len(names) < 2 or not any(n in problem.replaced for n in names):
        return None
    columns = [changed_column(problem.dataset, problem.before, n) for n in names]
    was, now = (np.stack([getattr(c, of) for c in columns], axis=1) for of in ("was", "now"))
    whole = ~(np.isnan(was).any(axis=1) | np.isnan(now).any(axis=1))
    was, now = was[whole], now[whole]
    if len(was) < 3 or min(was.std(axis=0).min(), now.std(axis=0).min()) <= 0:
        return None
    matrices = np.corrcoef(was, rowvar=False), np.corrcoef(now, rowvar=False)
    if float(np.linalg.eigvalsh(matrices[0])[0]) < _NONE:
        return None
    return matrices
