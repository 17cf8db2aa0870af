"""Distinct l-diversity: every class shows at least l different sensitive values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context
from anon_core.base.params import integer
from anon_core.base.registry import register
from anon_core.base.terms import count
from anon_core.contracts.feasibility import Allowed
from anon_core.contracts.group_stats import GroupStats, Histogram
from anon_core.contracts.model import ModelLogic, ModelScope, named
from anon_core.contracts.sensitive_share import known_rows, refuse_more_than_values
from anon_core.contracts.sensitive_values import SensitiveValues, others_known, protected_column
from anon_core.release.knowledge.audience import Audience
from anon_core.release.outcome import Verdict
from anon_core.release.private_reference import Reference, ValueCounts
from anon_core.release.problem import Problem
from anon_core.release.release import View


@register("model")
@dataclass(frozen=True, kw_only=True)
class DistinctLDiversity(SensitiveValues):
    """Every class holds at least l distinct sensitive values (Machanavajjhala et al. 2007).

    A missing value is none of them. The paper asks for l well-represented values, so that anyone
    who can rule out l − 2 of them is still left with two. That a value was not recorded is none
    that a person could have had instead: counted, it would make a class of one diagnosis and one
    gap diverse, and each way of writing a gap once more. The literature on missing values in tables
    treats quasi-identifiers (Ciglic, Eder and Koncilia 2016, doi 10.1007/978-3-662-49214-7_7) and
    leaves this open, so it fails closed. Codes that represent a missing value, such as -9, have to
    be named among the texts that do when the table is read.
    """

    name: ClassVar[str] = "l-diversity"
    title: ClassVar[str] = "Distinct l-diversity"
    summary: ClassVar[str] = (
        "Everyone's class shows at least l different values of the sensitive column. Missing "
        "values do not count."
    )
    formula: ClassVar[str] = (
        "|{values of S in G}| ≥ l for every equivalence class G; a missing value does not count, "
        "since one diagnosis and one gap reveal the diagnosis"
    )
    source: ClassVar[str] = "Machanavajjhala et al. 2007, doi 10.1145/1217299.1217302"
    scope: ClassVar[ModelScope] = ModelScope(counts_people=True)
    logic: ClassVar[ModelLogic] = ModelLogic(by_limits=True, by_classes=True)

    l: int = integer(  # noqa: E741 - the field's own letter
        default=2,
        low=2,
        help="Distinct sensitive values every class must show.",
        label="l",
        unit="values",
    )
    column: str = protected_column()
    others_known: bool = others_known()

    def in_words(self, quasi: int, together: str = "class") -> str:
        """Return how many different values a class shows."""
        values = count(self.l, "different value")
        return f"Every {together} will show at least {values} of {named(self.column)}{self.also()}."

    def check(self, problem: Problem, removable: int = 0) -> None:
        """Refuse an l above the number of values, of which removing rows leaves no more.

        The whole table as one class shows them all, so nothing else is impossible.

        Raises
        ------
        Infeasible
            Naming the column and the largest possible l.
        """
        for column in self.protects(problem):
            refuse_more_than_values(problem, column, self.l, self.name)

    def feasible(self, problem: Problem, removable: int = 0) -> Sequence[Allowed]:
        """Return the number of values of every column."""
        return [
            Allowed(
                parameter="l", column=column, low=2, high=float(len(known_rows(problem, column)))
            )
            for column in self.protects(problem)
        ]

    def holds(self, counted: Histogram, table: ValueCounts) -> npt.NDArray[np.bool_]:
        """Return which groups hold at least l distinct values."""
        return counted.distinct >= self.l

    def possible(self, counted: Histogram, table: ValueCounts) -> npt.NDArray[np.bool_]:
        """Return which groups keep it: what holds one of these does, too."""
        return counted.distinct >= self.l

    def comes_to(self, stats: GroupStats, reference: Reference) -> str:
        """Return how many values the least diverse group shows, of the first column."""
        shown = count(int(next(iter(stats.histograms.values())).distinct.min()), "different value")
        return f"The group shows {shown}; at least {self.l} are asked for."

    def least_size(self) -> int:
        """Return l: fewer rows cannot hold l values."""
        return self.l

    def least_distinct(self, problem: Problem) -> Mapping[str, int]:
        """Return l for every column concerned; no limit by column where others are known."""
        if self.needs_combined(problem):
            return {}
        return dict.fromkeys(self.protects(problem), self.l)

    def measure(
        self, view: View, audience: Audience, reference: Reference, context: Context
    ) -> Sequence[Verdict]:
        """Return, per sensitive column, the fewest distinct values in a class against l."""
        return [self._measure(view, column) for column in self.protects(audience)]

    def _measure(self, view: View, column: str) -> Verdict:
        seen = self.seen(view, column)
        distinct = seen.worst(seen.counted.distinct.astype(np.float64), least=True)
        fewest = int(distinct.min()) if len(distinct) else 0
        holds = not len(distinct) or fewest >= self.l
        return self.verdict(
            holds,
            f"The least diverse class shows {fewest} values of '{column}'; at least {self.l} "
            "were asked for.",
            bound=float(self.l),
            reached=float(fewest),
            per_class=distinct,
            column=column,
        )
