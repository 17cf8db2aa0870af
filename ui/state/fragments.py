"""A panel that is drawn anew alone after a click in it, unless the click concerns the whole page.

A page of many panels takes a second to draw in a browser, one panel of it a fifth of that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import streamlit as st
from streamlit.errors import StreamlitAPIException

from ui.components import guard
from ui.state import jobs, results, state

_T = TypeVar("_T")
#: The panels of the page that show what is chosen.
_LINKED = "alone/linked"


def alone(name: str, draw: Callable[[], None], *, key: str, linked: bool = False) -> None:
    """Draw a panel by itself; what goes wrong is told at its place.

    Where a click in it changed the plan, or began or ended work, the whole page is drawn, since
    other panels and the sidebar tell of it too. Where it chose classes, `redraw_linked` draws
    those panels that show them.

    Parameters
    ----------
    name : str
        What the panel is, for a person.
    draw : callable
        Must not depend on what other panels of the page choose by fields of their own.
    key : str
        Tells the panel from others of the page.
    linked : bool
        Whether it shows what is chosen. Such a panel must be there at every draw of the page.
    """
    before = _shared()
    if linked:
        st.session_state.setdefault(_LINKED, {})[key] = before.result

    @st.fragment(key=key)
    def drawn() -> None:
        if guard.waits_elsewhere(name) or not before.stands():
            st.rerun()
        with guard.panel(name):
            draw()

    drawn()


def redraw_linked() -> None:
    """Draw the panels that show what is chosen, and nothing else; to be called at a click's end."""
    result = results.shown()
    keys = [key for key, of in st.session_state.get(_LINKED, {}).items() if of is result]
    try:
        st.rerun(keys)
    except StreamlitAPIException:  # one of them could not be drawn before
        st.rerun()


def redraw(key: str) -> None:
    """Draw one panel anew, and nothing else; to be called at a click's end."""
    try:
        st.rerun([key])
    except StreamlitAPIException:  # it could not be drawn before
        st.rerun()


def once_opened(label: str, draw: Callable[[], None], *, name: str, key: str) -> None:
    """Draw what is folded up once it is opened; a browser lays out what a closed fold holds too.

    Parameters
    ----------
    label : str
        What stands on the fold.
    draw : callable
        No field in it may be needed while it is closed.
    name, key : str
        See `alone`.
    """

    def folded() -> None:
        fold = st.expander(label, key=key, on_change="rerun")
        if fold.open:
            with fold:
                draw()

    alone(name, folded, key=f"{key}-alone")


def folded(label: str, form: Callable[[], _T], unopened: Callable[[], _T], *, key: str) -> _T:
    """Draw fields in a fold once it is opened; return what they say.

    Opening it draws the fold alone; a field in it draws the whole page, which is drawn from it.

    Parameters
    ----------
    label : str
        What stands on the fold.
    form : callable
        Draws the fields and returns what they say. It must read the session itself: the fold may
        be opened long after the page was drawn.
    unopened : callable
        Returns what `form` would return where nobody changes a field.
    key : str
        The fold's.
    """
    told: list[_T] = []
    was_open: list[bool] = []

    @st.fragment(key=f"{key}-alone")
    def drawn() -> None:
        fold = st.expander(label, key=key, type="compact", on_change="rerun")
        is_open = bool(fold.open)
        if was_open == [is_open]:
            st.rerun()
        was_open[:] = [is_open]
        if not is_open:
            told[:] = [unopened()]
            return
        with fold:
            told[:] = [form()]

    drawn()
    return told[0]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Shared:
    """What more than one panel of a page is drawn from."""

    result: object
    choices: object
    work: tuple[tuple[str, object, str], ...]

    def stands(self) -> bool:
        """Say whether it is still so; results and choices are replaced, never edited."""
        now = _shared()
        return now.result is self.result and now.choices is self.choices and now.work == self.work


def _shared() -> _Shared:
    # First figures and looking ahead are drawn at their own places.
    passing = (jobs.BACKGROUND, *([] if results.first() is None else ["run"]))
    work = [(name, job) for name, job in jobs.of_session().items() if name not in passing]
    return _Shared(
        result=results.shown(),
        choices=state.choices(),
        work=tuple((name, job, job.state) for name, job in work),
    )
