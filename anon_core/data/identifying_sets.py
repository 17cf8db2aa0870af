"""Which few columns distinguish rows, before anybody gives them a role (Motwani and Xu 2007)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context
from anon_core.data.frequency import dense_rank
from anon_core.data.table import Dataset

#: Share of pairs of rows that a set has to distinguish to be listed.
SEPARATES = 0.9
#: Columns of a set, and sets that are looked at, at most.
MOST_COLUMNS, MOST_SETS = 4, 100_000
#: Listed sets that are compared with every other column.
_COMPARED = 20


@dataclass(frozen=True, kw_only=True)
class IdentifyingSet:
    """How well a set of columns distinguishes rows.

    Attributes
    ----------
    columns : tuple of str
        In the order of the table.
    distinction : float
        Different combinations of values, as a share of the rows.
    separation : float or None
        Pairs of rows that differ, as a share of all pairs; None where there is no pair.
    uniques : int
        Rows whose combination no other row has; people, where a person may have several rows.
    adds_nothing : tuple of str
        Other columns that distinguish no more than the set does already; they are looked for where
        some rows are alike, and for the first sets.
    """

    columns: tuple[str, ...]
    distinction: float
    separation: float | None
    uniques: int
    adds_nothing: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Found:
    """The smallest sets of columns that identify, and how far was looked.

    Attributes
    ----------
    sets : tuple of IdentifyingSet
        No part of one is among them; those of fewest columns first, then those that separate most.
    looked : int
        Sets that were looked at.
    size : int
        Columns up to which every set was looked at, or holds a listed one; 0 where not all single
        columns were.
    counted : str
        What was distinguished: rows, or people.
    """

    sets: tuple[IdentifyingSet, ...]
    looked: int
    size: int
    counted: str


@dataclass(frozen=True, kw_only=True)
class _Counted:
    """The combinations of some columns.

    Attributes
    ----------
    count : int64 array of shape (combinations,)
        Rows with each; people, where these are distinguished.
    entries : int
        Sum of `count`: a person who shows several combinations counts with each.
    pairs : int
        Pairs of entries that are not one person's.
    """

    count: npt.NDArray[np.int64]
    entries: int
    pairs: int
    uniques: int


class _Rows:
    """Rows, or what each person shows, as codes by column."""

    def __init__(self, dataset: Dataset, columns: Sequence[str], person: str) -> None:
        named = {name: dataset.column(name) for name in (*columns, *([person] if person else []))}
        self.codes = {name: column.codes + np.int32(1) for name, column in named.items()}
        self.sizes = {name: len(column.values) + 1 for name, column in named.items()}
        self.person = person

    def judged(self, columns: tuple[str, ...]) -> IdentifyingSet:
        """Return how well columns distinguish rows, or people."""
        found = self.counted(columns)
        alike = int((found.count * (found.count - 1) // 2).sum())
        return IdentifyingSet(
            columns=columns,
            distinction=len(found.count) / max(found.entries, 1),
            separation=1 - alike / found.pairs if found.pairs else None,
            uniques=found.uniques,
        )

    def counted(self, columns: tuple[str, ...]) -> _Counted:
        """Count the combinations of columns; what one person shows twice counts once."""
        sizes = [self.sizes[n] for n in columns]
        if not self.person:
            rank, first = dense_rank([self.codes[n] for n in columns], sizes)
            count = np.bincount(rank, minlength=len(first)).astype(np.int64)
            rows = len(rank)
            alone = int(np.count_nonzero(count == 1))
            return _Counted(count=count, entries=rows, pairs=comb(rows, 2), uniques=alone)
        owner, people = self.codes[self.person], self.sizes[self.person]
        _, shown = dense_rank([*(self.codes[n] for n in columns), owner], [*sizes, people])
        rank, first = dense_rank([self.codes[n][shown] for n in columns], sizes)
        count = np.bincount(rank, minlength=len(first)).astype(np.int64)
        own = np.bincount(owner[shown]).astype(np.int64)
        return _Counted(
            count=count,
            entries=len(shown),
            pairs=comb(len(shown), 2) - int((own * (own - 1) // 2).sum()),
            uniques=len(np.unique(owner[shown][count[rank] == 1])),
        )


def identifying_sets(
    dataset: Dataset,
    columns: Sequence[str] | None = None,
    *,
    person: str = "",
    separates: float = SEPARATES,
    context: Context | None = None,
) -> Found:
    """Find the smallest sets of columns that distinguish most pairs of rows.

    The missing value counts as a value of its own. Sets are looked at from single columns up, until
    time, `MOST_COLUMNS` or `MOST_SETS` end it; what holds a set that is listed is left out.

    Parameters
    ----------
    columns : sequence of str, optional
        All but the person column where not given.
    person : str
        The column that distinguishes persons, where one may have several rows.
    separates : float
        Least share of pairs that a listed set distinguishes.
    context : Context, optional
        Its deadline ends the search with what was found.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"sex": list("FFMM"), "age": ["30", "41", "30", "41"]})
    >>> found = identifying_sets(Dataset.from_frame(frame))
    >>> [one.columns for one in found.sets], found.sets[0].uniques, found.size
    ([('sex', 'age')], 4, 2)
    """
    context = context or Context()
    names = tuple(n for n in (columns or dataset.names) if n != person)
    rows = _Rows(dataset, names, person)
    listed: list[IdentifyingSet] = []
    looked, size = 0, 0
    for wide in range(1, min(MOST_COLUMNS, len(names)) + 1):
        known = [frozenset(one.columns) for one in listed]
        for chosen in combinations(names, wide):
            if any(part <= set(chosen) for part in known):
                continue
            if looked >= MOST_SETS or context.out_of_time():
                return _found(rows, names, listed, looked, size)
            context.check()
            looked += 1
            one = rows.judged(chosen)
            if one.separation is not None and one.separation >= separates:
                listed.append(one)
        size = wide
    return _found(rows, names, listed, looked, size)


def _found(
    rows: _Rows,
    names: tuple[str, ...],
    listed: Sequence[IdentifyingSet],
    looked: int,
    size: int,
) -> Found:
    ordered = sorted(listed, key=lambda one: (len(one.columns), -(one.separation or 0)))
    return Found(
        sets=(*(_with_idle(rows, names, one) for one in ordered[:_COMPARED]), *ordered[_COMPARED:]),
        looked=looked,
        size=size,
        counted="people" if rows.person else "rows",
    )


def _with_idle(rows: _Rows, names: Sequence[str], one: IdentifyingSet) -> IdentifyingSet:
    """Return a set with the columns that part none of its combinations; none where all differ."""
    if one.distinction == 1:
        return one
    classes = len(rows.counted(one.columns).count)
    others = (name for name in names if name not in one.columns)
    idle = [n for n in others if len(rows.counted((*one.columns, n)).count) == classes]
    return replace(one, adds_nothing=tuple(idle))
