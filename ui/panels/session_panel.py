"""The session in the sidebar and on Start: what is kept where, saving, opening and deleting."""

from __future__ import annotations

import re
from collections.abc import Sequence

import streamlit as st

from anon_core.base.errors import AnonError
from anon_core.base.terms import in_figures
from anon_core.explain.text.phrases import count
from ui.components.clicks import clicked
from ui.components.downloads import download, later
from ui.components.guard import handled, panel, show_error
from ui.state import state
from ui.state.sessions import kept_sessions, session_file, session_reruns
from ui.state.work import jobs
from ui.words.escaping import plain

PANEL = "Session"
_BEGUN = "session/begun"
_SAID = "session/said"
_SAID_ON = "session/said_on"  # the page it was said on
_ERROR = "session/open_error"
#: Sessions that Start lists at once, so that a new table is loaded without scrolling.
_AT_ONCE = 3
#: Pixels of what a session is, so that the buttons of all are below each other.
_WIDE = 430


def begin() -> None:
    """Restore the session that the address names where this one has just begun, and keep it."""
    if not st.session_state.get(_BEGUN):
        st.session_state[_BEGUN] = True
        if state.dataset() is None:
            try:
                _say(kept_sessions.restore_named())
            except AnonError as error:
                st.session_state[_ERROR] = error
    session_reruns.settle()
    kept_sessions.save()


def restored(title: str) -> None:
    """Tell at the top of a page what was restored, and what of it differs.

    What was restored stays until another page is opened: a page is drawn again for many reasons,
    and would take the sentence away before it is read.
    """
    error: AnonError | None = st.session_state.pop(_ERROR, None)
    if error is not None:
        show_error(error, where="The session was not opened")
    if said := st.session_state.get(_SAID, ""):
        if st.session_state.setdefault(_SAID_ON, title) == title:
            st.info(plain(said), icon=":material/history:")
        else:
            _say("")
    for sentence in session_reruns.said():
        st.warning(plain(sentence), icon=":material/warning:")


def _say(what: str) -> None:
    st.session_state[_SAID] = what
    st.session_state.pop(_SAID_ON, None)


def draw() -> None:
    """Draw what the sidebar says of the session."""
    if state.dataset() is None:
        return
    jobs.watch(session_reruns.JOB)
    waiting = session_reruns.waiting()
    if waiting and not session_reruns.is_under_way():
        st.caption(f"{count(len(waiting), 'run')} of the session not carried out again yet.")
        _carries_out(key="session/again")
    _session()


def coming() -> bool:
    """Draw which runs of the session are still to come, where results would be; say if any are."""
    said = session_reruns.under_way()
    if not said:
        return False
    st.info(plain(said), icon=":material/history:")
    if not session_reruns.is_under_way():
        _carries_out(key="page/again")
    return True


def _carries_out(*, key: str) -> None:
    st.button("Carry out again", key=key, on_click=handled()(session_reruns.start))


@st.fragment
def _session() -> None:
    """Draw what is done with the session, once it is opened.

    A panel that is redrawn alone leaves the sidebar as it was: opening this reads the session as it
    is in that moment, so that the file holds the last edit.
    """
    with panel(PANEL):
        inside = st.popover(
            "Session",
            icon=":material/save:",
            width="stretch",
            key="session/popover",
            on_change="rerun",
        )
        if inside.open:
            with inside:
                _saving()


def _saving() -> None:
    _where()
    name = re.sub(r"[^\w.-]+", "-", state.dataset_title()).strip("-.") or "table"
    download(
        "Save session",
        later(session_file.as_bytes, session_file.content()),
        file=f"{name}.session.json",
        mime="application/json",
        icon=":material/download:",
        key="session/save",
        width="stretch",
        help="Roles, confirmations, hierarchies, plan, pinned runs, judgement and report as "
        "one file. It holds the table's fingerprint, not the table, but it holds the "
        "hierarchies and the seed. Internal: keep it where you keep the table.",
    )
    st.page_link("app.py", label="Open a session", icon=":material/folder_open:")
    if kept_sessions.folder() is None:
        return
    if clicked(
        "Delete kept sessions",
        key="session/delete",
        icon=":material/delete:",
        width="stretch",
        help="Deletes the folder with all tables and sessions in it. Open sessions stay "
        "open but are no longer kept.",
    ):
        kept_sessions.delete_all()
        st.rerun()


def _where() -> None:
    place = kept_sessions.folder()
    if place is None:
        st.caption(
            "Nothing is kept on this host: loading the page again ends the session. Save it as a "
            "file."
        )
        if kept_sessions.refused():
            st.button(
                "Keep sessions",
                key="session/keep-them",
                width="stretch",
                on_click=handled(PANEL)(_answer),
                args=(True,),
                help="Keeps sessions on this machine, unencrypted, with their tables.",
            )
        return
    if kept_sessions.error():
        st.caption(f"The session cannot be kept in `{place}`: {plain(kept_sessions.error())}.")
    elif kept_sessions.is_forgotten():
        st.caption("This session was deleted and is no longer kept.")
        if clicked("Keep it again", key="session/keep"):
            kept_sessions.keep_again()
            st.rerun()
    elif not kept_sessions.is_kept():
        st.caption(
            "The table's file is too large to keep. Your work on it is kept; load the "
            "table again to continue."
        )
    else:
        st.caption(
            "Kept on this machine alone, **unencrypted, with the table**: loading the page again "
            "brings the session back. Results are carried out and verified again."
        )
    st.caption(f"Folder: `{place}`")


def kept() -> None:
    """Draw on Start the sessions that are kept, each to be opened or deleted."""
    found = kept_sessions.listed()
    place = kept_sessions.folder()
    if not found or place is None:
        return
    if kept_sessions.asks() is None:  # else the question says so
        st.caption(f"Kept on this machine alone, unencrypted, with their tables, in `{place}`.")
    _listed(found[:_AT_ONCE])
    if found[_AT_ONCE:]:
        with st.expander(f"Older sessions ({len(found) - _AT_ONCE:,})"):
            _listed(found[_AT_ONCE:])


def ask() -> None:
    """Ask once whether sessions are kept on this machine."""
    place = kept_sessions.asks()
    if place is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="session/ask"):
        st.caption(
            "Your sessions are saved on this computer, unencrypted.",
            help=f"With their tables, in `{place}`",
            width="content",
        )
        for label, keep in (("Keep saving", True), ("Save nothing", False)):
            st.button(
                label,
                key=f"session/answer/{keep}",
                on_click=handled("Open")(_answer),
                args=(keep,),
                help="Asked once; the Session menu changes it."
                if keep
                else "Deletes the sessions that are kept. Loading the page again then ends a "
                "session.",
            )


def _answer(keep: bool) -> None:
    kept_sessions.answer(keep=keep)
    if keep:
        kept_sessions.keep_again()


def _listed(found: Sequence[kept_sessions.Kept]) -> None:
    for one in found:
        row = st.container(horizontal=True, vertical_alignment="center", gap="small")
        when = one.saved.astimezone().strftime("%d %b %Y, %H:%M")
        many = in_figures(one.rows, "row")
        row.markdown(f"**{plain(one.title)}** · {many} · {when}", width=_WIDE)
        row.button(
            "Open",
            key=f"session/open/{one.name}",
            help=f"Open the session on {plain(one.title)} of {when}",
            on_click=_open,
            args=(one.name,),
        )
        row.button(
            "Delete",
            key=f"session/delete/{one.name}",
            help=f"Delete the session on {plain(one.title)} of {when} and the table kept with it",
            on_click=handled()(kept_sessions.delete),
            args=(one.name,),
        )


@handled()
def _open(name: str) -> None:
    try:
        _say(kept_sessions.restore(name))
    except AnonError as error:
        st.session_state[_ERROR] = error


def opened(content: bytes, table: bytes | None = None) -> None:
    """Open a session file, with the table's file next to it, and tell so at the top of the page.

    Raises
    ------
    AnonError
        If it is none, or its table is not here; nothing changes then.
    """
    fresh = state.dataset() is None
    _say(session_file.restore(session_file.parse(content), table, fresh=fresh))
    kept_sessions.part_from()
