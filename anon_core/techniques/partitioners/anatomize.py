"""Anatomize: groups of l rows with l different sensitive values, blind to everything else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.base.arrays import I64
from anon_core.base.context import Context
from anon_core.base.registry import register
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import Buckets, Grouping, Partitioner, buckets_of_rows
from anon_core.kernels.l_diverse_groups import anatomize
from anon_core.methods.partition.leading_share import leading_share, mended
from anon_core.methods.partition.mondrian_cuts import rows_of_keys
from anon_core.release.problem import Problem


@register("partitioner")
@dataclass(frozen=True, kw_only=True)
class Anatomize(Partitioner):
    """One row of each of the l most numerous values, again and again (Xiao and Tao 2006).

    1. Hash the rows by sensitive value.
    2. While l values have rows left: a group takes one row, drawn at random, of each of the l
       values that have most.
    3. Each row left over, at most l - 1 of them, joins a group that lacks its value.
    """

    name: ClassVar[str] = "anatomize"
    title: ClassVar[str] = "Anatomize"
    summary: ClassVar[str] = (
        "Forms each group from one row of each of the l sensitive values with the most rows left."
        " Remaining rows join groups that lack their value."
    )
    formula: ClassVar[str] = "groups of l rows with l values; reconstruction error n (1 − 1/l)"
    source: ClassVar[str] = "Xiao and Tao 2006, Anatomy: simple and effective privacy preservation"
    from_counts: ClassVar[bool] = True
    way: ClassVar[Grouping] = Grouping(by_sensitive=True, gathers_alike=False)

    def split(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Buckets:
        """Form the groups; see `Partitioner.split`."""
        column, least = leading_share(problem, models, self.title)
        frequency = problem.frequency
        # 1. Which of the rows with one value is drawn is left to chance, not to their order.
        key = context.generator.permutation(rows_of_keys(problem))
        value = frequency.codes[key, frequency.columns.index(column)].astype(np.int64)
        hierarchy = problem.hierarchies[column]
        per_value = np.bincount(value, minlength=len(hierarchy.leaves))
        valued = per_value.astype(np.int64)
        if hierarchy.has_missing:  # rows without a value make no group diverse
            valued[hierarchy.missing_leaf] = 0
        room = max(int(valued.sum()) // least, 1)
        value_of = np.empty((room, least), dtype=np.int64)
        context.check()
        # 2. Groups of l values.
        left = valued.copy()
        formed = anatomize(left, least, room, value_of)
        # Rows of one value go to the groups that hold the value, in the order drawn.
        by_value = np.argsort(value, kind="stable")
        wanted = np.repeat(np.arange(formed), least)[
            np.argsort(value_of[:formed].ravel(), kind="stable")
        ]
        group = np.empty(len(key), dtype=np.int64)
        starts = np.cumsum(per_value) - per_value
        used = valued - left
        place = np.arange(len(key)) - np.repeat(starts, per_value)
        in_group = place < np.repeat(used, per_value)
        group[by_value[in_group]] = wanted
        if context.listening:
            _tell(context, by_value[in_group], key, group, value_of[:formed])
        # 3. What is left over.
        waiting = by_value[~in_group]
        gaps = waiting[value[waiting] == hierarchy.missing_leaf]
        group[gaps] = context.generator.permutation(len(gaps)) % max(formed, 1)
        for row in waiting[value[waiting] != hierarchy.missing_leaf].tolist():  # at most l − 1 rows
            lacking = np.flatnonzero(~np.any(value_of[:formed] == value[row], axis=1))
            chosen = int(context.generator.choice(lacking))
            group[row] = chosen
        return mended(problem, models, buckets_of_rows(key, group), context)


def _tell(context: Context, rows: I64, key: I64, group: I64, values: I64) -> None:
    """Tell of each bucket in the order it was formed: its values, and the keys of its rows."""
    ordered = rows[np.argsort(group[rows], kind="stable")].reshape(values.shape)
    for number, (mine, shown) in enumerate(zip(ordered, values, strict=True)):
        context.event("bucket", number=number, values=shown.tolist(), keys=key[mine].tolist())
