"""Every experiment runs at a tiny setting through the product's own path."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from anon_core.base.context import Context
from anon_core.teaching.experiments import Experiment, Settings, Tables, all_experiments, carry_out
from anon_core.teaching.experiments.catalogue.x01_reidentified import Reidentified
from anon_core.teaching.experiments.points import Found, Point

TABLES = Tables(most_rows=400, cached=False)


def tiny(experiment: Experiment) -> Settings:
    small = experiment.small
    return replace(
        small,
        rows=min(small.rows, 90) if small.rows else 0,
        at=small.at[:2],
        columns=small.columns[:1],
        queries=min(small.queries, 20),
        seconds=min(small.seconds, 0.5),
    )


@pytest.mark.parametrize("experiment", all_experiments(), ids=lambda e: e.id)
def test_it_runs_and_every_point_has_its_place(experiment: Experiment) -> None:
    settings = tiny(experiment)
    report = carry_out(experiment, settings, TABLES)
    assert report.whole
    assert report.generated
    assert report.points
    figures = {figure.name: figure for figure in experiment.figures}
    for point in report.points:
        figure = figures[point.figure]
        assert not figure.places or 0 <= point.x < len(figure.places)
        assert point.y >= 0
    assert {one.figure for one in experiment.printed} <= set(figures)
    assert report.claims
    assert not any(claim.wrong for claim in report.claims), "a generated table refutes nothing"
    for claim in report.claims:
        assert claim.holds is not False or claim.because
    keys = [step.key for step in experiment.steps(settings)]
    assert len(set(keys)) == len(keys)
    assert experiment.source.year > 1990
    assert settings.at or settings.columns or len(keys) == 1


def test_shares_of_private_rows_are_never_more_than_all_of_them() -> None:
    """People of the public table who are not decided are no private rows."""
    experiment = next(e for e in all_experiments() if e.id == "X-01")
    settings = replace(tiny(experiment), seconds=0.001)
    report = carry_out(experiment, settings, TABLES)
    assert all(0 <= point.y <= 1 for point in report.points)
    proven = {(p.series, p.x): p.y for p in report.points if p.figure == "k"}
    most = {(p.series, p.x): p.y for p in report.points if p.figure == "most"}
    assert proven.keys() == most.keys()
    assert all(proven[place] <= most[place] for place in proven)


@pytest.mark.parametrize(
    ("proven", "open_people", "holds"),
    [(90, 0, True), (40, 0, False), (40, 90, None), (0, 5_000, None)],
)
def test_people_who_are_not_decided_settle_no_claim(
    proven: int, open_people: int, holds: bool | None
) -> None:
    """Of 100 private rows; the public table has many more people who may be open."""
    experiment = Reidentified()
    settings = Settings(rows=100, at=(2, 4), size=4)

    class OneAnswer:
        settings = Settings(rows=100)

        def attacked(self, *_: object, **__: object) -> object:
            return SimpleNamespace(succeeded=float(proven), undecided=open_people)

    share, most = experiment._proven(OneAnswer(), None, Context())  # type: ignore[arg-type]
    assert 0 <= share <= most <= 1
    names = ("One-attribute slicing", "Slicing")
    points = [Point(figure="k", series="Bucketization", x=x, y=1.0) for x in settings.at]
    for name in names:
        points += [Point(figure="k", series=name, x=x, y=share) for x in settings.at]
        points += [Point(figure="most", series=name, x=x, y=most) for x in settings.at]
    claims = experiment.claims(Found(points=points, settings=settings, generated=True, whole=True))
    slicing = next(c for c in claims if c.says.startswith("Slicing"))
    assert slicing.holds is holds
