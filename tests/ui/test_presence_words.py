"""What Run says of promises about a public table, and when it offers them."""

from __future__ import annotations

from typing import Any, cast

import pytest

from anon_core.base.registry import find
from anon_core.contracts.algorithm import Algorithm
from anon_core.contracts.model import GroupModel
from anon_core.explain.text.plan_words import intention, not_defined, out_of_reach
from tests.golden.test_toth import PRIVATE
from ui.forms.model_picker import hindrance

DELTA = {"name": "delta-presence", "delta_min": 0.1, "delta_max": 0.9}
FILE = {"population": {"file": "people.csv"}}


@pytest.mark.parametrize(
    ("algorithm", "promise", "more", "words"),
    [
        ("optimal", DELTA, FILE, ""),
        ("mpalm", DELTA, FILE, ""),
        ("combined", DELTA, FILE, ""),
        ("optimal", DELTA, {}, "δ-presence' needs a public table"),
        ("mpalm", {"name": "k-anonymity", "k": 2}, {}, "MPALM' needs a public table"),
        ("mondrian", DELTA, FILE, ""),
        ("microaggregation", DELTA, FILE, "publishes averages"),
        ("optimal", DELTA | {"delta_min": 0.95}, FILE, "δ min lies above δ max"),
    ],
)
def test_what_stands_against_a_plan(
    algorithm: str, promise: dict[str, Any], more: dict[str, Any], words: str
) -> None:
    plan = PRIVATE.plan(algorithm={"name": algorithm}, models=[promise], **more)
    found = not_defined(plan)
    assert (words in found) if words else found == ""


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [(0.0, 0.5, "δ max = 0.5 cannot be kept"), (0.9, 1.0, "δ min = 0.9"), (0.0, 0.8, "")],
)
def test_bounds_that_no_grouping_keeps_are_told_before_the_run(
    low: float, high: float, words: str
) -> None:
    promise = DELTA | {"delta_min": low, "delta_max": high}
    plan = PRIVATE.plan(algorithm={"name": "mpalm"}, models=[promise], **FILE)
    said = out_of_reach(plan, 8, 10)
    assert (words in said and "8 of the public table's 10" in said) if words else said == ""


def test_what_the_promise_means() -> None:
    plan = PRIVATE.plan(algorithm={"name": "combined"}, models=[DELTA], **FILE)
    answer = intention(plan, PRIVATE.dataset)
    assert "a chance of at most 90% and at least 10%" in answer
    assert "Cells are coarsened group by group" in answer
    assert "Every value stays exact" not in answer


def test_when_the_promise_is_offered() -> None:
    delta = cast(type[GroupModel], find("model", "delta-presence"))
    offered = {
        (name, people)
        for name in ("optimal", "mpalm", "spalm", "mondrian", "slicing", "microaggregation")
        for people in (True, False)
        if not hindrance(delta, cast(type[Algorithm], find("algorithm", name)), people=people)
    }
    # Nobody of a public table fits an average for sure.
    assert offered == {(n, True) for n in ("optimal", "mpalm", "spalm", "mondrian", "slicing")}
