"""Top and bottom coding: extreme values are published as one, rare rows are suppressed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context
from anon_core.base.errors import Infeasible, NotFound
from anon_core.base.params import number
from anon_core.base.registry import register
from anon_core.contracts.algorithm import Algorithm, Approach
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import run_buckets
from anon_core.contracts.per_column import Limits, column_limits, limits_by_column
from anon_core.data.frequency import dense_rank
from anon_core.data.values.kinds import KINDS
from anon_core.methods.lattice.nodes import rows_allowed, suppression_budget
from anon_core.methods.partition.merging import keeping
from anon_core.release.grouping import group_runs
from anon_core.release.problem import Problem
from anon_core.release.release import one_block
from anon_core.release.results import Outcome, SearchAccount
from anon_core.release.vocabulary import Vocabulary
from anon_core.techniques.algorithms.top_bottom_coding.tails import (
    coded,
    tails_by_limits,
    tails_by_share,
    untouched,
)


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class TopBottomCoding(Algorithm):
    """Limits for numbers and dates, and removal of rows that stay rare (Hundepool et al. 2012)."""

    name: ClassVar[str] = "top-bottom-coding"
    title: ClassVar[str] = "Top and bottom coding"
    summary: ClassVar[str] = (
        "Publishes the smallest and the largest numbers and dates of a column as ≤ and ≥ a limit, "
        "everything between as it is, and removes the rows that stay too rare."
    )
    when: ClassVar[str] = (
        "When only extreme values give people away: few quasi-identifiers, each with common values "
        "in the middle. With many columns most rows stay rare and would be suppressed."
    )
    formula: ClassVar[str] = (
        "x ← ≤ a where x ≤ a, ≥ b where x ≥ b; a and b end the shortest tails with the share asked"
    )
    source: ClassVar[str] = (
        "Hundepool et al. 2012, Statistical Disclosure Control, doi 10.1002/9781118348239"
    )
    approach: ClassVar[Approach] = "values"
    counts_people: ClassVar[bool] = True
    forms_ranges: ClassVar[bool] = True
    codes_tails: ClassVar[bool] = True

    bottom: float = number(
        default=0.05,
        low=0.0,
        high=1.0,
        help="Least share of rows that each column's smallest values are coded together for.",
        label="Lower tail",
        unit="share of rows",
    )
    top: float = number(
        default=0.05,
        low=0.0,
        high=1.0,
        help="Least share of rows that each column's largest values are coded together for.",
        label="Upper tail",
        unit="share of rows",
    )
    limits: Mapping[str, Limits] = column_limits(
        help="Columns with limits of their own instead of shares, for example age = "
        "{ low = 18, high = 80 }; a side that is left out is not coded.",
        empty="the tails above",
    )
    max_suppression: float = suppression_budget(
        default=1.0, help="Largest share of rows that may be suppressed because they stay rare."
    )

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Code the tails and remove what stays rare; see `Algorithm.run`."""
        context.report(0.0, "Coding tails")
        own = limits_by_column(problem, self.limits, self.name)
        # 1. The tails of every column of numbers or dates.
        told: dict[str, tuple[Vocabulary, npt.NDArray[np.int32]]] = {}
        for name, hierarchy in zip(problem.quasi, problem.quasi_hierarchies, strict=True):
            kind = problem.dataset.column(name).kind
            if name in own:
                told[name] = coded(hierarchy, tails_by_limits(hierarchy, kind, *own[name]))
            elif KINDS[kind].measured:
                rows = problem.leaf_rows[name]
                tails = tails_by_share(hierarchy, rows, self.bottom, self.top)
                told[name] = coded(hierarchy, tails)
            else:
                told[name] = untouched(hierarchy)
        # 2. Rows with equal cells are a class; those that break a promise are removed.
        codes = problem.frequency.run_codes
        cells = [told[name][1][codes[:, d]] for d, name in enumerate(problem.quasi)]
        member, first = dense_rank(cells, [len(told[n][0].texts) for n in problem.quasi])
        keep = keeping(problem, models, run_buckets(problem, member))
        if not keep.all() and not all(model.allows_removal() for model in models):
            keep = np.zeros_like(keep)
        removed = int(problem.frequency.run_count[~keep[member]].sum())
        self._refuse_more(problem, removed, together=any(m.of_release() for m in models))
        number_of = np.where(keep, np.cumsum(keep) - 1, -1).astype(np.int64)
        shown = {n: c[first[keep]] for n, c in zip(problem.quasi, cells, strict=True)}
        return Outcome(
            release=one_block(
                problem,
                group_runs(problem.frequency, number_of[member], int(np.count_nonzero(keep))),
                {name: vocabulary for name, (vocabulary, _) in told.items()},
                shown,
            ),
            account=SearchAccount(proven=False),
        )

    def _refuse_more(self, problem: Problem, removed: int, *, together: bool) -> None:
        """Refuse to remove more rows than the budget allows, or all.

        Raises
        ------
        Infeasible
        NotFound
            Where a promise is about all classes `together`: classes were judged one by one, which
            is more than it asks.
        """
        rows = problem.rows
        if removed <= rows_allowed(problem, self.max_suppression) and removed < rows:
            return
        raise (NotFound if together else Infeasible)(
            f"With these tails {removed:,} of {rows:,} rows ({removed / rows:.1%}) would have to "
            "be suppressed, because their classes break a promise.",
            remedy="Code longer tails, allow more suppression, ask for less, or choose a technique "
            "that also coarsens the values between.",
            best=removed / rows,
            best_of="share of rows suppressed",
        )
