"""Loss of the groups: what a person may be who is known to be in one, whatever its cells say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, cast

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context
from anon_core.base.registry import find, register
from anon_core.contracts.metric import Metric, MetricNeeds, MetricScale
from anon_core.contracts.search_cost import CellCost
from anon_core.methods.partition.mondrian_cuts import cut_by_tree
from anon_core.release.outcome import Measure
from anon_core.release.problem import Problem
from anon_core.release.release import Release

#: Prices of cells that a group's hull is known by: the value, and another published form.
_VALUE, _ALSO = "loss", "ncp"


@register("metric")
@dataclass(frozen=True, kw_only=True)
class GroupLoss(Metric):
    """The loss of a release that would publish one cell per group and column: the group's hull.

    Permuted columns publish exact values and lose nothing cell by cell; this puts them on one scale
    with techniques that widen cells.
    """

    name: ClassVar[str] = "group-loss"
    title: ClassVar[str] = "Loss of the groups"
    summary: ClassVar[str] = (
        "How wide the groups are, whatever their cells show. If columns are permuted separately, "
        "a person can have any value of the bucket. If rows stay whole, this equals the loss of "
        "the cells."
    )
    formula: ClassVar[str] = (
        "mean over rows and columns of the loss of the group's hull: from its least to its "
        "greatest value, for categories the lowest group of the hierarchy that holds them all; a "
        "suppressed row pays 1"
    )
    source: ClassVar[str] = (
        "Iyengar 2002, doi 10.1145/775047.775089; NCP of groups as in Xu et al. 2006, "
        "doi 10.1145/1150402.1150504"
    )
    scale: ClassVar[MetricScale] = MetricScale(headline="groups", counts_links=True)
    needs: ClassVar[MetricNeeds] = MetricNeeds(from_groups=True)

    def measure(self, problem: Problem, release: Release, context: Context) -> Measure:
        """Measure the hull of every group an attacker sees."""
        hulls = {name: _hull(problem, release, name) for name in problem.quasi}
        groups = release.view.group_size
        rows, gone = max(problem.rows, 1), release.suppressed
        mean: dict[str, float] = {}
        per_group = np.zeros(len(groups), dtype=np.float64)
        per_column: dict[str, float] = {}
        for metric in (_ALSO, _VALUE):
            cost = cast(CellCost, find("metric", metric)())
            prices = {n: cost.price(problem, n, *hull) for n, hull in hulls.items()}
            per_column = {n: float((own @ groups + gone) / rows) for n, own in prices.items()}
            per_group = sum(prices.values(), np.zeros(len(groups))) / len(prices)
            mean[metric] = float(np.mean(list(per_column.values())))
        return Measure(
            metric=self.name,
            value=mean[_VALUE],
            share=mean[_VALUE],
            per_class=per_group[release.seen_group],
            per_column=per_column,
            also={"NCP of the groups": mean[_ALSO]},
        )


def _hull(
    problem: Problem, release: Release, column: str
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return the first and last leaf of every group's values, each of shape (groups,)."""
    groups = len(release.view.group_size)
    hierarchy = problem.hierarchies[column]
    group = release.seen_group
    if column in release.cells:
        low, high = release.ends(column)
        if not release.grouping.published:  # all rows of a group have the same cell
            lo, hi = np.zeros((2, groups), dtype=np.int32)
            lo[group], hi[group] = low, high
            return lo, hi
    else:
        grouping, frequency = release.grouping, problem.frequency
        kept = grouping.member >= 0
        group = group[grouping.member[kept]]
        low = high = frequency.codes[grouping.key[kept], frequency.columns.index(column)]
    lo = np.full(groups, len(hierarchy.leaves) - 1, dtype=np.int32)
    hi = np.zeros(groups, dtype=np.int32)
    np.minimum.at(lo, group, low)
    np.maximum.at(hi, group, high)
    if not cut_by_tree(problem, hierarchy):
        if hierarchy.has_missing:  # no range holds the missing value next to others
            lo[(hi == len(hierarchy.leaves) - 1) & (lo < hi)] = 0
        return lo, hi
    level = hierarchy.smallest_node(lo, hi)
    starts = hierarchy.first_leaf[level, lo]
    ends = np.stack(
        [hierarchy.bounds(n)[1][hierarchy.node(n)] for n in range(hierarchy.height + 1)]
    )
    return starts, ends[level, hi]
