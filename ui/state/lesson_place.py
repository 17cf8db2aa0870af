"""Where someone is in a lesson: it is in the address, so that any step can be linked to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

import streamlit as st

from anon_core.base.errors import BadInput
from anon_core.teaching.learn import Example, Lesson, Step, Trace, find_lesson, own_example, read
from anon_core.teaching.learn.example import Material
from anon_core.teaching.learn.shelf import examples_of
from ui.state import state

OWN = "own"
#: Parts of the address.
LESSON, EXAMPLE, STEP, SHOWN = "lesson", "example", "step", "show"
_ANSWERS, _PLAYING, _DOOR = "learn/answers", "learn/playing", "learn/door"


@dataclass(frozen=True, kw_only=True, eq=False)
class Reading:
    """A lesson on an example, with its steps.

    Attributes
    ----------
    lesson : Lesson
    trace : Trace
    steps : sequence of Step
    at : int
        Step that is shown, from 0.
    shown : bool
        Whether it is shown, or its question is still asked.
    """

    lesson: Lesson
    trace: Trace
    steps: Sequence[Step]
    at: int
    shown: bool

    @property
    def step(self) -> Step:
        """The step."""
        return self.steps[self.at]

    @property
    def place(self) -> tuple[str, str, int]:
        """What an answer is kept by."""
        return self.lesson.name, self.trace.example.name, self.at


def chosen_lesson() -> Lesson | None:
    """Return the lesson that the address names, if it names one.

    Raises
    ------
    BadInput
        If there is no such lesson.
    """
    name = st.query_params.get(LESSON, "")
    return find_lesson(name) if name else None


def examples(lesson: Lesson) -> list[tuple[str, str]]:
    """Return name and title of what a lesson can be read on, one's own table last.

    Raises
    ------
    AnonError
        If a lecturer's example cannot be read.
    """
    found = [(one.name, one.title) for one in examples_of(lesson)]
    if state.dataset() is not None:
        found.append((OWN, f"Your table: {state.dataset_title()}"))
    return found


def reading(lesson: Lesson) -> Reading:
    """Return a lesson as the address says it is read.

    Raises
    ------
    AnonError
        If the example is not there, or the lesson cannot be read on it.
    """
    name = st.query_params.get(EXAMPLE, "")
    own = state.fingerprint() if name == OWN else ""

    def made() -> tuple[Trace, Sequence[Step]]:
        return read(lesson, _example(lesson, name))

    with st.spinner("Running what the lesson is about"):
        trace, steps = state.once("learn/trace", (lesson.name, name, own), made)
    asked = st.query_params.get(STEP, "1")
    at = int(asked) - 1 if asked.isdecimal() else 0
    at = min(max(at, 0), len(steps) - 1)
    shown = steps[at].question is None or st.query_params.get(SHOWN, "") == "1"
    return Reading(lesson=lesson, trace=trace, steps=steps, at=at, shown=shown)


def _example(lesson: Lesson, name: str) -> Example:
    if name == OWN:
        table = state.dataset()
        if table is None:
            raise BadInput("There is no table yet.", remedy="Choose one on Start.")
        draft = state.draft()
        return own_example(
            Material(
                dataset=table,
                roles=state.roles(),
                types=draft.get("types", {}),
                levels=state.levels(),
            ),
            state.dataset_title(),
        )
    found = examples_of(lesson)
    if not name:
        return found[0]
    for one in found:
        if one.name == name:
            return one
    raise BadInput(
        "The address names an example that this lesson does not have.",
        remedy="Choose one of those that are listed.",
    )


def open_lesson(name: str) -> None:
    """Go to a lesson's first step; without a name to all lessons."""
    for part in (EXAMPLE, STEP, SHOWN, LESSON):
        if part in st.query_params:
            del st.query_params[part]
    if name:
        st.query_params[LESSON] = name
        st.query_params[STEP] = "1"
    st.session_state[_PLAYING] = False


def open_example(name: str) -> None:
    """Read the lesson on another table."""
    st.query_params[EXAMPLE] = name
    go(0, shown=False)


def go(at: int, *, shown: bool) -> None:
    """Go to a step, from 0; `shown` skips its question."""
    st.query_params[STEP] = str(at + 1)
    if shown:
        st.query_params[SHOWN] = "1"
    elif SHOWN in st.query_params:
        del st.query_params[SHOWN]


def forward(now: Reading) -> None:
    """Show the step whose question is asked, or go on to the next."""
    if not now.shown:
        go(now.at, shown=True)
    elif now.at + 1 < len(now.steps):
        go(now.at + 1, shown=False)


def answer(now: Reading, choice: str) -> None:
    """Keep an answer, and show the step."""
    st.session_state.setdefault(_ANSWERS, {})[now.place] = choice
    go(now.at, shown=True)


def answered(now: Reading) -> str:
    """Return the id of what was answered at the step; empty if nothing was."""
    return str(st.session_state.get(_ANSWERS, {}).get(now.place, ""))


def play(on: bool) -> None:
    """Let the lesson play, or halt."""
    st.session_state[_PLAYING] = on


def playing() -> bool:
    """Say whether the lesson plays."""
    return bool(st.session_state.get(_PLAYING, False))


def link(now: Reading) -> str:
    """Return the address of the step, to be handed on."""
    parts = {LESSON: now.lesson.name, EXAMPLE: now.trace.example.name, STEP: str(now.at + 1)}
    if now.shown:
        parts[SHOWN] = "1"
    page = str(st.context.url or "/Learn").partition("?")[0]
    return f"{page}?{urlencode(parts)}"


def run_said(now: Reading, name: str) -> str:
    """Return one of a lesson's runs in words: its technique and models."""
    plan = now.trace[name].result.plan
    models = ", ".join(
        f"{model.title} ({', '.join(f'{n} = {v}' for n, v in asked.items() if n != 'name')})"
        for model, asked in zip(plan.models, plan.as_mapping()["models"], strict=True)
    )
    return f"{plan.algorithm.title}: {models}" if models else plan.algorithm.title


def to_run(now: Reading, name: str) -> None:
    """Start work on the lesson's table with the settings of one of its runs, and go to Run.

    The table that was open comes back by undo.
    """
    material = now.trace.material
    asked = now.trace[name].result.plan.as_mapping()
    roles = now.lesson.roles(name, material)
    state.set_dataset(
        material.dataset,
        roles=roles,
        left_out=roles.left_out(material.dataset),
        levels=material.levels,
        types=material.types,
        title=now.trace.example.title,
    )
    state.begin_with(algorithm=asked["algorithm"], models=asked["models"])
    st.session_state[_DOOR] = True


def leads_away() -> bool:
    """Say whether someone just asked for Run; once."""
    return bool(st.session_state.pop(_DOOR, False))
