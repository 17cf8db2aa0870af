"""A lesson as one HTML file: for a course's site, or four steps on a sheet to be printed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path

import jinja2
from markupsafe import Markup

from anon_core.teaching.learn.drawing import View, draw, numbered, style
from anon_core.teaching.learn.lesson import Lesson, Step
from anon_core.teaching.learn.pictures import Links, Picture, Table
from anon_core.teaching.learn.text import attack_said
from anon_core.teaching.learn.trace import Trace

#: Room of a step on A4 across, in CSS pixels, within its border.
_WIDE, _HIGH = 500.0, 326.0
#: Letters in a line of text, its height, and what else a paragraph takes.
_LETTERS, _LINE, _AROUND = 86, 14.0, 8.0
_ZOOMS = tuple(n / 100 for n in range(62, 22, -2))
#: A table's letter, cell padding, and line; gaps between pictures, and what is written above one.
_LETTER, _PADDING, _ROW = 9.5, 22.0, 30.0
_GAP_X, _GAP_Y, _CAPTION = 15.0, 7.0, 28.0
_NARROWER = (1.0, 0.93, 0.86, 0.8)
_DRAWN = re.compile(r'<svg[^>]* width="([\d.]+)" height="([\d.]+)"')


def zoom_to_fit(
    pictures: Sequence[Picture], drawn: Sequence[str], title: str, texts: Sequence[str]
) -> float:
    """Return how large the pictures of a step may be drawn on a quarter of a sheet, 1 as on screen.

    Parameters
    ----------
    drawn : sequence of str
        The same, as drawn.
    texts : sequence of str
        Paragraphs below and above them; empty ones are left out.
    """
    sizes = [_size(one, markup) for one, markup in zip(pictures, drawn, strict=True)]
    left = _HIGH - 26.0 * ceil(len(title) / 56)
    left -= sum(_LINE * ceil(len(text) / _LETTERS) + _AROUND for text in texts if text)
    # Widths are guessed: pictures that turn out narrower are in other lines.
    guesses = [[(width * share, height) for width, height in sizes] for share in _NARROWER]
    for zoom in _ZOOMS:
        if max(_height(guess, _WIDE / zoom) for guess in guesses) * zoom <= left:
            return zoom
    return _ZOOMS[-1]


def _height(sizes: Sequence[tuple[float, float]], wide: float) -> float:
    """Return how high pictures are that are in lines of some width; infinite if one is wider."""
    total, line, used = 0.0, 0.0, 0.0
    for width, height in sizes:
        if width > wide:
            return float("inf")
        if used and used + _GAP_X + width > wide:
            total, line, used = total + line + _GAP_Y, 0.0, 0.0
        used += width + (_GAP_X if used else 0.0)
        line = max(line, height)
    return total + line


def _size(picture: Picture, drawn: str) -> tuple[float, float]:
    """Return about how wide and high a picture is drawn."""
    note = _ROW * ceil(len(picture.note) / 60) if picture.note else 0.0
    if isinstance(picture, Table):
        width, height = _table(picture)
    elif isinstance(picture, Links):
        sides = [_table(picture.left), _table(picture.right)]
        width, height = sum(w for w, _ in sides) + 120.0, max(h for _, h in sides) + _ROW
    else:
        found = _DRAWN.search(drawn)
        width, height = (float(found[1]), float(found[2])) if found else (0.0, 0.0)
    return max(width, 8.0 * len(picture.title)), height + _CAPTION + note


def _table(table: Table) -> tuple[float, float]:
    """Return how wide and high a table is, by its texts."""
    marks = _LETTER * (max((len(row.label) for row in table.rows), default=0) + 5) + 2 * _PADDING
    width = marks
    for place, head in enumerate(table.columns):
        texts = [len(row.cells[place].text) + len(row.cells[place].was) for row in table.rows]
        width += _LETTER * max(len(head.name) + 2, *texts, 0) + _PADDING
    return width, _ROW * (len(table.rows) + 1)


@dataclass(frozen=True, kw_only=True)
class _Drawn:
    step: Step
    pictures: Markup
    code: Markup
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
        code=numbered(step.code),
        attack=attack,
        zoom=zoom_to_fit(step.pictures, made, f"10 of 10. {step.title}", texts),
    )


def text_log(steps: list[Step]) -> str:
    """Return steps as lines of text, to be read aloud or copied into slides."""
    return "\n".join(f"{number}. {step.log}" for number, step in enumerate(steps, 1))
