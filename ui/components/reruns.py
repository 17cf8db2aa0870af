"""What Streamlit 1.67 gets wrong where a page is drawn again, mended for every session.

The blocks of fragments are not dropped without what is in them, and fragments are sent in one
piece.
"""

from __future__ import annotations

import asyncio
import time
from weakref import WeakKeyDictionary

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession

#: Seconds for which what fragments draw is held back, and until when that of a session is.
_HOLD = 0.1
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
    return _flush_browser_queue(self)


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


def mend() -> None:
    """Put this in the place of what Streamlit does; once is enough, and more do no harm."""
    AppSession._clear_queue = clear_queue  # pyright: ignore[reportPrivateUsage]
    AppSession.flush_browser_queue = flush_browser_queue
