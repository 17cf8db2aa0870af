"""What would take special uniques their uniqueness: a column one level up, or suppressed."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from anon_core.base.arrays import B1, I32
from anon_core.base.context import Context
from anon_core.data.hierarchy import Hierarchy
from anon_core.methods.reidentification.minimal_uniques import MinimalUniques
from anon_core.release.vocabulary import Vocabulary


@dataclass(frozen=True, kw_only=True, eq=False)
class Change:
    """A change of a whole column, and the lines that are not unique any more after it.

    Attributes
    ----------
    suppressed : bool
        Whether the column is left out; else it goes one level up.
    cost : float
        Share of the column's height that it goes up.
    covered : bool array of shape (lines,)
    """

    column: str
    suppressed: bool
    cost: float
    covered: B1

    @property
    def words(self) -> str:
        """The change in words."""
        return f"{self.column} suppressed" if self.suppressed else f"{self.column} one level up"


def covering_changes(
    found: MinimalUniques, hierarchies: Mapping[str, Hierarchy], context: Context
) -> list[Change]:
    """Return the changes of single columns, cheapest first.

    Without a column only the sets without it are left, so that suppressing it covers the lines of
    which it is in every minimal set. One level up is tried out on every set with the column; where
    texts overlap it is not, since who fits whom is then not said by one text alone.
    """
    lines = found.lines
    special = found.special
    changes: list[Change] = []
    for place, name in enumerate(lines.columns):
        context.report(place / len(lines.columns), "Trying out what covers them")
        without = np.zeros(len(special), dtype=np.bool_)
        for chosen in found.marks:
            if place not in chosen:
                without |= found.minimal(chosen)
        covered = special & ~without
        if not covered.any():
            continue
        hierarchy, vocabulary = hierarchies.get(name), lines.vocabularies[name]
        height = max(hierarchy.height, 1) if hierarchy is not None else 1
        used = vocabulary.level[np.unique(lines.codes[:, place])]
        lowest = max(int(used.min(initial=height)), 0)
        changes.append(
            Change(column=name, suppressed=True, cost=(height - lowest) / height, covered=covered)
        )
        up = None if hierarchy is None else _one_up(vocabulary, hierarchy)
        if up is None or lines.overlapping or height - lowest <= 1:
            continue
        still = np.zeros_like(covered)
        others = [d for d in range(len(lines.columns)) if d != place]
        for size in range(found.size):
            for rest in itertools.combinations(others, size):
                context.check()
                chosen = tuple(sorted((place, *rest)))
                still |= lines.with_texts(place, up[lines.codes[:, place]], chosen) == 1
        if (covered & ~still).any():
            changes.append(
                Change(column=name, suppressed=False, cost=1 / height, covered=covered & ~still)
            )
    return sorted(changes, key=lambda c: (c.cost, -int(c.covered.sum())))


def _one_up(vocabulary: Vocabulary, hierarchy: Hierarchy) -> I32 | None:
    """Return what each text becomes one level up, as numbers; None where one is no node."""
    if vocabulary.shown is not None or np.any(vocabulary.level < 0):
        return None
    level = np.minimum(vocabulary.level + 1, hierarchy.height)
    node = np.zeros(len(level), dtype=np.int64)
    for at in np.unique(level).tolist():
        here = level == at
        node[here] = hierarchy.node(at)[vocabulary.lo[here]]
    both = node * (hierarchy.height + 1) + level
    return np.unique(both, return_inverse=True)[1].astype(np.int32)
