"""Roles: suggestions, edits, and how unique rows are."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from anon_core.base.errors import BadPlan
from anon_core.data.profile import profile
from anon_core.data.reading import DataOptions
from anon_core.data.roles.roles import Roles
from anon_core.data.roles.suggestions import suggested
from tests.ui.sessions import RUN, words
from ui.forms import role_table
from ui.state import loading, state
from ui.words.escaping import plain

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


def test_what_is_found_blocks_run_until_it_is_confirmed(start: AppTest) -> None:
    opened(start, "hospital")
    work = start.session_state["state/work"]
    roles = {**work["roles"], "left_out": [], "insensitive": ["ward", "cost"]}
    roles["left_out"] = ["insurance", "length_of_stay"]
    start.session_state["state/work"] = {**work, "roles": roles}
    start.switch_page(RUN).run()
    found = "4,980 of 5,000 rows have a value of 'cost' that no other row has."
    assert plain(found) in words(start)
    assert start.button(key="run").disabled
    start.switch_page(ROLES).run()
    assert plain(found) in words(start)
    start.button(key="finding/yes/unique/cost").click().run()
    assert not start.exception
    assert f"Confirmed: {plain(found)}" in words(start)
    start.switch_page(RUN).run()
    assert not start.button(key="run").disabled
    start.switch_page(ROLES).run()
    start.button(key="finding/back/unique/cost").click().run()
    start.button(key="finding/out/unique/cost").click().run()
    assert "cost" in start.session_state["state/work"]["roles"]["left_out"]
    assert plain(found) not in words(start)


def test_edits_change_only_their_columns() -> None:
    base = {"a": "insensitive", "b": "quasi", "c": "sensitive", "d": "undecided", "e": "undecided"}
    after = role_table.change(role_table.change(base, ["a"], "both"), ["d", "e"], "left_out")
    assert after == {**base, "a": "both", "d": "left_out", "e": "left_out"}
    made = role_table.as_roles(after)
    assert made == Roles(quasi=("a", "b"), sensitive=("a", "c"))
    assert role_table.left_out(after) == ("d", "e")
    assert role_table.as_choices(made, ("d", "e"), list(after)) == after
    assert role_table.change({"a": "person", "b": "quasi"}, ["b"], "person") == {
        "a": "identifier",
        "b": "person",
    }


def test_an_edit_reaches_the_session(session: None) -> None:
    loading.load_sample("toth-private")
    names = ("Name", "Zip", "Age", "Salary")
    choices = role_table.as_choices(state.roles(), state.left_out(), names)
    role_table.take(role_table.change(choices, ["Zip"], "insensitive"))
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
    assert "These columns have no role yet: Zip, Salary." in words(start)
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
    said = words(start)
    assert "Still undecided: ward, cost, insurance." in said
    answer = start.success[0].value
    assert "8 of 11 columns have the suggested role: 1 ⊘ identifier, " in answer
    assert "There is no suggestion for ward, cost, insurance: decide below." in answer


def test_the_table_draws_every_column_with_its_role_and_why_another_is_suggested(
    session: None,
) -> None:
    loading.load_sample("hospital")
    data = state.typed_dataset()
    assert data is not None
    sentence = role_table.message(profile(data), suggested(data))
    assert [one["name"] for one in sentence["columns"]] == list(data.names)
    assert {one["name"]: one["role"] for one in sentence["columns"]}["zip"] == "quasi"
    assert all(one["why"] for one in sentence["columns"])
    assert len(sentence["choices"]) <= 10  # each has a number key, the tenth 0
    assert len({one["word"] for one in sentence["choices"]}) == len(sentence["choices"])
    before = sentence["table"]
    role_table.edited({"columns": ["zip", "age", "no such column"], "choice": "left_out"})
    assert {"zip", "age"} <= set(state.left_out())
    after = role_table.message(profile(data), suggested(data))
    assert after["table"] == before  # what is ticked and in sight stays
    role_table.edited({"columns": ["zip"], "choice": "no such role"})
    assert "zip" in state.left_out()
    with pytest.raises(BadPlan, match="both identify persons"):
        role_table.edited({"columns": ["zip", "age"], "choice": "person"})
    assert {"zip", "age"} <= set(state.left_out())


def test_no_line_ends_before_a_per_cent_sign() -> None:
    assert plain("It re-identifies 8.9 % of 5 rows") == "It re\\-identifies 8\\.9\u00a0% of 5 rows"
