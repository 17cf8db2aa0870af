"""Slicing: columns that go together stay linked, and the groups of columns are permuted apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from anon_core.base.arrays import F64
from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, listing, nearest
from anon_core.base.params import choice, integer, sets_of_columns
from anon_core.base.registry import register
from anon_core.contracts.algorithm import Algorithm, Linked
from anon_core.contracts.model import GroupModel
from anon_core.contracts.partitioner import Partitioner
from anon_core.contracts.purposes import Purpose, Service
from anon_core.methods.bucketized.permuted_release import partition_choice, permuted
from anon_core.release.problem import Problem
from anon_core.release.release import Block
from anon_core.release.results import Outcome
from anon_core.techniques.algorithms.slicing.dependence import column_groups, dependence_rows


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class Slicing(Algorithm):
    """Vertical groups by dependence, horizontal groups by a partitioner (Li et al. 2012).

    1. Attribute partition: measure how much each two columns depend on each other, and form sets
       of columns by k-medoids on the distances.
    2. Tuple partition: form buckets; the partitioner checks diversity where it is its own.
    3. Permute every set of columns of each bucket independently.
    """

    name: ClassVar[str] = "slicing"
    title: ClassVar[str] = "Slicing"
    summary: ClassVar[str] = (
        "Columns that depend on each other stay linked row by row; within each group of rows the "
        "sets of columns are shuffled against each other."
    )
    when: ClassVar[str] = (
        "When relations between certain columns must survive, and other links should be cut."
    )
    formula: ClassVar[str] = (
        "k-medoids of columns on 1 − φ² (or 1 − r² of numbers); one permutation per column set"
    )
    source: ClassVar[str] = "Li, Li, Zhang and Molloy 2012, doi 10.1109/TKDE.2010.236"
    serves: ClassVar[Mapping[Purpose, Service]] = {
        "training": Service(
            place=1,
            why="Columns that depend on each other stay linked row by row, with exact values, so "
            "that what a learner looks for survives.",
        ),
    }
    permutes: ClassVar[bool] = True
    linked: ClassVar[Linked] = "sets"

    partition: Partitioner | Algorithm = partition_choice("mondrian")
    column_sets: int = integer(
        default=3,
        low=1,
        high=50,
        help="Number of column sets to form; sensitive columns are one more, by themselves.",
        label="Column sets",
    )
    dependence: str = choice(
        default="contingency",
        options={
            "contingency": "contingency of all columns (φ²)",
            "pearson": "correlation of numbers (r²), contingency of others",
        },
        help="How to measure which columns belong together. Contingency detects any dependence, "
        "in bins; correlation detects linear dependence only, without bins.",
        label="Dependence by",
        quiet=True,
    )
    sets: tuple[Block, ...] = sets_of_columns(
        help="Column sets by hand, for example [['age', 'sex'], ['zip', 'diagnosis']]; a column "
        "that is not named is a set of its own.",
        label="Column sets by hand",
        empty="by dependence",
    )

    def shape(self) -> dict[str, Any]:
        """Return what a release looks like; sets that are formed are told to nobody."""
        return {**super().shape(), "sets": [list(part) for part in self.sets]}

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Form column sets and groups; see `Algorithm.run`."""
        # 1. Attribute partition.
        told = bool(self.sets)
        blocks = self.by_hand(problem) if told else self.by_dependence(problem, context)
        partition = self.partition
        sees_links = isinstance(partition, Partitioner) and partition.sees_links
        _refuse_linked(problem, models, blocks, sees_links=sees_links)
        # 2. Tuple partition, and 3. permutation.
        return permuted(problem, partition, models, blocks, (), context, told=told)

    def by_dependence(self, problem: Problem, context: Context) -> tuple[Block, ...]:
        """Return the column sets k-medoids forms; the sensitive columns are a set of their own.

        A group promises something about sensitive values only if nobody finds a person's own
        among them, so they are never linked to what an attacker may know.
        """
        names = problem.roles.published(problem.dataset)
        apart = tuple(n for n in names if n in problem.sensitive and n not in problem.quasi)
        rest = [n for n in names if n not in apart]
        context.report(0.0, "Grouping columns")
        rows = problem.row_order[dependence_rows(problem.rows, context.generator)]
        columns = [(problem.leaf_codes(n)[rows], len(problem.hierarchies[n].leaves)) for n in rest]
        numbers: list[F64 | None] = []
        if self.dependence == "pearson":
            measures = [problem.hierarchies[n].measure for n in rest]
            numbers = [
                None if measure is None else measure[codes]
                for measure, (codes, _) in zip(measures, columns, strict=True)
            ]
        formed = [
            tuple(rest[i] for i in group)
            for group in column_groups(columns, self.column_sets, numbers)
        ]
        return (*formed, apart) if apart else tuple(formed)

    def by_hand(self, problem: Problem) -> tuple[Block, ...]:
        """Return the column sets as written.

        Raises
        ------
        BadPlan
            If a column is unknown or an identifier.
        """
        names = problem.roles.published(problem.dataset)
        named = [n for part in self.sets for n in part]
        for name in named:
            if name not in names:
                raise BadPlan(
                    f"slicing: column set names '{name}', which is not published; published are "
                    f"{listing(names)}.",
                    remedy=f"Use published columns.{nearest(name, names)}",
                )
        alone = [(n,) for n in names if n not in named]
        return (*self.sets, *alone)


def _refuse_linked(
    problem: Problem, models: Sequence[GroupModel], blocks: Sequence[Block], *, sees_links: bool
) -> None:
    """Refuse to link a sensitive column to a quasi-identifier where a promise cannot see it.

    Slicing's own l-diversity can, if the groups are formed by it.
    """
    for model in models:
        over_all = model.sliced_share(problem)
        for column in model.protects(problem):
            (block,) = (b for b in blocks if column in b)
            linked = [name for name in block if name in problem.quasi]
            if not linked or (column in over_all and sees_links):
                continue
            raise BadPlan(
                f"{model.title} on '{column}' says nothing where the column stays linked to "
                f"{listing(linked)}: who finds the row reads the value.",
                remedy=f"Give '{column}' a column set without quasi-identifiers, or promise "
                "slicing-l-diversity and form the groups by tuple-partition.",
            )
