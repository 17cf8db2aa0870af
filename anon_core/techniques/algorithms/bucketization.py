"""Bucketization: exact rows, with the sensitive values permuted inside each group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from anon_core.base.context import Context
from anon_core.base.registry import register
from anon_core.contracts.algorithm import Algorithm, Needs, Offer, Service, Shape
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import Partitioner
from anon_core.methods.bucketized.permuted_release import (
    block_choice,
    columns_by_role,
    partition_choice,
    permuted,
)
from anon_core.release.outcome import Outcome
from anon_core.release.problem import Problem


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class Bucketization(Algorithm):
    """One table; sensitive values are shuffled within buckets (Toth 2015, section 3.1.1).

    1. Form buckets: that is the partition's.
    2. Permute the sensitive values of each bucket; the quasi-identifiers of a row stay linked.
    """

    name: ClassVar[str] = "bucketization"
    title: ClassVar[str] = "Bucketization"
    summary: ClassVar[str] = (
        "Publishes exact quasi-identifiers, and shuffles the sensitive values within groups. A "
        "person can be found, but not their sensitive value."
    )
    offer: ClassVar[Offer] = Offer(
        when="When membership is no secret and only the sensitive value must be protected, in one "
        "table.",
        serves={
            "sharing": Service(
                place=1,
                why="One table in which all but the sensitive values stays as it is; these are "
                "shuffled among similar rows.",
            ),
            "training": Service(
                place=7,
                why="All columns that others know stay exact, and sensitive values stay among "
                "similar rows.",
            ),
        },
    )
    shape: ClassVar[Shape] = Shape(permutes=True, linked="roles")
    needs: ClassVar[Needs] = Needs(from_counts=True)
    formula: ClassVar[str] = "Pr[t.S = v] = c(v) / |B|"
    source: ClassVar[str] = "Toth 2015, section 3.1.1"

    partition: Partitioner | Algorithm = partition_choice("mondrian")
    insensitive_with: str = block_choice()

    def release_shape(self) -> dict[str, Any]:
        """Return what a release looks like; see `Algorithm.shape`."""
        return {**super().release_shape(), "insensitive_with": self.insensitive_with}

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Form groups and cut the links between blocks; see `Algorithm.run`."""
        blocks = columns_by_role(problem, self.insensitive_with)
        return permuted(problem, self.partition, models, blocks, (), context)
