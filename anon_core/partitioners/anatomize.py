"""Anatomize: groups of l rows with l different sensitive values, blind to everything else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..context import Context
from ..kernels.deal import anatomize
from ..kinds import Buckets, GroupModel, Partitioner, buckets_of_rows
from ..partition import rows_of_keys, single_share
from ..problem import Problem
from ..registry import register


@register("partitioner")
@dataclass(frozen=True, kw_only=True)
class Anatomize(Partitioner):
    """One row of each of the l most numerous values, again and again (Xiao and Tao 2006)."""

    name: ClassVar[str] = "anatomize"
    title: ClassVar[str] = "Anatomize"
    summary: ClassVar[str] = (
        "Each group takes one row of each of the l sensitive values that have most rows left; "
        "remaining rows join groups that lack their value."
    )
    formula: ClassVar[str] = "groups of l rows with l values; reconstruction error n (1 − 1/l)"
    source: ClassVar[str] = "Xiao and Tao 2006, Anatomy: simple and effective privacy preservation"
    by_sensitive: ClassVar[bool] = True
    gathers_alike: ClassVar[bool] = False

    def split(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Buckets:
        """Form the groups; see `Partitioner.split`."""
        column, least = single_share(problem, models, self.title)
        frequency = problem.frequency
        # Which of the rows with one value is drawn is left to chance, not to their order.
        key = context.generator.permutation(rows_of_keys(problem))
        value = frequency.codes[key, frequency.columns.index(column)].astype(np.int64)
        per_value = np.bincount(value, minlength=len(problem.hierarchies[column].leaves))
        room = max(problem.rows // least, 1)
        value_of = np.empty((room, least), dtype=np.int64)
        context.check()
        left = per_value.astype(np.int64)
        formed = anatomize(left, least, room, value_of)
        # Rows of one value go to the groups that hold the value, in the order drawn.
        by_value = np.argsort(value, kind="stable")
        wanted = np.repeat(np.arange(formed), least)[
            np.argsort(value_of[:formed].ravel(), kind="stable")
        ]
        group = np.empty(len(key), dtype=np.int64)
        starts = np.cumsum(per_value) - per_value
        used = per_value - left
        place = np.arange(len(key)) - np.repeat(starts, per_value)
        in_group = place < np.repeat(used, per_value)
        group[by_value[in_group]] = wanted
        for row in by_value[~in_group].tolist():  # at most l − 1 rows
            lacking = np.flatnonzero(~np.any(value_of[:formed] == value[row], axis=1))
            chosen = int(context.generator.choice(lacking))
            group[row] = chosen
        return buckets_of_rows(key, group)
