"""On Run, the level at which a sensitive column is published; on Hierarchies, its levels."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import streamlit as st
from streamlit.testing.v1 import AppTest

from tests.ui.sessions import RESULTS, RUN, VERDICTS, carried_out, load, open_page, words
from ui.state import state

HIERARCHIES = "pages/3_Hierarchies.py"


def with_levels() -> tuple[dict[str, Any], str]:
    """Return a session whose sensitive column has a hierarchy of two groups, and its name."""
    held = load("toth-private", algorithm={"name": "mondrian"})
    with patch.object(st, "session_state", held):
        data, roles = state.dataset(), state.roles()
        assert data is not None
        name = next(n for n in roles.sensitive if n not in roles.quasi)
        values = data.column(name).values
        half = len(values) // 2
        state.set_levels(
            name,
            [[v, "first half" if i < half else "second half", "*"] for i, v in enumerate(values)],
        )
    return held, name


def choice(app: AppTest, name: str) -> Any:
    return next(s for s in app.selectbox if s.key == f"sensitive-level/{name}")


def test_a_level_that_is_chosen_is_published() -> None:
    held, name = with_levels()
    app = open_page(RUN, held)
    assert not app.exception
    box = choice(app, name)
    assert box.options == [
        "Its values, as they are",
        "Level 1: first half, second half",
        "Level 2: *",
        "The lowest level at which the privacy models can hold",
    ]
    app = box.set_value("Level 1: first half, second half").run()
    assert not app.exception
    assert f"'{name}' is published at level 1 of its hierarchy" in words(app).replace("\\", "")
    assert app.session_state["state/work"]["draft"]["sensitive_levels"] == {name: 1}
    held = {**held, "state/work": app.session_state["state/work"]}
    result = carried_out(held)
    assert set(result.published.to_pandas()[name]) == {"first half", "second half"}
    shown = open_page(RESULTS, held, tab=VERDICTS)
    assert not shown.exception
    assert "published at level 1" in words(shown).replace("\\", "")


def test_the_least_level_is_searched() -> None:
    held, name = with_levels()
    app = open_page(RUN, held)
    app = choice(app, name).set_value("The lowest level at which the privacy models can hold").run()
    assert not app.exception
    assert app.session_state["state/work"]["draft"]["sensitive_levels"] == {name: "search"}
    assert "the lowest level of its hierarchy" in words(app)
    held = {**held, "state/work": app.session_state["state/work"]}
    result = carried_out(held)
    assert result.level_search is not None
    assert result.level_search.levels == {name: 0}
    shown = open_page(RESULTS, held, tab="The search")
    assert not shown.exception
    assert "no level had to be raised" in words(shown)


def test_columns_without_levels_are_not_asked_about() -> None:
    app = open_page(RUN, load("toth-private", algorithm={"name": "mondrian"}))
    assert not app.exception
    assert not [s for s in app.selectbox if str(s.key).startswith("sensitive-level/")]


def test_sensitive_columns_can_be_given_levels() -> None:
    held, name = with_levels()
    app = open_page(HIERARCHIES, held)
    column = next(r for r in app.radio if r.key == "hierarchies/column")
    assert name in [option.replace("\\", "") for option in column.options]
    app = column.set_value(name).run()
    assert not app.exception
    assert "unless you choose a level on Run" in words(app)
