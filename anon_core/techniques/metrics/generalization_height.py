"""Amount of generalization (AG): how many levels the cells climbed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context
from anon_core.base.registry import register
from anon_core.contracts.search_cost import CellCost
from anon_core.release.outcome import Measure
from anon_core.release.problem import Problem
from anon_core.release.release import Release


@register("metric")
@dataclass(frozen=True, kw_only=True)
class GeneralizationHeight(CellCost):
    """Levels climbed, per cell and as a share of the hierarchy's height."""

    name: ClassVar[str] = "generalization-height"
    title: ClassVar[str] = "Amount of generalization"
    summary: ClassVar[str] = (
        "How high in their hierarchies the cells are: 0 is unchanged, 1 is every cell at the top."
        " A range or a value set counts as the lowest group that contains it, a suppressed row as"
        " the top."
    )
    formula: ClassVar[str] = "mean over cells of level / height; AG = Σ of the levels"
    source: ClassVar[str] = "Toth 2015, section 6.2; height: Samarati 2001, doi 10.1109/69.971193"
    by_domain: ClassVar[bool] = True

    def price(
        self, problem: Problem, column: str, lo: npt.NDArray[np.int32], hi: npt.NDArray[np.int32]
    ) -> npt.NDArray[np.float64]:
        """Return level / height per cell, the level being the lowest that covers it as one."""
        hierarchy = problem.hierarchies[column]
        return hierarchy.smallest_node(lo, hi) / max(hierarchy.height, 1)

    def measure(self, problem: Problem, release: Release, context: Context) -> Measure:
        """Return the mean share as the value, and the table's AG next to it."""
        found = super().measure(problem, release, context)
        levels = sum(
            found.per_column[h.column] * h.height * problem.rows for h in problem.quasi_hierarchies
        )
        return replace(found, also={"levels climbed (AG)": levels})
