"""People who had no part in a release, with their sensitive values: the control of an attack.

Whatever is guessed of them as well is known of people in general, and shows nothing of this table
(Giomi et al. 2023, doi 10.56553/popets-2023-0055).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from anon_core.base.arrays import I32, I64
from anon_core.base.errors import BadInput
from anon_core.data.column import Column
from anon_core.data.frequency import FrequencySet, dense_rank
from anon_core.data.hierarchy import Hierarchy
from anon_core.data.table import Dataset
from anon_core.data.values.kinds import ColumnKind
from anon_core.release.knowledge.people import of_kind


@dataclass(frozen=True, kw_only=True, eq=False)
class Holdout:
    """Distinct people of a larger table who are not in this one.

    Attributes
    ----------
    codes : int32 array of shape (tuples, columns)
        Leaves of the table's own hierarchies, -1 for a value that the table has not.
    columns : tuple of str
        Quasi-identifiers, then sensitive columns.
    count : int64 array of shape (tuples,)
    person : int64 array of shape (tuples,), or None
        Where one person has several rows, whose each one is: then tuples are rows. Else None.
    """

    codes: I32
    columns: tuple[str, ...]
    count: I64
    person: I64 | None = None

    @property
    def people(self) -> int:
        """How many there are."""
        return int(self.count.sum()) if self.person is None else len(np.unique(self.person))

    def of(self, column: str) -> I32:
        """Return one column, shape (tuples,)."""
        return self.codes[:, self.columns.index(column)]


def holdout_of(
    larger: Dataset,
    frequency: FrequencySet,
    hierarchies: Mapping[str, Hierarchy],
    kinds: Mapping[str, ColumnKind],
    *,
    person: str = "",
) -> Holdout | None:
    """Return whom a larger table holds beyond this one; None where no one can be distinguished.

    People who are equal in all columns represent each other: of five in the larger table and two in
    this one three are left. Where a column identifies persons, no one represents another: left are
    all rows of those who have none in this table.

    Parameters
    ----------
    larger : Dataset
        A table that holds everyone of this one, with their sensitive values.
    frequency : FrequencySet
        This table.
    person : str
        The column that identifies persons; empty where a row is a person.
    """
    names = frequency.shown
    if any(name not in larger.names for name in (*names, *([person] if person else []))):
        return None
    try:
        leaves = [leaf_of(larger.column(n), kinds[n], hierarchies[n]) for n in names]
        if person:
            known = leaf_of(larger.column(person), kinds[person], hierarchies[person])
            return _other_persons(larger.column(person), known, names, leaves)
    except BadInput:  # read otherwise than the table's, so that nobody can be compared
        return None
    own = [frequency.codes[:, d] for d in range(len(names))]
    both = [np.concatenate([a, b]) + np.int32(1) for a, b in zip(own, leaves, strict=True)]
    rank, first = dense_rank(both, [len(hierarchies[n].leaves) + 1 for n in names])
    here = np.bincount(rank[: len(own[0])], frequency.count, minlength=len(first))
    there = np.bincount(rank[len(own[0]) :], minlength=len(first))
    count = np.maximum(there - here, 0).astype(np.int64)
    left = np.flatnonzero(count)
    if not len(left):
        return None
    codes = np.stack([c[first[left]] - np.int32(1) for c in both], axis=1)
    return Holdout(codes=codes, columns=names, count=count[left])


def _other_persons(
    column: Column, known: I32, names: tuple[str, ...], leaves: Sequence[I32]
) -> Holdout | None:
    """Return all rows of persons who have none in the table; -1 in `known` shows them."""
    left = np.flatnonzero((known < 0) & (column.codes >= 0))  # a missing person is nobody
    if not len(left):
        return None
    return Holdout(
        codes=np.stack([c[left] for c in leaves], axis=1),
        columns=names,
        count=np.ones(len(left), dtype=np.int64),
        person=column.codes[left].astype(np.int64),
    )


def leaf_of(column: Column, kind: ColumnKind, hierarchy: Hierarchy) -> I32:
    """Return the leaf of every row of another table's column; -1 where the table has no such value.

    Raises
    ------
    BadInput
        If the column has values that are none of this kind.
    """
    read = of_kind(column, kind)
    if hierarchy.measure is None or read.measure is None:
        known = [hierarchy.code.get(v, -1) for v in read.values]
    else:
        place = {m: i for i, m in enumerate(hierarchy.measure.tolist())}
        known = [place.get(m, -1) for m in read.measure.tolist()]
    pool = np.array([*known, hierarchy.missing_leaf], dtype=np.int32)
    return pool[read.codes]
