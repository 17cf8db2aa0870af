"""Panels that are drawn alone: what makes the whole page be drawn, and what a closed fold holds."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from anon_core.base.context import Context
from anon_core.base.errors import BadPlan
from tests.ui.sessions import METRICS, PATIENCE, RESULTS, RUN, carried_out, load, open_page
from ui.components import guard
from ui.state import results, selection, state
from ui.state.result_view import facts
from ui.state.work import fragments, jobs
from ui.state.work.fragments import _owed, _shared


@pytest.fixture(scope="module")
def held() -> dict[str, Any]:
    found = load("toth-private")
    carried_out(found)
    return found


def chooses() -> None:
    result = results.last()
    assert result is not None
    selection.choose_number(facts(result), 1)


def works() -> None:
    def work(context: Context) -> None:
        while not context.cancel.wait(0.01):
            pass

    jobs.start("try", "Trying", work, limited=False)


@pytest.mark.parametrize(
    "click",
    [works, lambda: state.update_draft(models=[{"name": "k-anonymity", "k": 3}])],
)
def test_what_other_panels_tell_too_is_seen(held: dict[str, Any], click: Any) -> None:
    with patch.object(st, "session_state", dict(held)):
        before = _shared()
        assert before.holds()
        click()
        assert not before.holds()
        begun = _shared()
        jobs.stop_all()
        assert begun.holds() == (not jobs.of_session())  # what was stopped is shown elsewhere too


def test_a_choice_draws_the_panels_that_show_it(held: dict[str, Any]) -> None:
    app = open_page(RESULTS, {**held, "chosen-by-number": True})
    panels = {f"panel-{name}" for name in ("Table", "Classes", "Metrics", "Attacks")}
    linked = {"linked-bar", *panels}
    assert linked <= {
        key for key, panel in app.session_state["alone/panels"].items() if panel.linked
    }
    with patch.object(st, "session_state", dict(held)):
        before = _shared()
        chooses()
        assert before.holds()  # the others stay as they are
    app.number_input(key="chosen/class-0").set_value(1).run()
    assert not app.exception
    assert "Chosen: " in " ".join(m.value for m in app.main.markdown)


def test_an_error_of_another_panel_is_seen() -> None:
    def breaks() -> None:
        raise BadPlan("It broke.")

    with patch.object(st, "session_state", {}):
        guard.handled("Table")(breaks)()
        assert guard.waits_elsewhere("Metrics")
        assert not guard.waits_elsewhere("Table")


def test_a_fold_holds_nothing_before_it_is_opened(held: dict[str, Any]) -> None:
    app = open_page(RESULTS, held, tab=METRICS)
    closed = len(app.main.markdown)
    app = open_page(RESULTS, {**held, "meanings": True}, tab=METRICS)
    assert not app.exception
    assert len(app.main.markdown) > closed + 2


def test_what_a_closed_fold_says_is_what_its_fields_would_say() -> None:
    metrics = [{"name": "average-class-size", "k": 4}]
    held = load("toth-private", metrics=metrics)
    shut = {f"run/{fold}": False for fold in ("techniques", "earlier", "advanced", "metrics")}
    opened, closed = open_page(RUN, held), open_page(RUN, held | shut)
    assert not opened.exception
    assert not closed.exception
    assert len(closed.number_input) < len(opened.number_input)
    work = closed.session_state["state/work"]
    assert work["draft"] == opened.session_state["state/work"]["draft"]
    assert work["draft"]["metrics"] == metrics


def _redrawn(monkeypatch: pytest.MonkeyPatch, click: Any) -> list[str]:
    asked: list[str] = []
    monkeypatch.setattr(fragments, "redraw", lambda *keys: asked.extend(keys))
    click()
    return asked


def test_a_panel_that_would_say_the_same_is_not_drawn_again(
    held: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_page(RESULTS, held)
    kept = dict(app.session_state._state.filtered_state)  # pyright: ignore
    with patch.object(st, "session_state", kept):
        just_now = _redrawn(monkeypatch, lambda: fragments.redraw_result("figures"))
        assert "what-if-alone" in just_now  # it may not have been sent yet
        monkeypatch.setattr(fragments, "_UNSENT", 0.0)
        again = _redrawn(monkeypatch, lambda: fragments.redraw_result("figures"))
        same = {"what-if-alone", "linked-bar", "head-metrics-alone", "head-attacks-alone"}
        assert not same & set(again)
        assert {"panel-Table", "panel-Metrics", "strip-alone", "run-alone"} <= set(again)
        field = next(key for key in kept if str(key).endswith("k-anonymity/k"))
        kept[field] = int(kept[field]) + 1  # a field that the draft has to overrule
        assert "what-if-alone" in _redrawn(monkeypatch, lambda: fragments.redraw_result("verdict"))
        chooses()
        again = _redrawn(monkeypatch, fragments.redraw_linked)
        assert {"linked-bar", "head-metrics-alone", "head-classes-chart-alone"} <= set(again)


def test_panels_that_another_click_came_before_are_drawn_with_it(
    held: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_page(RESULTS, held)
    kept = dict(app.session_state._state.filtered_state)  # pyright: ignore
    asked: list[list[str]] = []
    monkeypatch.setattr(st, "rerun", asked.append)
    with patch.object(st, "session_state", kept):
        fragments.redraw("strip-alone", "panel-Table", "panel-Classes")
        _owed().pop("strip-alone")  # it is drawn, and the others are not
        fragments.redraw("panel-Metrics", "run-alone")
        assert asked[-1] == ["run-alone", "panel-Table", "panel-Classes", "panel-Metrics"]
        fragments.begin_page()
        fragments.redraw("strip-alone")
        assert asked[-1] == ["strip-alone"]


def test_a_panel_is_drawn_in_one_block_of_its_own_look(held: dict[str, Any]) -> None:
    def page() -> None:
        import streamlit as st

        from ui.state.work.fragments import alone, begin_page

        def fails() -> dict[str, str]:
            raise KeyError

        begin_page()
        look = {"key": "its-own", "horizontal": True}
        alone("Seen", lambda: st.button("again", key="again"), key="a", block=lambda: look)
        alone("Failing", lambda: st.text("drawn"), key="b", block=fails)
        alone("Plain", lambda: st.container(key="within"), key="c")

    app = AppTest.from_function(page, default_timeout=PATIENCE)
    for key, value in held.items():
        app.session_state[key] = value
    app.run()
    for _ in range(2):  # the page, and the panel alone
        assert not app.exception
        keys = [block.proto.id.split("-", 2)[-1] for block in app.get("container")]
        assert sorted(keys) == ["", "", "its-own", "within"]
        (own,) = [b for b in app.get("container") if b.proto.id.endswith("-its-own")]
        assert [one.key for one in own.button] == ["again"]
        assert [one.value for one in app.text] == ["drawn"]
        app.button(key="again").click().run()
