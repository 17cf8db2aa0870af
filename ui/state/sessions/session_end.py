"""The end of a session: its work is stopped and everything it held is let go."""

from __future__ import annotations

import streamlit as st

from ui.state.work import jobs

_OF = "ending/of"


def keep_only(key: str) -> bool:
    """Let go of everything unless it is the session of the person with this key; say if it was not.

    Parameters
    ----------
    key : str
        `Person.key`; empty where no one is logged in.
    """
    if st.session_state.get(_OF, "") == key:
        return False
    jobs.stop_all()
    st.session_state.clear()
    st.session_state[_OF] = key
    return True
