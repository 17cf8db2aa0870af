"""The questions on Results: those that arise are offered, and each is answered in one sentence."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.ui.sessions import RESULTS, carried_out, load, open_page, words
from ui.panels.results.drawers import question_panel
from ui.state import state


def offered(app: AppTest) -> list[str]:
    return list(next(g for g in app.button_group if g.key == "question").options)


def ask(app: AppTest, start: str) -> str:
    options = [o if isinstance(o, str) else o.content for o in offered(app)]
    question = next(o for o in options if o.startswith(start))
    next(g for g in app.button_group if g.key == "question").set_value(question).run()
    assert not app.exception
    assert not app.error
    return words(app)


@pytest.fixture(scope="module")
def held() -> dict[str, Any]:
    found = load("samarati", models=[{"name": "k-anonymity", "k": 3}])
    carried_out(found)
    with patch.object(st, "session_state", found):
        state.update_draft(algorithm={"name": "optimal", "max_suppression": 0.3})
    result = carried_out(found)
    assert result.release.suppressed
    return found


def test_a_result_is_asked_everything_that_arises(held: dict[str, Any]) -> None:
    app = open_page(RESULTS, held, tab="Questions")
    assert "Choose one: it is answered" in words(app)
    assert "needs k \\= 5" in ask(app, "Which k?")
    answer = ask(app, "Why is this row suppressed?")
    assert "is in a class of" in answer
    assert "anonymity blocks it" in answer
    assert "Suppression budget: " in ask(app, "What changed").replace("\\:", ":")
    assert "Yes, among choices of one level" in ask(app, "Is this optimal?").replace("\\", "")
    answer = ask(app, "What does someone learn").replace("\\", "")
    assert "finds at least" in answer
    answer = ask(app, "What is revealed about one person?").replace("\\", "")
    assert "so the right one is picked" in answer or "No published row fits" in answer


def test_questions_that_do_not_arise_are_not_offered() -> None:
    found = load("toth-private", algorithm={"name": "mondrian"})
    result = carried_out(found)
    with patch.object(st, "session_state", found):
        asked = list(question_panel._questions(result))
    assert not result.release.suppressed
    assert "Why is this row suppressed?" not in asked
    assert "What changed since the last run?" not in asked
    assert "Is this optimal?" in asked


def test_a_permuted_release_is_answered_too() -> None:
    found = load(
        "hospital",
        algorithm={"name": "permutation", "partition": "mondrian"},
        models=[{"name": "bucket-size", "k": 5}],
    )
    carried_out(found)
    app = open_page(RESULTS, found, tab="Questions")
    assert "on average over all ways" in ask(app, "What is revealed about one person?") or (
        "averaged over all ways" in words(app)
    )
    assert "Nothing is proven" in ask(app, "Is this optimal?")
