"""Refinement: the attacker's worlds are the tables that the search really treats alike."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from anon_core.base.context import Context, now
from anon_core.base.registry import find
from anon_core.methods.consistent_tables.class_fillings import refine
from anon_core.methods.consistent_tables.drawn_tables import drawn_worlds, least_worlds
from anon_core.methods.consistent_tables.level_programs import first_levels, raised_levels
from anon_core.methods.consistent_tables.program import solutions
from anon_core.methods.consistent_tables.uncut_classes import UncutWorlds
from anon_core.release.ground_truth import truth_of
from anon_core.release.knowledge.audience import audience_of
from anon_core.release.minimality_rule import CheapestLevels, RaisedLevels, StopRule, UncutClasses
from anon_core.release.release import Release
from anon_core.techniques.attacks.refinement import Refinement
from anon_core.techniques.models.k_anonymity import KAnonymity
from tests.every_table import UNEVEN, A, B, Behind, boxes_behind, every_release, table
from tests.making import Levels
from tests.often import EVERY, crossed

SIX = [("a1", "b1")] * 5 + [("a2", "b2")]
NUMBERS: Levels = [(str(n), "*") for n in range(1, 7)]
EXACT = {
    "optimal": dict[str, Any](),
    "datafly": {"max_suppression": 0.25},
    "mondrian": dict[str, Any](),
}
#: Whose conditions do not say all: small tables are tried one by one.
TRIED: list[tuple[str, dict[str, Any]]] = [
    ("local-recoding", {}),
    ("optimal", {"metric": "discernibility"}),
    ("optimal", {"metric": "average-class-size"}),
    ("optimal", {"metric": "ncp"}),
    ("mondrian", {"cut_at": "best-gain"}),
]


def released(
    name: str, rows: list[tuple[str, ...]], settings: dict[str, Any], k: int = 2
) -> Release:
    levels = [A, B] if len(rows[0]) == 2 else [NUMBERS]
    case = table(rows, levels, "text" if len(rows[0]) == 2 else "number")
    algorithm: Any = find("algorithm", name).from_mapping(settings)
    return algorithm.run(case.problem(), [KAnonymity(k=k)], Context()).release


def counted(found: tuple[tuple[int, ...], ...]) -> set[tuple[tuple[int, int], ...]]:
    """Return the splits of six rows: over a1 and a2, and over b1 and b2."""
    ways = {((w[0] + w[1], w[2] + w[3]), (w[0] + w[2], w[1] + w[3])) for w in found}
    assert len(found[0]) == 4
    return ways


def test_the_cheapest_levels_leave_eight_worlds() -> None:
    release = released("optimal", SIX, {})
    boxes, rule = boxes_behind(release), release.stopped
    assert isinstance(rule, CheapestLevels)
    assert rule.levels == (1, 1)
    worlds = first_levels(rule, boxes, Context())
    assert worlds is not None
    found = solutions(worlds.programs, worlds.classes[0], 50, Context())
    assert found.complete
    assert len(found.found) == 8
    splits = {(5, 1), (1, 5)}
    assert counted(found.found) == {(a, b) for a in splits for b in splits}


def test_raised_levels_leave_twenty_worlds() -> None:
    release = released("datafly", SIX, {"max_suppression": 0.0})
    boxes, rule = boxes_behind(release), release.stopped
    assert isinstance(rule, RaisedLevels)
    assert rule.levels == (1, 1)
    worlds = raised_levels(rule, boxes, Context())
    assert worlds is not None
    found = solutions(worlds.programs, worlds.classes[0], 50, Context())
    assert found.complete
    assert len(found.found) == 20
    a, b = (set(pair) for pair in zip(*counted(found.found), strict=True))
    assert b == {(5, 1), (1, 5)}
    assert a == {(n, 6 - n) for n in range(1, 6)}


def test_where_the_median_cuts_nothing_most_rows_share_one_value() -> None:
    release = released("mondrian", [("1",)] * 7 + [("6",)], {})
    boxes, rule = boxes_behind(release), release.stopped
    assert isinstance(rule, UncutClasses)
    assert boxes.size.tolist() == [8]
    count = UncutWorlds(rule=rule, boxes=boxes, most=20)
    assert count.worlds(0, Context()) == (6, True)
    assert count.worlds(0, Context(), stop=False) == (21, True)
    (side,) = count.sides(0)
    found = count._count([side], 8, True, Context()).found
    assert {max(way) for way in found} == {6, 7}


def test_where_a_part_was_cut_tells_what_both_sides_hold() -> None:
    release = released("mondrian", [("1",)] * 2 + [("2",)] * 5 + [("6",)], {})
    boxes, rule = boxes_behind(release), release.stopped
    assert isinstance(rule, UncutClasses)
    assert boxes.size.tolist() == [2, 6]
    found = refine(rule, boxes, 5, Context())
    assert found.worlds.tolist() == [1, 1]
    assert found.filled[1] == (5, 0, 0, 0, 1)
    assert found.alone.tolist() == [1, 6]


def check(behind: Behind) -> None:
    """Compare every class with all tables behind it."""
    rule = behind.release.stopped
    assert rule is not None
    found = refine(rule, behind.boxes, 5, Context())
    assert found.consistent
    assert found.decided.all()
    for number in range(len(behind.boxes.size)):
        true = behind.ways(number)
        assert found.worlds[number] == min(true, 6)
        if true == 1:
            base = [tuple(cell) for cell in behind.boxes.base(number).tolist()]
            filled = Counter(dict(zip(base, found.filled[number], strict=True)))
            assert +filled == Counter(dict(behind.worlds[0][number]))


@pytest.mark.parametrize("name", EXACT)
def test_ways_are_those_of_all_tables_that_the_search_treats_alike(name: str) -> None:
    for behind in every_release(name, 4, [UNEVEN, B], EXACT[name]):
        check(behind)
        if name != "mondrian":
            bounded(behind)


@crossed(
    "name, bounds",
    ["optimal", "datafly"],
    [{"A": (1, 2)}, {"A": (0, 1)}, {"B": (1, 1)}, {"A": (1, 1), "B": (0, 1)}],
    share=4,
)
def test_levels_that_were_not_allowed_tell_nothing(
    name: str, bounds: dict[str, tuple[int, int]]
) -> None:
    found = every_release(name, 4, [UNEVEN, B], EXACT[name], bounds=bounds)
    assert len(found) > 4
    for behind in found:
        rule = behind.release.stopped
        assert rule is not None
        check(behind)
        bounded(behind)
        check(replace(behind, release=replace(behind.release, stopped=replace(rule, again=None))))


def bounded(behind: Behind) -> None:
    """What is proven by single tables is never more than what there is."""
    rule: StopRule | None = behind.release.stopped
    if isinstance(rule, CheapestLevels):
        least, decided = least_worlds(rule, behind.boxes, 5, Context())
    else:
        assert isinstance(rule, RaisedLevels)
        least = drawn_worlds(rule, behind.boxes, 5, Context())
        decided = least > 1
    for number in range(len(behind.boxes.size)):
        true = behind.ways(number)
        assert least[number] <= min(true, 6)
        assert not decided[number] or (least[number] == 1) == (true == 1)


@cache
def small(at: int) -> list[Behind]:
    """Return every release of three rows by one of `TRIED`."""
    name, settings = TRIED[at]
    return every_release(name, 3, [UNEVEN, B], settings)


@pytest.mark.parametrize(("name", "settings"), TRIED)
def test_where_conditions_do_not_say_all_small_tables_are_tried(
    name: str, settings: dict[str, Any]
) -> None:
    for behind in small(TRIED.index((name, settings))):
        check(behind)


@pytest.mark.often
@pytest.mark.parametrize(("name", "settings"), TRIED)
def test_without_trying_nothing_is_decided_that_tables_contradict(
    name: str, settings: dict[str, Any]
) -> None:
    """As in larger tables: a class may stay undecided, and what is decided is true."""
    decided = 0
    found = every_release(name, 4, [UNEVEN, B], settings) if EVERY else []
    for behind in found or small(TRIED.index((name, settings))):
        rule = behind.release.stopped
        assert rule is not None
        refined = refine(replace(rule, again=None), behind.boxes, 5, Context())
        for number in np.flatnonzero(refined.decided).tolist():
            assert (refined.worlds[number] == 1) == (behind.ways(number) == 1)
            assert refined.worlds[number] <= min(behind.ways(number), 6)
            decided += 1
    assert decided


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "rows", "k", "settings"),
    [
        ("optimal", 6, 3, {}),
        ("optimal", 5, 2, {"metric": "discernibility"}),
        ("datafly", 5, 2, {"max_suppression": 0.0}),
        ("datafly", 5, 2, {"max_suppression": 0.2}),
        ("datafly", 6, 3, {"max_suppression": 0.17}),
        ("mondrian", 5, 2, {}),
        ("mondrian", 5, 2, {"cut_at": "best-gain"}),
        ("local-recoding", 5, 2, {}),
    ],
)
def test_larger_tables(name: str, rows: int, k: int, settings: dict[str, Any]) -> None:
    for behind in every_release(name, rows, [A, B], settings, k=k):
        check(behind)


def test_the_truth_only_scores_and_time_that_ends_leaves_a_bracket() -> None:
    release = released("optimal", SIX, {})
    other = table([("a4", "b2")] * 6, [A, B]).problem()
    audience = audience_of(release.problem)
    right = Refinement(few=8).run(
        release.view, audience, truth_of(release.problem, release), Context()
    )[0]
    wrong = Refinement(few=8).run(release.view, audience, truth_of(other), Context())[0]
    assert (right.at_risk, right.undecided, right.worst) == (6, 0, 1 / 8)
    assert (wrong.at_risk, wrong.undecided, wrong.worst) == (6, 0, 1 / 8)
    timely = Context(deadline=now() - 1)
    late = Refinement().run(release.view, audience, truth_of(release.problem, release), timely)[0]
    assert (late.undecided, late.interval, late.worst, late.at_risk) == (6, (0.0, 1.0), 1.0, 6)
    assert "6 rows not decided; treated as exposed" in late.sentence


def test_it_does_not_apply_where_no_rule_is_known() -> None:
    release = released("mondrian", SIX, {"cuts": "relaxed"})
    reason = Refinement().reason_not_applicable(release.view, audience_of(release.problem))
    assert "says when the search stopped" in reason
