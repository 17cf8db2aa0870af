"""The lesson on MPALM: regions and chances are those of the run and of the attack."""

from __future__ import annotations

import pytest

from anon_core.teaching.learn import find_lesson, traced
from anon_core.teaching.learn.lesson import Step
from anon_core.teaching.learn.lesson_run import quiet_run
from anon_core.teaching.learn.pictures import Bars
from anon_core.teaching.learn.public_people import presence

LESSON = find_lesson("mpalm")
TRACE = traced(LESSON, LESSON.examples[0])
STEPS = LESSON.steps(TRACE)


def of(title: str) -> Step:
    return next(step for step in STEPS if step.title.startswith(title))


def test_the_parts_that_are_told_end_in_the_regions_of_the_run() -> None:
    run = TRACE["mpalm"]
    last = [step for step in STEPS if step.title.startswith("Region ")][-1]
    assert [last.together.index(g) for g in last.together] == [
        run.together.index(g) for g in run.together
    ]
    assert quiet_run(LESSON, LESSON.examples[0], "mpalm").together == run.together
    events = run.told("region")
    cut = [event for event in events if event.facts["sides"]]
    assert len(events) - len(cut) == len(cut) + 1 == len(set(run.together))  # every cut is in two


def test_everyone_in_a_region_has_its_share() -> None:
    bars = next(p for p in of("Presence in every region").pictures if isinstance(p, Bars))
    assert sorted(bar.value for bar in bars.bars) == pytest.approx([3 / 4, 5 / 6])
    found = presence(TRACE, "mpalm")
    for delta, fits in zip(found.joint, found.fits, strict=True):
        assert delta == pytest.approx(3 / 4 if fits == (0,) else 5 / 6)
