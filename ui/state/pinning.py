"""Runs that are kept for comparison, each under a letter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import streamlit as st

from anon_core.base.errors import AnonError
from anon_core.explain.text.plan_words import made_by
from anon_core.recipe.plan import Plan
from ui.state import state

if TYPE_CHECKING:
    from anon_core.pipeline.result import Result

LETTERS = "ABCDEF"
_PINS = "state/pins"


@dataclass(frozen=True, kw_only=True)
class Pin:
    """A run that is kept for comparison under a letter.

    Attributes
    ----------
    letter, title : str
    result : Result
    table : str
        Fingerprint of the table that was loaded when it was pinned.
    choices : mapping or None
        What was chosen for it, as `state.choices`, where that is known.
    """

    letter: str
    title: str
    result: Result
    table: str = ""
    choices: Mapping[str, Any] | None = None


def pins() -> list[Pin]:
    """Return the pinned runs in the order of their letters."""
    return list(st.session_state.get(_PINS, []))


def pin(result: Result, choices: Mapping[str, Any] | None = None) -> Pin:
    """Keep a run under the first free letter, with what was chosen for it.

    Raises
    ------
    AnonError
        If all letters are taken.
    """
    kept = pins()
    free = [letter for letter in LETTERS if letter not in {p.letter for p in kept}]
    if not free:
        raise AnonError(
            f"{len(LETTERS)} runs are pinned, the most that can be compared at once.",
            remedy="Unpin one first.",
        )
    table = state.dataset()
    new = Pin(
        letter=free[0],
        title=_title(result.plan),
        result=result,
        table="" if table is None else table.fingerprint,
        choices=choices,
    )
    st.session_state[_PINS] = sorted([*kept, new], key=lambda p: p.letter)
    return new


def exchange(before: Result, now: Result) -> None:
    """Put a result in the place of another in its pin, if it has one."""
    st.session_state[_PINS] = [replace(p, result=now) if p.result is before else p for p in pins()]


def put(letter: str, result: Result) -> None:
    """Keep a run under the letter it had, unless another one has it now."""
    if letter not in {p.letter for p in pins()}:
        table = state.dataset()
        found = "" if table is None else table.fingerprint
        new = Pin(letter=letter, title=_title(result.plan), result=result, table=found)
        st.session_state[_PINS] = sorted([*pins(), new], key=lambda p: p.letter)


def clear() -> None:
    """Let all pinned runs go."""
    st.session_state[_PINS] = []


def unpin(letter: str) -> None:
    """Let a pinned run go."""
    st.session_state[_PINS] = [p for p in pins() if p.letter != letter]


def _title(plan: Plan) -> str:
    models = [", ".join([model.title, *model.settings()]) for model in plan.models]
    return f"{made_by(plan)} · {' + '.join(models)}"
