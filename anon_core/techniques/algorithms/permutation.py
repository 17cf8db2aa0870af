"""Permutation anonymization: every column permuted by itself within each group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from anon_core.base.context import Context
from anon_core.base.registry import register
from anon_core.contracts.algorithm import Algorithm, Needs, Offer, Shape
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import Partitioner
from anon_core.methods.bucketized.permuted_release import (
    columns_by_role,
    partition_choice,
    permuted,
)
from anon_core.release.outcome import Outcome
from anon_core.release.problem import Problem


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class PermutationAnonymization(Algorithm):
    """Two tables PQT and PST with independent permutations (Li et al. 2015, definition 1).

    1. Form groups of l to 2l - 1 rows: that is the partition's (algorithms 1 and 2).
    2. Permute every quasi-identifier of each group independently (PQT).
    3. Permute the sensitive values of each group (PST); only the group's number joins the two.
    """

    name: ClassVar[str] = "permutation"
    title: ClassVar[str] = "Permutation anonymization"
    summary: ClassVar[str] = (
        "Publishes two tables, like Anatomy, and also shuffles every quasi-identifier separately "
        "within groups. No published row is a person's own."
    )
    offer: ClassVar[Offer] = Offer(
        when="When the combination of quasi-identifiers must be blurred as well, while every value "
        "stays exact."
    )
    shape: ClassVar[Shape] = Shape(permutes=True, tables=("quasi", "sensitive"))
    needs: ClassVar[Needs] = Needs(from_counts=True)
    formula: ClassVar[str] = "d + 1 independent uniform permutations per group"
    source: ClassVar[str] = "Li et al. 2015, definition 1"

    partition: Partitioner | Algorithm = partition_choice("bisection")

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Form groups and cut the links between blocks; see `Algorithm.run`."""
        names = problem.roles.published(problem.dataset)
        tables = columns_by_role(problem, "quasi")
        blocks = tuple((name,) for name in names)
        return permuted(problem, self.partition, models, blocks, tables, context)
