"""The way in where people log in: nothing of any page is drawn for someone who has not."""

from __future__ import annotations

import streamlit as st

from ui.components.guard import handled
from ui.journal import here
from ui.state import session_owner
from ui.state.sessions import session_end
from ui.words.escaping import plain


def gate() -> None:
    """Stop the page unless its viewer may see it; a session has one person from its start."""
    if not session_owner.needs_login():
        session_owner.note_what_happens()
        return
    person = session_owner.person()
    begins = session_end.keep_only("" if person is None else person.key)
    session_owner.note_what_happens()
    if person is not None and begins:
        here().note("session")
    if person is not None:
        return
    st.title("Anonymity Workbench", anchor=False)
    st.write("Log in to work here. What you load and what comes out is shown to you alone.")
    if (user := st.user.to_dict()).get("is_logged_in") and user:
        st.error("The provider did not say who you are (claims `iss` and `sub`).")
    for provider in session_owner.providers():
        label = f"Log in with {provider.capitalize()}" if provider else "Log in"
        st.button(
            label, key=f"login-{provider}", type="primary", on_click=_log_in, args=(provider,)
        )
    st.stop()


def line() -> None:
    """Draw who is logged in, and the way out."""
    person = session_owner.person()
    if person is None:
        return
    st.caption(f"Logged in as {plain(person.shown)}")
    st.button(
        "Log out",
        key="logout",
        icon=":material/logout:",
        on_click=_log_out,
        help="Ends this session; what is kept of it on the host is there at your next login.",
    )


@handled()
def _log_in(provider: str) -> None:
    if provider:
        st.login(provider)
    else:
        st.login()


@handled()
def _log_out() -> None:
    here().note("log out")
    session_end.keep_only("")
    st.logout()
