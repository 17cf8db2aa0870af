"""Groups by MPALM's cuts: parts of a table and its public table that keep presence uncertain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.base.context import Context
from anon_core.base.registry import register
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import Buckets, Partitioner
from anon_core.methods.partition.public_partition import PublicPartition, cuts_choice
from anon_core.release.problem import Problem


@register("partitioner")
@dataclass(frozen=True, kw_only=True)
class MpalmGroups(Partitioner):
    """Top-down cuts of the public table (Toth 2015, algorithm 2); equal rows stay together."""

    name: ClassVar[str] = "mpalm"
    title: ClassVar[str] = "MPALM cuts"
    summary: ClassVar[str] = (
        "Cuts the table and a public table together, so that no group reveals which of its public"
        " people are in the table. Needs a public table."
    )
    formula: ClassVar[str] = "cut while δ_min ≤ |T_j| / |P_j| ≤ δ_max for every side j"
    source: ClassVar[str] = (
        "Nergiz, Atzori and Clifton 2007, doi 10.1145/1247480.1247554; Toth 2015, algorithm 2"
    )

    counts_public: ClassVar[bool] = True

    cuts: str = cuts_choice()

    def split(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Buckets:
        """Form the groups; see `Partitioner.split`."""
        found = PublicPartition(problem, models, self.cuts, self.title).search(context)
        frequency = problem.frequency
        return Buckets(
            key=np.arange(len(frequency.count), dtype=np.int64),
            group=found.part_of_run[frequency.run],
            count=frequency.count,
            boxes=np.stack([found.boxes.lo, found.boxes.hi, found.boxes.level], axis=2).astype(
                np.int64
            ),
        )
