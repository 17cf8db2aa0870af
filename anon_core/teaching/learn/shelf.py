"""The lessons there are: every file of `lessons/` is one."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from functools import cache

from anon_core.base.errors import BadInput, listing, nearest
from anon_core.teaching.learn import lessons as shelf
from anon_core.teaching.learn.example import Example, lecturers_examples
from anon_core.teaching.learn.lesson import Lesson


@cache
def all_lessons() -> tuple[Lesson, ...]:
    """Return all lessons in the order of the course."""
    found: list[Lesson] = []
    for module in pkgutil.iter_modules(shelf.__path__):
        part = importlib.import_module(f"{shelf.__name__}.{module.name}")
        kinds = [kind for kind in vars(part).values() if isinstance(kind, type)]
        own = [k for k in kinds if issubclass(k, Lesson) and k.__module__ == part.__name__]
        found += [kind() for kind in own]
    return tuple(sorted(found, key=lambda lesson: (lesson.number, lesson.name)))


def find_lesson(name: str) -> Lesson:
    """Return the lesson of that name.

    Raises
    ------
    BadInput
        If there is none; lists the names and the nearest one.
    """
    for lesson in all_lessons():
        if lesson.name == name:
            return lesson
    names = [lesson.name for lesson in all_lessons()]
    raise BadInput(
        f"There is no lesson '{name}'; the lessons are {listing(names)}.",
        remedy=f"Use one of these names.{nearest(name, names)}",
    )


def lesson_about(name: str) -> Lesson | None:
    """Return the lesson that explains a technique, model or attack; None where none does."""
    return next((lesson for lesson in all_lessons() if name in lesson.about), None)


def examples_of(lesson: Lesson) -> Sequence[Example]:
    """Return what a lesson can be read on: its own examples, then the lecturer's.

    Raises
    ------
    AnonError
        If a lecturer's example cannot be read.
    """
    techniques = {run["algorithm"]["name"] for run in lesson.runs.values()}
    given = [example for technique, example in lecturers_examples() if technique in techniques]
    return (*lesson.examples, *given)
