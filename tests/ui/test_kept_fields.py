"""What is typed is found again: on return from another page, and where the session is opened again.

Fields of a recipe follow the draft; all others are given their keys by `remembered`.
"""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from anon_core.base.errors import BadInput
from tests.ui.sessions import CHECKOUT, load, open_page
from ui.forms.draft_sync import follow
from ui.state import kept_fields, loading, state
from ui.state.sessions import kept_sessions, session_file

_FIELDS = {
    "checkbox", "multiselect", "number_input", "pills", "radio", "segmented_control",
    "select_slider", "selectbox", "slider", "text_area", "text_input", "toggle",
}  # fmt: skip
#: Fields that need not be found again, by file and function, with the reason.
_PASSING = {
    ("sweep_points.py", "_in_hand"): "a place among the points of the last sweep",
    ("lattice_panel.py", "draw"): "a place among the nodes of the present result",
    ("panel_head.py", "stepper"): "goes with what is chosen on the page",
    ("5_Results.py", "sensitive_values"): "goes with what is chosen on the page",
    ("dialect_form.py", "draw"): "written into the draft as it is drawn",
    ("parameter_forms.py", "_widget"): "its caller lets it follow the draft",
}
_TABLES, _DATA = "pages/10_Tables.py", "pages/1_Data.py"


def _loose(path: Path) -> list[tuple[str, str]]:
    """Return the functions of a file with a field that neither follows anything nor is kept."""
    text = path.read_text(encoding="utf-8")
    found: list[tuple[str, str]] = []
    for function in ast.walk(ast.parse(text)):
        if not isinstance(function, ast.FunctionDef):
            continue
        follows = any(isinstance(n, ast.Name) and n.id == "follow" for n in ast.walk(function))
        for call in ast.walk(function):
            if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
                continue
            if call.func.attr not in _FIELDS or not isinstance(call.func.value, ast.Name):
                continue
            named = {keyword.arg for keyword in call.keywords}
            # A change that is taken over at once is in the draft, or wherever it belongs.
            if named & {"key"} and "on_change" not in named and not follows:
                found.append((path.name, function.name))
    return found


def test_every_field_follows_the_draft_or_is_remembered() -> None:
    places = [*(CHECKOUT / "ui").rglob("*.py"), *(CHECKOUT / "pages").glob("*.py")]
    assert {one for path in places for one in _loose(path)} == _PASSING.keys()


def test_lists_show_names_letter_by_letter() -> None:
    """Their options are no markdown, so what is escaped shows its backslashes."""
    escaped = [
        (path.name, call.lineno)
        for path in [*(CHECKOUT / "ui").rglob("*.py"), *(CHECKOUT / "pages").glob("*.py")]
        if "format_func" in (text := path.read_text("utf-8"))
        for call in ast.walk(ast.parse(text))
        if isinstance(call, ast.Call)
        and ast.unparse(call.func).rpartition(".")[2] in ("selectbox", "multiselect")
        for one in call.keywords
        if one.arg == "format_func" and "plain" in ast.unparse(one.value)
    ]
    assert escaped == []


def test_what_was_typed_is_there_on_return() -> None:
    app = open_page(_TABLES, load("hospital"))
    app.slider(key="tables/n").set_value(8).run()
    app.text_input(key="tables/who").set_value("patients").run()
    app.switch_page(_DATA).run()
    app.switch_page(_TABLES).run()
    assert not app.exception
    assert app.slider(key="tables/n").value == 8
    assert app.text_input(key="tables/who").value == "patients"


def test_an_emptied_number_field_keeps_the_number_it_had() -> None:
    """Streamlit fills it with its default, which follows what was typed."""
    app = open_page("pages/11_Other_releases.py", load("hospital"))
    assert app.number_input(key="other/k").proto.default == 2
    app.number_input(key="other/k").set_value(4).run()
    app.run()
    assert not app.exception
    assert app.number_input(key="other/k").proto.default == 4
    assert app.number_input(key="other/k").value == 4


def test_emptied_number_fields_of_tables_keep_the_number_they_had() -> None:
    held = load("hospital") | {
        "tables/value": "age", "tables/q": 30, "tables/method/True": "cell-key",
        "tables/variance/2": 1.5,
    }  # fmt: skip
    app = open_page(_TABLES, held)
    app.run()
    assert not app.exception
    for key, number in (("tables/q", 30), ("tables/variance/2", 1.5)):
        assert app.number_input(key=key).value == number
        assert app.number_input(key=key).proto.default == number
    app.slider(key="tables/p").set_value(40).run()
    assert app.number_input(key="tables/q").value == 40  # the nearest that is allowed


def test_an_emptied_stepper_stays_at_its_page() -> None:
    def page() -> None:
        from ui.panels import panel_head

        panel_head.stepper("Page", 9, key="pages")

    app = AppTest.from_function(page).run()
    app.number_input(key="pages").set_value(4).run()
    assert not app.exception
    assert app.number_input(key="pages").proto.default == 4


def kept(app: AppTest) -> dict[str, Any]:
    """Return the session file of what a page shows."""
    held = dict(app.session_state._state.filtered_state)  # pyright: ignore
    with patch.object(st, "session_state", held):
        return json.loads(session_file.as_bytes(session_file.content()))


def test_what_was_typed_is_in_the_session_and_comes_back() -> None:
    app = open_page(_TABLES, load("hospital"))
    app.slider(key="tables/n").set_value(8).run()
    app.multiselect(key="tables/columns").set_value(["zip", "age"]).run()
    whole = kept(app)
    assert whole["fields"]["tables/n"] == 8
    held = load("hospital")
    with patch.object(st, "session_state", held):
        session_file.restore(whole)
    again = open_page(_TABLES, held)
    assert not again.exception
    assert again.slider(key="tables/n").value == 8
    assert again.multiselect(key="tables/columns").value == ["zip", "age"]


def test_another_table_begins_with_fields_of_its_own(session: None) -> None:
    loading.load_sample("hospital")
    kept_fields.take_over({"tables/n": 8, "other/k": 4})
    loading.load_sample("toth-private")
    assert kept_fields.values() == {"other/k": 4}
    assert state.undo_dataset()
    assert kept_fields.values() == {"other/k": 4, "tables/n": 8}


def test_fields_of_a_damaged_session_are_refused(session: None) -> None:
    loading.load_sample("hospital")
    for damaged in ([], {"tables/n": {"a": 1}}, {"tables/n": "x" * 2_000_000}):
        whole = {**session_file.content(), "fields": damaged}
        with pytest.raises(BadInput, match="damaged"):
            session_file.restore(whole)


def test_a_choice_that_waits_for_a_run_is_not_overruled_by_what_it_followed(session: None) -> None:
    loading.load_sample("hospital")
    kept_fields.remembered("export-formulas")
    follow("export-formulas", "neutralise")
    st.session_state["export-formulas"] = "keep"
    whole = session_file.content()
    loading.load_sample("hospital")
    session_file.restore(whole)
    assert follow("export-formulas", "neutralise") == "keep"


def test_a_field_that_nobody_changed_is_no_change_where_it_is_not_drawn(
    session: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Streamlit lets its value go: without this, each visit to Export wrote the session twice."""
    monkeypatch.setenv(kept_sessions.FOLDER_VARIABLE, str(tmp_path))
    st.session_state |= load("hospital")
    written: list[Path] = []
    monkeypatch.setattr(kept_sessions, "_write", written.append)
    kept_fields.remembered("ctx-title")
    st.session_state["ctx-title"] = ""
    kept_sessions.save()
    assert len(written) == 1
    del st.session_state["ctx-title"]
    kept_sessions.save()
    st.session_state["ctx-title"] = ""
    kept_sessions.save()
    assert len(written) == 1
    st.session_state["ctx-title"] = "Of one year"
    kept_sessions.save()
    assert len(written) == 2
    kept_fields.forget_table()
    assert kept_fields.noted() == {}
