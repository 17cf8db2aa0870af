"""Choices left: in how many ways the cells of a row can be read, on a scale of logarithms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context
from anon_core.base.registry import register
from anon_core.contracts.metric import MetricUse
from anon_core.contracts.search_cost import CellCost
from anon_core.release.outcome import Measure
from anon_core.release.problem import Problem
from anon_core.release.release import Release

#: Doublings up to which ways to read a row are counted.
_MOST_DOUBLINGS = 500


@register("metric")
@dataclass(frozen=True, kw_only=True)
class ChoicesLeft(CellCost):
    """Mean of Σ log leaves of a row's cells; ambiguity is the mean of their product."""

    name: ClassVar[str] = "choices-left"
    title: ClassVar[str] = "Choices left"
    summary: ClassVar[str] = (
        "How many ways there are to read the cells of a row, on a logarithmic scale: 0 is "
        "unchanged, 1 is any value in every column. A suppressed row counts as 1."
    )
    formula: ClassVar[str] = (
        "mean over rows of Σ_j log leaves covered / Σ_j log |A_j|; ambiguity is the mean of "
        "Π_j leaves covered"
    )
    source: ClassVar[str] = (
        "Goldberger and Tassa 2010, Efficient anonymizations with enhanced utility; entropy-based "
        "loss as in Wan et al. 2015, doi 10.1371/journal.pone.0120592"
    )
    by_domain: ClassVar[bool] = True
    use: ClassVar[MetricUse] = MetricUse(by_default=False)

    def price(
        self, problem: Problem, column: str, lo: npt.NDArray[np.int32], hi: npt.NDArray[np.int32]
    ) -> npt.NDArray[np.float64]:
        """Return log leaves / log |A| per cell; 0 for a domain of one value."""
        hierarchy = problem.hierarchies[column]
        covered = np.maximum(hierarchy.leaf_count(lo, hi), 1)
        return np.log2(covered) / max(float(np.log2(max(hierarchy.size, 1))), 1.0)

    def column_weights(self, problem: Problem) -> npt.NDArray[np.float64]:
        """Return log |A| of the columns, brought to 1 on average."""
        sizes = [max(problem.hierarchies[name].size, 1) for name in problem.quasi]
        own = np.log2(np.array(sizes, dtype=np.float64))
        return own * (len(own) / own.sum()) if own.sum() else np.ones(len(own))

    def measure(self, problem: Problem, release: Release, context: Context) -> Measure:
        """Return the mean share as the value, and the table's ambiguity next to it."""
        found = super().measure(problem, release, context)
        # As exponents of 2: of hundreds of columns the product is not a number of a float.
        each = np.zeros(release.grouping.classes, dtype=np.float64)
        every = 0.0
        for name in problem.quasi:
            scale = max(float(np.log2(max(problem.hierarchies[name].size, 1))), 1.0)
            each += scale * release.by_cover(name, partial(self.price, problem, name))
            every += float(np.log2(max(problem.hierarchies[name].size, 1)))
        if every > _MOST_DOUBLINGS:
            return found
        total = float(np.exp2(each) @ release.grouping.sizes) + release.suppressed * 2.0**every
        ambiguity = total / max(problem.rows, 1)
        return replace(found, also={"ambiguity, mean ways to read a row": ambiguity})
