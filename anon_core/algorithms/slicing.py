"""Slicing: columns that go together stay linked, and the groups of columns are permuted apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from ..buckets import partition_choice, permuted
from ..context import Context
from ..dependence import column_groups, dependence_rows
from ..errors import BadPlan, listing, nearest
from ..kinds import Algorithm, GroupModel
from ..params import integer, text
from ..problem import Problem
from ..registry import register
from ..release import Block
from ..results import Outcome


@register("algorithm")
@dataclass(frozen=True, kw_only=True)
class Slicing(Algorithm):
    """Vertical groups by dependence, horizontal groups by a partitioner (Li et al. 2012)."""

    name: ClassVar[str] = "slicing"
    title: ClassVar[str] = "Slicing"
    summary: ClassVar[str] = (
        "Columns that depend on each other stay linked row by row; within each group of rows the "
        "sets of columns are shuffled against each other."
    )
    when: ClassVar[str] = (
        "When relations between certain columns must survive, and other links should be cut."
    )
    formula: ClassVar[str] = "k-medoids of columns on 1 − φ²; one permutation per column set"
    source: ClassVar[str] = "Li, Li, Zhang and Molloy 2012, doi 10.1109/TKDE.2010.236"
    permutes: ClassVar[bool] = True

    partition: str = partition_choice("mondrian")
    column_sets: int = integer(
        default=3,
        low=1,
        high=50,
        help="Number of column sets to form; sensitive columns are one more, by themselves.",
        label="Column sets",
    )
    sets: str = text(
        help="Column sets by hand: names joined by + and sets separated by |, for example "
        "age+sex | zip+diagnosis; columns not named stand alone. Empty: by dependence.",
        label="Column sets by hand",
    )

    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Form column sets and groups; see `Algorithm.run`."""
        told = bool(self.sets.strip())
        blocks = self.by_hand(problem) if told else self.by_dependence(problem, context)
        _refuse_linked(problem, models, blocks, self.partition)
        return permuted(problem, self.partition, models, blocks, (), context, told=told)

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
        formed = [
            tuple(rest[i] for i in group) for group in column_groups(columns, self.column_sets)
        ]
        return (*formed, apart) if apart else tuple(formed)

    def by_hand(self, problem: Problem) -> tuple[Block, ...]:
        """Return the column sets as written.

        Raises
        ------
        BadPlan
            If a column is unknown, an identifier, or named twice.
        """
        names = problem.roles.published(problem.dataset)
        sets = [[n.strip() for n in part.split("+") if n.strip()] for part in self.sets.split("|")]
        named = [n for part in sets for n in part]
        for name in named:
            if name not in names:
                raise BadPlan(
                    f"slicing: column set names '{name}', which is not published; published are "
                    f"{listing(names)}.",
                    remedy=f"Use published columns.{nearest(name, names)}",
                )
            if named.count(name) > 1:
                raise BadPlan(
                    f"slicing: column '{name}' stands in two column sets.",
                    remedy="Name every column once.",
                )
        alone = [(n,) for n in names if n not in named]
        return (*(tuple(part) for part in sets if part), *alone)


def _refuse_linked(
    problem: Problem, models: Sequence[GroupModel], blocks: Sequence[Block], partition: str
) -> None:
    """Refuse to link a sensitive column to a quasi-identifier where a promise cannot see it.

    Slicing's own l-diversity can, if the groups are formed by it.
    """
    for model in models:
        over_all = model.sliced_share(problem)
        for column in model.needs(problem):
            (block,) = (b for b in blocks if column in b)
            linked = [name for name in block if name in problem.quasi]
            if not linked or (column in over_all and partition == "tuple-partition"):
                continue
            raise BadPlan(
                f"{model.title} on '{column}' says nothing where the column stays linked to "
                f"{listing(linked)}: who finds the row reads the value.",
                remedy=f"Give '{column}' a column set without quasi-identifiers, or promise "
                "slicing-l-diversity and form the groups by tuple-partition.",
            )
