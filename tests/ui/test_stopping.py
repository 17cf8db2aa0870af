"""What would stop an attack, on Results: tried when asked for, and taken over in one click."""

from __future__ import annotations

import time
from typing import Any
from unittest.mock import patch

import streamlit as st

from tests.ui.sessions import ATTACKS, RESULTS, carried_out, load, open_page, words
from ui.state import state

_SEARCH = {"name": "optimal", "max_suppression": 0.0}


def session() -> dict[str, Any]:
    held = load(algorithm=_SEARCH, models=[{"name": "k-anonymity", "k": 2}])
    carried_out(held)
    return held


def test_changes_are_tried_and_one_is_taken_over() -> None:
    held = session()
    app = open_page(RESULTS, held, tab=ATTACKS)
    app.segmented_control(key="attack-view").set_value("One by one").run()
    offered = [b.key for b in app.button if str(b.key).startswith("stop-")]
    result = held["state/result"]
    reached = [
        f"stop-{a.attack}-{a.column}"
        for a in result.attacks
        if (a.at_risk or a.undecided or a.worst >= 1) and not a.idle
    ]
    assert reached
    assert set(reached) >= set(offered) > set()
    app.button(key=offered[0]).click().run()
    for _ in range(200):
        if "and attacked again" in words(app):
            break
        time.sleep(0.05)
        app.run()
    assert not app.exception
    uses = [b.key for b in app.button if str(b.key).startswith("use-")]
    assert uses
    assert "Set k \\= 4" in words(app)
    app.button(key=uses[0]).click().run()
    with patch.object(st, "session_state", app.session_state):
        assert state.draft()["models"] == [{"name": "k-anonymity", "k": 4}]


def test_nothing_is_offered_where_nobody_is_reached() -> None:
    held = load(algorithm=_SEARCH, models=[{"name": "k-anonymity", "k": 8}])
    result = carried_out(held)
    app = open_page(RESULTS, held, tab=ATTACKS)
    app.segmented_control(key="attack-view").set_value("One by one").run()
    quiet = [a for a in result.attacks if not (a.at_risk or a.undecided or a.worst >= 1)]
    assert quiet
    keys = {str(b.key) for b in app.button}
    assert not keys & {f"stop-{a.attack}-{a.column}" for a in quiet}
