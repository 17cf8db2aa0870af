"""What the promises cost, shown before the run: with all of them, and without each."""

from __future__ import annotations

import time
from unittest.mock import patch

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from anon_core.base.context import Context
from anon_core.base.registry import find
from anon_core.contracts.metric import Metric, headline
from tests.ui.sessions import PATIENCE, RUN, carried_out, load, open_page, words
from ui.state import state
from ui.state.work import jobs, model_cost, running

PROMISES = [
    {"name": "k-anonymity", "k": 5},
    {"name": "frequency-l-diversity", "l": 3},
]


def found(models: list[dict[str, object]]) -> tuple[model_cost.Cost, ...]:
    with patch.object(st, "session_state", load("hospital", models=models)):
        plan = state.plan()
        table, people = running.inputs(plan)
        return model_cost.costs(plan, table, state.levels(), people)(Context())


def test_costs_are_those_of_runs() -> None:
    every, *without = found(PROMISES)
    assert [c.without for c in without] == ["k-anonymity, k = 5", "Frequency l-diversity, l = 3"]
    metric = find("metric", headline("cells"))()
    assert isinstance(metric, Metric)
    alone = ({"models": PROMISES[1:]}, {"models": PROMISES[:1]})
    for cost, draft in zip((every, *without), ({"models": PROMISES}, *alone), strict=True):
        result = carried_out(load("hospital", **draft))
        lost = metric.measure(result.problem, result.release, Context())
        assert cost.loss == pytest.approx(lost.share)
        assert (cost.removed, cost.classes) == (
            result.release.suppressed,
            len(result.class_sizes),
        )
        assert every.loss is not None
        assert cost.loss is not None
        assert cost.loss <= every.loss
    assert len(found(PROMISES[:1])) == 1


def test_what_cannot_be_had_is_said_and_the_others_are_tried() -> None:
    far = {"name": "l-diversity", "l": 1000}
    every, without_k, without_l = found([PROMISES[0], far])
    assert every.loss is None
    assert "1000" in every.why.replace(",", "")
    assert without_k.loss is None
    assert without_l.loss is not None


def test_the_page_tells_it_and_forgets_it_with_the_next_choice() -> None:
    app: AppTest = open_page(RUN, load("hospital", models=PROMISES))
    app.button(key="cost").click().run()
    until = time.monotonic() + PATIENCE
    while "With all privacy models" not in words(app) and time.monotonic() < until:
        job = app.session_state["jobs"].get(model_cost.JOB)
        if isinstance(job, jobs.Job):
            job.wait(PATIENCE)
        app.run()
    assert not app.exception
    assert "of the detail lost" in words(app)
    assert state.RESULT not in app.session_state  # nothing is released
    field = next(f for f in app.number_input if str(f.key).endswith("k-anonymity/k"))
    field.set_value(6).run()
    assert "With all privacy models" not in words(app)
