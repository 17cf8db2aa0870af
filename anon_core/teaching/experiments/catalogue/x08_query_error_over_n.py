"""X-08: the error of count queries over the number of rows."""

from __future__ import annotations

from collections.abc import Sequence

from anon_core.base.context import Context
from anon_core.teaching.experiments.bench import Bench
from anon_core.teaching.experiments.catalogue.permutation import (
    EXPONENT,
    L_NOT_SAID,
    PA,
    STAND_IN,
    Asked,
    directed,
    ends,
    error,
    figures,
    li,
    lines,
    permutation_is_better,
    point,
    releases,
)
from anon_core.teaching.experiments.experiment import (
    Claim,
    Experiment,
    Figure,
    Point,
    Settings,
    Step,
)
from anon_core.teaching.experiments.points import Found

_EXTENT = "extent"


class QueryErrorOverN(Experiment):
    """Larger samples of one table."""

    id = "X-08"
    title = "Query error over the number of rows"
    source = li("section 4.2.4, figure 4")
    shows = "How far count queries are off as more rows are released, drawn from one table."
    table = "census"
    figures = (
        *figures("n, rows", "average relative error", (5,)),
        Figure(
            name=_EXTENT,
            title="How different the rows of a group are",
            x="n, rows",
            y="mean extent of a group in its columns' domains",
            unit="share",
        ),
    )
    remarks = (
        STAND_IN,
        EXPONENT,
        L_NOT_SAID,
        "The source's text says that the accuracy descends and means the error; it runs from "
        "100,000 to 500,000 rows, here from 50,000 to the 295,243 there are.",
        "Nor is d said; here it is 5. Queries ask for all columns, with s = 0.1.",
    )
    small = Settings(at=(5_000, 10_000, 20_000, 40_000), columns=(5,), queries=1_000, size=8)
    full = Settings(
        at=(50_000, 100_000, 150_000, 200_000, 250_000, 295_000),
        columns=(5,),
        queries=1_000,
        size=8,
    )

    def steps(self, settings: Settings) -> Sequence[Step]:
        """Return a step a release."""
        return releases(settings, (settings.size,), [int(n) for n in settings.at])

    def measure(self, step: Step, bench: Bench, context: Context) -> Sequence[Point]:
        """Release, and ask."""
        asked = Asked.of(step)
        result = asked.released(bench, context)
        w = asked.columns + 1
        found = error(bench, result, context, predicates=w, selectivity=0.1)
        rows = result.problem.rows
        apart = bench.measured(result, "group-loss", context).value
        series = f"{asked.side} on {asked.name}-{asked.columns}"
        return [
            point(asked, rows, found),
            Point(figure=_EXTENT, series=series, x=rows, y=apart, beyond=True),
        ]

    def claims(self, found: Found) -> Sequence[Claim]:
        """See what the source says of its figure 4."""
        names = [name for name in found.names_of_figures() if name != _EXTENT]
        says = "The error falls as the table grows."
        return [
            directed(found, says, lines(found, names), "falls", reason=_alike(found, names)),
            permutation_is_better(found, names),
        ]


def _alike(found: Found, names: Sequence[str]) -> str:
    """Return whether groups become more alike, which the source gives as the reason."""
    trends = [f"{name} {how}" for name in names if (how := ends(found, _EXTENT, f"{PA} on {name}"))]
    return (
        "The source's reason is that rows of a group become more alike; the mean extent of "
        f"permutation's groups goes {', '.join(trends)} here."
        if trends
        else ""
    )
