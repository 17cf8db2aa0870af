"""X-06: the error of count queries over the number of columns they name."""

from __future__ import annotations

from collections.abc import Sequence

from ...base.context import Context
from ..bench import Bench
from ..experiment import Claim, Experiment, Point, Settings, Step
from ..found import Found
from .permuting import (
    EXPONENT,
    L_NOT_SAID,
    STAND_IN,
    Asked,
    directed,
    error,
    figures,
    li,
    lines,
    permutation_is_better,
    point,
    releases,
)


class QueryErrorOverW(Experiment):
    """Queries of more columns, with longer intervals in each."""

    id = "X-06"
    title = "Query error over query dimensionality"
    source = li("section 4.2.2, figure 2")
    shows = (
        "How far count queries are off that name more columns while they are expected to hit as "
        "many rows."
    )
    table = "census"
    figures = figures("w, columns a query names", "average relative error", (5, 7))
    remarks = (STAND_IN, EXPONENT, L_NOT_SAID, "Queries have s = 0.1.")
    small = Settings(rows=20_000, at=(4, 5, 6, 7, 8), columns=(5, 7), queries=1_000, size=8)
    full = Settings(at=(4, 5, 6, 7, 8), columns=(5, 7), queries=1_000, size=8)

    def steps(self, settings: Settings) -> Sequence[Step]:
        """Return a step a release; all its queries are asked at once."""
        return releases(settings, (settings.size,))

    def measure(self, step: Step, bench: Bench, context: Context) -> Sequence[Point]:
        """Release, and ask."""
        asked = Asked.of(step)
        result = asked.released(bench, context)
        return [
            point(asked, w, error(bench, result, context, predicates=int(w), selectivity=0.1))
            for w in bench.settings.at
            if w <= asked.columns + 1
        ]

    def claims(self, found: Found) -> Sequence[Claim]:
        """See what the source says of its figure 2."""
        names = [figure.name for figure in self.figures if found.names(figure.name)]
        says = "The error falls as queries name more columns."
        return [
            directed(found, says, lines(found, names), "falls"),
            permutation_is_better(found, names),
        ]
