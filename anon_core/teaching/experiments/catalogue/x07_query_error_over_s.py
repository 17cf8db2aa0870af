"""X-07: the error of count queries over the share of rows they are expected to hit."""

from __future__ import annotations

from collections.abc import Sequence

from anon_core.base.context import Context
from anon_core.teaching.experiments.bench import Bench
from anon_core.teaching.experiments.catalogue.permutation import (
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
from anon_core.teaching.experiments.experiment import Claim, Experiment, Point, Settings, Step
from anon_core.teaching.experiments.points import Found


class QueryErrorOverS(Experiment):
    """Queries that hit more rows."""

    id = "X-07"
    title = "Query error over selectivity"
    source = li("section 4.2.3, figure 3")
    shows = "How far count queries are off that are expected to hit more rows."
    table = "census"
    figures = figures("s, expected share of rows", "average relative error", (3, 5, 7))
    remarks = (STAND_IN, EXPONENT, L_NOT_SAID, "Queries ask for all d + 1 columns.")
    small = Settings(
        rows=20_000, at=(0.1, 0.15, 0.2, 0.25, 0.3), columns=(3, 7), queries=1_000, size=8
    )
    full = Settings(at=(0.1, 0.15, 0.2, 0.25, 0.3), columns=(3, 5, 7), queries=1_000, size=8)

    def steps(self, settings: Settings) -> Sequence[Step]:
        """Return a step a release; all its queries are asked at once."""
        return releases(settings, (settings.size,))

    def measure(self, step: Step, bench: Bench, context: Context) -> Sequence[Point]:
        """Release, and ask."""
        asked = Asked.of(step)
        result = asked.released(bench, context)
        w = asked.columns + 1
        return [
            point(asked, s, error(bench, result, context, predicates=w, selectivity=s))
            for s in bench.settings.at
        ]

    def claims(self, found: Found) -> Sequence[Claim]:
        """See what the source says of its figure 3."""
        names = [figure.name for figure in self.figures if found.names(figure.name)]
        says = "The error falls as queries hit more rows."
        return [
            directed(found, says, lines(found, names), "falls"),
            permutation_is_better(found, names),
        ]
