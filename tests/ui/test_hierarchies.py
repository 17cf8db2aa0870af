"""Hierarchies: given, loaded, refused, undone."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pandas as pd
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from anon_core.base.errors import AnonError, BadHierarchy
from anon_core.data.hierarchy import levels_csv, parse_levels
from anon_core.data.roles.roles import Roles
from anon_core.data.table import Dataset
from tests.ui.sessions import open_page, words
from ui.panels.page_frame import STEPS
from ui.state import drafts, loading, many_hierarchies, state
from ui.state.loading import Opened

HIERARCHIES = "pages/3_Hierarchies.py"


def opened(app: AppTest, sample: str) -> AppTest:
    app.button(key=f"start/sample/{sample}").click().run()
    return app.switch_page(HIERARCHIES).run()


def test_without_a_table_it_names_the_next_step(start: AppTest) -> None:
    start.switch_page(HIERARCHIES).run()
    assert not start.exception
    assert "There is no table yet" in words(start)


def test_without_quasi_identifiers_it_sends_to_roles(start: AppTest) -> None:
    start.button(key="start/sample/toth-private").click().run()
    start.session_state["state/work"] = {
        **start.session_state["state/work"],
        "roles": {
            role: []
            for role in ("identifier", "quasi", "sensitive", "insensitive", "person", "left_out")
        },
    }
    start.switch_page(HIERARCHIES).run()
    assert "No quasi-identifier yet" in words(start)


def test_shows_what_each_level_does(start: AppTest) -> None:
    opened(start, "toth-private")
    assert not start.exception
    table = start.dataframe[0].value
    assert list(table["Level"]) == list(range(len(table)))
    assert table["Groups"].iloc[0] == 4
    assert table["Groups"].iloc[-1] == 1
    assert table["Unique rows"].iloc[0] == 2


@pytest.mark.parametrize("sample", ["hospital", "samarati", "li-microdata"])
def test_every_column_is_shown(start: AppTest, sample: str) -> None:
    opened(start, sample)
    for name in start.session_state["state/work"]["roles"]["quasi"]:
        start.radio(key="hierarchies/column").set_value(name).run()
        assert not start.exception
        assert not start.error


def test_many_columns_are_a_list_to_type_in() -> None:
    names = [f"column {place}" for place in range(31)]
    data = Dataset.from_frame(pd.DataFrame({name: ["a", "b", "c"] for name in names}))
    held: dict[str, Any] = {}
    with patch.object(st, "session_state", held):
        state.set_dataset(data, roles=Roles(quasi=tuple(names)), levels={}, types={}, title="W")
    app = open_page(HIERARCHIES, held)
    assert not app.exception
    assert not [r for r in app.radio if r.key == "hierarchies/column"]
    assert "column 30 · value or *" in app.selectbox(key="hierarchies/column").options
    app.selectbox(key="hierarchies/column").set_value("column 30").run()
    assert not app.exception
    assert app.selectbox(key="hierarchies/column").value == "column 30"
    work = app.session_state["state/work"]
    entry = {"rows": [["a", "*"], ["b", "*"], ["c", "*"]], "sha256": ""}
    app.session_state["state/work"] = {**work, "levels": {"column 30": entry}}
    app.run()
    chosen = app.selectbox(key="hierarchies/column")
    assert "column 30 · 1 level" in chosen.options
    assert chosen.value == "column 30"


def test_none_and_the_samples(start: AppTest) -> None:
    opened(start, "toth-private")
    start.button(key="hierarchies/none").click().run()
    assert "Zip" not in start.session_state["state/work"]["levels"]
    assert len(start.dataframe[0].value) == 2
    assert not [b for b in start.button if b.key == "hierarchies/undo"]  # the builder has its own
    start.button(key="hierarchies/shipped").click().run()
    assert "Zip" in start.session_state["state/work"]["levels"]
    assert not start.exception


def test_missing_values_are_no_group_beside_those_of_the_builder(start: AppTest) -> None:
    opened(start, "hospital")
    start.radio(key="hierarchies/column").set_value("zip").run()
    levels = start.session_state["state/work"]["levels"]["zip"]["rows"]
    table = start.dataframe[0].value
    shown = [len({row[level] for row in levels if row[0]}) for level in range(len(table))]
    assert table["Groups"].tolist()[:-1] == shown[:-1]
    assert table["Groups"].iloc[-1] == 1
    assert start.session_state["state/dataset"].column("zip").missing


def test_a_hierarchy_that_no_longer_fits_is_shown_as_an_error(start: AppTest) -> None:
    opened(start, "toth-private")
    work = start.session_state["state/work"]
    broken = {"rows": [["5370", "a"], ["5371", "b"], ["5372", "b"]], "sha256": "x"}
    start.session_state["state/work"] = {**work, "levels": {**work["levels"], "Zip": broken}}
    start.run()
    assert not start.exception
    assert "no longer fits" in start.error[0].value
    start.button(key="hierarchies/none").click().run()
    assert not start.error


def test_values_that_a_file_lacks_wait_for_a_place(session: None) -> None:
    loading.load_sample("toth-private")
    before = state.fingerprint()
    loading.load_levels("Zip", Opened(name="z.csv", content=b"5370;a;*\n5371;a;*\n9999;a;*\n"))
    assert state.fingerprint() == before
    data = state.typed_dataset()
    assert data is not None
    zips = data.column("Zip")
    sentence = drafts.message(zips)
    assert [one["text"] for one in sentence["unplaced"]] == ["5372", "5373"]
    assert "9999" in sentence["leaves"]
    group = sentence["levels"][0]["id"][0]
    place = {"do": "place", "values": ["5372", "5373"], "onto": 1, "to": group}
    drafts.edit(zips, {"epoch": sentence["epoch"], "rev": 1, **place})
    assert not drafts.waiting(zips)
    assert [row[0] for row in state.levels()["Zip"]] == ["5370", "5371", "9999", "5372", "5373"]
    assert loading.hierarchy_of("Zip").labels[1] == ("a",)


@pytest.mark.parametrize(
    ("text", "error", "says"),
    [
        ("5370;a\n5371;b\n5372;b\n5373;b\n", BadHierarchy, "2 tops"),
        ("Bonn;*\n", BadHierarchy, "none of the column's 4 values"),
        ("5370;x;*\n5371;*\n", BadHierarchy, "line 2"),
        ("", BadHierarchy, "empty"),
    ],
)
def test_a_wrong_file_leaves_the_hierarchy(
    session: None, text: str, error: type[AnonError], says: str
) -> None:
    loading.load_sample("toth-private")
    before = state.fingerprint()
    with pytest.raises(error, match=says):
        loading.load_levels("Zip", Opened(name="z.csv", content=text.encode()))
    assert state.fingerprint() == before
    assert not state.can_undo()


def test_a_file_that_is_no_text_is_refused(session: None) -> None:
    loading.load_sample("toth-private")
    with pytest.raises(AnonError, match="UTF-8"):
        loading.load_levels("Zip", Opened(name="z.csv", content=b"\xff\xfe\x00"))


def test_a_loaded_hierarchy_can_be_undone(session: None) -> None:
    loading.load_sample("toth-private")
    before = state.levels()["Zip"]
    text = "5370,537*,*\n5371,537*,*\n5372,537*,*\n5373,537*,*\n"
    loading.load_levels("Zip", Opened(name="z.csv", content=text.encode()))
    assert state.levels()["Zip"][0] == ["5370", "537*", "*"]
    assert loading.hierarchy_of("Zip").height == 2
    assert state.undo()
    assert state.levels()["Zip"] == before


def test_what_is_downloaded_can_be_loaded(session: None) -> None:
    loading.load_sample("hospital")
    for name in state.roles().quasi:
        hierarchy = loading.hierarchy_of(name)
        text = levels_csv(hierarchy)
        assert parse_levels(text, name)
        loading.load_levels(name, Opened(name="h.csv", content=text.encode()))
        assert loading.hierarchy_of(name).labels == hierarchy.labels


def test_at_least_twenty_steps_are_kept(session: None) -> None:
    loading.load_sample("toth-private")
    for turn in range(30):
        state.set_roles(Roles(quasi=("Zip",) if turn % 2 else ("Age",)))
    steps = 0
    while state.undo():
        steps += 1
    assert steps >= 20
    assert state.roles().quasi == ("Zip", "Age")


def test_hierarchies_of_other_columns_do_not_change_the_plan(session: None) -> None:
    loading.load_sample("hospital")
    before = state.fingerprint()
    state.set_levels("ward", None)
    assert state.fingerprint() == before
    state.set_levels("age", None)
    assert state.fingerprint() != before


def test_files_of_a_folder_are_taken_over_by_name_and_undone_together(session: None) -> None:
    loading.load_sample("toth-private")
    hierarchies = {n: levels_csv(loading.hierarchy_of(n)).encode() for n in ("Zip", "Age")}
    for name in hierarchies:
        state.set_levels(name, None)
    before = state.choices()
    many_hierarchies.load(
        [
            Opened(name="toth_hierarchy_zip.csv", content=hierarchies["Zip"]),
            Opened(name="age.csv", content=hierarchies["Age"]),
            Opened(name="colour.csv", content=b"a;*"),
            Opened(name="Salary.csv", content=b"\xff"),
        ]
    )
    lines = {line.column: line for line in many_hierarchies.said()}
    assert sorted(state.levels()) == ["Age", "Zip"]
    assert lines["Zip"].source == "toth_hierarchy_zip.csv"
    assert lines["Zip"].height > 0
    assert "UTF-8" in lines["Salary"].why
    assert lines[""].why == "No column is named like that."
    assert state.undo()
    assert state.choices() is before


def test_one_click_proposes_for_all_columns_and_one_takes_it_back(start: AppTest) -> None:
    opened(start, "toth-private")
    assert start.button(key="hierarchies/propose_all").disabled
    work = start.session_state["state/work"]
    start.session_state["state/work"] = {**work, "levels": {}}
    start.run()
    start.button(key="hierarchies/propose_all").click().run()
    assert not start.exception
    # Nothing lies between the two ages and the top, so that they lack no hierarchy.
    assert sorted(start.session_state["state/work"]["levels"]) == ["Zip"]
    ticks = next(one.value for one in start.get("html") if ".st-key-steps > :is(" in one.value)
    done = [step.label for at, step in enumerate(STEPS, 1) if f":nth-child({at})" in ticks]
    assert {"Data", "Hierarchies"} <= {*done}
    assert "Results" not in done
    assert start.button(key="hierarchies/propose_all").disabled
    answer = start.session_state["hierarchies/many"]
    assert [line.column for line in answer] == ["Zip"]
    assert all(line.why in words(start).replace("\\", "") for line in answer)
    start.button(key="hierarchies/undo_many").click().run()
    assert start.session_state["state/work"]["levels"] == {}
    assert not [b for b in start.button if b.key == "hierarchies/put_away"]
