"""What is mended of Streamlit where a page is drawn again; each test says when it can go."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any, cast

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.fragment import MemoryFragmentStorage

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


async def _sent_while_drawn(fragment_ids: list[str] | None) -> list[int]:
    """Return how many messages are sent: at once, once a run follows, once the last has ended."""
    waiting, told = _Waiting(), asyncio.Event()
    waiting._message_enqueued_callback = told.set
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
        assert not flush()
        await asyncio.wait_for(told.wait(), timeout=5)
        assert len(flush()) == 1
    return counts


def test_what_fragments_draw_is_sent_at_once_when_they_have_ended() -> None:
    assert asyncio.run(_sent_while_drawn(["outer"])) == [0, 0, 3]


def test_what_a_page_draws_is_sent_as_it_comes() -> None:
    assert asyncio.run(_sent_while_drawn(None)) == [0, 1, 1]
