"""Sessions that are kept on this machine: each in a folder of its own, with the table's file.

A folder holds `session.json` and the table's file, named after its content. The table is written
first, and `session.json` takes the place of the older one by one rename: anyone who is killed in
between leaves the older state whole.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shutil
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, cast

import streamlit as st

from anon_core.base.errors import AnonError, BadInput, NotFound
from anon_core.base.private_file import write_private
from ui.state import (
    drafts,
    kept_fields,
    noise_budget,
    pinning,
    release_context,
    release_context_answers,
    results,
    session_owner,
    state,
)
from ui.state.sessions import session_file, session_reruns

#: Names another folder; "off" keeps nothing.
FOLDER_VARIABLE = "ANONYMITY_WORKBENCH_SESSIONS"
#: Sessions that are kept; the oldest go.
MOST_KEPT = 8
#: The address of a page names its session under this key, so that loading it again finds it.
ADDRESS = "session"
_ID = "session/id"
_WRITER = "session/writer"
_SAVED = "session/saved_of"
_ERROR = "session/save_error"
_FORGOTTEN = "session/forgotten"
#: The file with the answer to whether sessions are kept, and its words.
_ANSWER, _KEEP, _NOT = "own.answer", "keep", "keep nothing"
_NAME = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A session that is kept: its name, its table, and when it was saved."""

    name: str
    title: str
    rows: int
    saved: datetime


def folder() -> Path | None:
    """Return where sessions of this person are kept; None where none are.

    On one's own computer there is one folder, where people log in each has their own, and on a
    shared host without logins nothing is kept.
    """
    named = os.environ.get(FOLDER_VARIABLE, "").strip()
    if named.lower() == "off":
        return None
    root = _root()
    if not session_owner.is_shared():
        return None if _answered() == _NOT else root / "own"
    person = session_owner.person()
    return None if person is None else root / person.key


def asks() -> Path | None:
    """Return the folder that a person is asked about; None where it is settled.

    Once is enough, and on one's own computer alone: elsewhere the host has settled it.
    """
    if os.environ.get(FOLDER_VARIABLE, "").strip() or session_owner.is_shared() or _answered():
        return None
    return folder()


def answer(*, keep: bool) -> None:
    """Take the answer for this and every later session; without keeping, what is kept goes.

    Raises
    ------
    BadInput
        If it cannot be written down.
    """
    if not keep:
        delete_all()
    root = _root()
    try:
        root.mkdir(parents=True, exist_ok=True, mode=0o700)
        write_private(root / _ANSWER, (_KEEP if keep else _NOT).encode())
    except OSError as error:
        raise BadInput(
            f"The answer cannot be written into {root}: {error.strerror}.",
            remedy="Make the folder writable, or set the variable "
            f"{FOLDER_VARIABLE} to another one, or to off.",
        ) from error


def refused() -> bool:
    """Return whether a person said that nothing is to be kept."""
    free = not os.environ.get(FOLDER_VARIABLE, "").strip() and not session_owner.is_shared()
    return free and _answered() == _NOT


def _root() -> Path:
    named = os.environ.get(FOLDER_VARIABLE, "").strip()
    home = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local/share")
    return Path(named) if named else Path(home) / "anonymity-workbench" / "sessions"


def _answered() -> str:
    with suppress(OSError):
        return (_root() / _ANSWER).read_text(encoding="utf-8").strip()
    return ""


def listed() -> tuple[Kept, ...]:
    """Return the sessions that are kept, the last one saved first; those of other forms are not."""
    place = folder()
    found: list[Kept] = []
    if place is None or not place.is_dir():
        return ()
    for one in place.iterdir():
        with suppress(AnonError, OSError, KeyError, TypeError, ValueError):
            found.append(_listed(one))
    return tuple(sorted(found, key=lambda kept: kept.saved, reverse=True))


def _listed(one: Path) -> Kept:
    if not _NAME.fullmatch(one.name):
        raise ValueError(one.name)
    about = cast(dict[str, Any], json.loads((one / "about.json").read_bytes()))
    return Kept(
        name=one.name,
        title=str(about["title"]),
        rows=int(about["rows"]),
        saved=datetime.fromisoformat(about["saved"]),
    )


def save() -> None:
    """Keep the session as it is now, where sessions are kept and something has changed."""
    if state.dataset() is None or st.session_state.get(_FORGOTTEN):
        return
    if results.first() is not None:  # the result follows, and is kept with what it was made of
        return
    of, before = _parts(), st.session_state.get(_SAVED)
    same = before is not None and _alike(of, before)
    # Asked at every draw: where a session is kept is read from the host's secrets.
    if same and st.query_params.get(ADDRESS) == st.session_state.get(_ID):
        return
    place = folder()
    if place is None:
        return
    name = st.session_state.setdefault(_ID, secrets.token_hex(16))
    if st.query_params.get(ADDRESS) != name:
        st.query_params[ADDRESS] = name
    if same:
        return
    try:
        _write(place)
    except OSError as error:
        st.session_state[_ERROR] = f"{error.strerror}"
        return
    st.session_state[_SAVED] = of
    st.session_state.pop(_ERROR, None)


def error() -> str:
    """Return why the session could not be kept, or an empty text."""
    return str(st.session_state.get(_ERROR, ""))


def is_kept() -> bool:
    """Return whether loading the page again brings this session back with its table."""
    if not st.session_state.get(_SAVED) or error() or folder() is None:
        return False
    return bool(state.sample_name()) or state.file() is not None


def restore_named() -> str:
    """Restore the session that the address names, where this one has just begun.

    Returns
    -------
    str
        What was restored, or empty where the address names none that is kept.

    Raises
    ------
    AnonError
        If it is kept, but cannot be opened; it stays where it is.
    """
    name = st.query_params.get(ADDRESS, "")
    place = folder()
    if place is None or not _NAME.fullmatch(name) or not (place / name).is_dir():
        return ""
    return restore(name)


def restore(name: str) -> str:
    """Put a kept session instead of the present one; see `session_file.restore`.

    Raises
    ------
    AnonError
        If it is gone, damaged, or of another version.
    """
    place = folder()
    if place is None or not _NAME.fullmatch(name):
        raise NotFound("No session is kept under that name.", remedy="Choose another one.")
    try:
        content = (place / name / "session.json").read_bytes()
    except OSError as error:
        raise NotFound(
            f"The session cannot be read ({error.strerror}).", remedy="Choose another one."
        ) from error
    whole = session_file.parse(content)
    own = whole.get("file", "")
    table = None
    if isinstance(own, str) and re.fullmatch(r"table-[0-9a-f]{64}", own):
        with suppress(OSError):
            table = (place / name / own).read_bytes()
        if table is not None and hashlib.sha256(table).hexdigest() != own.removeprefix("table-"):
            raise BadInput(
                "The table that was kept with the session is damaged.",
                remedy="Load the table again; the session is kept as it is.",
            )
    said = session_file.restore(whole, table, fresh=state.dataset() is None)
    st.session_state[_ID] = name
    st.session_state.pop(_FORGOTTEN, None)
    st.session_state.pop(_SAVED, None)
    st.session_state.pop(_WRITER, None)
    _take(place / name)
    return said


def delete(name: str) -> None:
    """Delete a kept session; the one that is open is not kept any more, and stays open."""
    place = folder()
    if place is None or not _NAME.fullmatch(name):
        return
    shutil.rmtree(place / name, ignore_errors=True)
    if st.session_state.get(_ID) == name:
        _forget()


def delete_all() -> None:
    """Delete all kept sessions of this person."""
    place = folder()
    if place is not None:
        shutil.rmtree(place, ignore_errors=True)
    _forget()


def part_from() -> None:
    """Keep what is open now as a session of its own, next to the one that was open before."""
    for key in (_ID, _SAVED, _WRITER, _FORGOTTEN):
        st.session_state.pop(key, None)


def keep_again() -> None:
    """Keep this session from now on, after it was deleted."""
    st.session_state.pop(_FORGOTTEN, None)


def is_forgotten() -> bool:
    """Return whether this session was deleted, and is not kept any more."""
    return bool(st.session_state.get(_FORGOTTEN))


# ---- inside --------------------------------------------------------------------------------


def _forget() -> None:
    st.session_state[_FORGOTTEN] = True
    for key in (_ID, _SAVED, _WRITER):
        st.session_state.pop(key, None)
    if ADDRESS in st.query_params:
        del st.query_params[ADDRESS]


def _parts() -> tuple[tuple[object, ...], str]:
    """Return what a session consists of: objects that are never edited, and what is written."""
    runs = (results.last(), *(pin.result for pin in pinning.pins()))
    objects = (state.dataset(), state.choices(), results.made_of(), drafts.all_kept(), *runs)
    written = [release_context.words_of(one) for one in runs]
    return objects, str(
        (
            written,
            release_context_answers.answers(),
            kept_fields.noted(),
            len(session_reruns.waiting()),
            noise_budget.totals(),
        )
    )


def _alike(one: tuple[tuple[object, ...], str], other: tuple[tuple[object, ...], str]) -> bool:
    return (
        len(one[0]) == len(other[0])
        and all(a is b for a, b in zip(one[0], other[0], strict=True))
        and one[1] == other[1]
    )


def _write(place: Path) -> None:
    place.mkdir(parents=True, exist_ok=True, mode=0o700)
    target = place / cast(str, st.session_state[_ID])
    if target.is_dir() and not _is_mine(target):  # opened in another tab, which goes on with it
        st.session_state[_ID] = secrets.token_hex(16)
        st.query_params[ADDRESS] = st.session_state[_ID]
        st.session_state.pop(_WRITER, None)
        target = place / cast(str, st.session_state[_ID])
    target.mkdir(exist_ok=True, mode=0o700)
    if _WRITER not in st.session_state:
        _take(target)
    whole = session_file.content()
    content = None if state.sample_name() else state.file()
    if content is not None:
        whole["file"] = f"table-{hashlib.sha256(content).hexdigest()}"
        if not (target / whole["file"]).is_file():
            write_private(target / whole["file"], content)
    about = {**whole["table"], "saved": whole["saved"], "columns": None}
    write_private(target / "session.json", session_file.as_bytes(whole))
    write_private(target / "about.json", json.dumps(about).encode())
    for old in target.glob("table-*"):
        if old.name != whole.get("file"):
            old.unlink(missing_ok=True)
    for kept in listed()[MOST_KEPT:]:
        shutil.rmtree(place / kept.name, ignore_errors=True)


def _take(target: Path) -> None:
    """Note that this session writes the folder from now on."""
    st.session_state[_WRITER] = secrets.token_hex(8)
    with suppress(OSError):
        write_private(target / "writer", st.session_state[_WRITER].encode())


def _is_mine(target: Path) -> bool:
    try:
        return (target / "writer").read_text() == st.session_state.get(_WRITER)
    except OSError:
        return True
