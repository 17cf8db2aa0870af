"""Experiments: the list, one that is run, stopped and gone on with, and its address."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from anon_core.teaching.experiments import Settings, Tables, all_experiments, find_experiment
from tests.ui.sessions import PATIENCE
from ui.state import experiment_runs as experimenting

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
    assert list(app.dataframe[0].value["experiment"]) == [e.id for e in all_experiments()]
    press(app, "experiments/open/X-05")
    assert app.query_params["experiment"] in ("X-05", ["X-05"])
    assert "Nothing has been measured" in app.info[0].value
    press(app, "experiments/all")
    assert app.button(key="experiments/open/X-05")


def test_an_unknown_address_is_told() -> None:
    assert "There is no experiment" in opened("X-77").error[0].value


def test_an_experiment_is_run_and_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = find_experiment("X-05")
    tiny = Settings(rows=120, at=(2, 3), columns=(3,), queries=20)
    monkeypatch.setattr(type(experiment), "small", tiny)
    monkeypatch.setattr(experimenting, "Tables", lambda **_: Tables(most_rows=300, cached=False))
    app = press(opened("X-05"), "experiments/run")
    end = time.monotonic() + PATIENCE
    while app.button(key="experiments/run").label != "Run" or not app.dataframe:
        assert time.monotonic() < end
        time.sleep(0.1)
        app.run()
    assert not app.error
    assert app.button(key="experiments/run").disabled
    assert "a substitute for the source's" in " ".join(c.value for c in app.caption)
    (first, *_) = experiment.figures
    app.session_state[f"numbers-experiment-X-05-{first.name}"] = True
    numbers = app.run().dataframe[0].value
    assert {"source", "measured", "beyond the source"} == set(numbers["by"])
