"""The contracts: what an algorithm, a privacy model, a metric, a cost and an attack must offer."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from .context import Context
from .frequency import dense_rank
from .params import Technique
from .problem import Problem
from .release import Release, View
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


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupStats:
    """What a group model may look at while a search decides: sizes and sensitive histograms.

    Attributes
    ----------
    sizes : int64 array of shape (groups,)
    histograms : mapping of str to Histogram
        By sensitive column; only those a model asked for.
    """

    sizes: npt.NDArray[np.int64]
    histograms: Mapping[str, Histogram]


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
        The promise is exactly `least_size` and `least_distinct`, so that a partition can be cut by
        them without looking further.
    monotone_merge : bool
        Two groups that keep the promise keep it when merged, and so do supersets.
    monotone_suppress : bool
        Removing whole groups cannot break the promise for the rest.
    """

    by_limits: ClassVar[bool] = False
    monotone_merge: ClassVar[bool] = True
    monotone_suppress: ClassVar[bool] = True

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


class Metric(Technique):
    """A measure of what a release lost; lower is better."""

    #: What one unit of `Measure.value` is.
    unit: ClassVar[str] = "share"

    @abstractmethod
    def measure(self, problem: Problem, release: Release, context: Context) -> Measure:
        """Measure a release."""


def in_units_of(metric: type[Metric], models: Sequence[PrivacyModel]) -> Metric:
    """Return a metric as the promises set it: C_AVG counts in the k that was asked for."""
    asked = [int(str(m.as_mapping()["k"])) for m in models if "k" in m.as_mapping()]
    if asked and any(p.name == "k" for p in metric.parameters()):
        return metric.from_mapping({"k": max(asked)})
    return metric()


class Algorithm(Technique):
    """A way to build a release that keeps the models' promises."""

    #: One line: when to choose this one.
    when: ClassVar[str] = ""

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


class Attack(Technique):
    """An adversary run against what is published; the truth only scores it."""

    @abstractmethod
    def run(self, problem: Problem, view: View, context: Context) -> Sequence[AttackResult]:
        """Attack every person; one result per sensitive column where one is concerned."""

    def applies(self, problem: Problem) -> str:
        """Return why the attack cannot be run on this problem, or an empty string."""
        return ""
