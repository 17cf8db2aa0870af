"""The lesson on attackers who know more: what it draws is what the attacks find."""

from __future__ import annotations

from functools import cache

from anon_core.teaching.learn import Step, Trace, find_lesson, traced
from anon_core.teaching.learn.lesson_run import attacked
from anon_core.teaching.learn.pictures import Bars, Table

LESSON = find_lesson("afterwards")


@cache
def trace() -> Trace:
    """Return the lesson's runs, carried out by the first test that asks."""
    return traced(LESSON, LESSON.examples[0])


@cache
def steps() -> dict[str, Step]:
    return {step.title.partition(":")[0]: step for step in LESSON.steps(trace())}


def test_both_releases_tell_what_neither_tells() -> None:
    """The four people of a brute-force example, next to four whom nothing tells apart."""
    (left,) = (p for p in steps()["Composition"].pictures if isinstance(p, Table))
    rows = {row.label: [cell.text for cell in row.cells] for row in left.rows}
    assert rows["Ann"] == ["HIV, flu", "HIV, flu", "HIV, flu"]
    assert rows["Ben"] == ["HIV, flu", "HIV, gout", "HIV"]
    assert rows["Cem"] == ["HIV, gout", "HIV, flu", "HIV"]
    alone = [row.label for row in left.rows if ", " not in row.cells[2].text]
    assert alone == ["Ben", "Cem"]
    question = steps()["Composition"].question
    assert question is not None
    assert question.answer == f"number:{len(alone)}"  # what the attack itself counts


def test_a_search_that_went_on_tells_why() -> None:
    found = attacked(trace()["diverse"], "minimality")
    assert found is not None
    assert (found.succeeded, found.baseline) == (2, 0)
    bars = next(p for p in steps()["Minimality"].pictures if isinstance(p, Bars))
    assert [bar.tone for bar in bars.bars] == ["bad"]


def test_a_search_that_stopped_tells_where() -> None:
    """Had both of ward A been alike, the finer level would have kept k = 2."""
    found = attacked(trace()["refined"], "refinement")
    assert found is not None
    assert (found.succeeded, found.baseline * found.attempted) == (8, 6)
    assert steps()["Refinement"].question is not None
    assert steps()["Refinement"].question.answer == "number:8"
