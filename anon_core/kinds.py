"""The contracts: what an algorithm, a privacy model, a metric, a cost and an attack must offer."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from .context import Context
from .errors import BadPlan, listing, nearest
from .frequency import dense_rank
from .params import Technique
from .problem import Problem
from .release import Persons, Release, View
from .results import AttackResult, Measure, Outcome, Verdict


@dataclass(frozen=True, kw_only=True, eq=False)
class Histogram:
    """Sensitive values per group: entries (group, value, rows) in any order, no pair twice.

    Attributes
    ----------
    group : int64 array of shape (entries,)
    value : int32 array of shape (entries,)
        Leaf number.
    count : int64 array of shape (entries,)
    groups : int
    """

    group: npt.NDArray[np.int64]
    value: npt.NDArray[np.int32]
    count: npt.NDArray[np.int64]
    groups: int

    @cached_property
    def distinct(self) -> npt.NDArray[np.int64]:
        """Number of distinct values per group, shape (groups,)."""
        return np.bincount(self.group, minlength=self.groups).astype(np.int64)

    @cached_property
    def most(self) -> npt.NDArray[np.int64]:
        """Rows with the group's most common value, shape (groups,)."""
        found = np.zeros(self.groups, dtype=np.int64)
        np.maximum.at(found, self.group, self.count)
        return found


def histogram(
    group: npt.NDArray[np.int64],
    value: npt.NDArray[np.int32],
    count: npt.NDArray[np.int64],
    groups: int,
    values: int,
) -> Histogram:
    """Count values per group from (group, value, count) entries in which pairs may repeat."""
    rank, first = dense_rank([group.astype(np.int32), value], [groups, values])
    return Histogram(
        group=group[first],
        value=value[first],
        count=np.bincount(rank, weights=count, minlength=len(first)).astype(np.int64),
        groups=groups,
    )


def sensitive_histogram(view: View, column: str) -> tuple[Persons, Histogram]:
    """Return the classes people match beside a sensitive column, and its values in each."""
    block = view.block_of(column)
    persons = view.persons(block)
    counted = histogram(
        persons.of_entry,
        block.codes[:, block.columns.index(column)],
        block.count,
        len(persons.sizes),
        len(view.vocabularies[column].texts),
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
    """

    sizes: npt.NDArray[np.int64]
    histograms: Mapping[str, Histogram]
    population: npt.NDArray[np.int64] | None = None


class PrivacyModel(Technique):
    """A promise, measured on what is published."""

    @abstractmethod
    def measure(self, problem: Problem, view: View, context: Context) -> Sequence[Verdict]:
        """Return one verdict per sensitive column concerned (one for models of identity)."""

    def check(self, problem: Problem) -> None:
        """Raise `BadPlan` or `Infeasible` where the table can never meet the model."""


class GroupModel(PrivacyModel):
    """A promise about each group by itself, so that searches can be steered by it.

    Class attributes
    ----------------
    by_limits : bool
        The promise is exactly `least_size`, `least_distinct` and `most_share`, so that a partition
        can be cut by them without looking further.
    needs_whole_rows : bool
        The promise is about rows as a whole, and is not defined where columns are permuted apart.
    monotone_merge : bool
        Two groups that keep the promise keep it when merged, and so do supersets.
    monotone_suppress : bool
        Removing whole groups cannot break the promise for the rest.
    closed_under_union : bool
        Groups that all keep the promise keep it when merged with each other (weaker than
        `monotone_merge`, where one that keeps it is enough).
    needs_public : bool
        The promise is about the people of a public table, counted in `GroupStats.population`.
    survives_permutation : bool
        Groups that keep the promise keep it once their columns are permuted apart; otherwise only
        a technique that tests the permuted groups can give it.
    """

    by_limits: ClassVar[bool] = False
    needs_whole_rows: ClassVar[bool] = False
    monotone_merge: ClassVar[bool] = True
    monotone_suppress: ClassVar[bool] = True
    closed_under_union: ClassVar[bool] = False
    needs_public: ClassVar[bool] = False
    survives_permutation: ClassVar[bool] = True

    def allows_removal(self) -> bool:
        """Return whether a group that breaks the promise may be removed instead."""
        return True

    def presence_bounds(self) -> tuple[float, float]:
        """Return the least and largest chance of presence that the promise allows anyone."""
        return 0.0, 1.0

    def needs(self, problem: Problem) -> tuple[str, ...]:
        """Return the sensitive columns whose histograms `per_group` looks at."""
        return ()

    @abstractmethod
    def per_group(self, stats: GroupStats) -> npt.NDArray[np.bool_]:
        """Return which groups keep the promise, shape (groups,)."""

    def least_size(self) -> int:
        """Return the smallest size of a group that can keep the promise."""
        return 1

    def least_distinct(self, problem: Problem) -> Mapping[str, int]:
        """Return, where the promise is exactly that, distinct values needed per column."""
        return {}

    def most_share(self, problem: Problem) -> Mapping[str, int]:
        """Return, where the promise is exactly that, l per column: no value fills more than 1/l."""
        return {}

    def sliced_share(self, problem: Problem) -> Mapping[str, int]:
        """Return, where the promise is p(t, s) ≤ 1/l over all groups together, l per column.

        `most_share` is then what is enough in each group by itself.
        """
        return {}


def sensitive_columns(problem: Problem, column: str, model: str) -> tuple[str, ...]:
    """Return the sensitive columns a model protects: the one named, or all of them.

    Raises
    ------
    BadPlan
        If there is none, the column is not sensitive, or it is also a quasi-identifier.
    """
    if column and column not in problem.sensitive:
        raise BadPlan(
            f"{model} names '{column}', which is not marked as sensitive; sensitive are "
            f"{listing(problem.sensitive) or 'no columns'}.",
            remedy=f"Mark it as sensitive.{nearest(column, problem.sensitive)}",
        )
    columns = (column,) if column else problem.sensitive
    if not column:  # of several, those that are quasi-identifiers too are left out
        columns = tuple(c for c in columns if c not in problem.quasi) or columns
    if not columns:
        raise BadPlan(
            f"{model} needs a sensitive column, and none is marked.",
            remedy="Mark the column to protect as sensitive, or remove the model.",
        )
    both = [c for c in columns if c in problem.quasi]
    if both:
        raise BadPlan(
            f"{model} cannot protect {listing(both)}: it is also a quasi-identifier, so within a "
            "class its published value is the same for everyone.",
            remedy="Name another sensitive column, or mark this one as sensitive only.",
        )
    return columns


@dataclass(frozen=True, kw_only=True, eq=False)
class Buckets:
    """Groups of rows, before anything is said about what they publish.

    Attributes
    ----------
    key : int64 array of shape (entries,)
        Key of the frequency set, ascending; one key may stand in several groups.
    group : int64 array of shape (entries,)
    count : int64 array of shape (entries,)
        Rows of the key in the group.
    boxes : int64 array of shape (groups, quasi, 3), or None
        What belongs to each group alone, where the partitioner knows it: first and last leaf, and
        the level of a node that is named, else -1.
    """

    key: npt.NDArray[np.int64]
    group: npt.NDArray[np.int64]
    count: npt.NDArray[np.int64]
    boxes: npt.NDArray[np.int64] | None = None


def buckets_of_rows(key: npt.NDArray[np.int64], group: npt.NDArray[np.int64]) -> Buckets:
    """Count (key, group) pairs of single rows, both of shape (rows,)."""
    groups = int(group.max(initial=-1)) + 1
    pair, count = np.unique(key * groups + group, return_counts=True)
    return Buckets(
        key=pair // max(groups, 1), group=pair % max(groups, 1), count=count.astype(np.int64)
    )


def run_buckets(problem: Problem, group_of_run: npt.NDArray[np.int64]) -> Buckets:
    """Put every quasi tuple whole into its group; `group_of_run` is of shape (runs,)."""
    frequency = problem.frequency
    return Buckets(
        key=np.arange(len(frequency.count), dtype=np.int64),
        group=group_of_run[frequency.run],
        count=frequency.count,
    )


class Partitioner(Technique):
    """A way to form groups that keep the models' promises, whatever is published of them."""

    #: Whether groups are made for one sensitive column, whose frequency l-diversity is promised.
    by_sensitive: ClassVar[bool] = False
    #: Whether rows of a group are alike, so that what groups cover is worth drawing.
    gathers_alike: ClassVar[bool] = True

    @abstractmethod
    def split(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Buckets:
        """Form the groups.

        Raises
        ------
        Infeasible
            If no grouping keeps the promises.
        BadPlan
            If the partitioner cannot be steered by these models.
        """

    def split_linked(
        self,
        problem: Problem,
        models: Sequence[GroupModel],
        blocks: Sequence[tuple[str, ...]],
        context: Context,
    ) -> Buckets:
        """Form the groups, knowing which columns stay linked; to most partitioners it is no matter.

        `blocks` is empty where the recipe does not tell them.
        """
        return self.split(problem, models, context)


class Metric(Technique):
    """A measure of what a release lost; lower is better."""

    #: What one unit of `Measure.value` is.
    unit: ClassVar[str] = "share"

    @abstractmethod
    def measure(self, problem: Problem, release: Release, context: Context) -> Measure:
        """Measure a release."""

    def applies(self, problem: Problem) -> str:
        """Return why the metric has nothing to measure in this table, or an empty string."""
        return ""


def in_units_of(metric: type[Metric], models: Sequence[PrivacyModel]) -> Metric:
    """Return a metric as the promises set it: C_AVG counts in the k that was asked for."""
    asked = [int(str(m.as_mapping()["k"])) for m in models if "k" in m.as_mapping()]
    if asked and any(p.name == "k" for p in metric.parameters()):
        return metric.from_mapping({"k": max(asked)})
    return metric()


#: What is changed: whole columns by level, cells group by group, single cells, the links between
#: columns, or values themselves.
Approach = Literal["levels", "ranges", "cells", "links", "values"]


class Algorithm(Technique):
    """A way to build a release that keeps the models' promises."""

    #: One line: when to choose this one.
    when: ClassVar[str] = ""
    #: What it changes; techniques are offered together by it. Those that permute cut links.
    approach: ClassVar[Approach] = "ranges"
    #: Whether columns are permuted apart, so that models of whole rows are not defined.
    permutes: ClassVar[bool] = False
    #: Whether it works only with a public table.
    needs_public: ClassVar[bool] = False
    #: Whether it counts the public people of its groups, so that promises about them can steer it.
    counts_public: ClassVar[bool] = False
    #: Whether a technique that permutes columns also coarsens their cells.
    coarsens: ClassVar[bool] = False
    #: Whether a column without a hierarchy is published in ranges or sets; else exactly or not.
    forms_ranges: ClassVar[bool] = False
    #: Names of the tables it publishes.
    publishes: ClassVar[tuple[str, ...]] = ("release",)

    @abstractmethod
    def run(self, problem: Problem, models: Sequence[GroupModel], context: Context) -> Outcome:
        """Build a release.

        Raises
        ------
        Infeasible
            If none keeps the promises; carries the best value reached.
        Cancelled
            If the person stopped it.
        """


def refuse_unsteered(algorithm: Algorithm, models: Sequence[GroupModel]) -> None:
    """Refuse promises about public people to a technique that does not count them.

    Raises
    ------
    BadPlan
    """
    for model in models:
        if model.needs_public and not algorithm.counts_public:
            raise BadPlan(
                f"{algorithm.title} cannot be steered by {model.title}: it does not count the "
                "people of the public table in its groups.",
                remedy="Choose MPALM, CombinedAlg or the optimal search, or remove the promise.",
            )


class Attack(Technique):
    """An adversary run against what is published; the truth only scores it."""

    #: Whether it is about columns that are permuted apart, and nothing else.
    needs_permuted: ClassVar[bool] = False
    #: Whether it works only with a public table.
    needs_public: ClassVar[bool] = False

    @abstractmethod
    def run(self, problem: Problem, view: View, context: Context) -> Sequence[AttackResult]:
        """Attack every person; one result per sensitive column where one is concerned."""

    def applies(self, problem: Problem, view: View) -> str:
        """Return why the attack cannot be run on what is published, or an empty string."""
        return ""
