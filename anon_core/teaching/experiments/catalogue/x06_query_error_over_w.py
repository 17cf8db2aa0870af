"""X-06: the error of count queries over the number of columns they name."""

from __future__ import annotations

from collections.abc import Sequence

from anon_core.base.context import Context
from anon_core.teaching.experiments.bench import Bench
from anon_core.teaching.experiments.catalogue.permutation import (
    ANATOMY,
    EXPONENT,
    L_NOT_SAID,
    PA,
    STAND_IN,
    Asked,
    answers,
    directed,
    ends,
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

_MEDIAN = "median"


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
    figures = (
        *figures("w, columns a query names", "average relative error", (5, 7)),
        Figure(
            name=_MEDIAN,
            title="The median query's error",
            x="w, columns a query names",
            y="median relative error",
            unit="share",
        ),
    )
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
        series = f"{asked.side} on {asked.name}-{asked.columns}"
        found: list[Point] = []
        for w in bench.settings.at:
            if w > asked.columns + 1:
                continue
            replies = answers(bench, result, context, predicates=int(w), selectivity=0.1)
            found.append(point(asked, w, replies.value))
            found.append(_beyond(_MEDIAN, series, w, replies.also["median"]))
        return found

    def claims(self, found: Found) -> Sequence[Claim]:
        """See what the source says of its figure 2."""
        names = [name for name in found.names_of_figures() if name != _MEDIAN]
        says = "The error falls as queries name more columns."
        return [
            directed(found, says, lines(found, names), "falls", reason=_why(found, names)),
            permutation_is_better(found, names),
        ]


def _beyond(figure: str, series: str, x: float, y: float) -> Point:
    return Point(figure=figure, series=series, x=x, y=y, beyond=True)


def _why(found: Found, names: Sequence[str]) -> str:
    """Return what the median query's error does where links are cut, and where they are whole."""
    trends = [
        f"{side}'s on {name} {how}"
        for name in names
        for side in (PA, ANATOMY)
        if (how := ends(found, _MEDIAN, f"{side} on {name}"))
    ]
    if not trends:
        return ""
    return (
        f"Of the median query the error goes: {'; '.join(trends)}. Every further column a query "
        "names is one more link that permuting has cut and Anatomy has not."
    )
