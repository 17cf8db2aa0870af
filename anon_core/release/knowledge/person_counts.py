"""Who is behind each published class, in distinct persons: nothing of it is published.

A table may have several rows about one person, such as stays in hospital. A class of N rows then
holds P ≤ N persons, and what hides a person are the other persons. P is not in the release; it is
counted from the private table, to judge privacy models and to score attacks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import F64, I64
from anon_core.data.frequency import FrequencySet, dense_rank
from anon_core.data.hierarchy import Hierarchy
from anon_core.release.problem import Problem, paired
from anon_core.release.release import Release, raw_source, row_source


@dataclass(frozen=True, kw_only=True, eq=False)
class Values:
    """The values of a sensitive column in each class: entries (class, person, value), none twice.

    Attributes
    ----------
    member, person : int64 arrays of shape (entries,)
    value : int32 array of shape (entries,)
        Leaf number.
    missing : int
        The leaf of a missing value; -1 if there is none.
    """

    member: I64
    person: I64
    value: npt.NDArray[np.int32]
    missing: int


@dataclass(frozen=True, kw_only=True, eq=False)
class Crowd:
    """The distinct persons of each class that people match by all quasi-identifiers.

    Attributes
    ----------
    total : int
        Persons of the whole table.
    key : int64 array of shape (entries,)
        Key of the frequency set of published rows.
    member : int64 array of shape (entries,)
        Class of each entry, as `View.persons` numbers the classes of whole rows.
    count : int64 array of shape (entries,)
        Rows of each entry.
    """

    total: int
    classes: int
    key: I64
    member: I64
    count: I64
    _problem: Problem

    @cached_property
    def pairs(self) -> tuple[I64, I64]:
        """Class and person of everyone in each class, (pairs,) each; no pair twice."""
        return _distinct(self.member, self._problem.key_person[self.key])

    @cached_property
    def rows(self) -> tuple[I64, I64, I64]:
        """Person, class and number of their rows in it, (pairs,) each; by person, then class."""
        person = self._problem.key_person[self.key]
        pairs = person * max(self.classes, 1) + self.member
        known, place = np.unique(pairs, return_inverse=True)
        rows = np.bincount(place.ravel(), self.count, len(known)).astype(np.int64)
        return known // max(self.classes, 1), known % max(self.classes, 1), rows

    @cached_property
    def sizes(self) -> I64:
        """Distinct persons per class, shape (classes,)."""
        return np.bincount(self.pairs[0], minlength=self.classes).astype(np.int64)

    @cached_property
    def published(self) -> int:
        """Persons of whom at least one row is published."""
        return len(np.unique(self.pairs[1]))

    def highest(self, chance: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the highest chance of each published person over the classes they are in.

        Parameters
        ----------
        chance : float64 array of shape (classes,)

        Returns
        -------
        float64 array of shape (published,)
        """
        member, person = self.pairs
        _, own = np.unique(person, return_inverse=True)
        found = np.zeros(self.published)
        np.maximum.at(found, own, chance[member])
        return found

    def values(self, column: str) -> Values:
        """Return who has which value of a sensitive column in each class."""
        problem, frequency = self._problem, self._problem.frequency
        pair = frequency.codes[:, frequency.columns.index(paired(problem.person, column))]
        member, own = _distinct(self.member, pair[self.key].astype(np.int64))
        of = pairs_of(problem.frequency, problem.hierarchies, problem.person, column)
        return Values(member=member, person=of.person[own], value=of.value[own], missing=of.missing)

    def having(
        self,
        column: str,
        chosen: npt.NDArray[np.bool_] | None = None,
        *,
        value: npt.NDArray[np.int32] | None = None,
    ) -> int:
        """Return how many persons have a value of a sensitive column in some class.

        Parameters
        ----------
        chosen : bool array of shape (classes,), optional
            Only these classes.
        value : int32 array of shape (classes,), optional
            Only this value of each class.
        """
        found = self.values(column)
        counts = found.value != found.missing
        if chosen is not None:
            counts &= chosen[found.member]
        if value is not None:
            counts &= value[found.member] == found.value
        return len(np.unique(found.person[counts]))

    def people_of_values(self, column: str) -> I64:
        """Return the persons of every value that occurs in a column; a missing one is none."""
        found = self.values(column)
        known = found.value != found.missing
        value, _ = _distinct(found.value[known].astype(np.int64), found.person[known])
        people = np.bincount(value).astype(np.int64)
        return people[people > 0]


@dataclass(frozen=True, kw_only=True, eq=False)
class Pairs:
    """The pairs of a person and a value of a column that the frequency set distinguishes.

    Attributes
    ----------
    value : int32 array of shape (pairs,)
        Leaf number.
    person : int64 array of shape (pairs,)
    missing : int
        The leaf of a missing value; -1 if there is none.
    """

    value: npt.NDArray[np.int32]
    person: I64
    missing: int


def pairs_of(
    frequency: FrequencySet, hierarchies: Mapping[str, Hierarchy], person: str, column: str
) -> Pairs:
    """Return the person and the value of each pair."""
    place = frequency.columns.index
    pair = frequency.codes[:, place(paired(person, column))]
    pairs = int(pair.max(initial=-1)) + 1
    value, own = np.zeros(pairs, dtype=np.int32), np.zeros(pairs, dtype=np.int64)
    value[pair] = frequency.codes[:, place(column)]
    own[pair] = frequency.codes[:, place(person)]
    return Pairs(value=value, person=own, missing=hierarchies[column].missing_leaf)


def crowd_of(problem: Problem, release: Release | None = None) -> Crowd | None:
    """Return who is behind a release, or behind the table as it is.

    None where a row is a person, or where quasi-identifiers are permuted separately, so that no one
    is matched by all of them.
    """
    entries = _entries(problem, release) if problem.person else None
    return None if entries is None else _crowd(problem, *entries)


def class_weights(problem: Problem, release: Release | None = None) -> F64 | None:
    """Return how many people of the population the rows of each class represent, shape (classes,).

    The sum of the weights of its rows, or of its persons where a column distinguishes them. Of rows
    that are alike and part by chance each share gets their mean. None where rows have no weight, or
    where quasi-identifiers are permuted separately.
    """
    weight = problem.row_weight
    entries = None if weight is None else _entries(problem, release)
    if weight is None or entries is None:
        return None
    if problem.person_weight is not None:
        member, person = _crowd(problem, *entries).pairs
        return np.bincount(member, problem.person_weight[person], entries[-1]).astype(np.float64)
    key, member, count, classes = entries
    frequency = problem.frequency
    mean = np.bincount(frequency.row_key, weight, len(frequency.count)) / frequency.count
    return np.bincount(member, mean[key] * count, classes).astype(np.float64)


@dataclass(frozen=True, kw_only=True, eq=False)
class Members:
    """Published members of a household, and the people of each class who look like them.

    Attributes
    ----------
    household : int64 array of shape (people,)
    people : int64 array of shape (people,)
        People of their class.
    weight : float64 array of shape (people,)
        Sum of these people's weights.
    """

    household: I64
    people: I64
    weight: F64


def members_of(problem: Problem, release: Release | None = None) -> Members | None:
    """Return the people of households, where each row is one.

    None without weights or households, where a person may have several rows, or where it is drawn
    which of equal rows are in which class.
    """
    weight, home, entries = problem.row_weight, problem.roles.household, _entries(problem, release)
    if weight is None or not home or problem.roles.person or entries is None:
        return None
    key, member, _, classes = entries
    if len(np.unique(key)) < len(key):
        return None
    of_key = np.full(len(problem.frequency.count), -1, dtype=np.int64)
    of_key[key] = member
    own = of_key[problem.frequency.row_key]
    shown = own >= 0
    people = np.bincount(own[shown], minlength=classes).astype(np.int64)
    total = np.bincount(own[shown], weight[shown], classes).astype(np.float64)
    household = problem.leaf_codes(home)[shown].astype(np.int64)
    return Members(household=household, people=people[own[shown]], weight=total[own[shown]])


def suppressed_weight(problem: Problem, release: Release) -> float | None:
    """Return the share of all rows' weight that suppressed rows have; None without weights."""
    weight, frequency, grouping = problem.row_weight, problem.frequency, release.grouping
    if weight is None:
        return None
    mean = np.bincount(frequency.row_key, weight, len(frequency.count)) / frequency.count
    gone = grouping.member < 0
    return float(mean[grouping.key[gone]] @ grouping.count[gone]) / float(weight.sum())


def _entries(problem: Problem, release: Release | None) -> tuple[I64, I64, I64, int] | None:
    """Return key, class and rows of every entry, and how many classes the view has."""
    if release is None:
        frequency = problem.frequency
        keys = np.arange(len(frequency.count), dtype=np.int64)
        return keys, frequency.run, frequency.count, len(frequency.run_count)
    block = release.view.whole_quasi()
    if block is None:
        return None
    classes = len(release.view.persons(block).sizes)
    kept = release.grouping.member >= 0
    key, member = release.grouping.key[kept], release.grouping.member[kept]
    # The view ranks classes by group, then by cells; so are these.
    cells = [release.cells[name][member] for name in block.columns if name in problem.quasi]
    wide = [len(release.vocabularies[n].texts) for n in block.columns if n in problem.quasi]
    group = release.seen_group[member]
    groups = int(group.max(initial=-1)) + 1
    ranked = dense_rank([group.astype(np.int32), *cells], [groups, *wide])[0]
    return key, ranked, release.grouping.count[kept], classes


def line_people(problem: Problem, release: Release | None = None) -> tuple[I64, I64] | None:
    """Return line and person of everyone behind the lines of `View.linked`, no pair twice.

    Of the block that holds all quasi-identifiers; of a release, or of the table as it is. None
    where a row is a person, where there is no such block, or where it is drawn when the release is
    written which of equal rows say what.
    """
    source = raw_source(problem) if release is None else row_source(release)
    if not problem.person or source is None:
        return None
    block = next((b for b in source.blocks if set(problem.quasi) <= set(b)), None)
    if block is None:
        return None
    row, line = source.lines(block)
    return _distinct(line, problem.leaf_codes(problem.person)[row].astype(np.int64))


def alone_over_all(problem: Problem, row_group: I64) -> int:
    """Return how many persons have a published row that says what no other person's row says.

    Parameters
    ----------
    problem : Problem
        With a person column.
    row_group : int64 array of shape (rows,)
        Class of every row of the table, -1 where it is not published; rows stay whole.
    """
    kept = np.flatnonzero(row_group >= 0)
    person = problem.leaf_codes(problem.person)[kept]
    exact = [n for n in problem.roles.published(problem.dataset) if n not in problem.quasi]
    says = [row_group[kept].astype(np.int32), *(problem.leaf_codes(n)[kept] for n in exact)]
    sizes = [int(codes.max(initial=0)) + 1 for codes in says]
    rank, first = dense_rank(says, sizes)
    wide = int(person.max(initial=0)) + 1
    pairs = np.unique(rank * wide + person)
    lonely = np.bincount(pairs // wide, minlength=len(first))[pairs // wide] == 1
    return len(np.unique(pairs[lonely] % wide))


def _crowd(problem: Problem, key: I64, member: I64, count: I64, classes: int) -> Crowd:
    return Crowd(
        total=problem.people,
        classes=classes,
        key=key,
        member=member,
        count=count,
        _problem=problem,
    )


def _distinct(member: I64, other: I64) -> tuple[I64, I64]:
    """Return the distinct pairs of two columns of whole numbers, ascending."""
    wide = int(other.max(initial=0)) + 1
    pairs = np.unique(member * wide + other)
    return pairs // wide, pairs % wide
