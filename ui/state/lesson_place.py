"""Where someone is in a lesson: it is in the address, so that any step can be linked to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import urlencode

import streamlit as st

from anon_core.base.errors import BadInput
from anon_core.data.reading import DataOptions, read_table
from anon_core.data.roles.roles import Roles
from anon_core.data.table import Dataset
from anon_core.teaching.learn import Example, Lesson, Step, Trace, find_lesson, own_example, read
from anon_core.teaching.learn.example import Material
from anon_core.teaching.learn.lesson import examples_of
from anon_core.teaching.learn.lesson_run import moved, setting_of, settings_of, shuffles
from ui.state import state

#: Examples that are the reader's own: the loaded table, and one typed on the page.
OWN, TYPED = "own", "typed"
#: Parts of the address.
LESSON, EXAMPLE, STEP, SHOWN = "lesson", "example", "step", "show"
SETTING, SHUFFLE = "set", "shuffle"
_ANSWERS, _PLAYING, _DOOR = "learn/answers", "learn/playing", "learn/door"
_TYPED = "learn/typed"


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
    def place(self) -> tuple[str, str, float | None, int, int]:
        """What an answer is kept by."""
        example = self.trace.example
        return self.lesson.name, example.name, example.setting, example.shuffle, self.at


@dataclass(frozen=True, kw_only=True)
class Typed:
    """A table that is typed or pasted on the page, and what is said of its columns.

    Attributes
    ----------
    text : str
        Its lines, the first one with the columns' names.
    ready : bool
        Whether lessons are read on it, or it is still being typed.
    """

    text: str
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    ready: bool = False


@dataclass(frozen=True, kw_only=True)
class Turned:
    """A lesson's dial: what it is called, where it can be put, and where it is; for whom it is."""

    label: str
    values: tuple[float, ...]
    at: float
    key: str


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
    found.append((TYPED, "A table typed here" if _typed() else "Type or paste a table …"))
    return found


def reading(lesson: Lesson) -> Reading:
    """Return a lesson as the address says it is read.

    Raises
    ------
    AnonError
        If the example is not there, or the lesson cannot be read on it.
    """
    name = st.query_params.get(EXAMPLE, "")
    own = state.fingerprint() if name == OWN else repr(_typed()) if name == TYPED else ""
    setting, shuffle = _setting(), _shuffle()

    def made() -> tuple[Trace, Sequence[Step]]:
        return read(lesson, moved(lesson, _example(lesson, name), setting, shuffle))

    with st.spinner("Running the lesson's technique"):
        of = (lesson.name, name, own, setting, shuffle)
        trace, steps = state.once("learn/trace", of, made)
    asked = st.query_params.get(STEP, "1")
    at = int(asked) - 1 if asked.isdecimal() else 0
    at = min(max(at, 0), len(steps) - 1)
    shown = steps[at].question is None or st.query_params.get(SHOWN, "") == "1"
    return Reading(lesson=lesson, trace=trace, steps=steps, at=at, shown=shown)


def _setting() -> float | None:
    """Return where the address puts the lesson's dial; None where it does not."""
    text = st.query_params.get(SETTING, "")
    try:
        return float(text) if text else None
    except ValueError as error:
        raise BadInput(
            "The setting in the address is not a number.", remedy="Leave it out of the address."
        ) from error


def _shuffle() -> int:
    """Return how often chance was asked again."""
    text = st.query_params.get(SHUFFLE, "")
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def dial(lesson: Lesson) -> Turned | None:
    """Return the lesson's dial as the address has it; None where there is nothing to move.

    Raises
    ------
    AnonError
        If the example is not there.
    """
    name = st.query_params.get(EXAMPLE, "")
    example = _example(lesson, name)
    values, own = settings_of(lesson, example), setting_of(lesson, example)
    if lesson.dial is None or own is None or len(values) < 2:
        return None
    at = _setting()
    return Turned(
        label=lesson.dial.label,
        values=values,
        at=at if at in values else own,
        key=f"learn/dial/{lesson.name}/{name or example.name}",
    )


def turn(value: float) -> None:
    """Read the lesson with its dial at a value, at the same step."""
    st.query_params[SETTING] = f"{value:g}"


def shuffle_again() -> None:
    """Read the lesson with other random numbers, at the same step."""
    st.query_params[SHUFFLE] = str(_shuffle() + 1)


def can_shuffle(now: Reading) -> bool:
    """Say whether the lesson shows what chance decides."""
    return shuffles(now.lesson, now.trace.example)


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
    if name == TYPED:
        one = _typed()
        if one is None:
            raise BadInput("There is no typed table yet.", remedy="Type it below.")
        example = own_example(_typed_material(lesson, one), "A table typed here")
        return replace(example, name=TYPED)
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


# ---- a table typed on the page -----------------------------------------------------------------


def typing(lesson: Lesson) -> Typed | None:
    """Return the table that is being typed; None where none is."""
    now = typed(lesson)
    return None if now is None or now.ready else now


def typed(lesson: Lesson) -> Typed | None:
    """Return the table that lessons are read on if it is a typed one; at first the lesson's own."""
    if st.query_params.get(EXAMPLE, "") != TYPED:
        return None
    now = _typed()
    if now is None:
        material = examples_of(lesson)[0].material
        frame = material.dataset.frame()
        roles = material.roles
        named = [*roles.identifier, *roles.quasi, *roles.sensitive]
        text = frame[named].to_csv(index=False)
        return Typed(text=text, quasi=tuple(roles.quasi), sensitive=tuple(roles.sensitive))
    return now


def type_again() -> None:
    """Go back to the text of the table that was typed."""
    now = _typed()
    if now is not None:
        st.session_state[_TYPED] = replace(now, ready=False)


def read_typed(now: Typed) -> None:
    """Keep what was typed, and begin the lesson on it."""
    st.session_state[_TYPED] = now
    open_example(TYPED)


def table_of(text: str) -> Dataset:
    """Return a table that was typed.

    Raises
    ------
    BadInput
        Naming the place in the text.
    """
    return state.once(
        "learn/typed/table",
        text,
        lambda: read_table(text.encode(), DataOptions(), name="The typed table"),
    )


def _typed() -> Typed | None:
    found = st.session_state.get(_TYPED)
    return found if isinstance(found, Typed) else None


def _typed_material(lesson: Lesson, typed: Typed) -> Material:
    """Return a typed table; hierarchies of the lesson's own that list its values stay."""
    table, own = table_of(typed.text), examples_of(lesson)[0].material
    taken = {*typed.quasi, *typed.sensitive}
    levels = {
        name: rows
        for name, rows in own.levels.items()
        if name in taken
        and name in table.names
        and set(table.column(name).values) <= {row[0] for row in rows}
    }
    rest = tuple(name for name in table.names if name not in taken)
    return Material(
        dataset=table,
        roles=Roles(identifier=rest, quasi=typed.quasi, sensitive=typed.sensitive),
        types={name: own.types[name] for name in levels if name in own.types},
        levels=levels,
    )


# ---- moves -------------------------------------------------------------------------------------


def open_lesson(name: str) -> None:
    """Go to a lesson's first step; without a name to all lessons."""
    _drop(EXAMPLE, STEP, SHOWN, LESSON, SETTING, SHUFFLE)
    if name:
        st.query_params[LESSON] = name
        st.query_params[STEP] = "1"
    st.session_state[_PLAYING] = False


def open_example(name: str) -> None:
    """Read the lesson on another table; without a name on its own."""
    _drop(EXAMPLE, SETTING, SHUFFLE)
    if name:
        st.query_params[EXAMPLE] = name
    go(0, shown=False)


def go(at: int, *, shown: bool) -> None:
    """Go to a step, from 0; `shown` skips its question."""
    st.query_params[STEP] = str(at + 1)
    if shown:
        st.query_params[SHOWN] = "1"
    else:
        _drop(SHOWN)


def _drop(*parts: str) -> None:
    """Leave parts out of the address."""
    for part in parts:
        if part in st.query_params:
            del st.query_params[part]


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
    example = now.trace.example
    if example.setting is not None:
        parts[SETTING] = f"{example.setting:g}"
    if example.shuffle:
        parts[SHUFFLE] = str(example.shuffle)
    page = str(st.context.url or "/Learn").partition("?")[0]
    return f"{page}?{urlencode(parts)}"


def run_said(now: Reading, name: str) -> str:
    """Return one of a lesson's runs in words: its technique and models."""
    plan = now.trace[name].result.plan
    models = ", ".join(
        f"{model.title} ({', '.join(f'{n} = {v}' for n, v in asked.items() if n != 'name')})"
        for model, asked in zip(plan.models, plan.as_mapping()["models"], strict=True)
    )
    changes = ", ".join(f"{one.change.title} of {', '.join(one.columns)}" for one in plan.changes)
    said = models or changes
    return f"{plan.algorithm.title}: {said}" if said else plan.algorithm.title


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
    parts = ("algorithm", "models", "changes")
    state.begin_with(**{part: asked[part] for part in parts if part in asked})
    st.session_state[_DOOR] = True


def leads_away() -> bool:
    """Say whether someone just asked for Run; once."""
    return bool(st.session_state.pop(_DOOR, False))
