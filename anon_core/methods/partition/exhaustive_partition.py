"""What the best of all partitions of a handful of rows costs, proven by looking at all of them.

To find the cheapest k-anonymous release is NP-hard already where cells are only suppressed
(Meyerson and Williams 2004, doi 10.1145/1055558.1055591), and so it is for l-diverse groups (Xiao,
Yi and Tao 2010): techniques for larger tables are heuristics or approximations. A dozen rows have
4,096 sets, and the cheapest way to part them into groups is found by dynamic programming.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np

from anon_core.base.arrays import B1, F64, I32, I64
from anon_core.base.context import Context
from anon_core.base.registry import find
from anon_core.base.terms import ROWS_SUPPRESSED
from anon_core.contracts.group_stats import GroupStats, histogram
from anon_core.contracts.model import GroupModel
from anon_core.contracts.search_cost import CellCost
from anon_core.data.hierarchy import Hierarchy
from anon_core.methods.partition.mondrian_cuts import rows_of_keys
from anon_core.release.private_reference import reference_of
from anon_core.release.problem import Problem
from anon_core.release.release import Release

#: Rows of a table whose optimum is looked for.
MOST_ROWS = 12
Cells = Literal["nodes", "ranges"]


@dataclass(frozen=True, kw_only=True)
class Optimum:
    """The least loss of any partition of the rows into classes that keep the privacy models.

    Attributes
    ----------
    cost : float
        By the loss metric, from 0 to 1; a suppressed row counts as 1.
    release : float
        What the release at hand costs by the same metric.
    cells : mapping of str to str
        What a cell may say, by column: the lowest node of the hierarchy that covers its group, or
        the range from its first to its last value.
    removable : int
        Rows that may be suppressed.
    metric : str
        Name of the loss metric.
    """

    cost: float
    release: float
    cells: dict[str, Cells]
    removable: int
    metric: str

    def of(self) -> str:
        """Return in words of what space it is the optimum."""
        ranges = [name for name, cell in self.cells.items() if cell == "ranges"]
        cell = "the lowest node of its hierarchy that covers the class"
        if ranges:
            cell = "the narrowest range or node that covers the class"
        gone = f", with at most {self.removable} {ROWS_SUPPRESSED}" if self.removable else ""
        return f"all partitions of the rows into classes{gone}, each cell {cell}"


def optimum(
    problem: Problem,
    models: Sequence[GroupModel],
    release: Release,
    removable: int,
    context: Context,
) -> Optimum | None:
    """Return the proven optimum next to a release; None where it is not computed.

    It is computed for tables of at most `MOST_ROWS` rows, of releases whose rows stay whole and
    whose cells cover their values, and of privacy models about each class by itself that good
    classes keep when merged: classes that publish the same are one.

    Parameters
    ----------
    release : Release
        Keeps the privacy models; it is one of the space, so that it costs no less.
    removable : int
        Rows that the technique may remove as it is set.
    """
    if not 0 < problem.rows <= MOST_ROWS or not problem.quasi or len(release.blocks) != 1:
        return None
    if release.replaced or release.grouping.published or release.guarantee is not None:
        return None
    if problem.is_coarse:
        return None
    for model in models:
        local = model.unions_keep() and model.logic.monotone_suppress and not model.of_release()
        if not local or model.scope.mechanism or model.counts_public(problem.population):
            return None
    from anon_core.kernels.frontier import cheapest_partition  # of small tables alone

    metric = cast(CellCost, find("metric", "loss")())
    cells: dict[str, Cells] = {}
    for name in problem.quasi:
        shown = release.vocabularies[name].level[release.cells[name]]
        cells[name] = "nodes" if bool(np.all(shown >= 0)) else "ranges"
    context.check()
    price = _prices(problem, metric, cells)
    price[~kept_sets(problem, models, rows_of_keys(problem))] = np.inf
    best, _ = cheapest_partition(price)
    masks = np.arange(len(best), dtype=np.int64)
    removable = max(removable, release.suppressed)
    gone = problem.rows - np.bitwise_count(masks).astype(np.int64)
    total = best + gone * len(problem.quasi)
    total[(gone > removable) | (masks == 0)] = np.inf
    cost = float(total.min()) / (problem.rows * len(problem.quasi))
    if not np.isfinite(cost):
        return None
    measured = metric.measure(problem, release, context).value
    return Optimum(
        cost=cost, release=measured, cells=cells, removable=removable, metric=metric.name
    )


def _members(rows: int) -> B1:
    """Return which rows are in each set, shape (2 ** rows, rows)."""
    return (np.arange(1 << rows)[:, None] >> np.arange(rows) & 1).astype(np.bool_)


def _prices(problem: Problem, metric: CellCost, cells: dict[str, Cells]) -> F64:
    """Return what each set of rows costs as one class, shape (2 ** rows,); 0 of none."""
    codes = problem.frequency.codes[rows_of_keys(problem)]
    member = _members(problem.rows)
    total = np.zeros(len(member), dtype=np.float64)
    for d, (name, hierarchy) in enumerate(
        zip(problem.quasi, problem.quasi_hierarchies, strict=True)
    ):
        last = len(hierarchy.leaves) - 1
        low = np.where(member, codes[:, d], last).min(axis=1).astype(np.int32)
        high = np.where(member, codes[:, d], 0).max(axis=1).astype(np.int32)
        low, high = _widened(hierarchy, np.minimum(low, high), high, cells[name])
        total += metric.price(problem, name, low, high)
    return total * member.sum(axis=1)


def _widened(hierarchy: Hierarchy, low: I32, high: I32, cell: Cells) -> tuple[I32, I32]:
    """Return what a cell must cover that holds leaves low to high; a gap joins nothing else."""
    last = len(hierarchy.leaves) - 1
    if hierarchy.has_missing:
        low = np.where((high == last) & (low < last), 0, low).astype(np.int32)
    if cell == "ranges":
        return low, high
    level = hierarchy.smallest_node(low, high)
    return hierarchy.first_leaf[level, low], hierarchy.last_leaf[level, low]


def kept_sets(problem: Problem, models: Sequence[GroupModel], key: I64) -> B1:
    """Return which sets of rows keep every privacy model as one class, shape (2 ** rows,).

    Parameters
    ----------
    key : int64 array of shape (rows,)
        The key of each row, in the order of their bits.
    """
    frequency = problem.frequency
    member = _members(problem.rows)
    group, row = np.nonzero(member)
    ones = np.ones(len(row), dtype=np.int64)
    needed = dict.fromkeys(name for model in models for name in model.needs(problem))
    stats = GroupStats(
        sizes=member.sum(axis=1).astype(np.int64),
        histograms={
            name: histogram(
                group.astype(np.int64),
                frequency.codes[key[row], frequency.columns.index(name)],
                ones,
                len(member),
                len(problem.hierarchies[name].leaves),
                problem.hierarchies[name].missing_leaf,
            )
            for name in needed
        },
    )
    kept = stats.sizes > 0
    for model in models:
        kept &= model.per_group(stats, reference_of(problem))
    return kept
