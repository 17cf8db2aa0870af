"""What a privacy model may look at in each group: sizes and histograms of sensitive values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from anon_core.data.frequency import dense_rank
from anon_core.data.table import MISSING
from anon_core.release.release import Persons, View


@dataclass(frozen=True, kw_only=True, eq=False)
class Histogram:
    """Sensitive values per group: entries (group, value, rows) in any order, no pair twice.

    A missing value hides no one: anyone who has it is known to be none of the others' example. It
    is no value among others, and the rows that have it are no part of the crowd.

    Attributes
    ----------
    group : int64 array of shape (entries,)
    value : int32 array of shape (entries,)
        Leaf number.
    count : int64 array of shape (entries,)
    missing : int
        The number that represents a missing value; -1 if there is none.
    """

    group: npt.NDArray[np.int64]
    value: npt.NDArray[np.int32]
    count: npt.NDArray[np.int64]
    groups: int
    missing: int = -1

    @cached_property
    def _valued(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Group and rows of the entries that have a value."""
        if self.missing < 0:
            return self.group, self.count
        known = self.value != self.missing
        return self.group[known], self.count[known]

    @cached_property
    def with_value(self) -> Histogram:
        """The same without the missing value, for models to which that is no value."""
        if self.missing < 0:
            return self
        known = self.value != self.missing
        return replace(
            self, group=self.group[known], value=self.value[known], count=self.count[known]
        )

    @cached_property
    def distinct(self) -> npt.NDArray[np.int64]:
        """Number of distinct values per group, shape (groups,)."""
        return np.bincount(self._valued[0], minlength=self.groups).astype(np.int64)

    @cached_property
    def known(self) -> npt.NDArray[np.int64]:
        """Rows that have a value, shape (groups,)."""
        group, count = self._valued
        return np.bincount(group, count, minlength=self.groups).astype(np.int64)

    @cached_property
    def most(self) -> npt.NDArray[np.int64]:
        """Rows with the group's most common value, shape (groups,)."""
        found = np.zeros(self.groups, dtype=np.int64)
        np.maximum.at(found, *self._valued)
        return found

    @cached_property
    def rows(self) -> npt.NDArray[np.int64]:
        """Rows, those without a value too, shape (groups,)."""
        return np.bincount(self.group, self.count, minlength=self.groups).astype(np.int64)

    @cached_property
    def kinds(self) -> npt.NDArray[np.int64]:
        """As `distinct`, where a missing value is one like any other; shape (groups,)."""
        return np.bincount(self.group, minlength=self.groups).astype(np.int64)

    @cached_property
    def most_alike(self) -> npt.NDArray[np.int64]:
        """As `most`, where a missing value is one like any other: a label, not a secret."""
        found = np.zeros(self.groups, dtype=np.int64)
        np.maximum.at(found, self.group, self.count)
        return found


def histogram(
    group: npt.NDArray[np.int64],
    value: npt.NDArray[np.int32],
    count: npt.NDArray[np.int64],
    groups: int,
    values: int,
    missing: int = -1,
) -> Histogram:
    """Count values per group from (group, value, count) entries in which pairs may repeat."""
    rank, first = dense_rank([group.astype(np.int32), value], [groups, values])
    return Histogram(
        group=group[first],
        value=value[first],
        count=np.bincount(rank, weights=count, minlength=len(first)).astype(np.int64),
        groups=groups,
        missing=missing,
    )


_COUNTED: WeakKeyDictionary[View, dict[str, tuple[Persons, Histogram]]] = WeakKeyDictionary()


def sensitive_histogram(view: View, column: str) -> tuple[Persons, Histogram]:
    """Return the classes people match next to a sensitive column, and its values in each.

    Metrics, privacy models and attacks ask it of one view many times over; it is counted once.
    """
    of_view = _COUNTED.setdefault(view, {})
    if column not in of_view:
        of_view[column] = _sensitive_histogram(view, column)
    return of_view[column]


def _sensitive_histogram(view: View, column: str) -> tuple[Persons, Histogram]:
    block = view.block_of(column)
    persons = view.persons(block)
    texts = view.vocabularies[column].texts
    counted = histogram(
        persons.of_entry,
        block.codes[:, block.columns.index(column)],
        block.count,
        len(persons.sizes),
        len(texts),
        texts.index(MISSING) if MISSING in texts else -1,
    )
    return persons, counted


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupStats:
    """What a group model may look at while a search decides: sizes and sensitive histograms.

    Attributes
    ----------
    sizes : int64 array of shape (groups,)
    histograms : mapping of str to Histogram
        By sensitive column; only those a model asked for.
    population : int64 array of shape (groups,), or None
        People of the public table in the group's region; only where a model asked for them. A
        group may then hold people and no row.
    lost : float64 array of shape (groups,), or None
        Σ log leaves / Σ log |A| of each group's cells; only for privacy models that look at it.
    cells : mapping of str to int64 array of shape (groups,), or None
        What each group publishes of each quasi-identifier, equal numbers for equal texts; only for
        privacy models about all classes together.
    """

    sizes: npt.NDArray[np.int64]
    histograms: Mapping[str, Histogram]
    population: npt.NDArray[np.int64] | None = None
    cells: Mapping[str, npt.NDArray[np.int64]] | None = None
    lost: npt.NDArray[np.float64] | None = None
