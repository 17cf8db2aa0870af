"""The parts of an earlier release are taken over: nothing is cut, each row goes where it fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..base.context import Context
from ..base.errors import Infeasible
from ..base.params import number
from ..base.registry import register
from ..contracts.algorithm import Algorithm
from ..contracts.model import GroupModel
from ..contracts.partitioner import run_buckets
from ..lattice.nodes import rows_allowed
from ..overlap.composed import Classes
from ..partition.box_release import box_outcome
from ..partition.merging import keeping
from ..partition.mondrian_cuts import cut_by_tree, refuse_whole
from ..release.problem import Problem
from ..release.results import Outcome


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class EarlierParts(Algorithm):
    """Carry out a partition that was decided on an earlier table (LeFevre et al. 2006).

    1. Put every row into the part of the earlier release that covers it; of several the first.
    2. Remove the rows that no part covers, and the parts that do not keep the promises any more,
       if they are within the budget.
    3. Each part publishes the range of its rows of today. Nothing is searched.
    """

    name: ClassVar[str] = "earlier-parts"
    title: ClassVar[str] = "Parts of an earlier release"
    summary: ClassVar[str] = (
        "Puts every row into the part of an earlier release that covers it, and searches nothing; "
        "rows that no part covers, and parts that became too small, are removed within the budget. "
        "Without an earlier release the whole table is one part."
    )
    when: ClassVar[str] = (
        "When a partition was decided on last month's table and is to be carried out on this one."
    )
    formula: ClassVar[str] = (
        "rows in no part + rows of parts that break a promise ≤ max_suppression · n"
    )
    source: ClassVar[str] = "LeFevre et al. 2006, doi 10.1109/ICDE.2006.101"
    forms_ranges: ClassVar[bool] = True
    carries_out_parts: ClassVar[bool] = True

    max_suppression: float = number(
        default=0.05,
        low=0.0,
        high=1.0,
        help="Largest share of rows that may be removed: those that no part covers, and those of "
        "parts that do not keep the promises.",
        label="Rows that may be removed",
    )

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Take the parts over; see `Algorithm.run`.

        Raises
        ------
        Infeasible
            If more rows would have to go than the budget allows.
        """
        context.report(0.0, "Placing rows in the earlier parts")
        part = _parts(problem, context)
        rows = problem.frequency.run_count
        outside = int(rows[part < 0].sum())
        if (part >= 0).any():
            kept = part >= 0
            part[kept] = np.unique(part[kept], return_inverse=True)[1]
            # What stands in no part is put into one of its own, which is removed in any case.
            own = np.where(kept, part, int(part.max()) + 1)
            good = keeping(problem, models, run_buckets(problem, own))
            part[~good[own] | ~kept] = -1
        allowed = rows_allowed(problem, self.max_suppression)
        gone = int(rows[part < 0].sum())
        if gone > allowed or not (part >= 0).any():
            if not allowed:
                refuse_whole(problem, models)
            raise Infeasible(
                f"{gone:,} of {problem.rows:,} rows would have to go: {outside:,} stand in no part "
                f"of the earlier release, {gone - outside:,} in parts that do not keep the "
                f"promises any more. At most {allowed:,} may.",
                remedy="Decide the parts anew with a search, or allow more rows to be removed.",
                best=gone / max(problem.rows, 1),
                best_of="share of rows removed",
            )
        left = part >= 0
        part[left] = np.unique(part[left], return_inverse=True)[1]
        nodes = [cut_by_tree(problem, h) for h in problem.quasi_hierarchies]
        return box_outcome(problem, run_buckets(problem, part), nodes)


def _parts(problem: Problem, context: Context) -> npt.NDArray[np.int64]:
    """Return the earlier part of each quasi tuple, -1 where none covers it; shape (runs,)."""
    codes, earlier = problem.frequency.run_codes, problem.earlier
    if earlier is None:
        return np.zeros(len(codes), dtype=np.int64)
    nothing = np.empty(0, dtype=np.int64)
    classes = Classes(
        places=tuple(problem.quasi.index(name) for name in earlier.columns),
        cover=[earlier.cover[name] for name in earlier.columns],
        cells=earlier.cells,
        pool=np.arange(len(earlier.size)),
        rows=earlier.size,
        entry=nothing,
        value=nothing.astype(np.int32),
        count=nothing,
    )
    found = np.full(len(codes), len(earlier.size), dtype=np.int64)
    for who, which in classes.fitting(codes, context):
        np.minimum.at(found, who, which)
    return np.where(found < len(earlier.size), found, -1)
