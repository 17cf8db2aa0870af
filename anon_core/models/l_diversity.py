"""Distinct l-diversity: every class shows at least l different sensitive values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ..context import Context
from ..errors import Infeasible
from ..kinds import GroupModel, GroupStats, sensitive_columns, sensitive_histogram
from ..params import integer, sensitive_column
from ..problem import Problem
from ..registry import register
from ..release import View
from ..results import Verdict


@register("model")
@dataclass(frozen=True, kw_only=True)
class DistinctLDiversity(GroupModel):
    """Every class holds at least l distinct sensitive values (Machanavajjhala et al. 2007)."""

    name: ClassVar[str] = "l-diversity"
    title: ClassVar[str] = "distinct l-diversity"
    summary: ClassVar[str] = (
        "Everyone's class shows at least l different values of the sensitive column."
    )
    formula: ClassVar[str] = "|{values of S in G}| ≥ l for every equivalence class G"
    source: ClassVar[str] = "Machanavajjhala et al. 2007, doi 10.1145/1217299.1217302"
    by_limits: ClassVar[bool] = True

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

    def needs(self, problem: Problem) -> tuple[str, ...]:
        """Return the sensitive columns concerned; see `sensitive_columns` for errors."""
        return sensitive_columns(problem, self.column, self.name)

    def check(self, problem: Problem) -> None:
        """Refuse an l above the number of values.

        Raises
        ------
        Infeasible
            Naming the column and the largest possible l.
        """
        for column in self.needs(problem):
            values = len(problem.hierarchies[column].leaves)
            if values < self.l:
                raise Infeasible(
                    f"l-diversity with l = {self.l} on '{column}' is impossible: the column has "
                    f"only {values} distinct values.",
                    remedy=f"Choose l of at most {values}.",
                    best=float(values),
                    best_of="distinct values",
                )

    def per_group(self, stats: GroupStats) -> npt.NDArray[np.bool_]:
        """Return which groups hold at least l distinct values of every column concerned."""
        holds = np.ones(len(stats.sizes), dtype=np.bool_)
        for name, counted in stats.histograms.items():
            if not self.column or name == self.column:
                holds &= counted.distinct >= self.l
        return holds

    def least_size(self) -> int:
        """Return l: fewer rows cannot hold l values."""
        return self.l

    def least_distinct(self, problem: Problem) -> Mapping[str, int]:
        """Return l for every column concerned."""
        return dict.fromkeys(self.needs(problem), self.l)

    def measure(self, problem: Problem, view: View, context: Context) -> Sequence[Verdict]:
        """Return, per sensitive column, the fewest distinct values in a class against l."""
        return [self._measure(view, column) for column in self.needs(problem)]

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
