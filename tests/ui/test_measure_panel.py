"""Metrics that are measured on a result when asked for, from the panel on Results and from Run."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from anon_core.base.context import Context
from anon_core.release.outcome import Measure
from anon_core.techniques.metrics import model_utility
from anon_core.techniques.metrics.model_utility import ModelUtility
from tests.ui.sessions import METRICS, RESULTS, RUN, carried_out, load, open_page, words


def until(app: AppTest, there: Callable[[str], bool]) -> str:
    """Draw the page until something is there; return all it says."""
    for _ in range(100):
        if there(words(app).replace("\\", "")):
            break
        time.sleep(0.05)
        app.run()
    assert not app.exception
    answer = words(app).replace("\\", "")
    assert there(answer)
    return answer


def test_a_metric_is_measured_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.linear_model", None)
    held = load("toth-private")
    carried_out(held)
    app = open_page(RESULTS, {**held, "meanings": True, "measure-fold": True}, tab=METRICS)
    first = app.selectbox(key="further-metric")
    # Those that eight rows are enough for come first.
    enough = ["Choices left", "Largest loss of a column", "Weighted loss"]
    assert first.options[:3] == enough
    first.set_value("model-utility").run()
    assert "It needs at least 60 rows to train on and to test" in words(app)
    assert "measure-further" not in {button.key for button in app.button}
    monkeypatch.setattr(model_utility, "_LEAST_ROWS", 5)
    app.run()
    assert app.selectbox(key="further-metric").options[:4] == sorted([*enough, "Model utility"])
    app.button(key="measure-further").click().run()
    answer = until(app, lambda said: "not installed" in said)
    assert "Training a model needs scikit-learn, which is not installed" in answer
    assert "pip install 'anonymity-workbench[models]'" in answer
    assert "model-utility" not in app.session_state["state/result"].measures

    def measured(self: ModelUtility, problem: Any, release: Any, context: Context) -> Measure:
        assert (self.model, release.problem) == ("forest", problem)
        return Measure(metric=self.name, value=0.125, share=0.25)

    monkeypatch.setattr(ModelUtility, "measure", measured)
    app.selectbox(key="further-metric/model-utility/model").set_value("forest").run()
    app.button(key="measure-further").click().run()
    answer = until(app, lambda _: "model-utility" in app.session_state["state/result"].measures)
    assert "not installed" not in answer
    assert "**Model utility**" in answer
    now = app.session_state["state/result"]
    assert now.measures["model-utility"].share == 0.25
    assert [m.as_mapping()["model"] for m in now.plan.metrics] == ["forest"]


def test_a_run_measures_it_where_it_is_told_to() -> None:
    app = open_page(RUN, load("toth-private"))
    keys = {number.key for number in app.number_input}
    assert "run_form/metric/model-utility/most" not in keys
    next(m for m in app.multiselect if m.key == "further-metrics").set_value(
        ["model-utility"]
    ).run()
    assert not app.exception
    (given,) = app.session_state["state/work"]["draft"]["metrics"]
    assert (given["name"], given["model"]) == ("model-utility", "logistic")
