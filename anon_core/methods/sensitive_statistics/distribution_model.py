"""Models about how a sensitive column's values are spread in each group: what they share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

from anon_core.base.arrays import F64, I64
from anon_core.base.context import Context
from anon_core.base.errors import BadPlan
from anon_core.contracts.group_stats import GroupStats, Histogram
from anon_core.contracts.model import ModelLogic
from anon_core.contracts.sensitive_values import SensitiveValues
from anon_core.methods.sensitive_statistics.numeric_proximity import exact_numbers
from anon_core.release.knowledge.audience import Audience
from anon_core.release.outcome import Verdict
from anon_core.release.private_reference import Reference, ValueCounts
from anon_core.release.problem import Problem
from anon_core.release.release import View


class DistributionModel(SensitiveValues):
    """A privacy model about the values of a sensitive column in each group.

    To a privacy model of diversity a missing value is none of the values, since one diagnosis and
    one gap tell the diagnosis. Next to the spread of the whole table it is a value like the others:
    anyone who compares the two sees how often none was recorded.

    Searches look at groups by `holds`, and leave out what `possible` says holds no good group.
    """

    logic: ClassVar[ModelLogic] = ModelLogic(monotone_merge=False, closed_under_union=True)
    worst_is_least: ClassVar[bool] = False

    @abstractmethod
    def reached(self, counted: Histogram, table: ValueCounts) -> F64:
        """Return what each group reaches in the unit of the parameter, rounded; shape (groups,)."""

    @abstractmethod
    def bound(self) -> float:
        """Return what is asked, in the same unit."""

    @abstractmethod
    def worst_in_words(self, column: str, worst: float) -> str:
        """Return what the worst group reaches, next to what was asked, as a sentence."""

    def fewest_rows(self, table: I64) -> int:
        """Return a size that no group is below which keeps the privacy model.

        Parameters
        ----------
        table : int64 array of shape (values,)
            The table's rows of each value that occurs.
        """
        return 1

    def cautions(self, problem: Problem) -> tuple[str, ...]:
        """Tell where a column has so many values that no two groups can keep the privacy model."""
        found: list[str] = []
        for column in self.protects(problem):
            rows = problem.leaf_counts(column)
            rows = rows[rows > 0]
            fewest = self.fewest_rows(rows)
            if 2 * fewest > problem.rows and len(rows) > 1:
                found.append(
                    f"{self.title}: '{column}' has {len(rows):,} different values, so that a class "
                    f"which keeps it holds at least {fewest:,} of {problem.rows:,} rows, and no "
                    "two classes can. Publish the column at a higher level of a hierarchy, or "
                    "choose a model for numbers, such as (k, e)-anonymity."
                )
        return tuple(found)

    def comes_to(self, stats: GroupStats, reference: Reference) -> str:
        """Return what the worst group reaches, of the first column."""
        column, counted = next(iter(stats.histograms.items()))
        return self.worst_in_words(
            column, self._worst(self.reached(counted, self.table_of(reference, column)))
        )

    def _worst(self, reached: F64) -> float:
        if not len(reached):
            return 0.0
        return float(reached.min() if self.worst_is_least else reached.max())

    def measure(
        self, view: View, audience: Audience, reference: Reference, context: Context
    ) -> Sequence[Verdict]:
        """Return, per sensitive column, the worst group against what is asked."""
        return [self._measure(view, reference, column) for column in self.protects(audience)]

    def _measure(self, view: View, reference: Reference, column: str) -> Verdict:
        seen = self.seen(view, column)
        table = self.table_of(reference, column)
        reached = seen.worst(self.reached(seen.counted, table), least=self.worst_is_least)
        worst = self._worst(reached)
        return self.verdict(
            self.holds(seen.counted, table).all(),
            self.worst_in_words(column, worst),
            bound=self.bound(),
            reached=worst,
            per_class=reached,
            column=column,
        )


def refuse_no_numbers(problem: Problem, column: str, title: str) -> Sequence[Fraction]:
    """Return the distinct numbers of a column as they are written, ascending.

    Raises
    ------
    BadPlan
        If it is no column of numbers, or some are missing: a gap has no place among them.
    """
    hierarchy = problem.hierarchies[column]
    if problem.dataset.column(column).kind != "number" or hierarchy.measure is None:
        raise BadPlan(
            f"{title} is about numbers; '{column}' is a column of another kind.",
            remedy="Name a sensitive column of numbers.",
        )
    if hierarchy.has_missing:
        raise BadPlan(
            f"{title}: '{column}' has missing values, which are not numbers.",
            remedy="Drop the rows with missing values, or choose another privacy model.",
        )
    return exact_numbers(hierarchy.measure)
