"""A panel that is drawn again alone after a click in it, unless the click concerns the whole page.

A page of many panels takes a second to draw in a browser, one panel of it a fifth of that.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar, cast

import streamlit as st
from streamlit.errors import StreamlitAPIException
from streamlit.runtime.scriptrunner_utils.script_run_context import get_script_run_ctx

from ui.components import guard, reruns
from ui.state import results, state
from ui.state.work import jobs

reruns.mend()
_T = TypeVar("_T")
#: The panels of the page by their keys, in the order in which they are drawn, and what from.
_PANELS, _DRAWN_FROM = "alone/panels", "alone/drawn-from"
#: Those that are to be drawn again and are not yet: another click may come in between.
_OWED = "alone/owed"
#: What is on the folds of the page, each with the function of the draft that says it.
_LABELS = "folded/labels"
#: Seconds after which what a panel drew has surely been sent.
_UNSENT = 1.0
#: What a panel says of a result: nothing; its figures; also what the second computation says.
Tells = Literal["", "figures", "verdict"]


def begin_page() -> None:
    """Forget the panels of the page before; called as a page begins to be drawn."""
    st.session_state[_PANELS], st.session_state[_DRAWN_FROM], st.session_state[_OWED] = {}, {}, {}
    st.session_state[_LABELS] = []


def alone(
    name: str,
    draw: Callable[[], None],
    *,
    key: str,
    linked: bool = False,
    tells: Tells = "",
    drawn_from: Callable[[], object] | None = None,
    block: Callable[[], Mapping[str, Any]] | None = None,
) -> None:
    """Draw a panel by itself; what goes wrong is reported at its place.

    Where a click in it changed the plan, or began or ended work, the whole page is drawn, since
    other panels and the sidebar tell of it too. Where it chose classes, `redraw_linked` draws
    those panels that show them.

    Parameters
    ----------
    name : str
        What the panel is, for a person.
    draw : callable
        Must not depend on what other panels of the page choose by fields of their own. Where it
        says of a result, it must ask for the one that is shown then.
    key : str
        Distinguishes the panel from others of the page.
    linked : bool
        Whether it shows what is chosen. Such a panel must be there at every draw of the page.
    tells : {'', 'figures', 'verdict'}
        See `redraw_result`.
    drawn_from : callable, optional
        Returns all that the panel is drawn from. As long as that is the same, the panel stays as
        it is where others are drawn again. It is drawn with them each time without this.
    block : callable, optional
        Returns the key and look of the block that it is drawn in, as `st.container` takes them.
    """
    if block is not None:
        reruns.look_of_block(key, _unless_it_fails(block))
    _panels()[key] = _Panel(before=_shared(), linked=linked, tells=tells, drawn_from=drawn_from)

    @st.fragment(key=key)
    def drawn() -> None:
        panel = _panels().get(key)
        if guard.waits_elsewhere(name) or panel is None or not panel.before.holds():
            st.rerun()
        _drawn_from().pop(key, None)
        with guard.panel(name):
            draw()
            if drawn_from is not None:
                _drawn_from()[key] = _DrawnFrom(what=drawn_from(), at=time.monotonic())
        _owed().pop(key, None)
        if _owed() and _by_itself():
            redraw()

    drawn()


def _unless_it_fails(block: Callable[[], Mapping[str, Any]]) -> Callable[[], Mapping[str, Any]]:
    def look() -> Mapping[str, Any]:
        try:
            return block()
        except Exception:  # noqa: BLE001 - what is drawn in the block fails too, and is reported
            return {}

    return look


def redraw_linked() -> None:
    """Draw the panels that show what is chosen, and nothing else; to be called at a click's end."""
    redraw(*[key for key, panel in _panels().items() if panel.linked and _is_other(key)])


def redraw_result(tells: Tells) -> None:
    """Draw the panels that tell of a result, and nothing else; to be called at a click's end.

    Parameters
    ----------
    tells : {'figures', 'verdict'}
        Whether its figures are new, or only what the second computation says of them.
    """
    now, panels = _shared(), _panels()
    for key, panel in panels.items():
        panels[key] = replace(panel, before=now)
    wanted = ("figures", "verdict") if tells == "figures" else ("verdict",)
    redraw(*[key for key, panel in panels.items() if panel.tells in wanted and _is_other(key)])


def draws_alone() -> bool:
    """Say whether panels are being drawn, and not the page."""
    context = get_script_run_ctx()
    return context is not None and bool(context.fragment_ids_this_run)


def redraw(*keys: str) -> None:
    """Draw some panels again, and nothing else; to be called at a click's end.

    Those of an earlier click that this one kept from being drawn are drawn with them.
    """
    owed = _owed()
    owed.update(dict.fromkeys(keys))
    try:
        st.rerun([*(key for key in _panels() if key in owed), *(owed.keys() - _panels().keys())])
    except StreamlitAPIException:  # one of them could not be drawn before
        st.rerun()


def once_opened(label: str, draw: Callable[[], None], *, name: str, key: str) -> None:
    """Draw what is folded up once it is opened; a browser lays out what a closed fold holds too.

    Parameters
    ----------
    label : str
        What is on the fold.
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


def folded(
    label: Callable[[dict[str, Any]], str],
    form: Callable[[], _T],
    unopened: Callable[[], _T],
    *,
    key: str,
) -> _T:
    """Draw fields in a fold once it is opened; return what they say.

    Opening it draws the fold alone; a field in it draws the whole page, which is drawn from it.

    Parameters
    ----------
    label : callable
        Returns what is on the fold from the draft: which settings in it are changed.
    form : callable
        Draws the fields and returns what they say. It must read the session itself: the fold may
        be opened long after the page was drawn.
    unopened : callable
        Returns what `form` would return where no one changes a field.
    key : str
        The fold's.
    """
    result: list[_T] = []
    was_open: list[bool] = []
    kept = f"{key}/fold"
    text = label(state.draft())
    st.session_state.setdefault(_LABELS, []).append((text, label))
    begins_open = opens_with(st.session_state.get(kept), text)

    @st.fragment(key=f"{key}-alone")
    def drawn() -> None:
        fold = st.expander(text, expanded=begins_open, key=key, type="compact", on_change="rerun")
        is_open = bool(fold.open)
        st.session_state[kept] = (text, begins_open, is_open)
        if was_open == [is_open]:
            st.rerun()
        was_open[:] = [is_open]
        if not is_open:
            result[:] = [unopened()]
            return
        with fold:
            result[:] = [form()]

    drawn()
    return result[0]


def labels_are_old() -> bool:
    """Say whether a fold of the page says something else by now: it was drawn before its fields."""
    labels = cast(
        list[tuple[str, Callable[[dict[str, Any]], str]]], st.session_state.get(_LABELS, [])
    )
    draft = state.draft()
    return any(label(draft) != text for text, label in labels)


def opens_with(before: tuple[str, bool, bool] | None, label: str) -> bool:
    """Return whether a fold begins open: to Streamlit it is another one where its label changed.

    Parameters
    ----------
    before : tuple of (str, bool, bool), or None
        Its label when it was drawn last, whether it began open then, and whether it was.

    Examples
    --------
    >>> opens_with(("A", False, True), "A"), opens_with(("A", False, True), "A: 1 changed")
    (False, True)
    """
    if before is None:
        return False
    return before[1] if before[0] == label else before[2]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Shared:
    """What more than one panel of a page is drawn from."""

    result: object
    choices: object
    work: tuple[tuple[str, object, str], ...]

    def holds(self) -> bool:
        """Say whether it is still so; results and choices are replaced, never edited."""
        now = _shared()
        return now.result is self.result and now.choices is self.choices and now.work == self.work


@dataclass(frozen=True, kw_only=True, eq=False)
class _DrawnFrom:
    """What a panel was drawn from, and when."""

    what: object
    at: float


@dataclass(frozen=True, kw_only=True, eq=False)
class _Panel:
    """What a panel was drawn from, and when it is drawn again."""

    before: _Shared
    linked: bool
    tells: Tells
    drawn_from: Callable[[], object] | None


def _is_other(key: str) -> bool:
    """Say whether a panel would be drawn from something else than it was."""
    drawn_from, before = _panels()[key].drawn_from, _drawn_from().get(key)
    # What was drawn just now may not have been sent yet, and is dropped where a click comes first.
    if drawn_from is None or before is None or time.monotonic() - before.at < _UNSENT:
        return True
    return drawn_from() != before.what


def _by_itself() -> bool:
    """Say whether a single panel is drawn, as after a change of a field in it."""
    context = get_script_run_ctx()
    return context is not None and len(context.fragment_ids_this_run or ()) == 1


def _owed() -> dict[str, None]:
    return cast(dict[str, None], st.session_state.setdefault(_OWED, {}))


def _drawn_from() -> dict[str, _DrawnFrom]:
    return cast(dict[str, _DrawnFrom], st.session_state.setdefault(_DRAWN_FROM, {}))


def _panels() -> dict[str, _Panel]:
    return cast(dict[str, _Panel], st.session_state.setdefault(_PANELS, {}))


def _shared() -> _Shared:
    # First figures and looking ahead are drawn at their own places.
    passing = (jobs.BACKGROUND, *([] if results.first() is None else ["run"]))
    work = [(name, job) for name, job in jobs.of_session().items() if name not in passing]
    return _Shared(
        result=results.shown(),
        choices=state.choices(),
        work=tuple((name, job, job.state) for name, job in work),
    )
