"""Questions give nothing away: the right answer may be at any place, and all could be right."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache

from anon_core.teaching.learn import Question, Trace, all_lessons, traced
from anon_core.teaching.learn.public_people import public_people
from anon_core.teaching.learn.text import number_question


@cache
def asked() -> tuple[tuple[str, Trace, Question], ...]:
    """Return every question of every lesson on each of its examples."""
    return tuple(_asked())


def _asked() -> Iterator[tuple[str, Trace, Question]]:
    for lesson in all_lessons():
        for example in lesson.examples:
            trace = traced(lesson, example)
            for step in lesson.steps(trace):
                if step.question:
                    yield lesson.name, trace, step.question
            for exercise in lesson.exercises(trace):
                yield lesson.name, trace, exercise.question


def numbers_of(question: Question) -> list[int]:
    return [int(c.id.removeprefix("number:")) for c in question.choices if "number:" in c.id]


def test_the_right_number_is_at_every_place_about_as_often() -> None:
    """Of questions with five numbers no place has more than a third, none less than a tenth."""
    places: Counter[int] = Counter()
    for _, _, question in asked():
        numbers = numbers_of(question)
        if len(numbers) == 5:
            assert numbers == sorted(numbers)
            places[numbers.index(int(question.answer.removeprefix("number:")))] += 1
    assert places.total() > 50
    assert set(places) == {0, 1, 2, 3, 4}
    assert max(places.values()) <= places.total() / 3
    assert min(places.values()) >= places.total() / 10


def test_every_number_that_is_offered_is_possible() -> None:
    """By what is counted: people and rows of the table, public people, nodes or cells."""
    bounded = 0
    for lesson, trace, question in asked():
        numbers = numbers_of(question)
        if not numbers:
            continue
        assert min(numbers) >= 0
        most = most_possible(lesson, trace, question.asks)
        if most is not None:
            assert max(numbers) <= most, question.asks
            bounded += 1
    assert bounded > 60


def most_possible(lesson: str, trace: Trace, asks: str) -> int | None:
    """Return the most there can be of what a question counts, read from its words."""
    if asks.startswith("A "):  # about a class or group that is made up
        return None
    last = [sentence for sentence in re.split(r"(?<=[.?]) ", asks) if sentence.endswith("?")][-1]
    among = re.search(r"[Oo]f (?:the )?(\d+) (?:people|public|rows|nodes|subsets)", last)
    if among is not None:
        return int(among[1])
    if "public people" in last:
        everyone = len(public_people(trace)[0])
        return (
            everyone - trace.rows if "not in the table" in last or "no group" in last else everyone
        )
    if re.search(r"[Hh]ow many (?:different )?(people|rows|classes|buckets|lines)", last):
        return trace.rows
    if re.search(r"how many people|how many rows", last):
        return trace.rows
    if "cells" in last and lesson == "suppression":
        return trace.rows * len(trace.quasi)
    return None


def test_mistakes_are_offered_before_other_numbers() -> None:
    question = number_question("How many?", 8, "So.", among=40, mistakes=(3, 4, 16, 20))
    others = [n for n in numbers_of(question) if n != 8]
    assert len(others) == 4
    assert len(set(others) & {3, 4, 16, 20}) >= 2
    few = number_question("How many?", 1, "So.", among=2)
    assert numbers_of(few) == [0, 1, 2]


def test_a_class_of_several_right_ones_is_accepted() -> None:
    several = 0
    for _, _, question in asked():
        offered = {choice.id for choice in question.choices}
        assert question.accepts(question.answer)
        assert question.also <= offered
        assert not all(question.accepts(choice) for choice in offered)
        several += len(question.also) > 1
    assert several
