"""The lesson on MPALM: regions and chances are those of the run and of the attack."""

from __future__ import annotations

from functools import cache

import pytest

from anon_core.teaching.learn import Step, Trace, find_lesson, traced
from anon_core.teaching.learn.lesson_run import quiet_run
from anon_core.teaching.learn.pictures import Bars, Table
from anon_core.teaching.learn.public_people import presence
from anon_core.teaching.learn.text import attack_said

LESSON = find_lesson("mpalm")


@cache
def trace() -> Trace:
    """Return the lesson's runs, carried out by the first test that asks."""
    return traced(LESSON, LESSON.examples[0])


@cache
def steps() -> list[Step]:
    return list(LESSON.steps(trace()))


def of(title: str) -> Step:
    return next(step for step in steps() if step.title.startswith(title))


def test_the_parts_that_are_told_end_in_the_regions_of_the_run() -> None:
    run = trace()["mpalm"]
    last = [step for step in steps() if step.title.endswith("the region stays")][-1]
    assert [last.together.index(g) for g in last.together] == [
        run.together.index(g) for g in run.together
    ]
    assert quiet_run(LESSON, LESSON.examples[0], "mpalm").together == run.together
    events = run.events_of("region")
    cut = [event for event in events if event.facts["sides"]]
    assert len(events) - len(cut) == len(cut) + 1 == len(set(run.together))  # every cut is in two


def test_everyone_in_a_region_has_its_share() -> None:
    bars = next(p for p in of("Presence in every region").pictures if isinstance(p, Bars))
    assert sorted(bar.value for bar in bars.bars) == pytest.approx([3 / 4, 5 / 6])
    found = presence(trace(), "mpalm")
    share = {fits: round(delta, 9) for delta, fits in zip(found.joint, found.fits, strict=True)}
    assert sorted(share.values()) == [3 / 4, round(5 / 6, 9)]
    for delta, fits in zip(found.joint, found.fits, strict=True):
        assert delta == pytest.approx(share[fits])


def tried(step: Step) -> list[tuple[str, str]]:
    (table,) = (p for p in step.pictures if isinstance(p, Table))
    return [(row.cells[0].text, row.cells[1].text) for row in table.rows]


def test_cuts_are_tried_as_in_figures_2_10_to_2_14() -> None:
    """Worked example T-08, E-06: no Zip value allows a cut, Age does."""
    assert [step.title for step in steps()[1:4]] == [
        "Cut 1, along Age",
        "Rows 3, 4 and 5: the region stays",
        "Rows 1, 2, 6, 7 and 8: the region stays",
    ]
    assert tried(steps()[1]) == [
        ("5370", "3 of 4"),
        ("5371", "2 of 2"),
        ("5372", "2 of 3"),
        ("5373", "1 of 1"),
        ("25", "5 of 6"),
        ("27", "3 of 4"),
    ]
    assert tried(steps()[2]) == [("5370", "1 of 1"), ("5371", "2 of 2"), ("5372", "0 of 1")]
    assert tried(steps()[3]) == [("5370", "2 of 3"), ("5372", "2 of 2"), ("5373", "1 of 1")]
    assert "5371 (3/4 and 5/6)" in steps()[1].printed  # T-09
    sara = trace().names.index("Sara")
    assert attack_said(trace(), steps()[1], sara).endswith("with a chance of 0.75.")


def test_nodes_are_walked_until_one_keeps_the_bounds() -> None:
    """Worked example T-17, E-07 and E-16: <Z0, A0> fails by Sara, <Z1, A0> is published."""
    nodes = [step for step in steps() if step.title.startswith("⟨")]
    assert [step.title for step in nodes] == ["⟨Z0, A0⟩ fails", "⟨Z0, A1⟩ fails", "⟨Z1, A0⟩ holds"]
    (rows,) = (p for p in nodes[0].pictures if isinstance(p, Table))
    chances = {row.label: row.cells[-1].text for row in rows.rows}
    assert chances == {
        **dict.fromkeys(("Elizabeth", "Clara", "Julie", "Taylor", "Ashley"), "0.8"),
        "Ada": "0.6",
        "Sara": "1",
        "Bob": "1",
        "Amanda": "1",
        "Jesper": "0.4",
    }
    (rows,) = (p for p in nodes[2].pictures if isinstance(p, Table))
    assert {row.cells[-1].text for row in rows.rows} == {"0.833", "0.75"}
    assert "no permutations" in nodes[0].printed


def test_shuffled_columns_stay_exact_where_a_box_does_not() -> None:
    """Worked example T-19: Σ people² is 8 by MPALM, 16 by CombinedAlg, which keeps both columns."""
    steps = LESSON.steps(traced(LESSON, LESSON.examples[1]))
    (compared,) = (p for p in steps[-1].pictures if isinstance(p, Table) and p.title == "Compared")
    assert [tuple(cell.text for cell in row.cells) for row in compared.rows] == [
        ("2", "8", "col1"),
        ("1", "16", "col1 and col2"),
    ]
