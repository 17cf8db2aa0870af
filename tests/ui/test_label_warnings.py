"""A label that a move made false is said next to the builder, and mended with one click."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
import streamlit as st

from anon_core.data.column import Column
from anon_core.data.hierarchy.label_truth import false_labels, with_true_labels
from anon_core.data.roles.roles import Roles
from anon_core.data.table import Dataset
from tests.ui.sessions import open_page, words
from ui.state import drafts, state

ZIPS = ["01090", "01091", "01099", "02625", "02626"]
HIERARCHIES = "pages/3_Hierarchies.py"


@pytest.fixture
def moved(monkeypatch: pytest.MonkeyPatch) -> tuple[dict[str, Any], Column]:
    """Return a session in which 02625 was dragged into the group 0109*, and the column."""
    data = Dataset.from_frame(pd.DataFrame({"zip": ZIPS, "x": list("abcde")}))
    held: dict[str, Any] = {}
    with monkeypatch.context() as patch:
        patch.setattr(st, "session_state", held)
        state.set_dataset(data, roles=Roles(quasi=("zip",)), levels={}, types={}, title="zips")
        column = data.column("zip")
        drafts.put(column, [[z, f"{z[:4]}*", "*"] for z in ZIPS])
        sentence = drafts.message(column)
        assert sentence["untrue"] == []
        group = sentence["levels"][0]["id"][sentence["levels"][0]["label"].index("0109*")]
        move = {"do": "move", "level": 0, "nodes": [3], "onto": 1, "to": group}
        drafts.edit(column, {**move, "epoch": sentence["epoch"], "rev": 1})
        assert drafts.message(column)["error"] is None
        assert drafts.message(column)["untrue"] == [[1, "0109*"]]
    return held, column


def test_it_is_said_and_mended_with_one_click(moved: tuple[dict[str, Any], Column]) -> None:
    app = open_page(HIERARCHIES, moved[0])
    assert not app.exception
    assert "Label “0109\\*” on level 1 is wrong for 1 of its 4 values" in words(app)
    mend = next(b for b in app.button if str(b.key).startswith("hierarchies/mend"))
    assert mend.label == "Rename to “0109\\* or 02625”"
    app = mend.click().run()
    assert not app.exception
    assert not app.error
    assert not any(str(b.key).startswith("hierarchies/mend") for b in app.button)


def test_the_mended_label_is_true_and_can_be_undone(
    moved: tuple[dict[str, Any], Column], monkeypatch: pytest.MonkeyPatch
) -> None:
    held, column = moved
    monkeypatch.setattr(st, "session_state", held)
    (one,) = drafts.untrue(column)
    drafts.rename(column, one.level, one.label, one.instead)
    assert drafts.untrue(column) == []
    assert false_labels(state.levels()["zip"], "text") == []
    sentence = drafts.message(column)
    assert "0109* or 02625" in sentence["levels"][0]["label"]
    drafts.edit(column, {"do": "undo", "epoch": sentence["epoch"], "rev": 1})
    assert drafts.message(column)["untrue"] == [[1, "0109*"]]
    # Without the value it is true again.
    sentence = drafts.message(column)
    drafts.edit(column, {"do": "undo", "epoch": sentence["epoch"], "rev": 2})
    assert drafts.message(column)["untrue"] == []


def test_all_labels_are_mended_at_once_and_undone_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    ages = [str(age) for age in range(1, 21)]
    # As a widely used example has them: 0-4 holds 1 to 5.
    rows = [
        [a, f"{(int(a) - 1) // 5 * 5}-{(int(a) - 1) // 5 * 5 + 4}", f"{(int(a) - 1) // 10}x", "*"]
        for a in ages
    ]
    data = Dataset.from_frame(pd.DataFrame({"age": ages}))
    held: dict[str, Any] = {}
    monkeypatch.setattr(st, "session_state", held)
    state.set_dataset(data, roles=Roles(quasi=("age",)), levels={}, types={}, title="ages")
    column = data.column("age")
    drafts.put(column, rows)
    assert len(drafts.untrue(column)) == 4
    app = open_page(HIERARCHIES, held)
    app = next(b for b in app.button if b.label == "Rename all 4").click().run()
    assert not app.exception
    assert not app.error
    assert not any(str(b.key).startswith("hierarchies/mend") for b in app.button)
    drafts.rename_untrue(column)
    assert drafts.untrue(column) == []
    assert [row[1] for row in state.levels()["age"]] == [
        row[1] for row in with_true_labels(rows, "number")
    ]
    assert state.levels()["age"][4][:2] == ["5", "1-5"]
    sentence = drafts.message(column)
    drafts.edit(column, {"do": "undo", "epoch": sentence["epoch"], "rev": 1})
    assert len(drafts.untrue(column)) == 4


def test_labels_are_confirmed_as_names_with_a_reason(
    moved: tuple[dict[str, Any], Column],
) -> None:
    app = open_page(HIERARCHIES, moved[0])
    confirm = next(b for b in app.button if b.label == "Confirm as names")
    app = confirm.click().run()
    assert any("only with a reason" in e.value for e in app.error)
    (field,) = [t for t in app.text_input if str(t.key).startswith("hierarchies/names/zip")]
    field.set_value("wards of the city's own map")
    app = next(b for b in app.button if b.label == "Confirm as names").click().run()
    assert not app.error
    assert "wards of the city" in words(app)
    assert not any(str(b.key).startswith("hierarchies/mend") for b in app.button)
    app = next(b for b in app.button if b.label == "Check them again").click().run()
    assert any(str(b.key).startswith("hierarchies/mend") for b in app.button)


def test_labels_with_digits_that_cannot_be_read_are_asked_about() -> None:
    data = Dataset.from_frame(
        pd.DataFrame({"age": ["21", "22", "31", "32"], "x": list("abcd")}), kinds={"age": "number"}
    )
    held: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(st, "session_state", held)
        state.set_dataset(data, roles=Roles(quasi=("age",)), levels={}, types={}, title="ages")
        drafts.put(data.column("age"), [[a, f"g{a[0]}", "*"] for a in ("21", "22", "31", "32")])
    app = open_page(HIERARCHIES, held)
    assert not app.exception
    assert "2 labels such as “g2” seem to state a number or a time" in words(app)
    (field,) = [t for t in app.text_input if str(t.key).startswith("hierarchies/names/age")]
    field.set_value("our own codes")
    app = next(b for b in app.button if b.label == "Confirm as names").click().run()
    assert "seem to state" not in words(app)
