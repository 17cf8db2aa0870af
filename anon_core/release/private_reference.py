"""What a model is defined against: the private table as it was before anything was removed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import F64, I64
from anon_core.base.errors import AnonError, BadPlan
from anon_core.data.frequency import FrequencySet, dense_rank
from anon_core.data.hierarchy import Hierarchy
from anon_core.data.table import Dataset
from anon_core.release.combined_values import Combined, combined_of
from anon_core.release.knowledge.person_counts import Crowd, Pairs, crowd_of, pairs_of
from anon_core.release.problem import Problem, paired
from anon_core.release.release import Release

_ROOM = 1 << 58  # sums of weights times rows, with room for the levels of a hierarchy


@dataclass(frozen=True, kw_only=True, eq=False)
class ValueCounts:
    """How often each value of a column occurs in the whole private table.

    Attributes
    ----------
    rows : int64 array of shape (leaves,)
        Rows per leaf, as `GroupStats` numbers values; before any suppression.
    missing_leaf : int
        The leaf of the missing value; -1 where there is none.
    number : float64 array of shape (leaves,), or None
        The number or day of each leaf, ascending, NaN for missing; None for text.
    leaves : tuple of str
        Text of each leaf.
    tree : Hierarchy
        What values are generalized to; of a sensitive column only where it was given for a privacy
        model that looks at it, else the root. Its leaves may be in another order, and be more.
    """

    rows: I64
    missing_leaf: int
    number: npt.NDArray[np.float64] | None
    leaves: tuple[str, ...] = field(repr=False)
    tree: Hierarchy = field(repr=False)

    @cached_property
    def known(self) -> I64:
        """Rows per leaf, none for the missing value; shape (leaves,)."""
        known = self.rows.copy()
        if self.missing_leaf >= 0:
            known[self.missing_leaf] = 0
        return known

    @cached_property
    def total(self) -> int:
        """Rows that have a value."""
        return int(self.known.sum())

    @cached_property
    def place(self) -> I64:
        """Where each leaf is among those of the tree, in their order; shape (leaves,)."""
        return np.array([self.tree.code[text] for text in self.leaves], dtype=np.int64)

    @cached_property
    def values(self) -> int:
        """The number m of distinct values that occur; a missing one is none."""
        return int(np.count_nonzero(self.known))


@dataclass(frozen=True, kw_only=True, eq=False)
class OwnValues:
    """A private column next to the keys of the frequency set, for models that differ by person.

    Attributes
    ----------
    texts : tuple of str
        Distinct texts of the column.
    key, value, count : int64 arrays of shape (entries,)
        Rows of each key of the frequency set that have a text, ascending, no pair twice; the text's
        number is -1 where it is missing.
    """

    texts: tuple[str, ...]
    key: I64
    value: I64
    count: I64


@dataclass(frozen=True, kw_only=True, eq=False)
class PlacedValues:
    """Values of a private column in the published classes.

    Attributes
    ----------
    group : int64 array of shape (entries,)
        Class, as `View.persons` numbers those of whole rows.
    value : int32 array of shape (entries,)
        Leaf of the column.
    count : int64 array of shape (entries,)
        Published rows.
    """

    group: I64
    value: npt.NDArray[np.int32]
    count: I64


@dataclass(frozen=True, kw_only=True, eq=False)
class Reference:
    """What the definition of a privacy model needs of the private table; no attack ever gets it.

    All of it is that of the whole table: what a search removes does not move it. Everything is
    made when it is first asked for, and once; rows are known by distinct tuples with counts, so
    that their order plays no part.

    Attributes
    ----------
    frequency : FrequencySet
        Distinct private tuples: quasi-identifiers, then sensitive columns that are none.
    person_weight : float64 array of shape (persons,) or None
        Survey weight of each person, by leaf of the person column; None where a row is a person.
    """

    frequency: FrequencySet
    _dataset: Dataset = field(repr=False)
    _hierarchies: Mapping[str, Hierarchy] = field(repr=False)
    _trees: Mapping[str, Hierarchy] = field(repr=False)
    person_weight: F64 | None = field(default=None, repr=False)
    _release: Release | None = field(default=None, repr=False)
    _counts: dict[str, ValueCounts] = field(
        default_factory=dict[str, ValueCounts], init=False, repr=False
    )
    _pairs: dict[str, Pairs] = field(default_factory=dict[str, Pairs], init=False, repr=False)
    _combined: dict[str, Combined] = field(
        default_factory=dict[str, Combined], init=False, repr=False
    )
    _own: dict[str, OwnValues] = field(default_factory=dict[str, OwnValues], init=False, repr=False)

    @property
    def rows(self) -> int:
        """Rows of the private table."""
        return self.frequency.rows

    def counts(self, column: str) -> ValueCounts:
        """Return how often each value of a quasi-identifier or sensitive column occurs."""
        found = self._counts.get(column)
        if found is None:
            found = self._counts[column] = self._counted(column)
        return found

    def _counted(self, column: str) -> ValueCounts:
        frequency, hierarchy = self.frequency, self._hierarchies[column]
        codes = frequency.codes[:, frequency.columns.index(column)]
        rows = np.bincount(codes, weights=frequency.count, minlength=len(hierarchy.leaves))
        return ValueCounts(
            rows=rows.astype(np.int64),
            missing_leaf=hierarchy.missing_leaf,
            number=hierarchy.measure,
            leaves=hierarchy.leaves,
            tree=self._trees.get(column, hierarchy),
        )

    def weighed(self, column: str, weights: str) -> ValueCounts:
        """Return how often each value occurs among the people whom a survey's rows represent.

        `rows` are then sums of weights, in units of the least decimal that a weight has.

        Raises
        ------
        BadPlan
            If weights have so many digits that their sums are no whole numbers of 64 bits.
        """
        found = self._counts.get(paired(weights, column))
        if found is None:
            found = self._counts[paired(weights, column)] = self._weighed(column, weights)
        return found

    def _weighed(self, column: str, weights: str) -> ValueCounts:
        frequency, held = self.frequency, self._dataset.column(weights)
        assert held.measure is not None  # `Roles.check` refuses what is not a number
        exact = [Fraction(str(number)) for number in held.measure.tolist()]
        unit = math.lcm(1, *(number.denominator for number in exact))
        value = frequency.codes[frequency.row_key, frequency.columns.index(column)]
        pair, count = np.unique(
            value.astype(np.int64) * len(exact) + held.codes, return_counts=True
        )
        plain = self.counts(column)
        rows = [0] * len(plain.rows)
        for at, times in zip(pair.tolist(), count.tolist(), strict=True):
            rows[at // len(exact)] += int(exact[at % len(exact)] * unit) * times
        if sum(rows) * self.rows >= _ROOM:
            raise BadPlan(
                f"The weights in '{weights}' have too many digits to be added up exactly for "
                f"{self.rows:,} rows.",
                remedy="Round them, such as to two decimals.",
            )
        return replace(plain, rows=np.array(rows, dtype=np.int64))

    def pairs(self, person: str, column: str) -> Pairs:
        """Return the person and the value of each pair that the frequency set distinguishes."""
        found = self._pairs.get(column)
        if found is None:
            found = pairs_of(self.frequency, self._hierarchies, person, column)
            self._pairs[column] = found
        return found

    def combined(self, column: str) -> Combined:
        """Return what each combination of sensitive values says of a column and of the others."""
        found = self._combined.get(column)
        if found is None:
            found = combined_of(self.frequency, self._hierarchies, column)
            self._combined[column] = found
        return found

    def own(self, column: str) -> OwnValues:
        """Return any column of the private table, published or not, next to the keys.

        Such as a k of everyone's own, or the node of a hierarchy that guards a person's value.

        Raises
        ------
        BadInput
            If the table has no such column.
        """
        found = self._own.get(column)
        if found is None:
            found = self._own[column] = self._own_values(column)
        return found

    def _own_values(self, column: str) -> OwnValues:
        held = self._dataset.column(column)
        wide = len(held.values) + 1
        pair, count = np.unique(
            self.frequency.row_key * wide + held.codes + 1, return_counts=True
        )  # a missing value is -1
        return OwnValues(
            texts=held.values,
            key=pair // wide,
            value=pair % wide - 1,
            count=count.astype(np.int64),
        )

    def behind(self, release: Release) -> Reference:
        """Return the same next to a release that is measured, so that `placed` can be asked."""
        return replace(self, _release=release)

    @cached_property
    def crowd(self) -> Crowd | None:
        """The distinct persons behind the release that is measured.

        None where a row is a person, or no release was given.
        """
        release = self._release
        return None if release is None else crowd_of(release.problem, release)

    def placed(self, column: str) -> PlacedValues:
        """Return the values of a private column of the keys in each published class.

        Raises
        ------
        AnonError
            If no release was given.
        """
        release, frequency = self._release, self.frequency
        if release is None:
            raise AnonError(
                f"Who has which value of '{column}' is defined for a release only, not for a "
                "view of it.",
                remedy="Measure the model with the reference of the release.",
            )
        grouping, quasi = release.grouping, frequency.columns[: frequency.quasi]
        kept = grouping.member >= 0
        member = grouping.member[kept]
        # Numbered as the view does: by group, then by what is published of the quasi-identifiers.
        parts = [release.seen_group[member].astype(np.int32)]
        parts += [release.cells[name][member] for name in quasi]
        sizes = [int(part.max(initial=0)) + 1 for part in parts]
        return PlacedValues(
            group=dense_rank(parts, sizes)[0],
            value=frequency.codes[grouping.key[kept], frequency.columns.index(column)],
            count=grouping.count[kept],
        )


def reference_of(problem: Problem) -> Reference:
    """Return what privacy models about a table are defined against; made once for a problem."""
    found = _FOUND.get(problem)
    if found is None:
        found = _FOUND[problem] = Reference(
            frequency=problem.frequency,
            _dataset=problem.dataset,
            _hierarchies=problem.hierarchies,
            _trees=problem.trees,
            person_weight=problem.person_weight,
        )
    return found


_FOUND: WeakKeyDictionary[Problem, Reference] = WeakKeyDictionary()
