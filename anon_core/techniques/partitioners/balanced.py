"""Li's algorithm 1: rows sorted by sensitive value and dealt round-robin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.base.context import Context
from anon_core.base.registry import register
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import Buckets, Grouping, Partitioner, buckets_of_rows
from anon_core.methods.partition.leading_share import leading_share, mended
from anon_core.methods.partition.mondrian_cuts import deal, rows_of_keys
from anon_core.release.problem import Problem


@register("partitioner")
@dataclass(frozen=True, kw_only=True)
class Dealt(Partitioner):
    """Groups of l to 2l − 1 rows, all sensitive values different, in linear time.

    1. Sort the rows by sensitive value, equal ones in random order.
    2. With g = ⌊n / l⌋ groups, row i goes to group i mod g.
    """

    name: ClassVar[str] = "balanced"
    title: ClassVar[str] = "Dealt by sensitive value"
    summary: ClassVar[str] = (
        "Orders rows by sensitive value and deals them like cards, so no group has a value twice."
        " Ignores the quasi-identifiers."
    )
    formula: ClassVar[str] = "g = ⌊n / l⌋ groups; row i of the ordered table goes to group i mod g"
    source: ClassVar[str] = "Li et al. 2015, algorithm 1"
    from_counts: ClassVar[bool] = True
    way: ClassVar[Grouping] = Grouping(by_sensitive=True, gathers_alike=False)

    def split(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Buckets:
        """Form the groups; see `Partitioner.split`."""
        column, least = leading_share(problem, models, self.title)
        frequency = problem.frequency
        key = rows_of_keys(problem)
        value = frequency.codes[key, frequency.columns.index(column)].astype(np.int64)
        missing = problem.hierarchies[column].missing_leaf
        group = deal(value, least, context.generator, missing=missing)
        if context.listening:
            ranked = np.argsort(value, kind="stable")
            context.event("dealt", keys=key[ranked], groups=group[ranked])
        return mended(problem, models, buckets_of_rows(key, group), context)
