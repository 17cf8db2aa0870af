"""Roles: suggestions, edits, and how unique rows are."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from anon_core.roles import Roles
from tests.ui.sessions import words
from ui import assigning, loading, state

ROLES = "pages/2_Roles.py"


def opened(app: AppTest, sample: str) -> AppTest:
    app.button(key=f"start/sample/{sample}").click().run()
    return app.switch_page(ROLES).run()


def quasi(app: AppTest) -> list[str]:
    return app.session_state["state/work"]["roles"]["quasi"]


def test_without_a_table_it_names_the_next_step(start: AppTest) -> None:
    start.switch_page(ROLES).run()
    assert not start.exception
    assert "There is no table yet" in words(start)


def test_says_how_unique_rows_are(start: AppTest) -> None:
    opened(start, "toth-private")
    assert not start.exception
    said = words(start)
    assert "25% of rows are unique** (2 of 8)" in said
    assert "**Zip** contributes most" in said


def test_suggestions_are_applied_and_undone(start: AppTest) -> None:
    opened(start, "hospital")
    before = quasi(start)
    start.button(key="roles/apply").click().run()
    assert not start.exception
    assert quasi(start) != before
    start.button(key="roles/undo").click().run()
    assert quasi(start) == before


def test_columns_published_exactly_are_pointed_out(start: AppTest) -> None:
    opened(start, "hospital")
    assert "cost" in start.warning[0].value


def test_edits_change_only_their_columns() -> None:
    base = {"a": "insensitive", "b": "quasi", "c": "sensitive"}
    after = assigning.change(base, {0: {"Role": "both"}, 2: {"Role": "identifier"}, 1: {}})
    assert after == {"a": "both", "b": "quasi", "c": "identifier"}
    assert assigning.as_roles(after) == Roles(identifier=("c",), quasi=("a", "b"), sensitive=("a",))
    assert assigning.as_choices(assigning.as_roles(after), list(after)) == after


def test_an_edit_reaches_the_session(session: None) -> None:
    loading.load_sample("toth-private")
    names = ("Name", "Zip", "Age", "Salary")
    choices = assigning.as_choices(state.roles(), names)
    state.set_roles(assigning.as_roles(assigning.change(choices, {1: {"Role": "insensitive"}})))
    assert state.roles().quasi == ("Age",)
    assert state.plan().hierarchies == {"Age": "hierarchies/Age.csv"}
    assert state.undo()
    assert state.roles().quasi == ("Zip", "Age")
