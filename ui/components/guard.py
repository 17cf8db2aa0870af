"""What goes wrong stays where it went wrong: a message at its place, and the rest of the page."""

from __future__ import annotations

import logging
import re
import traceback
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import ParamSpec, TypeVar

import streamlit as st
from streamlit.errors import FragmentHandledException
from streamlit.runtime.scriptrunner_utils.script_run_context import ThreadState, get_script_run_ctx

import anon_core
from anon_core.base.errors import AnonError, Infeasible, NotFound
from anon_core.base.installation import shipped
from ui.journal import here
from ui.words.escaping import plain

_P = ParamSpec("_P")
_R = TypeVar("_R")
_LOG = logging.getLogger("workbench")
#: Where errors of clicks wait for the page to be drawn.
_WAITING = "guard/waiting"
#: What is done after each draw of panels alone: a page does it as it begins to be drawn.
_AFTER: list[Callable[[], None]] = []


class BrokenDown(AnonError):
    """An error of the workbench itself, reported by kind and place: its text may hold a value."""


@contextmanager
def panel(name: str = "") -> Generator[None]:
    """Show what goes wrong inside at its place; what is drawn around it stays.

    Also shows what a click went wrong with that was handled for a panel of this name.

    Parameters
    ----------
    name : str
        What the panel is, for a person; the beginning of the message.
    """
    tell(name)
    try:
        yield
    except FragmentHandledException:
        raise
    except AnonError as error:
        show_error(error, where=name)
    except Exception as error:  # noqa: BLE001 - whatever it is, the rest of the page stays
        show_error(noted(error), where=name)
    context = get_script_run_ctx()
    if context is not None and context.fragment_ids_this_run:
        for then in _AFTER:
            then()


def after_panels(then: Callable[[], None]) -> None:
    """Let something be done whenever panels are drawn again and the page is not."""
    _AFTER[:] = [then]


def tell(name: str) -> None:
    """Show what clicks that were handled for a panel went wrong with."""
    waiting: dict[str, list[AnonError]] = st.session_state.get(_WAITING) or {}
    for error in waiting.pop(name, []):
        show_error(error, where=name)


def waits_elsewhere(name: str) -> bool:
    """Say whether a click went wrong that is reported by another panel than that of this name."""
    waiting: dict[str, list[AnonError]] = st.session_state.get(_WAITING) or {}
    return any(waiting[other] for other in waiting if other != name)


def handled(name: str = "") -> Callable[[Callable[_P, _R]], Callable[_P, _R | None]]:
    """Let a click never end the page: what goes wrong is kept for the panel of that name.

    Without a name the page shows it at its top.
    """

    def around(click: Callable[_P, _R]) -> Callable[_P, _R | None]:
        @wraps(click)
        def guarded(*args: _P.args, **kwargs: _P.kwargs) -> _R | None:
            done: _R | None = None
            try:
                done = click(*args, **kwargs)
            except AnonError as error:
                _keep(name, error)
            except Exception as error:  # noqa: BLE001 - whatever it is, the page is drawn
                _keep(name, noted(error))
            _redraw_if_elsewhere()
            return done

        return guarded

    return around


def noted(error: Exception) -> BrokenDown:
    """Log an unexpected error by its kind and place, and return what a person reads of it."""
    kind, place = type(error).__name__, _place(error)
    _LOG.error("%s in %s", kind, place)
    here().note("error", error=type(error))
    return BrokenDown(
        f"An error of the workbench itself: {kind} in {place}.",
        remedy="What you had is unchanged. Undo the last step or choose otherwise; please report "
        "this line.",
    )


def show_error(error: AnonError, *, where: str = "") -> None:
    """Show what is wrong and what to do; the values concerned stay behind a click.

    Parameters
    ----------
    error : AnonError
    where : str
        What was being done, for example the name of the file.
    """
    lead = f"**{plain(where)}** – " if where else ""
    remedy = f"\n\n{plain(error.remedy)}" if error.remedy else ""
    st.error(f"{lead}{plain(error.message)}{remedy}", icon=":material/error:")
    if error.values:
        with st.expander("Show the values"):
            for value in error.values:
                st.code(value, language=None)


def show_best(error: Infeasible | NotFound, lead: str) -> None:
    """Show below a refusal how much can be had, where its own words do not say it."""
    if error.best is None:
        return
    best = f"{error.best:,g}"
    if best not in re.findall(r"\d[\d.,]*\d|\d", f"{error.message} {error.remedy}"):
        st.caption(plain(f"{lead}: {best} ({error.best_of})."))


def keep_values_out_of_the_log() -> None:
    """Let Streamlit log an error that got past every panel by its kind and place only."""
    for name in ("streamlit.error_util", "streamlit.runtime.scriptrunner.script_runner"):
        log = logging.getLogger(name)
        if not any(isinstance(one, _KindAndPlace) for one in log.filters):
            log.addFilter(_KindAndPlace())


class _KindAndPlace(logging.Filter):
    """Take an error's text and its lines of code out of what is logged."""

    def filter(self, record: logging.LogRecord) -> bool:
        error = record.exc_info[1] if isinstance(record.exc_info, tuple) else None
        if isinstance(error, Exception):
            here().note("error", error=type(error))
            record.msg = f"{record.getMessage()}: {type(error).__name__} in {_place(error)}"
            record.args = None
            record.exc_info = None
            record.exc_text = None
        return True


def _place(error: Exception) -> str:
    """Return the last line of our own that an error went through."""
    steps = traceback.extract_tb(error.__traceback__)
    own = [(shown, one.lineno) for one in steps if (shown := _own_path(one.filename))]
    if own:
        path, line = own[-1]
    elif steps:
        path, line = Path(steps[-1].filename).name, steps[-1].lineno
    else:
        return "an unknown place"
    return f"{path}, line {line}"


def _own_path(filename: str) -> str:
    """Return where a file lies in the workbench; an empty text where it is not one of ours."""
    for root in (shipped(), Path(anon_core.__file__).resolve().parent):
        if Path(filename).is_relative_to(root):
            path = Path(filename).relative_to(root)
            if "site-packages" not in path.parts:  # an environment inside of a checkout
                return (path if root == shipped() else root.name / path).as_posix()
    return ""


def fires_elsewhere() -> bool:
    """Say whether a callback is called for a fragment that its widget is not in."""
    context = get_script_run_ctx()
    drawn = None if context is None else context.fragment_ids_this_run
    return bool(drawn) and ThreadState.get().fragment_id not in (drawn or ())


def _redraw_if_elsewhere() -> None:
    """Draw the whole page where only a fragment would be that the click is not in.

    A browser sends all changes of one moment as one, for the fragment that one of them belongs to.
    """
    if fires_elsewhere():
        st.rerun()


def _keep(name: str, error: AnonError) -> None:
    waiting: dict[str, list[AnonError]] = st.session_state.setdefault(_WAITING, {})
    waiting.setdefault(name, []).append(error)
