"""A session's hierarchy drafts: edited, refused, undone, changed from elsewhere."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from anon_core.data.column import Column
from anon_core.data.hierarchy import (
    Draft,
    InsertLevel,
    MakeGroup,
    Move,
    Operation,
    Place,
    RemoveLevel,
    Rename,
    Reorder,
    Ungroup,
    apply,
)
from tests.ui.sessions import words
from ui.state import drafts, loading, state
from ui.words import edit_words


@pytest.fixture
def zips(session: None) -> Column:
    loading.load_sample("toth-private")
    state.set_levels("Zip", None)
    data = state.typed_dataset()
    assert data is not None
    return data.column("Zip")


def ask(of: Column, **operation: Any) -> dict[str, Any]:
    """Ask for an edit as the builder does, and return what it is shown."""
    now = drafts.message(of)
    drafts.edit(of, {"epoch": now["epoch"], "rev": now["rev"] + 1, **operation})
    return drafts.message(of)


def test_an_edit_is_the_hierarchy_at_once(zips: Column) -> None:
    answer = ask(zips, do="group", level=0, nodes=[0, 1], label="low")
    assert answer["said"] == "Grouped 2 values as “low” on level 1."
    assert answer["made"] == {"level": 1, "id": answer["levels"][0]["id"][0]}
    assert [row[1] for row in state.levels()["Zip"]] == ["low", "low", "5372", "5373"]
    assert loading.hierarchy_of("Zip").labels[1][0] == "low"


def test_undo_and_redo_reach_back_to_no_hierarchy(zips: Column) -> None:
    ask(zips, do="group", level=0, nodes=[0, 1])
    answer = ask(zips, do="undo")
    assert (answer["said"], answer["undo"], answer["redo"]) == ("Undone.", False, True)
    assert "Zip" not in state.levels()
    assert ask(zips, do="undo")["said"] == "There is nothing to undo."
    assert ask(zips, do="redo")["said"] == "Redone."
    assert state.levels()["Zip"][0][1] == "5370 or 5371"


def test_a_refusal_is_told_and_changes_nothing(zips: Column) -> None:
    ask(zips, do="group", level=0, nodes=[0, 1])
    before = state.fingerprint()
    answer = ask(zips, do="group", level=0, nodes=[2], label="5373")
    assert "twice" in answer["error"]["message"]
    assert answer["error"]["remedy"]
    assert state.fingerprint() == before
    assert ask(zips, do="explode")["error"]
    assert ask(zips, do="group", level=0, nodes=[2, 3])["error"] is None


def test_old_and_repeated_edits_are_ignored(zips: Column) -> None:
    edit = {"do": "insert_level"}
    epoch = drafts.message(zips)["epoch"]
    drafts.edit(zips, {**edit, "epoch": epoch, "rev": 1})
    drafts.edit(zips, {**edit, "epoch": epoch, "rev": 1})
    drafts.edit(zips, {**edit, "epoch": epoch - 1, "rev": 2})
    drafts.edit(zips, {**edit, "epoch": epoch, "rev": "3"})
    assert len(drafts.message(zips)["levels"]) == 2


def test_a_change_from_elsewhere_is_one_more_step(zips: Column) -> None:
    ask(zips, do="group", level=0, nodes=[0, 1])
    epoch = drafts.message(zips)["epoch"]
    state.set_levels("Zip", None)
    sentence = drafts.message(zips)
    assert sentence["epoch"] == epoch + 1
    assert len(sentence["levels"]) == 1
    assert len(ask(zips, do="undo")["levels"]) == 2


def test_the_edits_of_a_column_are_undone_together_elsewhere(zips: Column) -> None:
    before = state.fingerprint()
    for _ in range(4):
        ask(zips, do="insert_level")
    assert state.undo()
    assert state.fingerprint() == before
    ask(zips, do="insert_level")
    state.set_levels("Age", None)
    ask(zips, do="insert_level")
    assert state.undo()
    assert len(state.levels()["Zip"][0]) == len(drafts.message(zips)["levels"]) + 1
    assert state.undo()
    assert "Age" in state.levels()


def test_an_edit_that_changes_nothing_is_no_step(zips: Column) -> None:
    steps = 0
    while state.undo():
        steps += 1
    answer = ask(zips, do="reorder", level=0, nodes=[0], beside=1)
    assert answer["said"] == "Nothing changed."
    assert not state.can_undo()


def test_another_kind_of_column_begins_anew(zips: Column) -> None:
    ask(zips, do="group", level=0, nodes=[0, 1])
    loading.set_kind("Zip", "number")
    data = state.typed_dataset()
    assert data is not None
    sentence = drafts.message(data.column("Zip"))
    assert sentence["kind"] == "number"
    assert not sentence["undo"]


def draft(of: Column) -> Draft:
    return drafts.work(of).history.draft


@pytest.mark.parametrize(
    ("operation", "said"),
    [
        (MakeGroup(level=0, nodes=(2,), label="one"), "Grouped 1 value as “one” on level 1."),
        (Move(level=0, nodes=(2, 3), onto=1, to=1), "Moved 2 values into “low”."),
        (Rename(level=1, node=1, label="x" * 90), f"Renamed to “{'x' * 57}…”."),
        (Ungroup(level=1, nodes=(1,)), "Dissolved 1 group."),
        (Reorder(level=0, nodes=(0,), beside=1, after=True), "Moved 1 value to another place."),
        (InsertLevel(), "Added a level; there are 2 below the top."),
        (RemoveLevel(level=1), "Removed a level; there are 0 below the top."),
        (Place(values=("5374",)), "Placed 1 value."),
    ],
)
def test_every_edit_is_told_in_words(zips: Column, operation: Operation, said: str) -> None:
    ask(zips, do="group", level=0, nodes=[0, 1], label="low")
    before = draft(zips)
    number = next(g.id for g in before.levels[0] if g.label == "low")
    if isinstance(operation, Rename):
        operation = Rename(level=1, node=number, label=operation.label)
    if isinstance(operation, Ungroup):
        operation = Ungroup(level=1, nodes=(number,))
    if isinstance(operation, Move):
        operation = Move(level=0, nodes=operation.nodes, onto=1, to=number)
    assert edit_words.effect(before, operation, apply(before, operation)) == said


def test_proposals_are_shown_and_taken_only_when_asked(start: AppTest) -> None:
    start.button(key="start/sample/hospital").click().run()
    start.switch_page("pages/3_Hierarchies.py").run()
    before = start.session_state["state/work"]["levels"]
    start.session_state["hierarchies/propose"] = True
    start.run()
    assert not start.exception
    assert start.session_state["state/work"]["levels"] == before
    start.radio(key="hierarchies/proposal/age").set_value(1).run()
    assert start.session_state["state/work"]["levels"] == before
    start.button(key="hierarchies/take").click().run()
    assert not start.exception
    assert start.session_state["state/work"]["levels"]["age"] != before["age"]
    assert start.session_state["hierarchies/propose"] is False  # it would cover what it did
    assert "no longer fits" not in words(start)
