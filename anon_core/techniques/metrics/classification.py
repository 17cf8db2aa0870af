"""Classification metric (CM): rows whose class outvotes their label."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context
from anon_core.base.errors import BadPlan
from anon_core.base.params import sensitive_column
from anon_core.base.registry import register
from anon_core.contracts.group_stats import sensitive_histogram
from anon_core.contracts.metric import MetricScale
from anon_core.contracts.model import sensitive_columns
from anon_core.contracts.search_cost import LabelCost, labels_of
from anon_core.release.outcome import Measure, share_of
from anon_core.release.problem import Problem
from anon_core.release.release import Release, View, hidden_view, raw_view


@register("metric")
@dataclass(frozen=True, kw_only=True)
class Classification(LabelCost):
    """A row pays 1 where it is removed or not of its class's most common label."""

    name: ClassVar[str] = "classification"
    title: ClassVar[str] = "Classification metric"
    summary: ClassVar[str] = (
        "How many rows a classifier gets wrong if it knows only each class's most common label. A"
        " suppressed row counts as wrong."
    )
    formula: ClassVar[str] = (
        "CM = (suppressed rows + Σ over classes of rows not of the class's most common label) / "
        "n; the table's own CM is shown next to it. 0–1 form: the excess over the table's CM, as "
        "a share of the same where every quasi-identifier is suppressed"
    )
    source: ClassVar[str] = "Iyengar 2002, doi 10.1145/775047.775089"
    scale: ClassVar[MetricScale] = MetricScale(unit="share of rows")

    column: str = sensitive_column(
        help="Sensitive column whose values are the labels; empty for the first.",
        label="Labels",
        empty="the first sensitive column",
    )

    def reason_not_applicable(self, problem: Problem) -> str:
        """Return why nothing can be measured, or an empty string."""
        return "" if labels_of(problem) else "It needs a sensitive column to predict."

    def label_column(self, problem: Problem) -> str:
        """Return the column of labels; see `LabelCost.label_column`."""
        if not self.column and not labels_of(problem):
            raise BadPlan(
                f"{self.title} needs a sensitive column of labels, and none is marked.",
                remedy="Mark the column to predict as sensitive, or choose another metric.",
            )
        return sensitive_columns(problem, self.column, self.title)[0]

    def measure(self, problem: Problem, release: Release, context: Context) -> Measure:
        """Count outvoted rows in the classes that people match next to the labels."""
        column = self.label_column(problem)
        outvoted = _outvoted(release.view, column)
        wrong = float(outvoted.sum()) + release.suppressed
        least, most = (
            float(_outvoted(view, column).sum())
            for view in (raw_view(problem), hidden_view(problem))
        )
        also = {"of the table itself": least}
        for name in labels_of(problem):
            if name != column:
                own = float(_outvoted(release.view, name).sum())
                also[f"labels of '{name}'"] = own + release.suppressed
        rows = max(problem.rows, 1)
        return Measure(
            metric=self.name,
            value=wrong / rows,
            share=share_of(wrong - least, most - least),
            also={what: found / rows for what, found in also.items()},
        )


def _outvoted(view: View, column: str) -> npt.NDArray[np.int64]:
    """Return the rows of each class that have another label than most of it, shape (classes,)."""
    persons, labels = sensitive_histogram(view, column)
    return persons.sizes - labels.most_alike
