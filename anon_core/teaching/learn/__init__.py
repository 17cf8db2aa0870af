"""Lessons: published algorithms step by step, each drawn from the steps that a run reported.

A lesson is one file in `lessons/`: words, and which events of the trace to draw. It computes
nothing that a technique computes; what its last step shows is the release of the run.
"""

from anon_core.teaching.learn.example import Example, own_example
from anon_core.teaching.learn.lesson import (
    Choice,
    Exercise,
    Lesson,
    Question,
    Source,
    Step,
    all_lessons,
    find_lesson,
)
from anon_core.teaching.learn.lesson_run import read, traced
from anon_core.teaching.learn.trace import Trace

__all__ = [
    "Choice",
    "Example",
    "Exercise",
    "Lesson",
    "Question",
    "Source",
    "Step",
    "Trace",
    "all_lessons",
    "find_lesson",
    "own_example",
    "read",
    "traced",
]
