"""The Run page: forms, the sentence, running, stopping and refusals."""

from __future__ import annotations

import time
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.ui.sessions import RUN, carried_out, load, open_page, wait_for, words


def button(app: AppTest, key: str) -> Any:
    return next(b for b in app.button if b.key == key)


def test_without_a_table_the_page_says_what_to_do() -> None:
    app = open_page(RUN, {})
    assert not app.exception
    assert "There is no table yet" in words(app)


def test_k_anonymity_is_promised_at_first_and_cannot_be_removed() -> None:
    app = open_page(RUN, load())
    assert not app.exception
    assert "at least one other person" in words(app)
    assert button(app, "remove-model-0").disabled


def test_the_sentence_says_what_will_happen() -> None:
    held = load("hospital", algorithm={"name": "optimal", "max_suppression": 0.02})
    said = words(open_page(RUN, held)).replace("\\", "")
    assert "share their four quasi-identifiers with at least four others" in said
    assert "Up to 2 % of rows (100) may be removed" in said
    assert "The two identifiers will not be published" in said


def test_promises_are_added_and_removed() -> None:
    app = open_page(RUN, load())
    next(s for s in app.selectbox if s.key == "new-model").set_value("l-diversity").run()
    button(app, "add-model").click().run()
    assert not app.exception
    models = app.session_state["state/work"]["draft"]["models"]
    assert [m["name"] for m in models] == ["k-anonymity", "l-diversity"]
    button(app, "remove-model-0").click().run()
    models = app.session_state["state/work"]["draft"]["models"]
    assert [m["name"] for m in models] == ["l-diversity"]
    assert not app.exception


def test_a_run_ends_with_a_short_account() -> None:
    app = open_page(RUN, load())
    button(app, "run").click().run()
    wait_for(app, "run")
    assert not app.exception
    assert "Recomputed from the published file" in words(app)
    assert app.session_state["state/result"].class_sizes.min() >= 2


def test_the_threshold_reaches_the_attacks() -> None:
    app = open_page(RUN, load())
    usual = next(s for s in app.selectbox if s.key == "threshold-usual")
    usual.set_value("1 in 11 (k = 11)").run()
    button(app, "run").click().run()
    wait_for(app, "run")
    thresholds = {a.attack: a.threshold for a in app.session_state["state/result"].attacks}
    assert thresholds["prosecutor"] == pytest.approx(1 / 11)


def test_a_population_size_brings_the_journalist() -> None:
    app = open_page(RUN, load(population={"size": 1000}))
    button(app, "run").click().run()
    wait_for(app, "run")
    assert not app.exception
    assert "journalist" in {a.attack for a in app.session_state["state/result"].attacks}


def test_what_cannot_be_reached_is_refused_and_the_last_result_stays() -> None:
    held = load()
    last = carried_out(held)
    app = open_page(RUN, held)
    next(n for n in app.number_input if "k" in n.label).set_value(9).run()
    button(app, "run").click().run()
    wait_for(app, "run")
    assert not app.exception
    said = words(app)
    assert "needs at least 9 rows" in said
    assert "Best value reached: 8" in said
    assert "The last good result is still there" in said
    assert app.session_state["state/result"] is last
    assert not app.dataframe


def test_a_stopped_run_keeps_the_last_result() -> None:
    held = load("hospital")
    last = carried_out(held)
    app = open_page(RUN, held)
    next(n for n in app.number_input if "k" in n.label).set_value(7).run()
    button(app, "run").click().run()
    job = app.session_state["jobs"].get("run")
    assert job is not None
    pressed = time.monotonic()
    job.cancel.set()
    app.run()
    assert time.monotonic() - pressed < 2
    assert not app.exception
    assert "cancelled" in words(app)
    assert app.session_state["state/result"] is last


def test_contradicting_choices_are_named_before_a_run() -> None:
    held = load(models=[{"name": "l-diversity", "l": 3, "column": "Zip"}])
    app = open_page(RUN, held)
    button(app, "run").click().run()
    wait_for(app, "run")
    assert not app.exception
    assert "is not marked as sensitive" in words(app).replace("\\", "")
