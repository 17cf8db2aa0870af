"""k^m-anonymity: whichever m items of a set an attacker knows, k rows of the class hold them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.base.arrays import B1, F64, I64
from anon_core.base.errors import BadPlan
from anon_core.base.params import integer, text
from anon_core.base.registry import register
from anon_core.base.terms import count
from anon_core.contracts.feasibility import Allowed, impossible
from anon_core.contracts.group_stats import Histogram, histogram
from anon_core.contracts.model import named
from anon_core.contracts.sensitive_values import protected_column
from anon_core.methods.sensitive_statistics.distribution_model import DistributionModel
from anon_core.methods.sensitive_statistics.itemsets import (
    items_of,
    itemsets_of,
    refuse_many,
)
from anon_core.release.private_reference import ValueCounts
from anon_core.release.problem import Problem


@register("model")
@dataclass(frozen=True, kw_only=True)
class KmAnonymity(DistributionModel):
    """Every itemset of 0 … m items that a row of a class holds, k rows of the class hold.

    Cells are sets of items (Terrovitis et al. 2008); next to quasi-identifiers it is asked of every
    class (Poulis et al. 2013). The empty itemset asks for classes of k rows. A missing cell is an
    item of its own. Merging good classes keeps it, since what k rows of one hold, k rows of both
    do (U); merging with any class does not (no A); removing classes keeps it (R). It does not hide
    that an item is absent, nor from anyone who knows more than m.
    """

    name: ClassVar[str] = "km-anonymity"
    title: ClassVar[str] = "k^m-anonymity"
    summary: ClassVar[str] = (
        "For cells that hold sets, such as purchases: an attacker who knows a person's quasi-"
        "identifiers and up to m items still finds k rows."
    )
    formula: ClassVar[str] = (
        "|{r ∈ G : I ⊆ r}| ≥ k for every class G and itemset I, |I| ≤ m, that a row of G holds; "
        "a missing cell is an item of its own, since it sets its row off from others"
    )
    source: ClassVar[str] = (
        "Terrovitis, Mamoulis and Kalnis 2008, doi 10.14778/1453856.1453874; Poulis et al. 2013, "
        "doi 10.1007/978-3-642-40994-3_23"
    )
    worst_is_least: ClassVar[bool] = True

    k: int = integer(
        default=5, low=2, help="Fewest rows that hold what is known.", label="k", unit="rows"
    )
    m: int = integer(
        default=2,
        low=1,
        high=8,
        help="Items that an attacker knows at most.",
        label="m",
        unit="items",
    )
    column: str = protected_column()
    separator: str = text(default="|", help="What is written between items.", label="Separator")

    def check(self, problem: Problem, removable: int = 0) -> None:
        """Refuse cells with too many itemsets, and a k that no item reaches.

        Raises
        ------
        BadPlan
            If the separator is empty, or more itemsets are held than are counted.
        Infeasible
            If k rows neither hold one item nor have an empty set: no class can keep it.
        """
        if not self.separator:
            raise BadPlan(
                f"{self.title}: the separator of items is empty.",
                remedy="Name what is between items, such as |.",
            )
        for column in self.protects(problem):
            leaves = problem.hierarchies[column].leaves
            refuse_many((items_of(x, self.separator) for x in leaves), self.m, column)
            most = self._largest(problem, column)
            if most < self.k:
                raise impossible(
                    f"{self.title} with k = {self.k} on '{column}'",
                    f"no item is held by more than {count(most, 'row')}",
                    float(most),
                    "largest k",
                    removable=removable,
                    remedy=f"Choose k of at most {most}, or publish groups of items: "
                    "the change item-generalization.",
                )

    def feasible(self, problem: Problem, removable: int = 0) -> Sequence[Allowed]:
        """Return the largest k that an item reaches, for every column."""
        return [
            Allowed(parameter="k", column=c, low=2, high=float(self._largest(problem, c)))
            for c in self.protects(problem)
        ]

    def _largest(self, problem: Problem, column: str) -> int:
        """Return the most rows that hold one item, or have an empty set."""
        rows = problem.leaf_counts(column)
        leaves = np.flatnonzero(rows > 0)
        tree = problem.hierarchies[column]
        whole = histogram(
            np.zeros(len(leaves), dtype=np.int64), leaves.astype(np.int32), rows[leaves], 1,
            len(rows),
        )  # fmt: skip
        found = itemsets_of(tree.leaves, tree.missing_leaf, self.separator, 1)
        return int(found.most(whole)[0])

    def least_size(self) -> int:
        """Return k: the empty itemset is in all rows of a class."""
        return self.k

    def holds(self, counted: Histogram, table: ValueCounts) -> B1:
        """Return in which groups k rows hold each itemset."""
        return self._fewest(counted, table) >= self.k

    def possible(self, counted: Histogram, table: ValueCounts) -> B1:
        """Return which groups have k rows that hold one item, or none."""
        items = itemsets_of(table.leaves, table.missing_leaf, self.separator, 1)
        return items.most(counted) >= self.k

    def reached(self, counted: Histogram, table: ValueCounts) -> F64:
        """Return the rows that hold a group's rarest itemset."""
        return self._fewest(counted, table).astype(np.float64)

    def _fewest(self, counted: Histogram, table: ValueCounts) -> I64:
        of = itemsets_of(table.leaves, table.missing_leaf, self.separator, self.m)
        return of.fewest(counted, counted.rows)

    def bound(self) -> float:
        """Return k."""
        return float(self.k)

    def worst_in_words(self, column: str, worst: float) -> str:
        """Return how many rows hold the rarest itemset, in words."""
        return (
            f"The rarest {count(self.m, 'item')} or fewer of '{column}' in a class are held by "
            f"{count(int(worst), 'row')}; at least {self.k} were asked for."
        )

    def in_words(self, quasi: int, together: str = "class") -> str:
        """Return what an attacker may know, and how many rows are left."""
        return (
            f"Whichever {count(self.m, 'item')} or fewer of {named(self.column)} an attacker "
            f"knows of a person, at least {count(self.k, 'row')} of their {together} will hold "
            "them."
        )
