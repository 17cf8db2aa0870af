"""What one person may use of a host that several share: the size of tables, and runs at a time.

`[hosting]` of the host's `.streamlit/secrets.toml` sets them. On one's own computer there are none.
Work is counted over all sessions of a person; without logins each session counts for itself.
"""

from __future__ import annotations

import secrets
import threading
from typing import Protocol

import streamlit as st

from anon_core.base.errors import AnonError, BadPlan
from anon_core.data.reading import MOST_BYTES
from ui.state import session_owner

#: Runs at a time where `[hosting]` of a shared host does not say.
USUAL_RUNS = 2
_SESSION = "limits/session"
_LOCK = threading.Lock()
_AT_WORK: dict[str, list[Working]] = {}


class TooMuch(AnonError):
    """More was asked for than the host gives to one person."""


class Working(Protocol):
    """Work whose end can be seen."""

    def wait(self, seconds: float) -> bool:
        """Wait for its end; say whether it ended in time."""
        ...


def check_size(content: bytes) -> None:
    """Refuse a file that is too large here, before it is read.

    Raises
    ------
    TooMuch
    """
    most = _most("most_megabytes")
    if most is not None and len(content) > most * 2**20:
        raise TooMuch(
            f"The file has {len(content) / 2**20:.1f} MB; this host reads at most {most} MB.",
            remedy="Take a sample, or use the command line on your own computer.",
        )


def check_rows(rows: int) -> None:
    """Refuse a table that has too many rows for this host.

    Raises
    ------
    TooMuch
    """
    most = _most("most_rows")
    if most is not None and rows > most:
        raise TooMuch(
            f"The table has {rows:,} rows; this host takes at most {most:,}.",
            remedy="Take a sample, or use the command line on your own computer.",
        )


def megabytes() -> int:
    """Return how many megabytes a file may have."""
    return min(_most("most_megabytes") or MOST_BYTES, MOST_BYTES // 2**20)


def enter(work: Working) -> None:
    """Count work that begins as that of the person whose session this is.

    Raises
    ------
    TooMuch
        If as much is under way as one person may have; work that was stopped counts until its
        thread has ended.
    """
    most = _most("most_runs")
    if most is None:
        if not session_owner.is_shared():
            return
        most = USUAL_RUNS
    key = _key()
    with _LOCK:
        under_way = [one for one in _AT_WORK.get(key, []) if not one.wait(0)]
        if len(under_way) >= most:
            raise TooMuch(
                f"You have as many runs under way as this host allows: {most}.",
                remedy="Wait for one to end, or cancel one. Check your other windows, too.",
            )
        _AT_WORK[key] = [*under_way, work]


def _key() -> str:
    person = session_owner.person()
    if person is not None:
        return person.key
    return st.session_state.setdefault(_SESSION, secrets.token_hex(16))


def _most(name: str) -> int | None:
    found = session_owner.hosting().get(name)
    if found is None:
        return None
    if isinstance(found, bool) or not isinstance(found, int) or found < 1:
        raise BadPlan(
            f"The host's setting [hosting] {name} is not a whole number of at least 1.",
            remedy="Contact the administrator of this host.",
        )
    return found
