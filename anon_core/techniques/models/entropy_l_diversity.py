"""Entropy l-diversity: values in every group are as spread as l in equal numbers, or more."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from anon_core.base.arrays import B1, F64
from anon_core.base.params import number
from anon_core.base.registry import register
from anon_core.contracts.feasibility import Allowed, impossible, rounded, value_rows
from anon_core.contracts.group_stats import Histogram
from anon_core.contracts.sensitive_values import others_known, protected_column
from anon_core.methods.sensitive_statistics.distribution_model import DistributionModel
from anon_core.methods.sensitive_statistics.entropy import (
    best_entropy,
    entropy,
    keeps_entropy,
    reachable,
)
from anon_core.methods.sensitive_statistics.exact_decimal import as_written
from anon_core.release.private_reference import ValueCounts
from anon_core.release.problem import Problem


@register("model")
@dataclass(frozen=True, kw_only=True)
class EntropyLDiversity(DistributionModel):
    """The entropy of the sensitive values in every group is at least log l.

    Machanavajjhala et al. 2007, definition 4.1 in its entropy form; shares are of the group's own
    rows. Merging good groups keeps it (U), since entropy is concave: a union's shares are weighted
    means of its parts'. Merging with any group does not (no A): {b, c} has entropy 2, with {c} it
    has 1.89. Removing groups keeps it (R): each group is judged by itself.
    Whatever holds a good group has l values, and l values are enough: one row of each is good.
    A missing value is none: it makes one diagnosis and one gap diverse.
    """

    name: ClassVar[str] = "entropy-l-diversity"
    title: ClassVar[str] = "Entropy l-diversity"
    summary: ClassVar[str] = (
        "No sensitive value dominates a group: its values are at least as evenly spread as l "
        "equally common ones."
    )
    formula: ClassVar[str] = (
        "−Σ q(v)·ln q(v) ≥ ln l over the shares q of every group; a missing value does not count, "
        "since one diagnosis and one gap reveal the diagnosis"
    )
    source: ClassVar[str] = "Machanavajjhala et al. 2007, doi 10.1145/1217299.1217302"
    worst_is_least: ClassVar[bool] = True

    l: float = number(  # noqa: E741 - the field's own letter
        default=2.0,
        low=1.0,
        help="Equally common values that every group is at least as spread as.",
        label="l",
        unit="values",
    )
    column: str = protected_column()
    others_known: bool = others_known()

    @property
    def asked(self) -> Fraction:
        """L as it was written."""
        return as_written(self.l)

    def check(self, problem: Problem, removable: int = 0) -> None:
        """Refuse an l above what the rows that must stay reach as one group; see `best_counts`."""
        for column in self.protects(problem):
            rows = value_rows(problem, column)
            if len(rows) and reachable(rows, removable, self.asked):
                continue
            best = best_entropy(rows, removable) if len(rows) else 0.0
            raise impossible(
                f"{self.title} with l = {self.l:g} on '{column}'",
                f"one group of all rows that stay reaches {best:.6g}, and no grouping reaches more",
                best,
                "largest l",
                removable=removable,
                remedy=f"Choose l of at most {rounded(best, 'down'):g}, allow more suppression, or "
                "protect another column.",
            )

    def feasible(self, problem: Problem, removable: int = 0) -> Sequence[Allowed]:
        """Return the largest l of every column."""
        return [
            Allowed(
                parameter="l",
                column=column,
                low=1.0,
                high=best_entropy(rows, removable),
            )
            for column in self.protects(problem)
            if len(rows := value_rows(problem, column))
        ]

    def least_size(self) -> int:
        """Return l, rounded up: fewer rows have fewer values."""
        return math.ceil(self.asked)

    def holds(self, counted: Histogram, table: ValueCounts) -> B1:
        """Return which groups have an entropy of at least log l."""
        return keeps_entropy(counted.with_value, self.asked) & (counted.known > 0)

    def possible(self, counted: Histogram, table: ValueCounts) -> B1:
        """Return which groups have at least l values."""
        return counted.distinct >= self.least_size()

    def reached(self, counted: Histogram, table: ValueCounts) -> F64:
        """Return the number of equally common values with the same entropy."""
        return np.exp(entropy(counted.with_value))

    def bound(self) -> float:
        """Return l."""
        return self.l

    def worst_in_words(self, column: str, worst: float) -> str:
        """Return the least spread group in words."""
        return (
            f"The values of '{column}' in the least diverse group are as spread as {worst:.4g} "
            f"equally common ones; at least {self.l:g} were asked for."
        )
