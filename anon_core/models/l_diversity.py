"""Distinct l-diversity: every class shows at least l different sensitive values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..base.context import Context
from ..base.params import integer, sensitive_column
from ..base.registry import register
from ..base.wording import count
from ..contracts.feasible import Allowed
from ..contracts.group_stats import GroupStats, sensitive_histogram
from ..contracts.model import GroupModel, Stops, named, sensitive_columns
from ..contracts.sensitive_share import known_rows, refuse_more_than_values
from ..data.roles import ByRole
from ..release.audience import Audience
from ..release.problem import Problem
from ..release.reference import Reference
from ..release.release import View
from ..release.results import Verdict


@register("model")
@dataclass(frozen=True, kw_only=True)
class DistinctLDiversity(GroupModel):
    """Every class holds at least l distinct sensitive values (Machanavajjhala et al. 2007).

    A missing value is none of them. The paper asks for l well-represented values, so that whoever
    can rule out l − 2 of them is still left with two. That a value was not recorded is none that a
    person could have had instead: counted, it would make a class of one diagnosis and one gap
    diverse, and each way of writing a gap once more. The literature on missing values in tables
    treats quasi-identifiers (Ciglic, Eder and Koncilia 2016, doi 10.1007/978-3-662-49214-7_7) and
    leaves this open, so it fails closed. Codes that stand for a missing value, such as -9, have to
    be named among the texts that do when the table is read.
    """

    name: ClassVar[str] = "l-diversity"
    title: ClassVar[str] = "distinct l-diversity"
    summary: ClassVar[str] = (
        "Everyone's class shows at least l different values of the sensitive column; a missing "
        "one is no value."
    )
    formula: ClassVar[str] = "|{values of S in G}| ≥ l for every equivalence class G"
    source: ClassVar[str] = "Machanavajjhala et al. 2007, doi 10.1145/1217299.1217302"
    stops: ClassVar[Stops] = "attribute"
    by_limits: ClassVar[bool] = True
    counts_people: ClassVar[bool] = True  # values are counted, not rows

    l: int = integer(  # noqa: E741 - the field's own letter
        default=2,
        low=2,
        help="Distinct sensitive values every class must show.",
        label="l",
        unit="values",
    )
    column: str = sensitive_column(
        help="Sensitive column; empty for each sensitive column by itself.",
        label="sensitive column",
    )

    def in_words(self, quasi: int, together: str = "class") -> str:
        """Return how many different values a class shows."""
        values = count(self.l, "different value")
        return f"Every {together} will show at least {values} of {named(self.column)}."

    def needs(self, columns: ByRole) -> tuple[str, ...]:
        """Return the sensitive columns concerned; see `sensitive_columns` for errors."""
        return sensitive_columns(columns, self.column, self.name)

    def check(self, problem: Problem, removable: int = 0) -> None:
        """Refuse an l above the number of values, of which removing rows leaves no more.

        The whole table as one class shows them all, so nothing else is impossible.

        Raises
        ------
        Infeasible
            Naming the column and the largest possible l.
        """
        for column in self.needs(problem):
            refuse_more_than_values(problem, column, self.l, self.name)

    def feasible(self, problem: Problem, removable: int = 0) -> Sequence[Allowed]:
        """Return the number of values of every column."""
        return [
            Allowed(
                parameter="l", column=column, low=2, high=float(len(known_rows(problem, column)))
            )
            for column in self.needs(problem)
        ]

    def per_group(self, stats: GroupStats, reference: Reference) -> npt.NDArray[np.bool_]:
        """Return which groups hold at least l distinct values of every column concerned."""
        holds = np.ones(len(stats.sizes), dtype=np.bool_)
        for name, counted in stats.histograms.items():
            if not self.column or name == self.column:
                holds &= counted.distinct >= self.l
        return holds

    def comes_to(self, stats: GroupStats, reference: Reference) -> str:
        """Return how many values the least diverse group shows, of the first column."""
        shown = count(int(next(iter(stats.histograms.values())).distinct.min()), "different value")
        return f"The group shows {shown}; at least {self.l} are asked for."

    def least_size(self) -> int:
        """Return l: fewer rows cannot hold l values."""
        return self.l

    def least_distinct(self, problem: Problem) -> Mapping[str, int]:
        """Return l for every column concerned."""
        return dict.fromkeys(self.needs(problem), self.l)

    def measure(
        self, view: View, audience: Audience, reference: Reference, context: Context
    ) -> Sequence[Verdict]:
        """Return, per sensitive column, the fewest distinct values in a class against l."""
        return [self._measure(view, column) for column in self.needs(audience)]

    def _measure(self, view: View, column: str) -> Verdict:
        persons, counted = sensitive_histogram(view, column)
        fewest = int(counted.distinct.min()) if len(persons.sizes) else 0
        holds = not len(persons.sizes) or fewest >= self.l
        return Verdict(
            model=self.name,
            parameters=self.as_mapping(),
            state="holds" if holds else "broken",
            bound=float(self.l),
            reached=float(fewest),
            per_class=counted.distinct.astype(np.float64),
            column=column,
            sentence=(
                f"The least diverse class shows {fewest} values of '{column}'; at least {self.l} "
                "were asked for."
                if len(persons.sizes)
                else "No row is published."
            ),
        )
