"""Errors on Run carry what mends them: each button is one that was found to help."""

from __future__ import annotations

from contextlib import suppress
from typing import Any
from unittest.mock import patch

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from anon_core.base.errors import AnonError
from anon_core.explain.advice import trials as trying
from anon_core.explain.advice.fixes import changes
from anon_core.explain.text.plan_words import not_defined
from anon_core.recipe.plan import Plan
from tests.ui.sessions import RUN, load, open_page, wait_for, words
from ui.state import state

K2 = {"name": "k-anonymity", "k": 2}
#: Choices that make no plan, or one whose technique cannot give a promise.
CONTRADICTIONS: dict[str, dict[str, Any]] = {
    "technique that permutes": {"algorithm": {"name": "permutation"}},
    "unknown parameter": {"algorithm": {"name": "optimal", "colour": "red"}},
    "promise of a mechanism": {"models": [K2, {"name": "differential-privacy"}]},
    "public table missing": {"models": [K2, {"name": "delta-presence"}]},
    "bounds that cross": {
        "models": [K2, {"name": "delta-presence", "delta_min": 0.9, "delta_max": 0.1}]
    },
    "averages": {
        "algorithm": {"name": "microaggregation"},
        "models": [K2, {"name": "delta-presence"}],
    },
}


def offered(app: AppTest, of: str) -> list[Any]:
    return [b for b in app.button if str(b.key).startswith((f"fix-{of}-", "replace-"))]


def broken(draft: dict[str, Any]) -> dict[str, Any]:
    """Return a session with choices that contradict each other."""
    held = load(**draft)
    with patch.object(st, "session_state", held), suppress(AnonError):
        assert not_defined(state.plan())
    return held


@pytest.mark.parametrize("what", CONTRADICTIONS)
def test_every_contradiction_is_mended_by_a_click(what: str) -> None:
    held = broken(CONTRADICTIONS[what])
    app = open_page(RUN, held)
    assert not app.exception
    assert offered(app, "plan")
    for place in range(len(offered(app, "plan"))):
        app = open_page(RUN, broken(CONTRADICTIONS[what]))
        offered(app, "plan")[place].click().run()
        assert not app.exception
        with patch.object(st, "session_state", {key: app.session_state[key] for key in held}):
            assert not not_defined(state.plan())
        assert not offered(app, "plan")
        assert not next(b for b in app.button if b.key == "run").disabled


def test_what_is_offered_after_a_run_releases() -> None:
    app = open_page(RUN, load(models=[{"name": "k-anonymity", "k": 9}]))
    next(b for b in app.button if b.key == "run").click().run()
    wait_for(app, "run")
    assert not app.exception
    labels = [b.label for b in offered(app, "run")]
    assert labels[0] == "Set k \\= 3"  # with 4 to 8, all is suppressed or at the top
    # What the message allows and what the button sets are one order, and the caption says why.
    said = words(app).replace("\\", "")
    assert "With k = 8, all rows would be alike" in said
    assert "Set k = 3: the highest k with which this technique keeps any detail" in said
    for place in range(len(labels)):
        app = open_page(RUN, load(models=[{"name": "k-anonymity", "k": 9}]))
        next(b for b in app.button if b.key == "run").click().run()
        wait_for(app, "run")
        offered(app, "run")[place].click().run()
        assert not app.error
        next(b for b in app.button if b.key == "run").click().run()
        wait_for(app, "run")
        assert not app.error, labels[place]
        assert "Recomputed from the published file" in words(app)


def test_a_hierarchy_that_is_refused_leads_to_its_page() -> None:
    held = load()
    with patch.object(st, "session_state", held):
        state.set_levels("Zip", [["1", "*"]])
    app = open_page(RUN, held)
    next(b for b in app.button if b.key == "run").click().run()
    wait_for(app, "run")
    assert app.error
    links = [one.proto.label for one in app.get("page_link")]
    assert "Mend the hierarchy" in links


def test_changes_that_are_offered_are_plans_or_left_out() -> None:
    held = load()
    with patch.object(st, "session_state", held):
        recipe = state.recipe()
    found = list(changes(recipe))
    assert {"Choose Mondrian"} <= {one.label for one in found}
    made = 0
    for one in found:
        try:
            Plan.from_mapping({**recipe, **one.tables})
            made += 1
        except AnonError:
            continue
    assert made > 3
    several = {**recipe, "models": [*recipe["models"], {"name": "t-closeness"}]}
    assert "Remove t-closeness" in {one.label for one in changes(several)}


def refused_run() -> AppTest:
    app = open_page(RUN, load(models=[{"name": "k-anonymity", "k": 9}]))
    next(b for b in app.button if b.key == "run").click().run()
    return wait_for(app, "run")


def test_where_nothing_helps_that_is_said_with_a_way_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trying, "changes", lambda *given: ())
    monkeypatch.setattr(trying, "nearest", lambda *given: ())
    app = refused_run()
    assert app.error
    assert not offered(app, "run")
    assert "No single change that was tried releases something" in words(app)
    assert "Give columns a hierarchy" in [one.proto.label for one in app.get("page_link")]


def test_of_a_large_table_a_sample_is_tried_and_that_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(trying, "MOST_ROWS", 7)
    rows: list[int] = []
    try_out = trying.tried

    def tried(recipe: Any, given: Any, context: Any) -> Any:
        rows.append(given.dataset.rows)
        return try_out(recipe, given, context)

    monkeypatch.setattr(trying, "tried", tried)
    app = refused_run()
    assert app.error
    assert set(rows) == {7}
    assert offered(app, "run")
    assert "tried on a sample of 7 rows, and releases something there" in words(app)


def test_a_value_is_set_under_the_name_of_its_field() -> None:
    # The recipe writes delta_max; the field, and so the button, says δ max.
    held = load("toth-private", models=[K2, {"name": "delta-presence"}])
    held["state/work"]["sample"] = "toth-private"  # its public table is then offered
    app = open_page(RUN, held)
    app.radio(key="population-kind").set_value("A table of it").run()
    app.button(key="use-public-table").click().run()
    next(b for b in app.button if b.key == "run").click().run()
    wait_for(app, "run", 60)
    labels = [b.label.replace("\\", "") for b in app.button]
    assert "Set δ max = 0.834" in labels
    assert not [one for one in labels if "delta_" in one]
