"""A panel that is drawn anew alone after a click in it, unless the click concerns the whole page.

A page of many panels takes a second to draw in a browser, one panel of it a fifth of that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from ..components import guard
from . import chosen, jobs, results, state


def alone(name: str, draw: Callable[[], None], *, key: str) -> None:
    """Draw a panel by itself; what goes wrong is told at its place.

    Where a click in it chose classes, changed the plan, or began or ended work, the whole page is
    drawn, since other panels and the sidebar tell of it too.

    Parameters
    ----------
    name : str
        What the panel is, for a person.
    draw : callable
        Must not depend on what other panels of the page choose by fields of their own.
    key : str
        Tells the panel from others of the page.
    """
    before = _shared()

    @st.fragment(key=key)
    def drawn() -> None:
        if guard.waits_elsewhere(name) or not before.stands():
            st.rerun()
        with guard.panel(name):
            draw()

    drawn()


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


@dataclass(frozen=True, kw_only=True, eq=False)
class _Shared:
    """What more than one panel of a page is drawn from."""

    result: object
    choices: object
    turn: int
    work: tuple[tuple[str, object, str], ...]

    def stands(self) -> bool:
        """Say whether it is still so; results and choices are replaced, never edited."""
        now = _shared()
        return (
            now.result is self.result
            and now.choices is self.choices
            and (now.turn, now.work) == (self.turn, self.work)
        )


def _shared() -> _Shared:
    work = jobs.of_session().items()
    return _Shared(
        result=results.last(),
        choices=state.choices(),
        turn=chosen.turn(),
        work=tuple((name, job, job.state) for name, job in work),
    )
