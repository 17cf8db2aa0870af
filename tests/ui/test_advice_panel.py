"""What Run recommends: one click fills the plan, one takes it back; a missed k is shown before."""

from __future__ import annotations

import random
from threading import Event
from typing import Any
from unittest.mock import Mock, patch

import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from anon_core.base.errors import NotFound
from anon_core.base.registry import family
from anon_core.data.roles.roles import Roles
from anon_core.data.table import Dataset
from anon_core.explain.advice import trials as trying
from anon_core.explain.text import phrases
from tests.often import crossed
from tests.ui.sessions import (
    PATIENCE,
    RUN,
    carried_out,
    choose,
    load,
    open_page,
    tips,
    wait_for,
    words,
)
from ui.panels.run import advice_panel
from ui.state import release_context, release_context_answers, state
from ui.state.work import advice_trials


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
    said = tips(app)
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
    assert "end at real values of people: check" not in words(app)


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


@pytest.fixture
def tries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let recommendations be tried, and pages wait for them."""
    monkeypatch.setattr(advice_trials, "TRIES", True)
    monkeypatch.setattr(advice_trials, "PATIENCE", PATIENCE)


def clinic() -> dict[str, Any]:
    """Return a session with people who have several rows, some without a postcode."""
    drawn = random.Random(4)
    rows = [
        {
            "patient": f"P{who:04d}",
            "born": f"{1930 + drawn.randrange(70)}-{drawn.randrange(1, 13):02d}-11",
            "zip": None if drawn.random() < 0.1 else f"80{drawn.randrange(500, 540)}",
            "sex": drawn.choice("mw"),
            "icd": drawn.choice(("I10", "S72.0", "E11.9", "F32.9", "J45.0", "O80", "B20")),
        }
        for who in range(250)
        for _ in range(drawn.choice((1, 2, 3)))
    ]
    roles = Roles(person="patient", quasi=("born", "zip", "sex"), sensitive=("icd",))
    held: dict[str, Any] = {}
    with patch.object(st, "session_state", held):
        data = Dataset.from_frame(pd.DataFrame(rows), kinds={"born": "date"})
        state.set_dataset(data, roles=roles, levels={}, types={}, title="clinic", k=5)
    return held


@crossed("table, recipient", ["hospital", "clinic"], ["public", "agreement", "internal"], share=2)
def test_whatever_is_offered_releases_and_meets_every_threshold(
    tries: None, table: str, recipient: str
) -> None:
    held = clinic() if table == "clinic" else load(table)
    with patch.object(st, "session_state", held):
        release_context_answers.keep("recipient", recipient)
    app = open_page(RUN, held)
    assert not app.exception
    offered = [str(b.key) for b in app.button if str(b.key).startswith("use-")]
    answer = words(app).replace("\\", "")
    if not offered:
        assert "No suitable technique finds a release of this table" in answer
        assert table == "clinic"
        return
    assert "Tried on this table" in answer
    assert tips(app).count("Worst chance: ") == len(offered)
    misses = answer.count("Misses the threshold")
    assert misses in (0, len(offered))  # such are offered where nothing else is
    tried = app.session_state[advice_trials._JOB]
    came = [
        (f.loss.value, f.worst.value, f.suppressed)
        for f in (one.figures for one in tried[1].value.shown)
        if f is not None
    ]
    assert len(came) == len(offered)
    for place, later in enumerate(came):
        for first in came[:place]:
            worse = all(b >= a for a, b in zip(later, first, strict=True))
            assert not worse or later == first, "one comes first that is worse in everything"
    order = "least chance first" if misses else "least loss first"
    assert (order in answer) == (len(offered) > 1)
    for key in offered:
        app = open_page(RUN, {**held, advice_trials._JOB: tried})  # what was tried is kept
        button(app, key).click().run()
        draft = app.session_state["state/work"]["draft"]
        used = {**held, "state/work": {**held["state/work"], "draft": draft}}
        result = carried_out(used)
        missed = [a for a in result.attacks if phrases.limited(a) and a.worst > a.threshold]
        assert bool(missed) == bool(misses), key


def test_a_sample_of_larger_tables_is_tried_and_that_is_said(
    tries: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trying, "MOST_ROWS", 3_000)
    app = open_page(RUN, load("hospital"))
    answer = words(app).replace("\\", "")
    assert "Tried on a sample of 3,000 rows" in answer
    assert "The sample is random" in tips(app)
    assert "Tried on this table" not in answer


def test_a_sample_has_all_rows_of_its_persons(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trying, "MOST_ROWS", 200)
    with patch.object(st, "session_state", clinic()):
        table = state.typed_dataset()
        assert table is not None
        sample = trying.sample_of(table, state.recipe())
    assert 0 < sample.rows < table.rows
    whole, kept = (data.frame()["patient"].value_counts() for data in (table, sample))
    assert (whole[kept.index] == kept).all()


def test_what_finds_no_release_is_not_offered(tries: None, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = trying.Trial(refused=NotFound("Not found: cuts left 2 parts.", remedy="Ask less."))
    monkeypatch.setattr(trying, "tried", lambda *given: refused)
    app = open_page(RUN, load("hospital"))
    assert not [b for b in app.button if str(b.key).startswith("use-")]
    answer = words(app).replace("\\", "")
    assert "No suitable technique finds a release of this table" in answer
    assert "Mondrian** – Not found: cuts left 2 parts." in answer


def test_trials_that_last_say_how_far_they_are_and_let_the_person_go_on(
    tries: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = Event()
    monkeypatch.setattr(advice_trials, "PATIENCE", 0.0)
    refused = trying.Trial(refused=NotFound("Not found.", remedy="Ask less."))
    monkeypatch.setattr(trying, "tried", lambda *given: go_on.wait(60) and refused)
    try:
        app = open_page(RUN, load("hospital"))
        said = [bar.proto.text for bar in app.get("progress")]
        assert any("Trying on this table" in one and "go on meanwhile" in one for one in said)
        assert not button(app, "run").disabled
    finally:
        go_on.set()


def test_numbers_of_one_letter_are_told_with_their_columns() -> None:
    known = family("model")
    l_of = known["l-diversity"]
    models = (known["k-anonymity"](k=12), l_of(l=12, column="income"), l_of(l=2, column="ill"))
    answer = advice_panel._numbers(Mock(models=models))
    said = [one.replace("\u00a0", " ") for one in answer]
    assert said == ["k = 12", "l = 12 (income)", "l = 2 (ill)"]
    alone = advice_panel._numbers(Mock(models=models[:2]))
    assert alone[1].replace("\u00a0", " ") == "l = 12"


@pytest.mark.parametrize("name", ["hospital", "toth-private", "li-microdata", "adult"])
def test_undo_waits_until_a_person_has_changed_something(name: str) -> None:
    # The forms write down what the sample's recipe leaves out, at each drawing: that is no change.
    app = open_page(RUN, load(name))
    assert button(app, "run/undo").disabled
    use = next(b for b in app.button if b.key and b.key.startswith("use-") and not b.disabled)
    use.click().run()
    button(app, "run/undo").click().run()
    assert not app.exception
    assert button(app, "run/undo").disabled


def test_what_makes_no_plan_is_a_change_that_can_be_undone(session: None) -> None:
    st.session_state |= load("hospital")
    state.settle_draft(metrics=[])
    assert not state.can_undo()
    state.settle_draft(models=[{"name": "k-anonymity", "k": 0}])
    assert state.undo()
    assert state.draft()["models"][0]["k"] == 5
