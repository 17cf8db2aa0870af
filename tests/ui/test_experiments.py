"""Experiments: the list, one that is run, stopped and gone on with, and its address."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest
from streamlit.testing.v1 import AppTest

from anon_core.base.context import Context
from anon_core.base.errors import NotFound
from anon_core.teaching.experiments import (
    Experiment,
    Point,
    Settings,
    Step,
    Tables,
    all_experiments,
    find_experiment,
)
from anon_core.teaching.experiments.bench import Bench
from anon_core.teaching.experiments.experiment import Outcome
from anon_core.teaching.experiments.tables import WANTED
from tests.ui.sessions import PATIENCE
from ui.state.work import experiment_runs

APP = Path(__file__).resolve().parents[2] / "app.py"


def opened(id: str = "") -> AppTest:
    app = AppTest.from_file(str(APP), default_timeout=PATIENCE).switch_page(
        "pages/9_Experiments.py"
    )
    if id:
        app.query_params["experiment"] = id
    app.run()
    assert not app.exception
    return app


def press(app: AppTest, key: str) -> AppTest:
    app.button(key=key).click().run()
    assert not app.exception
    return app


def test_all_experiments_are_listed_and_open_by_a_click() -> None:
    app = opened()
    listed = [b.label for b in app.button if b.key.startswith("experiments/open/")]
    assert [label.split(" · ")[0] for label in listed] == [e.id for e in all_experiments()]
    press(app, "experiments/open/X-05")
    assert app.query_params["experiment"] in ("X-05", ["X-05"])
    assert "A documented run with" in app.info[0].value
    assert "rows" not in app.info[0].value  # the line below the verdict names the table
    press(app, "experiments/all")
    assert app.button(key="experiments/open/X-05")


def test_an_unknown_address_is_told() -> None:
    assert "There is no experiment" in opened("X-77").error[0].value


def test_an_experiment_is_run_and_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = find_experiment("X-05")
    tiny = Settings(rows=120, at=(2, 3), columns=(3,), queries=20)
    monkeypatch.setattr(type(experiment), "small", tiny)
    monkeypatch.setattr(experiment_runs, "Tables", lambda **_: Tables(most_rows=300, cached=False))
    app = press(opened("X-05"), "experiments/run")
    finished(app, own_figures)
    assert app.button(key="experiments/run").disabled
    assert "a substitute for the source" in " ".join(c.value for c in app.caption)
    (first, *_) = experiment.figures
    app.session_state[f"numbers-experiment-X-05-{first.name}"] = True
    numbers = app.run().dataframe[0].value
    assert {"source", "measured", "beyond the source"} == set(numbers["by"])


def test_a_documented_run_is_shown_before_anything_is_run() -> None:
    app = opened()
    verdicts = [one for one in app.markdown if "settings" in one.help]
    assert len(verdicts) == len(all_experiments())
    for one in verdicts:
        assert one.value.split(" ", 1)[1] in get_args(Outcome)
        answer = one.help.replace("\\", "")
        assert "A documented run: " in answer
        assert re.search(r"(small|full) settings, .+, \d+ s", answer)
    for experiment in all_experiments():
        app = opened(experiment.id)
        assert "A documented run" in app.info[0].value
        assert app.table  # what the source says, and what was measured
        assert any(WANTED[experiment.table] in one.value.replace("\\", "") for one in app.markdown)


def test_more_time_measures_again_what_was_not_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = find_experiment("X-03")
    seconds: list[float] = []
    tiny = Settings(rows=60, at=(3, 4), seconds=1.0)

    def measure(self: Experiment, step: Step, bench: Bench, context: Context) -> list[Point]:
        seconds.append(bench.settings.seconds)
        if bench.settings.seconds <= 1 and step.given["k"] == 4:
            raise NotFound("The time box ended.", remedy="Give more time.", timed_out=True)
        x = float(step.given["k"]) or 3.0
        return [Point(figure="ag", series=str(step.given["name"]), x=x, y=1.0)]

    monkeypatch.setattr(type(experiment), "small", tiny)
    monkeypatch.setattr(type(experiment), "measure", measure)
    monkeypatch.setattr(experiment_runs, "Tables", lambda **_: Tables(most_rows=300, cached=False))
    app = press(opened("X-03"), "experiments/run")
    finished(app, lambda app: any(button.key == "experiments/longer" for button in app.button))
    assert "Not decided in time" in " ".join(one.value for one in app.markdown)
    press(app, "experiments/longer")
    finished(app, lambda app: all(button.key != "experiments/longer" for button in app.button))
    assert seconds[-1] == 4.0
    assert seconds.count(4.0) == 1
    assert all(button.key != "experiments/longer" for button in app.button)


def finished(app: AppTest, until: Callable[[AppTest], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not until(app):
        assert time.monotonic() < end
        time.sleep(0.1)
        app.run()
    assert not app.error


def own_figures(app: AppTest) -> bool:
    """Say whether a run is over, so that no documented one is shown."""
    return not any("documented" in one.value or "under way" in one.value for one in app.info)
