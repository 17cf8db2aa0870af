"""The parts of a release over two columns, against its published classes one by one."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from anon_core.base.errors import Infeasible
from anon_core.methods.partition import parts_picture as pictures
from anon_core.methods.partition.parts_picture import PartsPicture, common_leaves, parts_picture
from anon_core.pipeline.result import Result
from anon_core.pipeline.runner import run
from tests.making import PATIENTS, random_case

TECHNIQUES = ("mondrian", "optimal", "mpalm", "one-attribute-slicing", "k-member")


def results(technique: str, count: int = 5) -> list[Result]:
    rng = np.random.default_rng(23)
    found: list[Result] = []
    permuted = technique == "one-attribute-slicing"
    settings = {"partition": "mondrian"} if permuted else {}
    for _ in range(count):
        case = random_case(rng, rows=30, quasi=3)
        plan = case.plan(
            algorithm={"name": technique, **settings},
            models=[{"name": "bucket-size", "k": 2}],
        )
        public = None
        if technique == "mpalm":
            public = case.dataset
        try:
            found.append(run(plan, case.dataset, case.levels, population=public, assess=False))
        except Infeasible:
            continue
    assert found
    return found


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_boxes_and_points_count_every_published_row(technique: str) -> None:
    for result in results(technique):
        problem, release = result.problem, result.release
        published = problem.rows - release.suppressed
        for across, up in (("q0", "q1"), ("q2", "q0")):
            drawn = parts_picture(problem, release, across, up)
            assert sum(box.rows for box in drawn.boxes) == published
            assert sum(box.parts for box in drawn.boxes) == len(result.class_sizes)
            assert drawn.all_boxes == len(drawn.boxes)
            assert sum(rows for _, _, rows in drawn.points) == published
            assert not drawn.gathered
            assert [b.rows for b in drawn.boxes] == sorted(b.rows for b in drawn.boxes)[::-1]


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_every_row_stands_in_the_box_of_its_part(technique: str) -> None:
    for result in results(technique):
        drawn = parts_picture(result.problem, result.release, "q0", "q1")
        codes = [result.problem.leaf_codes(name) for name in ("q0", "q1")]
        by_part: dict[int, list[tuple[int, int]]] = {}
        for row, part in enumerate(result.row_group.tolist()):
            if part >= 0:
                by_part.setdefault(part, []).append((int(codes[0][row]), int(codes[1][row])))
        rows = Counter(pair for pairs in by_part.values() for pair in pairs)
        assert sum(rows.values()) == sum(box.rows for box in drawn.boxes)
        for pairs in by_part.values():
            assert any(
                box.rows >= len(pairs)
                and all(
                    box.across[0] <= x <= box.across[1] and box.up[0] <= y <= box.up[1]
                    for x, y in pairs
                )
                for box in drawn.boxes
            )
        places = {(drawn.across.places[x], drawn.up.places[y]): n for (x, y), n in rows.items()}
        assert {(x, y): n for x, y, n in drawn.points} == places


def test_axes_run_upwards_and_edges_lie_between_the_leaves() -> None:
    for result in results("mondrian", 8):
        for name in result.problem.quasi:
            axis = parts_picture(result.problem, result.release, name, "q0").across
            assert len(axis.edges) == len(axis.places) + 1
            assert all(map(math.isfinite, axis.edges))
            for i, place in enumerate(axis.places):
                assert axis.edges[i] < place < axis.edges[i + 1]
            hierarchy = result.problem.hierarchies[name]
            assert {text for _, text in axis.ticks} <= set(hierarchy.leaves)


def test_numbers_stand_at_their_value() -> None:
    result = run(
        PATIENTS.plan(algorithm={"name": "mondrian"}),
        PATIENTS.dataset,
        PATIENTS.levels,
        assess=False,
    )
    drawn = parts_picture(result.problem, result.release, "age", "zip")
    assert drawn.across.numeric
    assert drawn.across.places == (20.0, 40.0)
    assert drawn.across.ticks == ()
    assert not drawn.up.numeric
    assert [text for _, text in drawn.up.ticks] == ["101", "102", "201", "202"]


def limited(monkeypatch: pytest.MonkeyPatch, name: str, most: int) -> PartsPicture:
    monkeypatch.setattr(pictures, name, most)
    result = results("mondrian", 1)[0]
    return parts_picture(result.problem, result.release, "q0", "q1")


def test_the_largest_boxes_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    result = results("mondrian", 1)[0]
    every = parts_picture(result.problem, result.release, "q0", "q1")
    some = limited(monkeypatch, "MOST_BOXES", 2)
    assert some.boxes == every.boxes[:2]
    assert some.all_boxes == every.all_boxes > 2


def test_too_many_points_are_gathered(monkeypatch: pytest.MonkeyPatch) -> None:
    result = results("mondrian", 1)[0]
    every = parts_picture(result.problem, result.release, "q0", "q1")
    some = limited(monkeypatch, "MOST_POINTS", 4)
    assert some.gathered
    assert len(some.points) <= 4 < len(every.points)
    assert sum(n for _, _, n in some.points) == sum(n for _, _, n in every.points)


@pytest.mark.parametrize("technique", TECHNIQUES)
def test_a_slice_holds_the_parts_that_cover_its_value(technique: str) -> None:
    for result in results(technique):
        problem, release = result.problem, result.release
        if not len(result.class_sizes):
            continue
        every = parts_picture(problem, release, "q0", "q2")
        assert every.boxes == parts_picture(problem, release, "q0", "q2", slice_at={}).boxes
        seen = Counter[str]()
        for leaf in range(len(problem.hierarchies["q2"].leaves)):
            drawn = parts_picture(problem, release, "q0", "q1", slice_at={"q2": leaf})
            covering = [b for b in every.boxes if b.up[0] <= leaf <= b.up[1]]
            assert sum(b.parts for b in drawn.boxes) == sum(b.parts for b in covering)
            rows = sum(b.rows for b in covering)
            assert sum(b.rows for b in drawn.boxes) == rows
            assert sum(n for _, _, n in drawn.points) == rows
            seen[str(bool(covering))] += 1
        assert seen["True"]


def test_the_common_leaves_have_most_rows() -> None:
    problem = PATIENTS.problem()
    found = common_leaves(problem)
    assert {n: problem.hierarchies[n].leaves[leaf] for n, leaf in found.items()} == {
        "age": "20",
        "zip": "101",
    }
