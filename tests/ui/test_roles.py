"""Roles: suggestions, edits, and how unique rows are."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from anon_core.base.errors import BadPlan
from anon_core.data.reading import DataOptions
from anon_core.data.roles import Roles
from tests.ui.sessions import RUN, words
from ui.forms import role_table as assigning
from ui.session import loading, state

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
    base = {"a": "insensitive", "b": "quasi", "c": "sensitive", "d": "undecided", "e": "undecided"}
    after = assigning.change(
        base, {0: {"Role": "both"}, 2: {"Role": "identifier"}, 1: {}, 3: {"Role": "left_out"}}
    )
    assert after == {
        "a": "both",
        "b": "quasi",
        "c": "identifier",
        "d": "left_out",
        "e": "undecided",
    }
    assert assigning.as_roles(after) == Roles(identifier=("c",), quasi=("a", "b"), sensitive=("a",))
    assert assigning.left_out(after) == ("d",)
    assert assigning.as_choices(assigning.as_roles(after), ("d",), list(after)) == after


def test_an_edit_reaches_the_session(session: None) -> None:
    loading.load_sample("toth-private")
    names = ("Name", "Zip", "Age", "Salary")
    choices = assigning.as_choices(state.roles(), state.left_out(), names)
    assigning.take(assigning.change(choices, {1: {"Role": "insensitive"}}))
    assert state.roles().insensitive == ("Zip",)
    assert state.roles().quasi == ("Age",)
    assert state.plan().hierarchies == {"Age": "hierarchies/Age.csv"}
    assert state.undo()
    assert state.roles().quasi == ("Zip", "Age")


NOTES = (
    b"""iage,isex,xq,remark
31,m,a,Ada Smith came with her son
32,f,b,asked Bo Jones to call again
"""
    + b"33,m,c,see above\n" * 20
)


def test_every_column_of_a_new_table_is_undecided(session: None) -> None:
    loading.load_file(loading.Opened(name="t.csv", content=NOTES), DataOptions())
    assert state.undecided() == ("iage", "isex", "xq", "remark")
    state.set_roles(Roles(quasi=("iage",)), ("remark",))
    assert state.undecided() == ("isex", "xq")
    with pytest.raises(BadPlan) as caught:
        state.plan()
    assert "Column 'isex', 'xq' have no role yet" in caught.value.message
    assert "leave it out" in caught.value.remedy
    state.set_roles(Roles(quasi=("iage",)), ("isex", "xq", "remark"))
    assert state.plan().roles == Roles(quasi=("iage",))


def test_run_names_the_columns_to_decide(start: AppTest) -> None:
    opened(start, "toth-private")
    work = start.session_state["state/work"]
    roles = {**work["roles"], "sensitive": [], "quasi": ["Age"]}
    start.session_state["state/work"] = {**work, "roles": roles}
    start.switch_page(RUN).run()
    assert not start.exception
    assert "Nobody has said yet what becomes of Zip, Salary." in words(start)
    assert start.button(key="run").disabled
    start.switch_page(ROLES).run()
    assert "Still undecided: Zip, Salary." in words(start)
    start.button(key="roles/leave_out").click().run()
    assert start.session_state["state/work"]["roles"]["left_out"] == ["Zip", "Salary"]
    assert "Still undecided" not in words(start)
    start.switch_page(RUN).run()
    assert not start.button(key="run").disabled


def test_applied_suggestions_publish_nothing_as_it_is(start: AppTest) -> None:
    opened(start, "hospital")
    start.button(key="roles/apply").click().run()
    roles = start.session_state["state/work"]["roles"]
    assert roles["insensitive"] == []
    assert "Still undecided: ward, cost, insurance." in words(start)
