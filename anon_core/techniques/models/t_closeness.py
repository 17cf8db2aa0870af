"""t-closeness: the spread of sensitive values in every group is near that in the whole table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Self
from weakref import WeakKeyDictionary

import numpy as np

from anon_core.base.arrays import B1, F64, I64
from anon_core.base.errors import BadPlan
from anon_core.base.params import choice, number, private_column
from anon_core.base.registry import register
from anon_core.contracts.feasibility import Allowed
from anon_core.contracts.group_stats import Histogram
from anon_core.contracts.model import ModelAim, refuse_no_weights
from anon_core.contracts.sensitive_values import others_known, protected_column
from anon_core.data.roles.roles import ByRole
from anon_core.data.values.kinds import KINDS
from anon_core.methods.sensitive_statistics import distance
from anon_core.methods.sensitive_statistics.distribution_model import DistributionModel
from anon_core.methods.sensitive_statistics.exact_decimal import as_written, at_most
from anon_core.release.private_reference import Reference, ValueCounts, reference_of
from anon_core.release.problem import Problem


@register("model")
@dataclass(frozen=True, kw_only=True)
class TCloseness(DistributionModel):
    """The Earth Mover's Distance of every group from the whole table is at most t.

    By weights of a survey, the table is the population that its rows represent; groups count rows.

    Li, Li and Venkatasubramanian 2007. The table is the one before anything was removed: against
    what is published alone, removing rows could turn a broken privacy model into a kept one.
    Merging good groups keeps it (U), since the distance from a fixed spread is convex. Merging with
    any group does not (no A): {b, c} in a table {b, b, b, c, c} is 1/10 away, with {c} it is 4/15.
    Removing groups keeps it (R), as the table stays the same. A good group lacks values of at most
    t/d of the table's rows, with d the least distance of two values: what lacks more holds none.
    """

    name: ClassVar[str] = "t-closeness"
    title: ClassVar[str] = "t-closeness"
    summary: ClassVar[str] = (
        "A group reveals little more about its people's sensitive values than the whole table "
        "does: its distribution of values is within t of the table's."
    )
    formula: ClassVar[str] = (
        "EMD(q, p) ≤ t; equal: ½ Σ|q − p|; ordered: Σ|cumulative q − p| / (m − 1); "
        "hierarchical: distance of two values = height of what joins them / height of the "
        "tree; a missing value counts as a value, since the table's own share of them is what "
        "a group is held against"
    )
    source: ClassVar[str] = "Li, Li and Venkatasubramanian 2007, doi 10.1109/ICDE.2007.367856"
    aim: ClassVar[ModelAim] = ModelAim(stops="attribute", offered_at=2)

    t: float = number(
        default=0.2,
        low=0.0,
        high=1.0,
        help="Largest distance of a group's values from the table's.",
        label="t",
    )
    distance: str = choice(
        default="equal",
        options={
            "equal": "all equally far",
            "ordered": "by their order",
            "hierarchical": "by their hierarchy",
        },
        help="How to measure the distance between two sensitive values: by their order needs "
        "numbers, dates or ordered values; by their hierarchy needs a hierarchy of the column.",
        label="Distance between values",
    )
    column: str = protected_column()
    others_known: bool = others_known()
    weights: str = private_column(
        help="The column with the role weight, to hold groups against the population that a "
        "survey represents. Without it they are held against the table's rows.",
        label="Population by the weights in",
        empty="the table's rows",
        quiet=True,
    )

    @classmethod
    def at_chance(cls, chance: float, share: Fraction) -> Self | None:
        """Return the usual t: it bounds what a group adds to what the whole table shows."""
        return cls()

    @property
    def asked(self) -> Fraction:
        """T as it was written."""
        return as_written(self.t)

    def needs_trees(self, columns: ByRole) -> tuple[str, ...]:
        """Return the sensitive columns concerned, where their hierarchy shows how far."""
        return self.protects(columns) if self.distance != "equal" else ()

    def check(self, problem: Problem, removable: int = 0) -> None:
        """Refuse a column that has no order, or no hierarchy, where the distance asks for one.

        The whole table as one group is at distance 0, so nothing else is impossible; by weights it
        is not, and the search decides.

        Raises
        ------
        BadPlan
        """
        if self.weights:
            refuse_no_weights(problem, self.weights, self.title)
        for column in self.protects(problem):
            self.table_of(reference_of(problem), column)
            hierarchy = problem.hierarchies[column]
            kind = problem.dataset.column(column).kind
            ordered = KINDS[kind].measured or (kind == "ordered" and column in problem.trees)
            if self.distance == "ordered" and not ordered:
                raise BadPlan(
                    f"{self.title}: the values of '{column}' have no declared order.",
                    remedy="Declare the column as ordered and give it a hierarchy that lists its "
                    "values in order, or choose another distance.",
                )
            if self.distance == "ordered" and hierarchy.has_missing:
                raise BadPlan(
                    f"{self.title}: '{column}' has missing values, which have no place in the "
                    "order.",
                    remedy="Drop the rows with missing values, or choose the equal distance.",
                )
            if self.distance == "hierarchical" and column not in problem.trees:
                raise BadPlan(
                    f"{self.title}: '{column}' has no hierarchy, so that values have no distance "
                    "by it.",
                    remedy="Give the column a hierarchy, or choose the equal distance.",
                )

    def feasible(self, problem: Problem, removable: int = 0) -> Sequence[Allowed]:
        """Return that every t can be asked: the whole table as one group is at distance 0.

        By weights it is not, and what can be had is not known up front.
        """
        if self.weights:
            return []
        return [
            Allowed(parameter="t", column=column, low=0.0, high=1.0)
            for column in self.protects(problem)
        ]

    def table_of(self, reference: Reference, column: str) -> ValueCounts:
        """Return the table's values, or by weights those of the people whom it represents."""
        if self.weights:
            return reference.weighed(column, self.weights)
        return super().table_of(reference, column)

    def cautions(self, problem: Problem) -> tuple[str, ...]:
        """Tell where no two groups can keep the model; by weights that is not known up front."""
        return () if self.weights else super().cautions(problem)

    def fewest_rows(self, table: I64) -> int:
        """Return the size below which a group lacks too much of the table."""
        return _least_rows(table.tobytes(), self.asked) if self.distance == "equal" else 1

    def holds(self, counted: Histogram, table: ValueCounts) -> B1:
        """Return which groups are at most t away."""
        return self._distance(counted, table).within(self.asked)

    def possible(self, counted: Histogram, table: ValueCounts) -> B1:
        """Return which groups lack values of few enough of the table's rows, and have enough rows.

        Values that are lacking have to come from others, each over the least distance at least.
        """
        rows, t = table.rows, self.asked
        n = int(rows.sum())
        lacking = n - distance.covered(counted, rows)
        found = at_most(lacking, np.full_like(lacking, n), t / self._least_step(table))
        if self.distance == "equal":
            found &= counted.rows >= _least_rows(rows.tobytes(), t)
        return found

    def reached(self, counted: Histogram, table: ValueCounts) -> F64:
        """Return the distances."""
        return self._distance(counted, table).values

    def bound(self) -> float:
        """Return t."""
        return self.t

    def worst_in_words(self, column: str, worst: float) -> str:
        """Return the furthest group in words."""
        whole = "population, by the weights" if self.weights else "whole table"
        return (
            f"The values of '{column}' in the worst group are {worst:.4g} away from those in the "
            f"{whole}; at most {self.t:g} was allowed."
        )

    def _distance(self, counted: Histogram, table: ValueCounts) -> distance.Distance:
        if self.distance == "equal":
            return distance.equal_distance(counted, table.rows)
        if self.distance == "ordered":
            return distance.ordered_distance(counted, table.rows, table.place)
        return distance.tree_distance(counted, table.rows, _tree(table))

    def _least_step(self, table: ValueCounts) -> Fraction:
        """Return the least distance of two values that occur in the table."""
        if self.distance == "ordered":
            return Fraction(1, max(int(np.count_nonzero(table.rows)) - 1, 1))
        if self.distance == "hierarchical":
            return distance.least_step(_tree(table), table.rows)
        return Fraction(1)


def _tree(table: ValueCounts) -> distance.Tree:
    """Return the tree of a column's values; made once for a table."""
    found = _TREES.get(table)
    if found is None:
        found = _TREES[table] = distance.tree_of(table.tree.rows()).of_leaves(table.place)
    return found


@lru_cache(maxsize=64)
def _least_rows(rows: bytes, t: Fraction) -> int:
    return distance.least_rows(np.frombuffer(rows, dtype=np.int64), t)


_TREES: WeakKeyDictionary[ValueCounts, distance.Tree] = WeakKeyDictionary()
