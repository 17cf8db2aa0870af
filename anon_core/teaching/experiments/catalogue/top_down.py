"""What the experiments on top-down partitioning share: Adult with race as the sensitive column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from anon_core.base.context import Context
from anon_core.teaching.experiments.bench import Bench
from anon_core.teaching.experiments.experiment import Figure, Point, Source

#: Every column but the weight of the survey, which is no one's property, and race.
QUASI = (
    "age",
    "workclass",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "gender",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
)
SENSITIVE = "race"
GCP, CAVG, DM, SECONDS, WHOLE = "gcp", "cavg", "dm", "seconds", "whole"
STAND_IN = (
    "The source does not list the quasi-identifiers; here they are all columns but the survey's "
    "weight and race. Hierarchies are the shipped ones."
)


def aalborg(where: str) -> Source:
    """Return the source, and where in it."""
    return Source(
        author="Aalborg group 3",
        year=2022,
        title="Anonymization techniques, semester project",
        where=where,
    )


def figures(x: str) -> tuple[Figure, ...]:
    """Return the axes of the four plots, and one of ours."""
    return (
        Figure(name=GCP, title="Information loss (GCP)", x=x, y="GCP, 0 to 1"),
        Figure(name=CAVG, title="Average class size (C_AVG)", x=x, y="n / (classes · K)", log=True),
        Figure(name=DM, title="Discernibility (DM)", x=x, y="Σ |G|²", log=True),
        Figure(name=SECONDS, title="Runtime of the search", x=x, y="seconds"),
        Figure(name=WHOLE, title="Columns published as one value", x=x, y="columns"),
    )


def points(
    bench: Bench,
    models: Sequence[Mapping[str, Any]],
    k: int,
    place: tuple[str, float],
    context: Context,
) -> list[Point]:
    """Release, and return a point in each figure; `place` is series and x."""
    data = bench.data("adult-all", QUASI, (SENSITIVE,), rows=bench.settings.rows)
    result = bench.released(data, {"name": "single-dimension"}, models, context)
    series, x = place
    loss = bench.measured(result, "ncp", context)
    whole = sum(share > 1 - 1e-9 for share in loss.per_column.values())
    found = {
        GCP: loss.value,
        CAVG: bench.measured(result, "average-class-size", context, k=k).value,
        DM: bench.measured(result, "discernibility", context).value,
        SECONDS: result.seconds["search"],
        WHOLE: float(whole),
    }
    return [
        Point(figure=name, series=series, x=x, y=y, beyond=name == WHOLE)
        for name, y in found.items()
    ]
