"""No click is lost: neither where its run ends early, nor where a fragment's run gets it."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.ui.sessions import (
    PATIENCE,
    RESULTS,
    carried_out,
    load,
    open_page,
    told_to_a_fragment,
)

CHECKOUT = Path(__file__).resolve().parents[2]
SOURCES = sorted(
    [CHECKOUT / "app.py", *(CHECKOUT / "pages").glob("*.py"), *(CHECKOUT / "ui").rglob("*.py")]
)
#: What Streamlit draws and what returns a click.
BUTTONS = {"button", "download_button", "form_submit_button"}


def test_the_key_that_pins_is_heard_while_the_curve_is_drawn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held = load("toth-private")
    carried_out(held)
    app = open_page(RESULTS, held)
    told_to_a_fragment(app, "curve-alone", monkeypatch)
    app.button(key="pin").click().run()
    assert [pin.letter for pin in app.session_state["state/pins"]] == ["A"]
    assert app.button(key="pinned").label.startswith("Pinned as")  # the head is drawn, too


def page() -> None:
    import streamlit as st

    from ui.components.clicks import begin_page, clicked

    begin_page("A page")
    st.session_state.setdefault("done", 0)

    @st.fragment(key="part")
    def part() -> None:
        st.button("In the fragment", key="inside")

    part()
    if st.session_state.pop("ends", False):
        st.rerun()
    if clicked("Do it", key="do", disabled=st.session_state.get("cannot", False)):
        st.session_state["done"] += 1


@pytest.fixture
def app() -> AppTest:
    return AppTest.from_function(page, default_timeout=PATIENCE).run()


def done(app: AppTest) -> Any:
    return app.session_state["done"]


def test_a_click_is_carried_out_once(app: AppTest) -> None:
    app.button(key="do").click().run()
    assert done(app) == 1
    app.run()
    assert done(app) == 1


def test_a_click_outlasts_a_run_that_ends_before_its_button(app: AppTest) -> None:
    app.session_state["ends"] = True
    app.button(key="do").click().run()
    assert done(app) == 1


def test_a_click_that_is_told_to_a_fragment_is_carried_out(
    app: AppTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    told_to_a_fragment(app, "part", monkeypatch)
    app.button(key="do").click().run()
    assert done(app) == 1


def test_what_cannot_be_clicked_any_more_does_not_wait(app: AppTest) -> None:
    app.session_state["cannot"] = True
    app.button(key="do").click().run()
    app.session_state["cannot"] = False
    app.run()
    assert done(app) == 0


def test_a_click_is_forgotten_on_another_page(app: AppTest) -> None:
    app.session_state["clicks/asked"] = {"do"}
    app.session_state["clicks/page"] = "Another page"
    app.run()
    assert done(app) == 0


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(CHECKOUT).as_posix())
def test_no_page_reads_a_click_where_its_button_is_drawn(path: Path) -> None:
    tree = ast.parse(path.read_text())
    statements = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    read = [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in BUTTONS
        and id(node) not in statements
    ]
    assert not read, f"lines {read}: use on_click, or `clicked` of ui/components/clicks.py"
