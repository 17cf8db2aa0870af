"""Top and bottom coding: extreme values are published as one, rare rows are suppressed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import I32
from anon_core.base.context import Context
from anon_core.base.errors import Infeasible, NotFound
from anon_core.base.params import number
from anon_core.base.registry import register
from anon_core.base.terms import SHARE_SUPPRESSED
from anon_core.contracts.algorithm import Algorithm, Needs, Offer, Shape
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import run_buckets
from anon_core.contracts.per_column import Limits, column_limits, limits_by_column
from anon_core.data.frequency import dense_rank
from anon_core.data.hierarchy import Hierarchy
from anon_core.data.values.kinds import KINDS, ColumnKind
from anon_core.methods.lattice.nodes import rows_allowed, suppression_budget
from anon_core.methods.partition.merging import keeping
from anon_core.release.grouping import group_runs
from anon_core.release.outcome import Outcome, SearchAccount
from anon_core.release.problem import Problem
from anon_core.release.release import one_block
from anon_core.release.vocabulary import TAILS, Vocabulary, of_level, refuse_ambiguous

# The tails of a column of numbers or dates: where they begin, and what its cells then say.


@dataclass(frozen=True, kw_only=True)
class Tails:
    """Leaves that are coded together at both ends of a column.

    Attributes
    ----------
    bottom : int
        Last leaf of the lower tail, -1 where there is none.
    top : int
        First leaf of the upper tail, the number of leaves where there is none.
    low, high : str
        The limits as they are written.
    """

    bottom: int
    top: int
    low: str
    high: str


def tails_by_share(
    hierarchy: Hierarchy, rows: npt.NDArray[np.int64], low: float, high: float
) -> Tails:
    """Return the shortest tails that hold at least a share of the rows each.

    Parameters
    ----------
    hierarchy : Hierarchy
        Of a column of numbers or dates.
    rows : int64 array of shape (leaves,)
        Rows per leaf; those without a value do not count.
    low, high : float
        Shares of the rows with a value, 0 for no tail.
    """
    size = len(rows) - hierarchy.has_missing
    coded_rows = rows[:size]
    whole = int(coded_rows.sum())
    bottom, top = -1, len(rows)
    if low > 0 and whole:
        bottom = int(np.searchsorted(np.cumsum(coded_rows), low * whole - 1e-9))
    if high > 0 and whole:
        top = size - 1 - int(np.searchsorted(np.cumsum(coded_rows[::-1]), high * whole - 1e-9))
    return Tails(
        bottom=bottom,
        top=top,
        low=hierarchy.leaves[bottom] if bottom >= 0 else "",
        high=hierarchy.leaves[top] if top < size else "",
    )


def tails_by_limits(hierarchy: Hierarchy, kind: ColumnKind, low: str, high: str) -> Tails:
    """Return the tails of all values up to `low` and from `high` on; empty is no limit."""
    size = len(hierarchy.leaves) - hierarchy.has_missing
    measure = np.zeros(0) if hierarchy.measure is None else hierarchy.measure[:size]
    read = KINDS[kind].measure
    bottom, top = -1, size
    if low:
        bottom = int(np.searchsorted(measure, read(low), side="right")) - 1
    if high:
        top = int(np.searchsorted(measure, read(high), side="left"))
    return Tails(
        bottom=bottom, top=top if top < size else len(hierarchy.leaves), low=low, high=high
    )


def coded(hierarchy: Hierarchy, tails: Tails) -> tuple[Vocabulary, I32]:
    """Return what a column says when its tails are coded, and the code of every leaf in that.

    Tails that meet leave nothing between: the whole column says the same.

    Raises
    ------
    BadHierarchy
        If the text of a tail represents other values in the column's hierarchy.
    """
    size = len(hierarchy.leaves)
    last = size - 1 - hierarchy.has_missing
    whole = of_level(hierarchy, hierarchy.height)
    if tails.top <= tails.bottom and len(whole.texts) == 1:
        return whole, np.zeros(size, dtype=np.int32)
    lower = np.arange(tails.bottom + 1)
    upper = np.arange(max(tails.top, tails.bottom + 1), last + 1)
    low = np.arange(size, dtype=np.int32)
    high = low.copy()
    for tail in (lower, upper):
        if len(tail):
            low[tail], high[tail] = tail[0], tail[-1]
    starts, code = np.unique(low, return_inverse=True)
    texts = [hierarchy.labels[0][i] for i in starts.tolist()]
    level = np.zeros(len(starts), dtype=np.int32)
    for tail, text in ((lower, TAILS[0] + tails.low), (upper, TAILS[1] + tails.high)):
        if len(tail):
            texts[int(code[tail[0]])] = text
            level[code[tail[0]]] = -1
    found = Vocabulary(
        column=hierarchy.column,
        texts=tuple(texts),
        lo=starts.astype(np.int32),
        hi=high[starts],
        level=level,
    )
    refuse_ambiguous(found, hierarchy)
    return found, code.astype(np.int32)


def untouched(hierarchy: Hierarchy) -> tuple[Vocabulary, I32]:
    """Return what a column says that is published exactly, and the code of every leaf in that."""
    return of_level(hierarchy, 0), np.arange(len(hierarchy.leaves), dtype=np.int32)


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class TopBottomCoding(Algorithm):
    """Limits for numbers and dates, and removal of rows that stay rare (Hundepool et al. 2012)."""

    name: ClassVar[str] = "top-bottom-coding"
    title: ClassVar[str] = "Top and bottom coding"
    summary: ClassVar[str] = (
        "Publishes the smallest and largest numbers and dates of a column as ≤ and ≥ a limit, and"
        " everything between unchanged. Suppresses rows that are too rare."
    )
    offer: ClassVar[Offer] = Offer(
        when="When only extreme values give people away: few quasi-identifiers, each with common "
        "values in the middle. With many columns most rows stay rare and would be suppressed."
    )
    shape: ClassVar[Shape] = Shape(approach="values", forms_ranges=True, codes_tails=True)
    needs: ClassVar[Needs] = Needs(counts_people=True)
    formula: ClassVar[str] = (
        "x ← ≤ a where x ≤ a, ≥ b where x ≥ b; a and b end the shortest tails with the share asked"
    )
    source: ClassVar[str] = (
        "Hundepool et al. 2012, Statistical Disclosure Control, doi 10.1002/9781118348239"
    )

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
        columns: dict[str, tuple[Vocabulary, npt.NDArray[np.int32]]] = {}
        for name, hierarchy in zip(problem.quasi, problem.quasi_hierarchies, strict=True):
            kind = problem.dataset.column(name).kind
            if name in own:
                columns[name] = coded(hierarchy, tails_by_limits(hierarchy, kind, *own[name]))
            elif KINDS[kind].measured:
                rows = problem.leaf_rows[name]
                tails = tails_by_share(hierarchy, rows, self.bottom, self.top)
                columns[name] = coded(hierarchy, tails)
            else:
                columns[name] = untouched(hierarchy)
        # 2. Rows with equal cells are a class; those that break a privacy model are removed.
        codes = problem.frequency.run_codes
        cells = [columns[name][1][codes[:, d]] for d, name in enumerate(problem.quasi)]
        member, first = dense_rank(cells, [len(columns[n][0].texts) for n in problem.quasi])
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
                {name: vocabulary for name, (vocabulary, _) in columns.items()},
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
            Where a privacy model is about all classes `together`: classes were judged one by one,
            which is more than it asks.
        """
        rows = problem.rows
        if removed <= rows_allowed(problem, self.max_suppression) and removed < rows:
            return
        raise (NotFound if together else Infeasible)(
            f"With these tails {removed:,} of {rows:,} rows ({removed / rows:.1%}) would have to "
            "be suppressed, because their classes break a privacy model.",
            remedy="Code longer tails, allow more suppression, ask for less, or choose a technique "
            "that also coarsens the values between.",
            best=removed / rows,
            best_of=SHARE_SUPPRESSED,
        )
