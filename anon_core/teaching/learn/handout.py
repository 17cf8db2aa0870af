"""A lesson as one HTML file: for a course's site, or four steps on a sheet to be printed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import jinja2
from markupsafe import Markup

from anon_core.teaching.learn.attacker_view import attack_said
from anon_core.teaching.learn.drawing import View, draw, style
from anon_core.teaching.learn.lesson import Lesson, Step
from anon_core.teaching.learn.sheet import zoom_to_fit
from anon_core.teaching.learn.trace import Trace


@dataclass(frozen=True, kw_only=True)
class _Drawn:
    step: Step
    pictures: Markup
    attack: str
    zoom: float


def handout(lesson: Lesson, trace: Trace, person: int, *, sheet: bool = False) -> str:
    """Return a lesson as an HTML file that needs nothing else: no script, nothing from elsewhere.

    Parameters
    ----------
    person : int
        Row of whom is followed.
    sheet : bool
        Four steps on a sheet of paper, without questions.
    """
    folder = Path(__file__).parent / "templates"
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder), autoescape=True, undefined=jinja2.StrictUndefined
    )
    drawn = [_drawn(trace, step, person) for step in lesson.steps(trace)]
    return templates.get_template("lesson.html.jinja").render(
        lesson=lesson,
        steps=drawn,
        exercises=lesson.exercises(trace),
        example=trace.example.title,
        who=trace.name_of(person),
        style=style("light" if sheet else "system"),
        sheet=sheet,
    )


def _drawn(trace: Trace, step: Step, person: int) -> _Drawn:
    made = [draw(picture, View(chosen=person)) for picture in step.pictures]
    attack = attack_said(trace, step, person)
    texts = (step.words, attack, step.printed)
    return _Drawn(
        step=step,
        pictures=Markup("").join(made),
        attack=attack,
        zoom=zoom_to_fit(step.pictures, made, f"10 of 10. {step.title}", texts),
    )


def text_log(steps: list[Step]) -> str:
    """Return steps as lines of text, to be read aloud or copied into slides."""
    return "\n".join(f"{number}. {step.log}" for number, step in enumerate(steps, 1))
