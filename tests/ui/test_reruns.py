"""What is mended of Streamlit where a page is drawn again; each test says when it can go."""

from __future__ import annotations

import asyncio
import inspect
from functools import partial
from typing import Any, cast

import pytest
from streamlit.elements.widgets import number_input
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.fragment import MemoryFragmentStorage
from streamlit.testing.v1 import AppTest

from ui.components import reruns

reruns.mend()


class _Waiting:
    """What a session has to send: a block of `outer`, and what `inner` drew into it."""

    def __init__(self) -> None:
        self._browser_queue = ForwardMsgQueue()
        self._message_enqueued_callback: Any = None
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
    reruns._clear_queue(waiting, ["outer"])
    assert waiting.left() == ["inner", "other"]


def _queued(waiting: Any, *kinds: int) -> None:
    for kind in kinds:
        waiting._browser_queue.enqueue(ForwardMsg(script_finished=kind))  # pyright: ignore


class _Asked:
    """A session that notes which pages and fragments are drawn."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.drawn: list[tuple[str, str]] = []
        monkeypatch.setattr(reruns, "_rerun_script", _Asked.draws)

    def draws(self, asked: ClientState) -> None:
        self.drawn.append((asked.page_script_hash, asked.fragment_id))

    def asks(self, page: str, *, fragment: str = "", button: str = "") -> None:
        said = WidgetStates(widgets=[WidgetState(id=button, trigger_value=True)] if button else [])
        asked = ClientState(page_script_hash=page, fragment_id=fragment, widget_states=said)
        AppSession._handle_rerun_script_request(cast(Any, self), asked)


def test_a_click_on_a_link_is_not_undone_by_the_page_that_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    session = _Asked(monkeypatch)
    session.asks("start")
    session.asks("data")
    session.asks("start", fragment="a look at work under way")
    session.asks("start", button="looked")
    assert session.drawn == [("start", ""), ("data", ""), ("data", "")]
    session.asks("start")  # a link leads back
    session.asks("start", button="run")
    session.asks("start", fragment="a panel")
    assert session.drawn[3:] == [("start", ""), ("start", ""), ("start", "a panel")]


def test_a_page_that_was_gone_back_to_later_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    session = _Asked(monkeypatch)
    session.asks("start")
    session.asks("data")
    monkeypatch.setattr(reruns, "_LEAVING", 0.0)
    session.asks("start", button="run")
    assert session.drawn[-1] == ("start", "")


async def _sent_while_drawn(fragment_ids: list[str] | None) -> list[int]:
    """Return how many messages are sent: at once, once a run follows, once the last has ended."""
    waiting, values = _Waiting(), asyncio.Event()
    waiting._message_enqueued_callback = values.set
    AppSession._clear_queue(cast(Any, waiting), fragment_ids)
    flush = partial(AppSession.flush_browser_queue, cast(Any, waiting))
    counts = [len(flush())]
    _queued(waiting, ForwardMsg.ScriptFinishedStatus.FINISHED_EARLY_FOR_RERUN)
    counts.append(len(flush()))
    _queued(waiting, ForwardMsg.ScriptFinishedStatus.FINISHED_FRAGMENT_RUN_SUCCESSFULLY)
    counts.append(len(flush()))
    if fragment_ids:  # what is never ended is sent after a moment
        AppSession._clear_queue(cast(Any, waiting), fragment_ids)
        _queued(waiting, ForwardMsg.ScriptFinishedStatus.FINISHED_EARLY_FOR_RERUN)
        sent = flush()
        assert not sent
        while not sent:  # the moment of the run before may end meanwhile
            values.clear()
            await asyncio.wait_for(values.wait(), timeout=5)
            sent = flush()
        assert len(sent) == 1
    return counts


def _sent(*what: str) -> list[str]:
    """Return which of these messages are sent: runs begin with +, end with ! or . (early)."""
    waiting: Any = _Waiting()
    waiting._browser_queue = ForwardMsgQueue()
    ends = ForwardMsg.ScriptFinishedStatus
    for at, name in enumerate(what):
        message = ForwardMsg()
        if name in {"runs", "rests"}:
            message.session_status_changed.script_is_running = name == "runs"
        elif name.startswith("+"):
            message.new_session.page_script_hash = name
        elif name.endswith(("!", ".")):
            early = name.endswith(".")
            message.script_finished = (
                ends.FINISHED_EARLY_FOR_RERUN if early else ends.FINISHED_SUCCESSFULLY
            )
        else:
            message.delta.new_element.markdown.body = name
            message.metadata.delta_path.extend([0, at])
        waiting._browser_queue.enqueue(message)
    queued = dict(zip(map(id, waiting._browser_queue._queue), what, strict=True))
    return [queued[id(one)] for one in AppSession.flush_browser_queue(waiting)]


def test_a_run_that_is_begun_again_at_once_is_left_out() -> None:
    sent = _sent("+1", "runs", "1.", "runs", "+2", "runs", "a table", "2!", "rests")
    assert sent == ["runs", "+2", "a table", "2!", "rests"]


@pytest.mark.parametrize(
    "what",
    [
        ("+1", "a table", "1.", "+2", "a table", "2!"),  # it drew something
        ("1.", "+2", "runs", "a table", "2!"),  # the browser has heard that it began
        ("+1", "runs", "1!", "+2", "2!", "rests"),  # it ended
        ("+1", "runs"),  # it goes on
        ("runs", "rests", "runs"),
    ],
)
def test_all_else_is_sent(what: tuple[str, ...]) -> None:
    assert _sent(*what) == list(what)


def test_what_fragments_draw_is_sent_at_once_when_they_have_ended() -> None:
    assert asyncio.run(_sent_while_drawn(["outer"])) == [0, 0, 3]


def test_what_a_page_draws_is_sent_as_it_comes() -> None:
    assert asyncio.run(_sent_while_drawn(None)) == [0, 1, 1]


def _page() -> None:
    import streamlit as st

    from ui.components import reruns

    reruns.mend()

    def use() -> None:
        st.session_state["k"] = 12

    def use_both() -> None:
        st.session_state["k"], st.session_state["l"] = 12, 9

    st.number_input("k", value=5, step=1, key="k")
    st.number_input("l", value=2, step=1, key="l")
    st.button("Use this", key="use", on_click=use)
    st.button("Use both", key="both", on_click=use_both)
    st.button("Run", key="run")
    st.text(f"k = {st.session_state['k']}, l = {st.session_state['l']}")


def _sent_late(clicks: str, change: dict[str, int], use: str = "use") -> str:
    """Return what is shown after a message that the browser sent before it heard of all values."""
    page = AppTest.from_function(_page).run()
    page.number_input(key="l").set_value(3).run()
    late = page._tree.get_widget_states()
    page.button(key=use).click().run()
    assert page.text[0].value == ("k = 12, l = 3" if use == "use" else "k = 12, l = 9")
    for widget in late.widgets:
        if clicks and widget.id.endswith(f"-{clicks}"):
            widget.trigger_value = True
        for key, value in change.items():
            if widget.id.endswith(f"-{key}"):
                widget.int_value = value
    page._run(late)
    again: str = page.text[0].value
    assert page.run().text[0].value == again
    return again


def test_what_was_set_here_is_not_undone_by_a_message_sent_before() -> None:
    assert _sent_late("run", {}) == "k = 12, l = 3"
    assert _sent_late("", {"l": 4}) == "k = 12, l = 4"


def test_what_someone_chooses_again_is_taken() -> None:
    assert _sent_late("", {}) == "k = 5, l = 3"
    assert _sent_late("run", {"k": 7}) == "k = 7, l = 3"


def test_a_browser_that_heard_of_the_first_value_has_not_heard_of_all() -> None:
    assert _sent_late("run", {"k": 12}, "both") == "k = 12, l = 9"
    assert _sent_late("", {"k": 12}, "both") == "k = 12, l = 9"
    # Values come in the order in which they were sent: with l it has k, and someone chose 5 again.
    assert _sent_late("run", {"l": 9}, "both") == "k = 5, l = 9"


def test_a_field_that_asks_for_its_value_is_told_what_the_whole_session_would_tell() -> None:
    def page() -> None:
        import streamlit as st

        st.session_state["held"] = None
        st.number_input("k", value=5, key="k")
        st.text_input("Emptied", value=None, key="emptied")
        st.button("Without a key")

    app = AppTest.from_function(page).run()
    asked = app.session_state._state.filtered_state
    whole = app.session_state._state._state.filtered_state  # as Streamlit puts it together
    assert isinstance(asked, reruns.FilteredState)
    assert {"held", "k", "emptied"} <= whole.keys()
    assert dict(asked) == whole == {key: asked[key] for key in whole}
    assert (len(asked), repr(asked)) == (len(whole), repr(whole))
    names = {*app.session_state._state._state._keys(), "never", "$$STREAMLIT_INTERNAL_KEY_x"}
    assert len(names - whole.keys()) > 3  # fields by the names that Streamlit has for them
    for name in names | whole.keys():
        assert (name in asked) == (name in whole), name


def test_streamlit_puts_the_whole_session_together_by_itself() -> None:
    """Once it does not, `FilteredState` can go."""
    assert "filtered_state" in inspect.getsource(number_input)
