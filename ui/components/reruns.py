"""What Streamlit 1.67 gets wrong where a page is drawn again, mended for every session.

The blocks of fragments are not dropped without what is in them, and fragments are sent in one
piece. A value that the server has set is not undone by a message that the browser sent before it
knew of it, nor is a click on a link undone by what the page that is left still sends. A field asks
for its own value, not for those of the whole session. A fragment's own block may have a key.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any, cast
from weakref import WeakKeyDictionary

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner_utils.script_run_context import (
    ThreadState,
    get_script_run_ctx,
)
from streamlit.runtime.state import SafeSessionState, SessionState
from streamlit.runtime.state.common import is_element_id
from streamlit.runtime.state.session_state import STREAMLIT_INTERNAL_KEY_PREFIX

#: Seconds for which what fragments draw is held back, longer than drawing all panels of Results
#: takes, and until when that of a session is.
_HOLD = 0.25
_HELD: WeakKeyDictionary[AppSession, float] = WeakKeyDictionary()

_clear_queue = AppSession._clear_queue  # pyright: ignore[reportPrivateUsage]


def clear_queue(self: AppSession, fragment_ids_this_run: list[str] | None = None) -> None:
    """Drop the messages that a browser does not have yet of fragments that are drawn again.

    Streamlit 1.67 keeps those of fragments within such a fragment, and drops the blocks that they
    are drawn in: the browser then ends the page with "Cannot set a node at a delta path".
    """
    if fragment_ids_this_run is not None:
        queue = self._browser_queue._queue  # pyright: ignore[reportPrivateUsage]
        known = self._fragment_storage  # pyright: ignore[reportPrivateUsage]
        waiting = {m.delta.fragment_id for m in queue if m.WhichOneof("type") == "delta"}
        within = {f for f in waiting if f and known.has_ancestor_in(f, fragment_ids_this_run)}
        fragment_ids_this_run = [*fragment_ids_this_run, *sorted(within)]
    _clear_queue(self, fragment_ids_this_run)
    _hold(self, fragments=fragment_ids_this_run is not None)


def flush_browser_queue(self: AppSession) -> list[ForwardMsg]:
    """Send what fragments draw with the end of their run, or after a moment.

    A browser that gets it piece by piece draws the page after each of them, also what is the same.
    """
    if time.monotonic() < _HELD.get(self, 0.0):
        queue = self._browser_queue._queue  # pyright: ignore[reportPrivateUsage]
        if not any(_ends(message) for message in queue):
            return []
    return _worth_sending(_flush_browser_queue(self))


def _worth_sending(messages: list[ForwardMsg]) -> list[ForwardMsg]:
    """Return messages without what a browser would draw the page for, and draw the same.

    That is a run that was begun again before it drew anything, and a status said twice: a browser
    draws all that is on the page when it hears that a run begins, and once more at its end.
    """
    kept: list[ForwardMsg] = []
    begun, status = None, None
    for message in messages:
        kind = message.WhichOneof("type")
        if kind == "session_status_changed":
            if message.session_status_changed == status:
                continue
            status = message.session_status_changed
        elif kind == "script_finished" and begun is not None and not _ends(message):
            del kept[begun:]
            begun, status = None, None
            continue
        else:
            begun = len(kept) if kind == "new_session" else None
        kept.append(message)
    return kept


def _ends(message: ForwardMsg) -> bool:
    """Say whether a run has ended, and none follows at once."""
    early = ForwardMsg.ScriptFinishedStatus.FINISHED_EARLY_FOR_RERUN
    return message.WhichOneof("type") == "script_finished" and message.script_finished != early


def _hold(session: AppSession, *, fragments: bool) -> None:
    """Hold back what is drawn from now on, where fragments are drawn."""
    enqueued = session._message_enqueued_callback  # pyright: ignore[reportPrivateUsage]
    if not fragments or enqueued is None:
        _HELD.pop(session, None)
    else:
        _HELD[session] = time.monotonic() + _HOLD
        asyncio.get_running_loop().call_later(_HOLD, enqueued)


_flush_browser_queue = AppSession.flush_browser_queue

#: Seconds after which a browser has surely heard which page it is on.
_LEAVING = 3.0


@dataclass(frozen=True, kw_only=True)
class _Page:
    """The page that a browser asked for last, the one before it, and when it asked."""

    now: str
    before: str
    since: float


_PAGES: WeakKeyDictionary[AppSession, _Page] = WeakKeyDictionary()
_rerun_script = AppSession._handle_rerun_script_request  # pyright: ignore[reportPrivateUsage]


def rerun_script(self: AppSession, client_state: ClientState | None = None) -> None:
    """Draw what a browser asks for, but not a page that someone has just left by a link.

    What a page sends by itself, such as a look at work under way, names that page. Where it comes
    after the click on a link, it would draw the page again that is left, and the click were lost.
    """
    if client_state is not None and client_state.page_script_hash:
        asked, page = client_state.page_script_hash, _PAGES.get(self)
        leaving = page is not None and asked == page.before and _is_recent(page)
        if leaving and page is not None and _by_itself(client_state):
            if client_state.fragment_id:
                return
            client_state.page_script_hash = page.now
        elif page is None or asked != page.now:
            before = "" if page is None else page.now
            _PAGES[self] = _Page(now=asked, before=before, since=time.monotonic())
    _rerun_script(self, client_state)


def _is_recent(page: _Page) -> bool:
    return time.monotonic() - page.since < _LEAVING


def _by_itself(client_state: ClientState) -> bool:
    """Say whether a message is no click on a link: those come alone, and of no fragment."""
    clicked = any(_is_click(one) for one in client_state.widget_states.widgets)
    return bool(client_state.fragment_id) or client_state.is_auto_rerun or clicked


#: Where a session holds what its browser said last.
_HEARD = "reruns/heard"
_TRIGGERS = ("trigger_value", "string_trigger_value", "chat_input_value", "json_trigger_value")


@dataclass(kw_only=True)
class _Heard:
    """What a browser said last of each widget, and the widgets whose value was set here since.

    Values that are set are sent in the order of `sent`, of which a browser may have the first only:
    the rest is dropped where the page is drawn again meanwhile. Numbers above `drawn` are of the
    last run.
    """

    said: dict[str, bytes] = field(default_factory=dict[str, bytes])
    set_here: set[str] = field(default_factory=set[str])
    sent: dict[str, int] = field(default_factory=dict[str, int])
    numbers: count[int] = field(default_factory=lambda: count(1))
    drawn: int = 0


_on_script_will_rerun = SessionState.on_script_will_rerun
_set_widgets_from_proto = SessionState.set_widgets_from_proto
_register_widget = SessionState.register_widget


def _heard_of(state: Any) -> _Heard:
    heard: _Heard = state._old_state.setdefault(_HEARD, _Heard())
    return heard


def on_script_will_rerun(self: SessionState, *given: Any, **named: Any) -> None:
    """Note which widgets the script has set, before the session forgets who set what."""
    state = cast(Any, self)
    heard = _heard_of(state)
    ids = (state._key_id_mapper.get_id_from_key(key) for key in state._new_session_state)
    for one in ids:
        if one is not None:
            heard.set_here.add(one)
            if heard.sent.get(one, 0) <= heard.drawn:  # the run ended before it came to it
                heard.sent.pop(one, None)
    _on_script_will_rerun(self, *given, **named)
    heard.drawn = next(heard.numbers)


def register_widget(self: SessionState, *given: Any, **named: Any) -> Any:
    """Number the values that are sent to the browser because they were set here."""
    found = _register_widget(self, *given, **named)
    if found.value_changed:
        heard, widget = _heard_of(cast(Any, self)), named.get("metadata") or given[0]
        heard.sent[widget.id] = next(heard.numbers)
    return found


def set_widgets_from_proto(self: SessionState, widget_states: WidgetStates) -> None:
    """Take over what a browser says of its widgets, save what it repeats of those set here since.

    A browser sends the values of all widgets with every message. What it repeats was not chosen by
    anyone, as long as something else explains the message: a fragment that the widget is not in, or
    a click or another field while none that was sent later shows that the browser has heard. What
    was set here is sent to it again: the message with it may have been dropped.
    """
    state = cast(Any, self)
    heard = _heard_of(state)
    fields = [one for one in widget_states.widgets if one.WhichOneof("value") not in _TRIGGERS]
    said = {one.id: one.SerializeToString() for one in fields}
    changed = {name for name in said.keys() & heard.said.keys() if said[name] != heard.said[name]}
    _set_widgets_from_proto(self, widget_states)
    values = state._new_widget_state
    until = max(
        (
            heard.sent.get(name, 0)
            for name in changed & heard.set_here
            if values.get(name) == state._old_state.get(name)
        ),
        default=0,
    )
    explained = bool(changed) or any(_is_click(one) for one in widget_states.widgets)
    stale = {
        name
        for name in (heard.set_here & said.keys() & heard.said.keys()) - changed
        if _elsewhere(values.widget_metadata.get(name))
        or (explained and not 0 < heard.sent.get(name, 0) < until)
    }
    heard.set_here = stale
    heard.said = said
    for name in stale:
        del values[name]
        key = state._key_id_mapper.id_key_mapping.get(name)
        if key is not None and name in state._old_state:
            state._new_session_state[key] = state._old_state[name]


def _is_click(one: WidgetState) -> bool:
    kind = one.WhichOneof("value")
    return kind in _TRIGGERS and (kind != "trigger_value" or one.trigger_value)


def _elsewhere(widget: Any) -> bool:
    """Say whether only fragments are drawn, and a widget is in none of them."""
    context = get_script_run_ctx()
    drawn = None if context is None else context.fragment_ids_this_run
    return bool(drawn) and getattr(widget, "fragment_id", None) not in (drawn or ())


class FilteredState(Mapping[str, Any]):
    """What a session holds under the names that pages give, looked up when it is asked for.

    Each field of a page looks whether its own value was emptied; Streamlit 1.67 then puts together
    all that the session holds.
    """

    def __init__(self, state: SafeSessionState) -> None:
        self._safe = cast(Any, state)

    def whole(self) -> dict[str, Any]:
        """Return all of it at once."""
        with self._safe._lock:
            return self._safe._state.filtered_state

    def __getitem__(self, key: str) -> Any:
        if is_element_id(key) or key.startswith(STREAMLIT_INTERNAL_KEY_PREFIX):
            raise KeyError(key)
        with self._safe._lock:
            return self._safe._state[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.whole())

    def __len__(self) -> int:
        return len(self.whole())

    def __repr__(self) -> str:
        return repr(self.whole())


@contextmanager
def on_every_page() -> Generator[None]:
    """Draw what all pages share: it stays in the browser where another page is opened.

    Streamlit takes all away that a page has drawn, save what the main script did.
    """
    context = get_script_run_ctx()
    if context is None:
        yield
        return
    with context.run_with_active_hash(context.pages_manager.main_script_hash):
        yield


#: Where a session holds how the own blocks of fragments look, by the keys of the fragments.
_BLOCKS = "reruns/blocks"
_container = st.container


def look_of_block(key: str, look: Callable[[], Mapping[str, Any]]) -> None:
    """Name the key and look of the block that a fragment draws in.

    Streamlit 1.67 gives each fragment a block without any, and a browser draws every block of a
    page with each message: a block within it, for its key alone, costs as much again.

    Parameters
    ----------
    key : str
        The fragment's.
    look : callable
        Returns what `st.container` is given; asked each time that the fragment is drawn.
    """
    st.session_state.setdefault(_BLOCKS, {})[key] = look


def container(*given: Any, **named: Any) -> DeltaGenerator:
    """Make a block; the own block of a fragment as `look_of_block` says."""
    now = ThreadState.get()
    if not given and not named and now.fragment_id is not None and now.delta_path is None:
        context = get_script_run_ctx()
        known = {} if context is None else cast(Any, context.fragment_storage)._target_key_by_id
        look = st.session_state.get(_BLOCKS, {}).get(known.get(now.fragment_id))
        named = {} if look is None else dict(look())
    return _container(*given, **named)


def mend() -> None:
    """Put this in the place of what Streamlit does; once is enough, and more do no harm."""
    SessionState.on_script_will_rerun = on_script_will_rerun
    SessionState.set_widgets_from_proto = set_widgets_from_proto
    SessionState.register_widget = register_widget
    SafeSessionState.filtered_state = property(FilteredState)  # pyright: ignore
    AppSession._handle_rerun_script_request = rerun_script  # pyright: ignore[reportPrivateUsage]
    AppSession._clear_queue = clear_queue  # pyright: ignore[reportPrivateUsage]
    AppSession.flush_browser_queue = flush_browser_queue
    st.container = container
