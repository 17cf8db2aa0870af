"""What a change on Results comes to: its panels drawn with the first figures, then with the rest.

The page around them stays as it is, which spares the browser half of the work.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import streamlit as st

from ui.components import another_look
from ui.components.guard import handled
from ui.panels.results import workspace
from ui.state import results
from ui.state.sessions import kept_sessions
from ui.state.work import running, what_if
from ui.state.work.fragments import draws_alone, redraw_result

KEY = "rest-alone"
_NAME = "The run"
_P = ParamSpec("_P")


def shown(click: Callable[_P, object]) -> Callable[_P, None]:
    """Let a click that changes the plan draw the panels alone, where its figures come soon."""

    @wraps(click)
    def then(*args: _P.args, **kwargs: _P.kwargs) -> None:
        click(*args, **kwargs)
        if not draws_alone() or workspace.is_any_open():  # a drawer may show anything of a result
            return
        running.wait_for_figures()
        refused = what_if.refused() is not None or running.error() is not None
        if not refused and (results.first() is not None or results.is_current()):
            running.seen()
            redraw_result("figures")

    return then


def rest() -> None:
    """Let a run whose first figures are drawn go on, and draw what it comes to.

    To be drawn below all that says of the result.
    """
    if not draws_alone():
        running.wait_for_rest()
    elif results.first() is None:
        kept_sessions.save()
    else:
        running.drawn()
        another_look.soon("rest-look", on_look=handled(_NAME)(_ended))


def _ended() -> None:
    if running.ends_soon():
        running.settle()
        if running.error() is None and not workspace.is_any_open():
            redraw_result("verdict")
        st.rerun()
    st.rerun([KEY])
