"""The choice of technique on Run, and what a sample brings along for it."""

from __future__ import annotations

from typing import Any, cast

from streamlit.testing.v1 import AppTest

from anon_core.base.registry import family
from anon_core.contracts.algorithm import Algorithm
from tests.ui.sessions import RUN, choose, load, open_page, wait_for, words
from ui.forms.technique_picker import APPROACHES


def button(app: AppTest, key: str) -> Any:
    return next(b for b in app.button if b.key == key)


def test_every_technique_is_offered_once_with_when_to_use_it() -> None:
    app = open_page(RUN, load())
    approaches = next(c for c in app.button_group if c.key == "run_form/approach")
    found: list[str] = []
    for approach in APPROACHES:
        if APPROACHES[approach][0] in str(approaches.options):
            next(c for c in app.button_group if c.key == "run_form/approach").set_value(
                approach
            ).run()
            assert not app.exception
            radio = next(r for r in app.radio if r.key == "run_form/technique")
            found += radio.options
            algorithm = app.session_state["state/work"]["draft"]["algorithm"]["name"]
            assert family("algorithm")[algorithm].title in radio.options
    assert sorted(found) == sorted(t.title for t in family("algorithm").values())
    for technique in family("algorithm").values():
        assert cast(type[Algorithm], technique).offer.when, "say when to use it"


def test_an_approach_comes_back_with_its_last_technique() -> None:
    app = open_page(RUN, load(models=[{"name": "bucket-size", "k": 2}]))
    choose(app, "slicing")
    choose(app, "mondrian")
    next(c for c in app.button_group if c.key == "run_form/approach").set_value("links").run()
    assert app.session_state["state/work"]["draft"]["algorithm"]["name"] == "slicing"


def test_a_choice_that_was_lost_on_its_way_changes_nothing() -> None:
    """A browser that is behind sends a place in the list before: none of what is offered now."""
    held = load()
    before = held["state/work"]["draft"]["algorithm"]["name"]
    app = open_page(RUN, held | {"run_form/technique": None, "run_form/technique/before": before})
    assert not app.exception
    assert not app.error
    assert app.session_state["run_form/technique"] == before
    assert app.session_state["state/work"]["draft"]["algorithm"]["name"] == before


def test_a_sample_brings_its_public_table() -> None:
    held = load("toth-private", models=[{"name": "bucket-size", "k": 2}])
    held["state/work"]["sample"] = "toth-private"
    app = open_page(RUN, held)
    next(r for r in app.radio if r.key == "population-kind").set_value("A table of it").run()
    button(app, "use-public-table").click().run()
    assert not app.exception
    assert "Toth: public table, 10 people" in words(app).replace("\\", "")
    choose(app, "one-attribute-slicing")
    button(app, "run").click().run()
    wait_for(app, "run")
    assert not app.exception
    hits = {a.attack: a.hits for a in app.session_state["state/result"].attacks}["membership"]
    assert hits is not None
    assert hits.people > 0
