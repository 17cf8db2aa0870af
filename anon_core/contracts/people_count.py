"""Privacy models counted in distinct persons, where a table has several rows about one.

k persons in a class are k distinct values of the person column. A search that looks at distinct
sensitive values therefore looks at persons as well: the column is among the keys of the frequency
set, and no one publishes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import F64
from anon_core.base.errors import AnonError, Infeasible
from anon_core.contracts.group_stats import GroupStats, Histogram
from anon_core.contracts.min_group_size import LeastSize, smaller_k
from anon_core.contracts.model import ModelLogic
from anon_core.contracts.sensitive_share import MostShare, diverse, refuse_more_than_values
from anon_core.data.frequency import dense_rank
from anon_core.data.roles.roles import ByRole
from anon_core.release.knowledge.person_counts import Crowd, Values
from anon_core.release.private_reference import Reference
from anon_core.release.problem import Problem, paired


@dataclass(frozen=True, kw_only=True, eq=False)
class PeopleHistogram(Histogram):
    """Sensitive values per group, each counted once for every person who has it there.

    A person with several values counts for each of them, and once among those who have any: the
    shares of all values together may be more than 1.

    Attributes
    ----------
    valued : int64 array of shape (groups,)
        Distinct persons who have a value.
    everyone : int64 array of shape (groups,)
        Distinct persons, those without a value too.
    """

    valued: npt.NDArray[np.int64]
    everyone: npt.NDArray[np.int64]

    @cached_property
    def known(self) -> npt.NDArray[np.int64]:
        """Persons who have a value, shape (groups,)."""
        return self.valued

    @cached_property
    def rows(self) -> npt.NDArray[np.int64]:
        """Persons, those without a value too, shape (groups,)."""
        return self.everyone


def people_histogram(found: Values, groups: int) -> PeopleHistogram:
    """Count the persons who have each value in each group."""
    member, value = found.member, found.value

    def counted(
        chosen: npt.NDArray[np.bool_], other: npt.NDArray[np.int32]
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return a row of each (group, other) pair among some entries, and how often it is."""
        rows = np.flatnonzero(chosen)
        wide = int(other.max(initial=0)) + 1
        rank, first = dense_rank([member[rows].astype(np.int32), other[rows]], [groups, wide])
        return rows[first], np.bincount(rank, minlength=len(first)).astype(np.int64)

    def distinct(chosen: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
        rows, _ = counted(chosen, found.person.astype(np.int32))
        return np.bincount(member[rows], minlength=groups).astype(np.int64)

    every = np.ones(len(member), dtype=np.bool_)
    first, count = counted(every, value)
    return PeopleHistogram(
        group=member[first],
        value=value[first],
        count=count,
        groups=groups,
        missing=found.missing,
        valued=distinct(value != found.missing),
        everyone=distinct(every),
    )


def crowd_histogram(crowd: Crowd, column: str) -> PeopleHistogram:
    """Return how many persons of each published class have each value of a sensitive column."""
    return people_histogram(crowd.values(column), crowd.classes)


def commonest(counted: Histogram) -> npt.NDArray[np.int32]:
    """Return the value that most of each group have, the first of several; -1 where none has any.

    Returns
    -------
    int32 array of shape (groups,)
    """
    present = np.flatnonzero(counted.value != counted.missing)
    order = present[
        np.lexsort((counted.value[present], -counted.count[present], counted.group[present]))
    ]
    group, first = np.unique(counted.group[order], return_index=True)
    found = np.full(counted.groups, -1, dtype=np.int32)
    found[group] = counted.value[order[first]]
    return found


def crowd_behind(reference: Reference, model: str) -> Crowd:
    """Return who is behind the release that is measured.

    Raises
    ------
    AnonError
        If that is not known, so that the privacy model is not decided.
    """
    if reference.crowd is None:
        raise AnonError(
            f"{model} of people is not defined where quasi-identifiers are permuted separately.",
            remedy="Choose a technique that publishes whole rows.",
        )
    return reference.crowd


def weight_of_people(stats: GroupStats, reference: Reference, person: str) -> F64:
    """Return the sum of the survey weights of each group's distinct persons, shape (groups,)."""
    persons, weight = stats.histograms[person], reference.person_weight
    assert weight is not None  # models by weights refuse a table without
    return np.bincount(persons.group, weight[persons.value], len(stats.sizes)).astype(np.float64)


def weight_of_crowd(crowd: Crowd, reference: Reference) -> F64:
    """Return the same of each published class, shape (classes,)."""
    (member, person), weight = crowd.pairs, reference.person_weight
    assert weight is not None
    return np.bincount(member, weight[person], crowd.classes).astype(np.float64)


@dataclass(frozen=True, kw_only=True)
class LeastPeople(LeastSize):
    """At least k distinct persons in every group: what `LeastSize` is where persons repeat.

    It keeps under merging and under removal of groups, as distinct values do.
    """

    logic: ClassVar[ModelLogic] = ModelLogic(by_limits=True)

    person: str

    def needs(self, columns: ByRole) -> tuple[str, ...]:
        """Return the person column, of which distinct values are counted."""
        return (self.person,)

    def check(self, problem: Problem, removable: int = 0) -> None:
        """Refuse a k larger than the number of persons.

        Raises
        ------
        Infeasible
        """
        if problem.people < self.k:
            raise Infeasible(
                f"{self.title} with k = {self.k:,} needs at least {self.k:,} people; the table has "
                f"{problem.people:,}, identified by '{self.person}'.",
                remedy=smaller_k(problem.people, "people")
                if problem.people > 1
                else "Load more rows: no one can be hidden alone.",
                best=float(problem.people),
                best_of="people",
            )

    def per_group(self, stats: GroupStats, reference: Reference) -> npt.NDArray[np.bool_]:
        """Return which groups have at least k distinct persons."""
        return stats.histograms[self.person].distinct >= self.k

    def least_distinct(self, problem: Problem) -> Mapping[str, int]:
        """Return k for the person column."""
        return {self.person: self.k}


@dataclass(frozen=True, kw_only=True)
class MostPeopleShare(MostShare):
    """At most 1/l of a group's persons have the same value: `MostShare`, counted in persons.

    Two groups that keep it may break it when merged: of two persons with the values a and b, and b
    and a in the other group, both have a. So nothing is inferred from other groups, and cuts by
    limits of rows do not apply.
    """

    logic: ClassVar[ModelLogic] = replace(
        MostShare.logic, by_limits=False, closed_under_union=False
    )

    person: str

    def needs(self, columns: ByRole) -> tuple[str, ...]:
        """Return the pairs of persons and values of the columns concerned."""
        return tuple(paired(self.person, name) for name in self.protects(columns))

    def check(self, problem: Problem, removable: int = 0) -> None:
        """Refuse an l above the number of values.

        Everyone counted has a value, so at least l values have 1/l of them each at most.
        """
        for column in self.protects(problem):
            refuse_more_than_values(problem, column, self.l, self.title)

    def per_group(self, stats: GroupStats, reference: Reference) -> npt.NDArray[np.bool_]:
        """Return which groups have no value that more than 1/l of their persons have."""
        holds = np.ones(len(stats.sizes), dtype=np.bool_)
        for name, pairs in stats.histograms.items():
            person, _, column = name.partition(paired("", ""))
            if not column or person != self.person or (self.column and column != self.column):
                continue
            of = reference.pairs(self.person, column)
            found = Values(
                member=pairs.group,
                person=of.person[pairs.value],
                value=of.value[pairs.value],
                missing=of.missing,
            )
            holds &= diverse(people_histogram(found, pairs.groups), self.l)
        return holds

    def most_share(self, problem: Problem) -> Mapping[str, int]:
        """Return nothing: limits of rows say nothing of persons."""
        return {}
