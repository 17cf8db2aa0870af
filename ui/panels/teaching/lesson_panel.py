"""A lesson as it is read: where one is in it, the step, its question, its pictures and its text."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import streamlit as st

from anon_core.base.errors import AnonError
from anon_core.teaching.learn import Exercise, Lesson, Question
from anon_core.teaching.learn.drawing import View, draw, mentioned, numbered, style
from anon_core.teaching.learn.example import MOST_ROWS
from anon_core.teaching.learn.handout import handout, text_log
from anon_core.teaching.learn.pictures import Picture, ids
from anon_core.teaching.learn.text import attack_said
from ui.charts import theme
from ui.components.downloads import download, later
from ui.components.guard import handled, show_error
from ui.components.lesson_stage import lesson_stage
from ui.state import lesson_place
from ui.state.kept_fields import remembered
from ui.state.lesson_place import TYPED, Reading, Typed
from ui.words.escaping import first_sentence, linked, plain

_PANEL = "Lesson"
#: Letters that a title has at most in one line of a projector.
_LONG = 36
#: Milliseconds that a step is shown while the lesson plays.
_PACE = 4000


def cards(lessons: tuple[Lesson, ...]) -> None:
    """Draw all lessons as cards."""
    st.html(f"<style>{_CARDS}</style>")
    for begin in range(0, len(lessons), 3):
        for column, one in zip(st.columns(3), lessons[begin : begin + 3], strict=False):
            with column.container(border=True, height="stretch", key=f"lesson-{one.name}"):
                st.button(
                    f"**{one.number}. {plain(one.title)}**",
                    key=f"learn/open/{one.name}",
                    help=f"{plain(one.summary)}\n\n{one.minutes} minutes. "
                    f"{plain(one.source.cited)}",
                    type="tertiary",
                    on_click=_open,
                    args=(one.name,),
                )
                st.caption(plain(first_sentence(one.summary)))


def draw_lesson(now: Reading, leave: Callable[[], None]) -> None:
    """Draw a lesson at the step where it is read: a stage that fits a projector.

    Parameters
    ----------
    now : Reading
    leave : callable
        Called when someone goes back to all lessons.
    """
    st.html(f"<style>{_STAGE}</style>")
    person = _head(now, leave)
    _controls(now)
    step = now.step
    halted = now.at + 1 == len(now.steps) and now.shown
    pictures, text = st.columns([5, 3], gap="medium")
    with text.container(key="learn-told"):
        title = f"{now.at + 1}. {step.title}" if now.shown else "What comes next?"
        st.subheader(plain(title), anchor=False)
        if now.shown:
            _verdict(now)
            words = mentioned(step.words, step.pictures, now.trace.names)
            st.html(f'<div role="status" aria-live="polite">{words}</div>')
            if said := attack_said(now.trace, step, person):
                st.info(plain(said), icon=":material/person_search:")
            if step.printed:
                st.warning(plain(step.printed), icon=":material/edit_note:")
        elif step.question is not None:
            _asked(now, step.question)
        if step.code is not None:
            code = step.code if now.shown else step.code.at()
            st.html(numbered(code))
        st.caption(linked(now.lesson.source.cited))
    with pictures:
        if now.shown:
            _stage(now, step.pictures, View(chosen=person), () if halted else None)
        elif step.question is not None:
            picks = tuple(choice.id for choice in step.question.choices)
            view = View(chosen=person, picks=frozenset(picks))
            _stage(now, _looked_at(now, step.question), view, picks)
    if halted:
        _exercises(now)
    _text(now)
    _handouts(now, person)


def _looked_at(now: Reading, question: Question) -> tuple[Picture, ...]:
    """Return what is looked at while a question is asked."""
    return question.pictures or (now.steps[now.at - 1].pictures if now.at else ())


#: A title of two lines is read from the left, and what it is about follows closely.
_CARDS = """
[class*="st-key-learn-open-"] button {text-align: left; min-height: 0; padding: 0;}
[class*="st-key-lesson-"] {gap: .4rem;}
"""
#: The page's own title is for readers of the screen while a lesson is read: pictures come first.
_STAGE = """
[data-testid="stMainBlockContainer"] {padding-top: 1.1rem; gap: .6rem;}
body:has([data-testid="stExpandSidebarButton"]) [data-testid="stMainBlockContainer"]
  {padding-top: 3.75rem;}
[data-testid="stMainBlockContainer"] h1 {position: absolute; clip-path: inset(50%); width: 1px;
  height: 1px; overflow: hidden; white-space: nowrap;}
[data-testid="stMainBlockContainer"] h3 {padding-top: 0;}
.st-key-learn-told {gap: .5rem;}
.st-key-learn-told :is(p, [role="status"]) {font-size: .86rem; line-height: 1.4;}
.st-key-learn-told [data-points] {border-bottom: 1px dotted currentColor; border-radius: 2px;}
.st-key-learn-told .pointed {background: color-mix(in srgb, #0072B2 25%, transparent);}
.st-key-learn-told ol.code {font-size: .78rem; line-height: 1.35; margin: 0; border-radius: 4px;
  padding: .35rem .6rem .35rem 1.9rem;
  background: color-mix(in srgb, currentColor 5%, transparent);}
.st-key-learn-told ol.code li {margin: 0; opacity: .8; font-size: inherit;}
.st-key-learn-told ol.code li[aria-current] {opacity: 1; font-weight: 600;}
.st-key-learn-told [data-testid="stAlertContainer"] {padding: .4rem .8rem;}
.st-key-learn-head [data-testid="stMarkdown"] {padding-bottom: .55rem;}
"""


def _head(now: Reading, leave: Callable[[], None]) -> int:
    """Draw title, source, table and who is followed in one line; return the latter's row."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall", key="learn-head"):
        st.button(
            "All lessons",
            key="learn/all",
            icon=":material/list:",
            on_click=handled("Lesson")(leave),
        )
        title = now.lesson.title  # a long one takes two lines, so that all else stays in one
        st.markdown(f"**{plain(title)}**", width=290 if len(title) > _LONG else "stretch")
        draw_dial(now.lesson)
        return _followed(now)


def draw_typing(lesson: Lesson, now: Typed) -> None:
    """Draw the table that is being typed, and what its columns are."""
    st.markdown(f"**{plain(lesson.title)}** on a table of at most {MOST_ROWS} rows.")
    text = st.text_area(
        "Rows, below a line with the column names",
        now.text,
        **remembered("learn/typed/text"),
        height=260,
        help="Separated by commas, semicolons or tabs: cells copied from a sheet can be pasted.",
    )
    said = None
    try:
        names = lesson_place.table_of(text).names
    except AnonError as error:
        show_error(error)
    else:
        left, right = st.columns(2)
        with left:
            quasi = _marked("Known to others (quasi-identifiers)", "quasi", names, now.quasi)
        with right:
            sensitive = _marked("Sensitive", "sensitive", names, now.sensitive)
        both = sorted({*quasi} & {*sensitive})
        if both:
            st.error(f"{plain(', '.join(both))}: a column has one role.")
        elif quasi:
            said = Typed(text=text, quasi=quasi, sensitive=sensitive, ready=True)
    with st.container(horizontal=True):
        st.button(
            "Read the lesson on it",
            key="learn/typed/read",
            type="primary",
            disabled=said is None,
            on_click=_typed,
            args=(said,),
        )
        st.button(
            "Back to the lesson's table", key="learn/typed/back", on_click=_example, args=("",)
        )


def _marked(label: str, role: str, names: Sequence[str], before: Sequence[str]) -> tuple[str, ...]:
    """Ask which columns have a role; those that had it before and are there have it at first."""
    held = [name for name in before if name in names]
    return tuple(st.multiselect(label, names, held, **remembered(f"learn/typed/{role}/{names}")))


def draw_dial(lesson: Lesson) -> None:
    """Draw the setting of a lesson that can be moved: all is computed again at once."""
    dial = lesson_place.dial(lesson)
    if dial is None:
        return
    st.select_slider(
        dial.label,
        dial.values,
        dial.at,
        format_func=lambda value: f"{value:g}",
        key=dial.key,
        on_change=_turn,
        args=(dial.key,),
        help="Move it to recompute the lesson; it stays at this step.",
        width=105,
    )


def _doors(now: Reading) -> None:
    """Draw the way to Run with the lesson's table and settings, and a link to the step."""
    with st.popover("Try it", icon=":material/play_arrow:", key="learn-doors"):
        st.write("Open this table on Run, with the settings of the lesson:")
        for name in now.trace.runs:
            st.button(
                lesson_place.run_said(now, name),
                key=f"learn/run/{name}",
                on_click=_to_run,
                args=(now, name),
            )
        st.write("A link to this step:")
        st.code(lesson_place.link(now), language=None, wrap_lines=True)


def _followed(now: Reading) -> int:
    """Draw what the lesson is read on and who is followed; return the latter's row."""
    named = dict(lesson_place.examples(now.lesson))
    own = now.trace.example.name
    if len(named) > 1:
        st.selectbox(
            "Table",
            list(named),
            index=list(named).index(own),
            format_func=lambda name: named[name],
            key=f"learn/example/{now.lesson.name}/{own}",
            on_change=_example,
            args=(f"learn/example/{now.lesson.name}/{own}",),
            help="The table of the lesson: an example, or a few rows of your own.",
            # A typed one has a button too: all is in one line at 1280 pixels.
            width=200 if own == TYPED else 290,
        )
    if own == TYPED:
        st.button(
            "Edit",
            key="learn/typed/again",
            icon=":material/edit:",
            help="Change the typed table",
            on_click=_type_again,
        )
    names = [f"{row + 1}: {name}" for row, name in enumerate(now.trace.names)]
    person = st.selectbox(
        "Follow",
        range(len(names)),
        index=now.trace.person,
        format_func=names.__getitem__,
        **remembered(f"learn/person/{now.lesson.name}/{own}"),
        help="Marked ▶ in every table, and in the pictures.",
        width=130,
    )
    return int(person)


def _controls(now: Reading) -> None:
    last = len(now.steps) - 1
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        first, end = now.at == 0, now.at == last and now.shown
        for name, label, sign, off in (
            ("first", "First", "first_page", first),
            ("back", "Back", "chevron_left", first and (now.shown or not now.at)),
            ("next", "Forward" if now.shown else "Show", "chevron_right", end),
            ("last", "Last", "last_page", end),
        ):
            st.button(
                label,
                key=f"learn-{name}",
                icon=f":material/{sign}:",
                disabled=off,
                on_click=_move,
                args=(now, name),
                type="primary" if name == "next" else "secondary",
                help=_KEYS[name],
            )
        st.button(
            "Halt" if lesson_place.playing() else "Play",
            key="learn-play",
            icon=":material/pause:" if lesson_place.playing() else ":material/play_arrow:",
            disabled=end,
            on_click=_play,
            help="A step every few seconds; questions wait for an answer.",
        )
        drawn = lesson_place.can_shuffle(now)
        if drawn:
            st.button(
                "Shuffle",
                key="learn-shuffle",
                icon=":material/shuffle:",
                on_click=_shuffle,
                help="Draws everything random again and recomputes the step.",
            )
        st.markdown(f"Step {now.at + 1} of {len(now.steps)}", width="content")
        if last:
            key = f"learn/scrub/{now.lesson.name}/{now.trace.example.name}/{now.at}/{now.shown}"
            st.slider(
                "Step",
                1,
                last + 1,
                now.at + 1,
                key=key,
                on_change=_scrub,
                args=(key,),
                label_visibility="collapsed",
                width=110 if drawn else "stretch",
            )
        _doors(now)


_KEYS = {
    "first": "Home",
    "back": "Arrow left",
    "next": "Arrow right",
    "last": "End",
}


def _asked(now: Reading, question: Question) -> None:
    before = _looked_at(now, question)
    found = frozenset[str]().union(*(ids(picture) for picture in before))
    drawn = any(choice.id in found for choice in question.choices)
    st.markdown(f"**{plain(question.asks)}**")
    with st.container(horizontal=True, gap="small"):
        for place, choice in enumerate(question.choices):
            st.button(
                plain(choice.label),
                key=f"learn-choice-{place}",
                on_click=_answer,
                args=(now, choice.id),
            )
    if drawn:
        st.caption("Answer here, or click in the picture.")


def _verdict(now: Reading) -> None:
    question, said = now.step.question, lesson_place.answered(now)
    if question is None or not said:
        return
    right = question.right.label
    why = "" if question.why in now.step.words else f" {plain(question.why)}"
    own = next((c.label for c in question.choices if c.id == said), "")
    if question.accepts(said):
        st.success(f"Right: {plain(own)}.{why}", icon=":material/check:")
        return
    st.info(
        f"You said {plain(own)}; it is {plain(right)}.{why}",
        icon=":material/close:",
    )


def _exercises(now: Reading) -> None:
    exercises = now.lesson.exercises(now.trace)
    if not exercises:
        return
    st.subheader("Exercises", anchor=False)
    for place, exercise in enumerate(exercises):
        _exercise(now, place, exercise)


def _exercise(now: Reading, place: int, exercise: Exercise) -> None:
    question = exercise.question
    labels = {choice.id: choice.label for choice in question.choices}
    said = st.radio(
        plain(question.asks),
        list(labels),
        index=None,
        format_func=lambda id: plain(labels[id]),
        horizontal=True,
        **remembered(f"learn/exercise/{now.lesson.name}/{now.trace.example.name}/{place}"),
    )
    if said is None:
        return
    if question.accepts(said):
        st.success(f"Right. {plain(question.why)}", icon=":material/check:")
    else:
        st.info("Not quite: look at the steps again.", icon=":material/close:")


def _text(now: Reading) -> None:
    with st.expander("The steps so far as text"):
        steps = list(now.steps[: now.at + now.shown])
        st.code(text_log(steps), language=None, wrap_lines=True)


def _handouts(now: Reading, person: int) -> None:
    name = f"{now.lesson.name}-{now.trace.example.name}"
    with st.container(horizontal=True, gap="small"):
        for key, label, sheet, said in (
            ("file", "Lesson as one HTML file", False, "For a course's site: it needs no network."),
            ("sheet", "Sheets to print", True, "Four steps on a sheet; open it and print."),
        ):
            download(
                label,
                later(handout, now.lesson, now.trace, person, sheet=sheet),
                file=f"{name}{'-sheets' if sheet else ''}.html",
                mime="text/html",
                key=f"learn/{key}",
                icon=":material/download:",
                help=said,
            )


def _stage(
    now: Reading, pictures: tuple[Picture, ...], view: View, picks: tuple[str, ...] | None
) -> None:
    """Draw pictures; `picks` is None where the lesson may play on."""
    css = style("dark" if theme.dark() else "light")
    drawn = "".join(draw(picture, view) for picture in pictures)
    lesson_stage(
        f'<style>{css}</style><div class="lesson"><div class="figures">{drawn}</div></div>',
        picks=picks or (),
        step=2 * now.at + now.shown,
        play=_PACE if picks is None and lesson_place.playing() else 0,
    )


# ---- clicks --------------------------------------------------------------------------------


@handled(_PANEL)
def _open(name: str) -> None:
    lesson_place.open_lesson(name)


@handled(_PANEL)
def _to_run(now: Reading, name: str) -> None:
    lesson_place.to_run(now, name)


@handled(_PANEL)
def _example(key: str) -> None:
    lesson_place.open_example(str(st.session_state[key]) if key else "")


@handled(_PANEL)
def _typed(now: Typed | None) -> None:
    if now is not None:
        lesson_place.read_typed(now)


@handled(_PANEL)
def _type_again() -> None:
    lesson_place.type_again()


@handled(_PANEL)
def _move(now: Reading, where: str) -> None:
    if where == "first":
        lesson_place.go(0, shown=False)
    elif where == "last":
        lesson_place.go(len(now.steps) - 1, shown=True)
    elif where == "next":
        lesson_place.forward(now)
    else:
        lesson_place.go(max(now.at - 1, 0), shown=True)


@handled(_PANEL)
def _play() -> None:
    lesson_place.play(not lesson_place.playing())


@handled(_PANEL)
def _turn(key: str) -> None:
    lesson_place.turn(float(st.session_state[key]))


@handled(_PANEL)
def _shuffle() -> None:
    lesson_place.shuffle_again()


@handled(_PANEL)
def _scrub(key: str) -> None:
    lesson_place.go(int(st.session_state[key]) - 1, shown=True)


@handled(_PANEL)
def _answer(now: Reading, choice: str) -> None:
    lesson_place.answer(now, choice)
