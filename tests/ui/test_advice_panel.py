"""What Run recommends: one click fills the plan, one takes it back; a missed k is told before."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.ui.sessions import RUN, choose, load, open_page, wait_for, words
from ui.session import release_context


def button(app: AppTest, key: str) -> Any:
    return next(b for b in app.button if b.key == key)


def draft(app: AppTest) -> dict[str, Any]:
    return app.session_state["state/work"]["draft"]


def size(app: AppTest) -> int:
    return next(m["k"] for m in draft(app)["models"] if "k" in m)


def test_one_click_fills_the_plan_and_one_takes_it_back() -> None:
    app = open_page(RUN, load("hospital"))
    assert not app.exception
    before = draft(app)
    said = words(app).replace("\\", "")
    assert "0.09 needs groups of at least 12: 1 in 11 is 0.0909" in said
    assert len([b for b in app.button if b.key and b.key.startswith("use-")]) == 3
    button(app, "use-1").click().run()
    assert not app.exception
    after = draft(app)
    assert after["algorithm"]["name"] != before["algorithm"]["name"]
    assert size(app) == 12
    assert {a["threshold"] for a in after["attacks"]} == {0.09}
    assert button(app, "use-1").disabled
    assert next(s for s in app.selectbox if s.key == "threshold-usual").value == "0.09 (k = 12)"
    held = {key: app.session_state[key] for key in ("state/context",)}
    with patch.object(st, "session_state", held):
        assert release_context.stated().model == "public"
    button(app, "run/undo").click().run()
    assert not app.exception
    assert size(app) == 5
    assert draft(app)["algorithm"]["name"] == before["algorithm"]["name"]


def test_hierarchies_are_proposed_where_they_are_missed() -> None:
    held = load("hospital")
    held["state/work"] = {**held["state/work"], "levels": {}}
    app = open_page(RUN, held)
    assert "no hierarchy yet" in words(app)
    button(app, "run/propose_all").click().run()
    assert not app.exception
    assert "no hierarchy yet" not in words(app)
    assert app.session_state["state/work"]["levels"]
    button(app, "use-0").click().run()
    assert "end at values that somebody has: look" not in words(app)


def test_the_recommended_plan_runs_as_it_is() -> None:
    app = open_page(RUN, load("li-microdata"))
    next(s for s in app.selectbox if s.key == "advice/recipient").set_value("agreement").run()
    button(app, "use-0").click().run()
    button(app, "run").click().run()
    wait_for(app, "run")
    assert not app.exception
    assert "Recomputed from the published file" in words(app)
    assert app.session_state["state/result"].class_sizes.min() >= 5


def test_a_threshold_that_k_cannot_meet_is_told_before_the_run() -> None:
    app = open_page(RUN, load("hospital"))
    usual = next(s for s in app.selectbox if s.key == "threshold-usual")
    usual.set_value("0.09 (k = 12)").run()
    assert "it takes k = 12" in words(app).replace("\\", "")
    button(app, "set-needed-k").click().run()
    assert size(app) == 12
    assert "it takes k" not in words(app)


def test_settings_survive_a_change_of_technique() -> None:
    app = open_page(RUN, load("hospital"))
    budget = next(n for n in app.number_input if "max_suppression" in str(n.key))
    budget.set_value(0.03).run()
    was = draft(app)["algorithm"]
    assert was["max_suppression"] == 0.03
    next(n for n in app.number_input if "k" in n.label).set_value(7).run()
    choose(app, "mondrian")
    assert "has no setting for" in words(app)
    assert size(app) == 7
    choose(app, "optimal")
    assert draft(app)["algorithm"] == was
    assert size(app) == 7
    assert "has no setting for" not in words(app)
