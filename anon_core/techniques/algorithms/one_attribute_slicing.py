"""One-attribute-per-column slicing: one table, every column permuted by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from anon_core.base.context import Context
from anon_core.base.registry import register
from anon_core.contracts.algorithm import Algorithm, Needs, Offer, Shape
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import Partitioner
from anon_core.methods.bucketized.permuted_release import partition_choice, permuted
from anon_core.release.outcome import Outcome
from anon_core.release.problem import Problem


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class ColumnSlicing(Algorithm):
    """Every column of a bucket is shuffled independently (Toth 2015, section 3.1.2.1).

    1. Form buckets: that is the partition's.
    2. Permute every column of each bucket, independently of the others.
    """

    name: ClassVar[str] = "one-attribute-slicing"
    title: ClassVar[str] = "One-attribute-per-column slicing"
    summary: ClassVar[str] = (
        "Publishes one table of exact values, and shuffles every column separately within each "
        "group. No links remain."
    )
    offer: ClassVar[Offer] = Offer(
        when="When every link between columns should be cut, and one table is wanted."
    )
    shape: ClassVar[Shape] = Shape(permutes=True)
    needs: ClassVar[Needs] = Needs(from_counts=True)
    formula: ClassVar[str] = "d + 1 independent uniform permutations per bucket"
    source: ClassVar[str] = "Toth 2015, section 3.1.2.1"

    partition: Partitioner | Algorithm = partition_choice("mondrian")

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Form groups and cut the links between blocks; see `Algorithm.run`."""
        blocks = tuple((name,) for name in problem.roles.published(problem.dataset))
        return permuted(problem, self.partition, models, blocks, (), context)
