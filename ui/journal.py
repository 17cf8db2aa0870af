"""What happens on a host, a line of JSON each, without any value of a table.

Nothing is written on one's own computer. A host's `[hosting]` says where to: `log = "stderr"`, or
the path of a file. No text gets into a line unless the program itself has it: a technique by its
entry in the registry, an error by its class, an event by a fixed list.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import logging.handlers
import os
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from io import TextIOWrapper
from typing import Any, Literal, cast, get_args

import streamlit as st

from anon_core.base.registry import family

Event = Literal["session", "log out", "open", "work", "error"]
Outcome = Literal["done", "failed", "cancelled"]
_OPENING = threading.Lock()
_HERE = "journal/here"
_LOG = logging.getLogger("workbench.journal")
_LOG.propagate = False
_LOG.setLevel(logging.INFO)


class Journal:
    """Where lines go, and how people are called in them.

    Parameters
    ----------
    target : str
        ``stderr``, a path, or empty for nowhere.
    who : str
        The person's key.
    salt : str
        A secret of the host: people are a keyed hash in the lines.
    """

    def __init__(self, target: str, *, who: str = "", salt: str = "") -> None:
        self.target = target
        made = hmac.new(salt.encode(), who.encode(), hashlib.sha256).hexdigest()[:16]
        self._who = made if who else ""

    def note(
        self,
        event: Event,
        *,
        technique: str = "",
        rows: int | None = None,
        columns: int | None = None,
        seconds: float | None = None,
        outcome: Outcome | None = None,
        error: type[BaseException] | None = None,
    ) -> None:
        """Write a line; what is not of the fixed words and numbers is left out.

        Parameters
        ----------
        event : Event
        technique : str
            Name of an algorithm of the registry.
        rows, columns : int, optional
        seconds : float, optional
        outcome : Outcome, optional
        error : type, optional
        """
        if not self.target or event not in get_args(Event):
            return
        entry: dict[str, object] = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "event": event,
        }
        if self._who:
            entry["who"] = self._who
        if technique in family("algorithm"):
            entry["technique"] = technique
        entry |= {k: int(v) for k, v in (("rows", rows), ("columns", columns)) if v is not None}
        if seconds is not None:
            entry["seconds"] = round(float(seconds), 3)
        if outcome in get_args(Outcome):
            entry["outcome"] = outcome
        if error is not None:
            entry["error"] = error.__name__
        _open(self.target)
        _LOG.info("%s", json.dumps(entry))


def begin(hosting: Mapping[str, Any], *, shared: bool, who: str, salt: str) -> None:
    """Let this session note what happens, as its host says; on where several people share it."""
    target = hosting.get("log", "stderr" if shared else "off")
    if not isinstance(target, str) or target == "off":
        target = ""
    st.session_state[_HERE] = Journal(target, who=who, salt=salt)


def here() -> Journal:
    """Return this session's journal; one that writes nothing before `begin`."""
    return cast(Journal, st.session_state.get(_HERE) or Journal(""))


class _ForItsOwner(logging.handlers.WatchedFileHandler):
    """A file of lines that no one else may read."""

    def _open(self) -> TextIOWrapper:
        handle = os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        return cast(TextIOWrapper, os.fdopen(handle, self.mode, encoding=self.encoding))


def _open(target: str) -> None:
    """Let lines go to `target`, which stays the same as long as the process lives."""
    with _OPENING:
        if any(getattr(one, "target", None) == target for one in _LOG.handlers):
            return
        made: logging.Handler = logging.StreamHandler(sys.stderr)
        if target != "stderr":
            with suppress(OSError):  # a line that cannot be kept there is not lost
                made = _ForItsOwner(target, encoding="utf-8")
        made.setFormatter(logging.Formatter("%(message)s"))
        made.__dict__["target"] = target
        for old in list(_LOG.handlers):
            _LOG.removeHandler(old)
            old.close()
        _LOG.addHandler(made)
