"""Generalized items: sets in cells say groups of items, so that no few items single out a row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.base.errors import BadPlan, Infeasible
from anon_core.base.params import integer, text
from anon_core.base.registry import register
from anon_core.base.terms import count
from anon_core.contracts.change import Chance, Change, Effect
from anon_core.data.column import Column
from anon_core.data.roles.roles import Role, Roles
from anon_core.data.table import Dataset
from anon_core.methods.changes.numbers import by_text
from anon_core.methods.sensitive_statistics.itemsets import (
    Items,
    best_cut,
    items_of,
    read_item_tree,
    refuse_many,
)


@register("change")
@dataclass(frozen=True, kw_only=True)
class ItemGeneralization(Change):
    """One cut through the tree of items for the whole column (Terrovitis et al. 2008).

    1. Every item is published as itself or as a group above it, the same in every cell.
    2. Of all cuts at which k rows hold each itemset of up to m labels, the one of least loss; of
       too many cuts, groups take over size by size (`best_cut`).
    3. Labels that have become equal in a cell are one.
    """

    name: ClassVar[str] = "item-generalization"
    title: ClassVar[str] = "Generalized items"
    summary: ClassVar[str] = (
        "Publishes the items of cells that hold sets, such as purchases or diagnoses, as groups "
        "of items. Whichever m items an attacker knows of a row, k rows contain them."
    )
    when: ClassVar[str] = (
        "Use it for a column whose cells are sets; never by itself where rows are removed or "
        "quasi-identifiers published: require k^m-anonymity too, which is measured on the release."
    )
    leaves: ClassVar[str] = (
        "It leaves how many labels a cell holds, and what anyone learns who knows more than m "
        "items, or that one is absent."
    )
    formula: ClassVar[str] = (
        "|{r : I ⊆ r}| ≥ k for every itemset I of 1 … m labels that a row holds; least "
        "Σ (leaves − 1) / (all leaves − 1) over items"
    )
    source: ClassVar[str] = "Terrovitis, Mamoulis and Kalnis 2008, doi 10.14778/1453856.1453874"
    of_roles: ClassVar[tuple[Role, ...]] = ("sensitive", "insensitive")
    effect: ClassVar[Effect] = Effect(replaces=False)

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
    separator: str = text(default="|", help="What is written between items.", label="Separator")
    tree: str = text(
        default="",
        help="A line for each group, such as 'fruit: apple, pear'; groups may be in groups.",
        label="Tree of items",
        empty="all items under *",
        lines=True,
    )

    def run(
        self, table: Dataset, columns: Sequence[str], roles: Roles, chance: Chance
    ) -> Mapping[str, Column]:
        """Return the columns with labels instead of items; a missing cell stays missing."""
        if not self.separator:
            raise BadPlan(
                "The separator of items is empty.", remedy="Name what is between items, such as |."
            )
        return {name: self._changed(table.column(name)) for name in columns}

    def _changed(self, column: Column) -> Column:
        codes, texts = column.as_read
        sets = [items_of(text, self.separator) for text in texts]
        many = np.bincount(codes[codes >= 0], minlength=len(texts)).tolist()
        rows = Counter[Items]()
        for items, number in zip(sets, many, strict=True):
            if number:
                rows[items] += number
        refuse_many(rows, self.m, column.name)
        missing = int(np.count_nonzero(codes < 0))
        if 0 < missing < self.k:
            raise Infeasible(
                f"{count(missing, 'row')} of '{column.name}' without a value: fewer than "
                f"k = {self.k}, and no group of items hides that.",
                remedy="Leave these rows out, or choose a smaller k.",
                best=float(missing),
                best_of="k",
            )
        tree = read_item_tree(self.tree, {item for items in rows for item in items})
        if any(self.separator in label for label in tree.children):
            raise BadPlan(
                "A group of the tree of items has the separator in its name.",
                remedy="Give the group another name, or the items another separator.",
            )
        cut = best_cut(tree, rows, self.k, self.m)
        label = tree.labels(cut)
        place = {one: number for number, one in enumerate(cut)}

        def generalized(text: str) -> str:
            own = sorted({label[x] for x in items_of(text, self.separator)}, key=place.__getitem__)
            return self.separator.join(own) or self.separator  # an empty text would be missing

        return by_text(column, generalized, kind="text")

    def guarantee(self) -> str:
        """Return what holds before rows are removed."""
        return (
            f"In the whole table at least {self.k} rows hold any {self.m} items that a row holds."
        )
