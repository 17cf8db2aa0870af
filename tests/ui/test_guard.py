"""What goes wrong in one panel is shown there, without a value; the rest of the page stays."""

from __future__ import annotations

import ast
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from anon_core.base.errors import BadHierarchy
from anon_core.data.column import Column
from anon_core.data.hierarchy.intervals import MOST_CUTS
from anon_core.data.hierarchy.propose.dates_and_times import calendar
from anon_core.data.roles.roles import Roles
from anon_core.data.table import Dataset
from tests.ui.sessions import (
    EXPORT,
    PATIENCE,
    RESULTS,
    RUN,
    VERDICTS,
    carried_out,
    load,
    open_page,
    words,
)
from ui.components import guard
from ui.state import drafts, state

CHECKOUT = Path(__file__).resolve().parents[2]
DATA, ROLES, HIERARCHIES = (f"pages/{n}.py" for n in ("1_Data", "2_Roles", "3_Hierarchies"))
SECRET = "Jane Doe"
#: By page: what is broken on it, and the panel that tells so.
BROKEN = {
    DATA: {
        "ui.charts.column_distribution.distribution": "One column",
    },
    ROLES: {"ui.forms.role_table.as_choices": "Roles"},
    HIERARCHIES: {
        "ui.panels.hierarchies.level_panel.level_effects": "What each level does",
    },
    RUN: {
        "ui.forms.models_form.models": "Choices",
        "anon_core.explain.text.plan_words.intentions": "What this will do",
    },
    RESULTS: {
        "ui.panels.results.headline_figures.draw": "The figures",
        "ui.panels.results.table_panel.draw": "Table",
        "ui.panels.results.drawers.search_panel.draw": "The search",
        "ui.panels.results.drawers.lattice_panel.palette": "Lattice",
    },
    EXPORT: {"ui.state.population_tables.find": "Internal edition"},
}


@pytest.fixture(scope="module")
def held() -> dict[str, Any]:
    found = load("toth-private")
    carried_out(found, pinned=2)
    return found


@pytest.mark.parametrize("page", BROKEN)
def test_an_error_in_a_panel_is_told_there(
    monkeypatch: pytest.MonkeyPatch,
    held: dict[str, Any],
    caplog: pytest.LogCaptureFixture,
    page: str,
) -> None:
    def breaking(error: Exception) -> Callable[..., None]:
        def broken(*_: object, **__: object) -> None:
            raise error

        return broken

    errors = [KeyError(SECRET), BadHierarchy("It broke", remedy="Mend it")]
    panels = BROKEN[page]
    for place, what in enumerate(panels):
        monkeypatch.setattr(what, breaking(errors[place % 2]))
    app = open_page(page, held, tab="The search" if page == RESULTS else "")
    assert not app.exception
    shown = {one.value.split("**")[1]: one.value for one in app.error}
    assert set(shown) == set(panels.values())
    for place, where in enumerate(panels.values()):
        wanted = "It broke\n\nMend it" if place % 2 else "KeyError in tests/ui/test"
        assert wanted in shown[where]
    assert SECRET not in words(app) + caplog.text
    assert "KeyError in tests/ui/test_guard.py" in caplog.text
    # The frame of the page and what follows the panels are there.
    assert app.title[0].value
    assert app.sidebar.children


def test_an_error_in_the_verdicts_is_told_there(
    monkeypatch: pytest.MonkeyPatch, held: dict[str, Any]
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise BadHierarchy("It broke", remedy="Mend it")

    monkeypatch.setattr("ui.panels.results.drawers.verdict_lines.draw", broken)
    app = open_page(RESULTS, held, tab=VERDICTS)
    assert not app.exception
    (shown,) = app.error
    assert shown.value.split("**")[1] == "Verdicts"
    assert "It broke\n\nMend it" in shown.value


def months_of_a_century() -> tuple[dict[str, Any], Column]:
    """Return a session whose hierarchy has more cuts than can be drawn."""
    import datetime

    months = [datetime.date(1900 + m // 12, m % 12 + 1, 1) for m in range(MOST_CUTS + 300)]
    days = [*months, *(month.replace(day=17) for month in months[:50])]
    import pandas as pd

    data = Dataset.from_frame(pd.DataFrame({"born": [str(day) for day in days], "x": "y"}))
    column = data.column("born")
    found: dict[str, Any] = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(st, "session_state", found)
        state.set_dataset(data, roles=Roles(quasi=("born",)), levels={}, types={}, title="births")
    return found, column


def test_more_cuts_than_can_be_drawn_are_shown_as_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    found, column = months_of_a_century()
    with monkeypatch.context() as patch:
        patch.setattr(st, "session_state", found)
        drafts.put(column, [list(row) for row in calendar(column)])
    app = open_page(HIERARCHIES, found)
    assert not app.exception
    assert any("at most" in one.value and "groups" in one.value for one in app.info)
    assert "Unique rows" in words(app)
    with monkeypatch.context() as patch:
        patch.setattr(st, "session_state", found)
        edit = {"do": "undo", "epoch": drafts.work(column).epoch, "rev": 1}
        drafts.edit(column, edit)
        assert drafts.work(column).history.draft.height == 1


def test_every_proposal_for_a_century_can_be_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    from anon_core.data.hierarchy.propose.proposals import propose
    from ui.panels.hierarchies import cut_panel as cuts
    from ui.panels.hierarchies import hierarchy_proposals as proposals

    found, column = months_of_a_century()
    monkeypatch.setattr(st, "session_state", found)
    for one in propose(column):
        proposals._take(column, one)  # pyright: ignore[reportPrivateUsage]
        assert not found.get("guard/waiting")
        assert drafts.message(column)["leaves"]
        assert len(cuts.message(column)["levels"]) == one.height - 1


def test_a_click_that_fails_is_told_by_its_panel() -> None:
    def page() -> None:
        import streamlit as st

        from anon_core.base.errors import BadHierarchy
        from ui.components.guard import handled, panel

        @handled("Here")
        def refused() -> None:
            raise BadHierarchy("It cannot be", remedy="Take another")

        @handled("There")
        def broken() -> None:
            raise KeyError("Jane Doe")

        with panel("Here"):
            st.button("a", on_click=refused)
        with panel("There"):
            st.button("b", on_click=broken)
        st.write("the rest")

    app = AppTest.from_function(page, default_timeout=PATIENCE).run()
    assert not app.error
    app.button[0].click().run()
    assert [one.value for one in app.error] == ["**Here** – It cannot be\n\nTake another"]
    app.button[1].click().run()
    assert not app.exception
    assert len(app.error) == 1
    assert "**There**" in app.error[0].value
    assert SECRET not in app.error[0].value
    app.run()
    assert not app.error
    assert "the rest" in words(app)


def test_a_log_of_streamlit_names_kind_and_place_only(caplog: pytest.LogCaptureFixture) -> None:
    guard.keep_values_out_of_the_log()
    log = logging.getLogger("streamlit.error_util")
    log.addHandler(caplog.handler)
    try:
        raise KeyError(SECRET)
    except KeyError as error:
        log.error("Uncaught app execution", exc_info=error)
    finally:
        log.removeHandler(caplog.handler)
    assert "KeyError in tests/ui/test_guard.py" in caplog.text
    assert SECRET not in caplog.text


def test_no_error_reaches_the_browser_whole() -> None:
    import tomllib

    config = tomllib.loads((CHECKOUT / ".streamlit/config.toml").read_text())
    assert config["client"]["showErrorDetails"] == "none"


# Every click goes through `handled`, so that none can end a page.

_CLICKS = {"on_click", "on_change", "on_select"}


def _unguarded(source: str) -> list[str]:
    tree = ast.parse(source)
    safe = {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and any(isinstance(d, ast.Call) and _name(d.func) == "handled" for d in node.decorator_list)
    }
    # What a function was given by keyword was looked at where it was given.
    safe |= {
        given.arg
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        for given in node.args.kwonlyargs
        if given.arg in _CLICKS
    }
    found: list[str] = []
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call):
            continue
        for given in call.keywords:
            if given.arg in _CLICKS and not _is_safe(given.value, safe):
                found.append(f"line {given.value.lineno}: {ast.unparse(given.value)}")
    return found


def _is_safe(given: ast.expr, safe: set[str]) -> bool:
    match given:
        case ast.Constant():
            return True
        case ast.Name(id=name):
            return name in safe
        case ast.Call(func=ast.Call(func=maker)):
            return _name(maker) == "handled"
        case ast.BoolOp(values=[ast.Name(id=name), ast.Constant()]):
            return name in safe
        case _:
            return False


def _name(given: ast.expr) -> str:
    return given.id if isinstance(given, ast.Name) else getattr(given, "attr", "")


def test_every_click_is_handled() -> None:
    files = [CHECKOUT / "app.py", *CHECKOUT.glob("pages/*.py"), *CHECKOUT.glob("ui/**/*.py")]
    _CLICKS.add("on_pick")
    found = {str(f.relative_to(CHECKOUT)): _unguarded(f.read_text()) for f in files}
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "source",
    ["st.button('x', on_click=state.undo)", "def f(): ...\nst.button('x', on_click=f)"],
)
def test_a_click_that_is_not_handled_is_found(source: str) -> None:
    assert _unguarded(source)


def test_how_much_can_be_had_is_told_only_where_the_message_does_not() -> None:
    def page() -> None:
        from anon_core.base.errors import Infeasible
        from ui.components.guard import show_best

        show_best(Infeasible("k = 19 needs 19 rows; the table has 9.", best=9, best_of="rows"), "A")
        show_best(Infeasible("k = 90 needs 90 rows.", best=9, best_of="rows"), "B")
        show_best(Infeasible("No class is large enough."), "C")

    app = AppTest.from_function(page, default_timeout=PATIENCE).run()
    assert not app.exception
    assert [one.value for one in app.caption] == ["B\\: 9 \\(rows\\)\\."]
