"""The attack panel of Results: outcomes, the three questions, and attacks run when asked for."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pytest
import streamlit as st

from anon_core.data.reading import read_table
from anon_core.recipe.earlier_release import EarlierFile
from tests import toy_attack
from tests.ui.sessions import ATTACKS, RESULTS, carried_out, load, open_page, wait_for, words
from ui.state import pinning, results, state
from ui.state.population_tables import Population
from ui.state.work import running, what_if


def session() -> dict[str, Any]:
    held = load()
    carried_out(held, pinned=1)
    return held


def test_the_three_questions_are_answered_with_what_was_tested() -> None:
    app = open_page(RESULTS, session(), tab=ATTACKS)
    app.segmented_control(key="attack-view").set_value("Questions").run()
    assert not app.exception
    text = words(app)
    assert "Can a person be singled out?" in text
    assert "Journalist** – not tested\\: It needs a population" in text
    assert "Prosecutor** – 25% on average, 33\\.3% at worst; by guessing 12\\.5%" in text
    # The links that are left stand below, next to the attacks that go along them.
    assert "What they are known by, among each other** – " in text
    own, rest = text.index("Which links are left?"), len(text)
    assert "kept" in text[own:rest]
    assert "Attacks along it\\: " in text[own:rest] or "Attacks along it: " in text[own:rest]
    assert "Prosecutor" in text[own:rest]


def test_each_attack_stands_below_what_it_discloses() -> None:
    app = open_page(RESULTS, session(), tab=ATTACKS)
    app.segmented_control(key="attack-view").set_value("One by one").run()
    assert not app.exception
    assert words(app).index("Who is it?") < words(app).index("Are they in it?")


def test_an_attack_is_run_on_the_result_when_asked_for() -> None:
    with toy_attack.asked_for():
        held = session()
        app = open_page(RESULTS, held, tab=ATTACKS)
        app.segmented_control(key="attack-view").set_value("Attack further").run()
        app.selectbox(key="further-attack").set_value("asked-for").run()
        app.button(key="attack-further").click().run()
        for _ in range(100):
            if "Half of them" in words(app):
                break
            time.sleep(0.05)
            app.run()
        assert not app.exception
        assert "Half of them" in words(app)
        now = app.session_state["state/result"]
        assert "asked-for" in {a.attack for a in now.attacks}
        with patch.object(st, "session_state", app.session_state):
            assert pinning.pins()[0].result is now
            assert results.last() is now
        app.segmented_control(key="attack-view").set_value("One by one").run()
        assert "Net of that, 33" in words(app)
        assert not app.exception


def test_an_earlier_release_is_laid_beside_the_result() -> None:
    held = session()
    result = held["state/result"]
    content = result.files["release.csv"]
    earlier = Population(
        title="october.csv", path="earlier-1.csv", content=content, table=read_table(content)
    )
    named = replace(result.plan, earlier=EarlierFile(file="earlier-1.csv", people="all"))
    held["state/result"] = replace(result, plan=named)
    held["populations"] = {"earlier-1.csv": earlier}
    app = open_page(RESULTS, held, tab=ATTACKS)
    app.segmented_control(key="attack-view").set_value("Two releases").run()
    assert "Loaded: october" in words(app)
    app.button(key="compare-earlier").click().run()
    for _ in range(100):
        if app.session_state["state/result"] is not held["state/result"]:
            break
        time.sleep(0.05)
        app.run()
    assert not app.exception
    now = app.session_state["state/result"]
    assert {"composition", "correspondence"} <= {a.attack for a in now.attacks}
    # The same release twice tells no more than once.
    (found,) = (a for a in now.attacks if a.attack == "composition")
    assert found.rate == found.baseline


def test_another_attacker_is_met_without_leaving_results(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(what_if, "AT_ONCE", float("inf"))  # however busy the machine
    held = load("hospital")
    carried_out(held)
    app = open_page(RESULTS, held, tab=ATTACKS)
    app.segmented_control(key="attack-view").set_value("What they know").run()

    def draft() -> dict[str, Any]:
        return app.session_state["state/work"]["draft"]

    assert draft()["population"] == {}  # a look changes nothing
    app.radio(key="population-kind").set_value("Its size").run()
    app.number_input(key="population-size").set_value(100_000).run()
    assert draft()["population"] == {"size": 100_000}
    app.selectbox(key="threshold-usual").set_value("1 in 20 (k = 20)").run()
    assert {"name": "prosecutor", "threshold": 0.05} in draft()["attacks"]
    app = wait_for(app, running.JOB)
    assert not app.exception
    result = app.session_state[state.RESULT]
    assert {a.attack: a.threshold for a in result.attacks}["prosecutor"] == 0.05
    assert "journalist" in {a.attack for a in result.attacks}
