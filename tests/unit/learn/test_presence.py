"""The lesson on presence: the subsets it lists are those that the attack counts."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

from anon_core.teaching.learn import Step, Trace, find_lesson, traced
from anon_core.teaching.learn.pictures import Bars, Table

LESSON = find_lesson("presence")


@cache
def trace() -> Trace:
    """Return the lesson's runs, carried out by the first test that asks."""
    return traced(LESSON, LESSON.examples[1])


@cache
def steps() -> dict[str, Step]:
    return {step.title.partition(":")[0]: step for step in LESSON.steps(trace())}


def test_the_three_subsets_of_figure_4_2_are_traced() -> None:
    """Worked examples T-12 and T-13: one of three subsets yields the columns."""
    steps = {
        step.title.partition(":")[0]: step
        for step in LESSON.steps(traced(LESSON, LESSON.examples[0]))
    }
    listing = steps["GetDelta"].pictures[0]
    assert isinstance(listing, Table)
    rows = [tuple(cell.text for cell in row.cells) for row in listing.rows]
    assert rows == [
        ("Julie and Sara", "5370, 5371", "21, 27", "yes"),
        ("Julie and Ada", "5370, 5370", "21, 27", "no"),
        ("Ada and Sara", "5370, 5371", "27, 27", "no"),
    ]
    lemma = steps["The lemma, and what it does not say"].pictures[0]
    assert isinstance(lemma, Table)
    by_name = {row.label: [cell.text for cell in row.cells[2:]] for row in lemma.rows}
    assert by_name["Sara"] == ["0.25", "0.5", "1"]
    assert by_name["Ada"] == ["0.25", "0.5", "0"]
    # T-14, in the other group.
    assert (by_name["James"][-1], by_name["Mary"][-1], by_name["Barbara"][-1]) == ("1", "0", "1")


def test_the_share_of_subsets_is_the_chance_that_is_counted() -> None:
    """Worked example T-15: of 45 subsets five yield the columns."""
    listing = steps()["GetDelta"].pictures[0]
    assert isinstance(listing, Table)
    assert len(listing.rows) == 45
    right = [row.cells[0].text for row in listing.rows if row.cells[1].text == "yes"]
    assert len(right) == 5
    left_out = Counter(name for text in right for name in text.split(" and "))
    (bars,) = steps()["Everyone's chance to be in the table"].pictures
    assert isinstance(bars, Bars)
    for bar in bars.bars:
        assert bar.value == pytest.approx(1 - left_out[bar.label] / 5)
    assert {bar.label: bar.text for bar in bars.bars}["Sara"] == "1"


def test_groups_kept_apart_tell_more_than_their_union() -> None:
    """Worked example T-16: Ada is certain jointly, and 3/5 by the union."""
    step = steps()["Groups that overlap"]
    rows = step.pictures[0]
    assert isinstance(rows, Table)
    by_name = {row.label: [cell.text for cell in row.cells[2:]] for row in rows.rows}
    assert by_name["Ada"] == ["0.6", "1"]
    assert by_name["Jesper"] == ["0.4", "0"]
    assert by_name["Elizabeth"] == ["0.8", "0.667"]
