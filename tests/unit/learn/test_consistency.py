"""(k, k) and global (1, k): the lines of the pictures are those of the models, and of slide 57."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

import pytest

from anon_core.base.context import Context
from anon_core.base.registry import find
from anon_core.contracts.model import PrivacyModel
from anon_core.release.knowledge.audience import audience_of
from anon_core.release.private_reference import reference_of
from anon_core.teaching.learn import Trace, find_lesson, traced
from anon_core.teaching.learn.lesson_run import moved
from anon_core.teaching.learn.lessons.consistency import in_matchings
from anon_core.teaching.learn.readings import published

LESSON = find_lesson("consistency")


def matched(trace: Trace, name: str) -> frozenset[tuple[int, int]]:
    """Return what lies in a perfect matching, by trying every one of them."""
    seen, found = published(trace[name]), set[tuple[int, int]]()
    fits = [set(seen.fits(row)) for row in range(trace.rows)]

    def tried(rows: tuple[int, ...], left: frozenset[int]) -> Iterator[tuple[int, ...]]:
        if len(rows) == trace.rows:
            yield rows
        for row in fits[len(rows)] & left if len(rows) < trace.rows else ():
            yield from tried((*rows, row), left - {row})

    for rows in tried((), frozenset(range(trace.rows))):
        found |= set(enumerate(rows))
    return frozenset(found)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("example", LESSON.examples, ids=lambda one: one.name)
def test_green_lines_are_in_a_perfect_matching(example, k: int) -> None:  # type: ignore[no-untyped-def]
    trace = traced(LESSON, moved(LESSON, example, k))
    for name, run in trace.runs.items():
        assert in_matchings(trace, name) == matched(trace, name)
        problem, asked = run.result.problem, dict[str, object](k=k)
        model = cast(PrivacyModel, find("model", "global-one-k-anonymity")(**asked))
        (verdict,) = model.measure(
            run.release.view, audience_of(problem), reference_of(problem), Context()
        )
        kept = in_matchings(trace, name)
        fewest = min(sum(one == who for one, _ in kept) for who in range(trace.rows))
        assert verdict.reached == fewest


def test_slide_57_keeps_one_side_and_lets_a_person_be_found() -> None:
    trace = traced(LESSON, LESSON.examples[0])
    shown = sorted(zip(*(trace["k-one"].published(q) for q in trace.quasi), strict=True))
    assert [zips for _, zips in shown] == ["9414*", "94141", "94141", "9413*", "9413*"]
    steps = LESSON.steps(trace)
    assert "the person with fewest lines has 1" in steps[1].words
    alone = [s for s in steps[3].found if "so it is known" in s]
    assert any("Eri" in one for one in alone)
    question = steps[3].question
    assert question is not None
    assert question.answer == "number:5"
