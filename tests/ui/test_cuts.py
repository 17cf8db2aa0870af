"""Cut points of a session: edits, refusals, undo, and what the component is shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any
from unittest.mock import patch

import pytest
import streamlit as st

from anon_core.data.column import Column
from anon_core.data.hierarchy.label_truth import false_labels
from anon_core.data.samples import sample
from tests.ui.sessions import load
from ui.panels.hierarchies import cut_panel
from ui.state import drafts, state


@pytest.fixture
def age() -> Iterator[Column]:
    with patch.object(st, "session_state", load("hospital")):
        state.set_levels("age", None)
        data = state.typed_dataset()
        assert data is not None
        yield data.column("age")


def ask(column: Column, **asked: Any) -> dict[str, Any]:
    before = cut_panel.message(column)
    cut_panel.edit(column, {"epoch": before["epoch"], "rev": before["rev"] + 1, **asked})
    after = cut_panel.message(column)
    assert after["rev"] == before["rev"] + 1
    return after


def test_from_nothing_to_three_nested_levels(age: Column) -> None:
    assert cut_panel.can_be_cut(age)
    sentence = cut_panel.message(age)
    assert sentence["levels"] == ()
    assert sum(bar[4] for bar in sentence["bars"]) == sentence["rows"] == age.counts.sum()
    sentence = ask(age, do="start", how="rows")
    assert len(sentence["levels"]) == 4
    sentence = ask(age, do="remove_level", level=4)
    finest, middle, coarse = (set(level) for level in sentence["levels"])
    assert coarse < middle < finest
    old = min(coarse)
    sentence = ask(age, do="move", level=3, old=old, new=old + 1)
    assert all(old + 1 in level and old not in level for level in sentence["levels"])
    assert "rows" in sentence["said"]
    for level in sentence["intervals"]:
        assert sum(one[3] for one in level) == age.counts.sum()
    rows = state.levels()["age"]
    assert len(rows[0]) == 5
    assert ask(age, do="undo")["levels"][2] == tuple(sorted(coarse))
    assert old + 1 in ask(age, do="redo")["levels"][2]


def test_levels_cuts_ends_and_style(age: Column) -> None:
    answer = ask(age, do="start", how="round")
    assert answer["open_top"]
    assert answer["intervals"][0][-1][2].startswith("≥")
    top = len(answer["levels"])
    answer = ask(age, do="ends", open_bottom=False, open_top=False)
    assert not any(one[2].startswith(("<", "≥")) for one in answer["intervals"][0])
    answer = ask(age, do="style", style="bracket")
    assert answer["intervals"][0][0][2].startswith("[")
    answer = ask(age, do="add", level=top, at=33)
    assert all(33 in level for level in answer["levels"])
    answer = ask(age, do="remove", level=2, at=33)
    assert [33 in level for level in answer["levels"]] == [True] + [False] * (top - 1)
    answer = ask(age, do="start", how="width")
    assert answer["error"] is None
    count = len(answer["levels"])
    answer = ask(age, do="add_level")
    assert len(answer["levels"]) == count + 1
    assert "Level added" in answer["said"]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"do": "move", "level": 1, "old": 1.5, "new": 30}, "no cut"),
        ({"do": "move", "level": 1, "old": "x", "new": 30}, "must be a number"),
        ({"do": "add", "level": 1, "at": 10_000}, "empty group"),
        ({"do": "add", "level": 9, "at": 30}, "no such level"),
        ({"do": "start", "how": "odd"}, "start is unknown"),
        ({"do": "dance"}, "edit of cuts is unknown"),
    ],
)
def test_a_refusal_is_told_and_changes_nothing(
    age: Column, asked: dict[str, Any], words: str
) -> None:
    before = ask(age, do="start", how="rows")["levels"]
    answer = ask(age, **asked)
    assert words in answer["error"]["message"]
    assert answer["levels"] == before
    while len(answer["levels"]) < cut_panel.MOST_LEVELS and answer["error"] is None:
        answer = ask(age, do="add_level")


def test_an_echo_and_a_stale_edit_do_nothing(age: Column) -> None:
    first = ask(age, do="start", how="rows")
    cut_panel.edit(age, {"epoch": first["epoch"], "rev": first["rev"], "do": "undo"})
    cut_panel.edit(age, {"epoch": "another", "rev": 99, "do": "undo"})
    assert cut_panel.message(age)["levels"] == first["levels"]


def test_names_given_by_hand_are_told_of(age: Column) -> None:
    assert not ask(age, do="start", how="rows")["named"]
    work = drafts.work(age)
    group = work.history.draft.levels[0][0]
    asked = {"do": "rename", "level": 1, "node": group.id, "label": "young"}
    drafts.edit(age, {**asked, "epoch": work.epoch, "rev": work.rev + 1})
    assert cut_panel.message(age)["named"]


def test_texts_cannot_be_cut(age: Column) -> None:
    data = state.typed_dataset()
    assert data is not None
    assert not cut_panel.can_be_cut(data.column("ward"))
    day = data.column("admission_date")
    assert cut_panel.can_be_cut(day)
    state.set_levels("admission_date", None)
    answer = ask(day, do="start", how="rows")
    assert answer["kind"] == "date"
    assert " to " in answer["intervals"][0][0][2]


@pytest.mark.parametrize(
    ("name", "column"), [("hospital", "age"), ("hospital", "admission_date"), ("adult", "age")]
)
def test_a_moved_cut_of_a_shipped_hierarchy_leaves_other_labels_and_all_are_true(
    name: str, column: str
) -> None:
    if sample(name).obstacle():
        pytest.skip(sample(name).obstacle())
    with patch.object(st, "session_state", load(name)):
        data = state.typed_dataset()
        assert data is not None
        own = data.column(column)
        before = state.levels()[column]
        sentence = cut_panel.message(own)
        drawn = {label for level in sentence["intervals"] for _, _, label, _, _ in level}
        assert {label for row in before for label in row[1:-1]} <= drawn
        top = len(sentence["levels"])
        for at in sentence["levels"][top - 1]:
            sentence = ask(own, do="move", level=top, old=at, new=at + 1)
            assert sentence["error"] is None
            rows = state.levels()[column]
            assert false_labels(rows, own.kind) == []
            assert drafts.untrue(own) == []
            assert {row[0] for row in rows} == {row[0] for row in before}
            for level in range(1, top + 1):
                groups, held = groups_of(rows, level), groups_of(before, level)
                kept = [leaves for leaves in held if leaves in groups]
                assert [groups[leaves] for leaves in kept] == [held[leaves] for leaves in kept]
                assert len(kept) >= len(held) - 2  # those on both sides of the cut
            ask(own, do="undo")
        assert state.levels()[column] == before


def groups_of(rows: Sequence[Sequence[str]], level: int) -> dict[frozenset[str], str]:
    """Return the label of each group of a level, by its leaves."""
    found: dict[str, set[str]] = {}
    for row in rows:
        found.setdefault(row[level], set()).add(row[0])
    return {frozenset(leaves): label for label, leaves in found.items()}
