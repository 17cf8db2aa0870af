"""Anatomy: quasi-identifiers and sensitive values in two tables, joined by group only."""

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
class Anatomy(Algorithm):
    """Two tables QIT and ST (Xiao and Tao 2006); within a group nothing links their rows.

    1. Form groups in which no sensitive value is too frequent: that is the partition's.
    2. Publish the quasi-identifiers of every row with the number of its group (QIT).
    3. Publish the sensitive values of every group with its number (ST).
    """

    name: ClassVar[str] = "anatomy"
    title: ClassVar[str] = "Anatomy"
    summary: ClassVar[str] = (
        "Publishes two tables: one with exact quasi-identifiers, one with sensitive values. Only "
        "the group number joins them."
    )
    offer: ClassVar[Offer] = Offer(
        when="When counts over the quasi-identifiers must stay exact and only the sensitive value "
        "must be protected.",
        serves={
            "statistics": Service(
                place=1,
                why="The columns that others know stay exact, so that counts over them are exact, "
                "and only which sensitive value belongs to whom is hidden.",
            ),
            "teaching": Service(
                place=5,
                why="Two tables show what was cut: exact columns, and the sensitive values of each "
                "group.",
            ),
        },
    )
    shape: ClassVar[Shape] = Shape(permutes=True, linked="roles", tables=("quasi", "sensitive"))
    needs: ClassVar[Needs] = Needs(from_counts=True)
    formula: ClassVar[str] = "Pr[t.S = v] = c(v) / |G|"
    source: ClassVar[str] = "Xiao and Tao 2006, Anatomy: simple and effective privacy preservation"

    partition: Partitioner | Algorithm = partition_choice("anatomize")
    insensitive_with: str = block_choice()

    def release_shape(self) -> dict[str, Any]:
        """Return what a release looks like; see `Algorithm.shape`."""
        return {**super().release_shape(), "insensitive_with": self.insensitive_with}

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Form groups and cut the links between blocks; see `Algorithm.run`."""
        blocks = columns_by_role(problem, self.insensitive_with)
        return permuted(problem, self.partition, models, blocks, blocks, context)
