"""Every experiment runs at a tiny setting through the product's own path."""

from __future__ import annotations

from dataclasses import replace

import pytest

from anon_core.experiments import Experiment, Settings, Tables, all_experiments, carry_out

TABLES = Tables(most_rows=600, cached=False)


def tiny(experiment: Experiment) -> Settings:
    small = experiment.small
    return replace(
        small,
        rows=min(small.rows, 120) if small.rows else 0,
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
