"""Changes on Run: what the form writes into the recipe, and where the secret key goes."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pytest
import streamlit as st

from anon_core.base.errors import BadPlan
from anon_core.data.values.kinds import KINDS
from anon_core.explain.text.tiles import tiles
from tests.ui.sessions import RESULTS, RUN, carried_out, load, open_page, words
from ui.state import state
from ui.state.result_view import Facts
from ui.state.sessions import session_file
from ui.state.work.fragments import opens_with

KEY = bytes(range(32)).hex()


def session() -> dict[str, Any]:
    """Return a session with an identifier."""
    held = load("toth-private", algorithm={"name": "mondrian"})
    with patch.object(st, "session_state", held):
        roles, data = state.roles(), state.dataset()
        assert data is not None
        name = next(n for n in data.names if n not in (*roles.quasi, *roles.sensitive))
        left = [n for n in state.left_out() if n != name]
        taken = replace(roles, insensitive=tuple(n for n in roles.insensitive if n != name))
        if name not in taken.identifier:
            taken = replace(taken, identifier=(*taken.identifier, name))
        state.set_roles(taken, left)
    return held | {"name": name}


def test_a_change_is_added_and_needs_its_key() -> None:
    held = session()
    name = held.pop("name")
    app = open_page(RUN, held)
    assert not app.exception
    app = next(s for s in app.selectbox if s.key == "changes/0").set_value("pseudonym").run()
    columns = next(m for m in app.multiselect if m.key == "changes/0/pseudonym/columns")
    assert columns.options == [name]
    app = columns.set_value([name]).run()
    assert not app.exception
    (made,) = app.session_state["state/work"]["draft"]["changes"]
    assert (made["name"], made["columns"], made["domain"]) == ("pseudonym", [name], "person")
    field = next(t for t in app.text_input if t.key == "changes/key")
    app = field.set_value(KEY[:10]).run()
    assert "has 10 of 64 hexadecimal digits" in words(app).replace("\\", "")
    app = next(t for t in app.text_input if t.key == "changes/key").set_value(KEY).run()
    assert not app.exception
    work = app.session_state["state/work"]
    assert KEY not in json.dumps(work)
    held = {**held, "state/work": work}
    with pytest.raises(BadPlan, match="secret key"):
        carried_out(held)
    result = carried_out({**held, "state/key": KEY})
    shown = result.published.to_pandas()[name]
    assert all(len(text) == 16 for text in shown)
    assert len(set(shown)) == len(shown)
    with patch.object(st, "session_state", {**held, "state/key": KEY}):
        assert KEY not in json.dumps(session_file.content())


def test_a_change_goes_when_its_column_has_another_role() -> None:
    held = session()
    name = held.pop("name")
    with patch.object(st, "session_state", held):
        state.update_draft(changes=[{"name": "constant", "columns": [name]}])
        assert state.recipe()["changes"] == [{"name": "constant", "columns": [name]}]
        roles = state.roles()
        state.set_roles(replace(roles, identifier=(), quasi=(*roles.quasi, name)))
        assert "changes" not in state.recipe()


def test_results_show_replaced_values_beside_the_tables_own() -> None:
    held = load("toth-private", algorithm={"name": "as-is"}, models=[])
    with patch.object(st, "session_state", held):
        roles, data = state.roles(), state.dataset()
        assert data is not None
        name = next(n for n in roles.quasi if KINDS[data.column(n).kind].amount)
        state.update_draft(changes=[{"name": "swapping", "columns": [name], "share": 1.0}])
    result = carried_out(held)
    app = open_page(RESULTS, held)
    assert not app.exception
    said = words(app).replace("\\", "")
    assert "no privacy model" in said
    facts = Facts(result=result)
    was = [str(v) for v in facts.original[name]]
    assert sorted(was) == sorted(map(str, facts.published[name]))
    assert was != [str(v) for v in facts.published[name]]
    own = data.column(name).texts().tolist()
    others = [n for n in roles.quasi if n != name]
    rows = {
        tuple(r) for r in zip(own, *(data.column(n).texts().tolist() for n in others), strict=True)
    }
    shown = facts.original[[name, *others]].astype(str)
    assert {tuple(r) for r in shown.itertuples(index=False)} == rows
    chance, people, loss = tiles(result)
    assert chance.attacker == people.attacker == "Linkage by distance"
    assert loss.figure != "not measured"
    assert loss.note.startswith("Distance from true values (IL1s): 0 is unchanged.")


def test_a_fold_stays_open_when_what_is_on_it_changes() -> None:
    """To Streamlit a fold with another label is another one, which begins closed by itself."""
    assert not opens_with(None, "as they are")
    assert not opens_with(("as they are", False, True), "as they are")  # the same, open or not
    assert opens_with(("as they are", False, True), "1 changed")
    assert opens_with(("1 changed", True, False), "1 changed")  # begins as it began
    assert not opens_with(("1 changed", True, False), "as they are")


def test_a_text_of_several_lines_has_room_for_them() -> None:
    held = load("toth-private", algorithm={"name": "mondrian"})
    app = open_page(RUN, held)
    app = next(s for s in app.selectbox if s.key == "changes/0").set_value("pram").run()
    assert [a.key for a in app.text_area] == ["changes/0/pram/matrix"]
    app = next(s for s in app.selectbox if s.key == "changes/0")
    app = app.set_value("item-generalization").run()
    tree = next(a for a in app.text_area if a.key == "changes/0/item-generalization/tree")
    app = tree.set_value("A: a\nB: b").run()
    (made,) = app.session_state["state/work"]["draft"]["changes"]
    assert made["tree"] == "A: a\nB: b"
