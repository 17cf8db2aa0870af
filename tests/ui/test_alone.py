"""Panels that are drawn alone: what makes the whole page be drawn, and what a closed fold holds."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import pytest
import streamlit as st
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.fragment import MemoryFragmentStorage

from anon_core.base.context import Context
from anon_core.base.errors import BadPlan
from tests.ui.sessions import METRICS, RESULTS, RUN, carried_out, load, open_page
from ui.components import guard
from ui.state import results, selection, state
from ui.state.result_view import facts
from ui.state.work import fragments, jobs
from ui.state.work.fragments import _shared


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
        assert before.stands()
        click()
        assert not before.stands()
        begun = _shared()
        jobs.stop_all()
        assert begun.stands() == (not jobs.of_session())  # what was stopped is told elsewhere too


def test_a_choice_draws_the_panels_that_show_it(held: dict[str, Any]) -> None:
    app = open_page(RESULTS, held)
    panels = {f"panel-{name}" for name in ("Table", "Classes", "Metrics", "Attacks")}
    linked = {"linked-bar", *panels}
    assert linked <= {
        key for key, panel in app.session_state["alone/panels"].items() if panel.linked
    }
    with patch.object(st, "session_state", dict(held)):
        before = _shared()
        chooses()
        assert before.stands()  # the others stay as they are
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


class _Waiting:
    """What a session has to send: a block of `outer`, and what `inner` drew into it."""

    def __init__(self) -> None:
        self._browser_queue = ForwardMsgQueue()
        self._fragment_storage = MemoryFragmentStorage()
        self._fragment_storage.register("outer", lambda: None)
        self._fragment_storage.register("other", lambda: None)
        self._fragment_storage.register("inner", lambda: None, parent_fragment_id="outer")
        for fragment, path in (("outer", [0, 3]), ("inner", [0, 3, 0]), ("other", [0, 4])):
            message = ForwardMsg()
            message.delta.fragment_id = fragment
            message.delta.new_element.markdown.body = fragment
            message.metadata.delta_path.extend(path)
            self._browser_queue.enqueue(message)

    def left(self) -> list[str]:
        return [message.delta.fragment_id for message in self._browser_queue._queue]


def test_nothing_is_sent_into_a_block_that_is_not() -> None:
    waiting: Any = _Waiting()
    AppSession._clear_queue(waiting, ["outer"])
    assert waiting.left() == ["other"]
    AppSession._clear_queue(waiting)
    assert waiting.left() == []


def test_streamlit_keeps_them_by_itself() -> None:
    """Once it does not, `clear_queue` can go."""
    waiting: Any = _Waiting()
    fragments._clear_queue(waiting, ["outer"])
    assert waiting.left() == ["inner", "other"]
