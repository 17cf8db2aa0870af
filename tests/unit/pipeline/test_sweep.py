"""Sweeps: every combination is a run of its own, and the least loss is looked up, not guessed."""

from __future__ import annotations

import itertools
import threading
from dataclasses import replace
from typing import Any, cast

import numpy as np
import pytest

from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, Cancelled
from anon_core.base.registry import family, find
from anon_core.contracts.algorithm import Algorithm
from anon_core.contracts.metric import Metric
from anon_core.pipeline.prepare import EncodedOnce
from anon_core.pipeline.runner import run
from anon_core.pipeline.sweep.points import Point, Risk, common_losses, least_loss
from anon_core.pipeline.sweep.sweep import Varied, sweep
from anon_core.pipeline.sweep.variations import (
    Variation,
    combinations,
    model_at,
    numbers_of,
    read_variation,
    varied,
)
from anon_core.recipe.plan import Plan
from tests.making import PATIENTS, Case, random_case


def given(case: Case, **more: Any) -> tuple[Plan, Any, Any]:
    named = {name: f"{name}.csv" for name in case.levels if name in case.quasi}
    return case.plan(hierarchies=named, **more), case.dataset, {n: case.levels[n] for n in named}


def over(**lists: Any) -> Varied:
    paths = {"k": "models.k", "technique": "algorithm"}
    return Varied(
        variations=tuple(Variation(path=paths[n], values=tuple(v)) for n, v in lists.items()),
        settings={},
    )


def test_every_point_is_what_a_run_of_its_plan_gives() -> None:
    plan, table, levels = given(PATIENTS)
    points = sweep(plan, over(technique=("optimal", "mondrian"), k=(2, 3, 9)), table, levels)
    assert [tuple(p.choices.values()) for p in points] == list(
        itertools.product(("optimal", "mondrian"), (2, 3, 9))
    )
    assert [p.status for p in points] == ["released", "released", "infeasible"] * 2
    for point in points:
        if point.result is None or point.plan is None:
            assert "needs at least 9 rows" in point.why
            continue
        alone = run(point.plan, table, levels)
        assert point.sha256 == alone.sha256
        assert point.losses == {n: m.value for n, m in alone.measures.items()}
        worst = next(a.worst for a in alone.attacks if a.attack == "prosecutor")
        assert point.risk("prosecutor", "worst") == worst


def test_one_table_is_encoded_once_for_plans_that_read_it_alike() -> None:
    plan, table, levels = given(PATIENTS)
    fit = EncodedOnce()
    other, _ = varied(plan, {"algorithm": "mondrian", "models.k": 3})
    assert fit(plan, table, levels) is fit(other, table, levels)
    fewer = replace(plan, roles=replace(plan.roles, quasi=("age",)), hierarchies={})
    assert fit(fewer, table, None) is not fit(plan, table, levels)


def test_a_permuting_technique_stands_on_the_frontier_with_a_promise_of_its_groups() -> None:
    plan, table, levels = given(PATIENTS)
    (point,) = sweep(plan, over(technique=("permutation",), k=(3,)), table, levels)
    assert point.permuted
    assert any("replaces k-anonymity" in note for note in point.notes)
    assert point.plan is not None
    (model,) = point.plan.models
    assert model.size_asked == 3
    assert set(common_losses()) <= set(point.losses)
    assert set(common_losses([point])) <= set(point.losses)
    # Quasi-identifiers stand apart, so nobody can be matched to a row: said, not left out.
    assert point.risk("prosecutor", "worst") is None
    assert point.why_unknown("prosecutor")


def test_cancel_stops_before_the_next_point() -> None:
    plan, table, levels = given(PATIENTS)
    stop = threading.Event()
    met: list[Point] = []

    def found(point: Point) -> None:
        met.append(point)
        stop.set()

    with pytest.raises(Cancelled):
        sweep(plan, over(k=(2, 3)), table, levels, context=Context(cancel=stop), found=found)
    assert len(met) == 1


def test_points_that_are_not_kept_have_their_figures_all_the_same() -> None:
    plan, table, levels = given(PATIENTS)
    (kept,) = sweep(plan, over(k=(2,)), table, levels)
    (light,) = sweep(plan, over(k=(2,)), table, levels, keep=False)
    assert kept.result is not None
    assert light.result is None
    assert kept.as_json() | {"seconds": 0} == light.as_json() | {"seconds": 0}


def test_the_least_loss_is_that_of_a_search_by_hand() -> None:
    rng = np.random.default_rng(7)
    for _ in range(50):
        points = [
            Point(
                choices={"models.k": i},
                status="released",
                losses={"group-loss": float(rng.integers(0, 5)) / 5},
                risks={}
                if rng.random() < 0.3
                else {
                    "prosecutor": Risk(
                        worst=float(rng.integers(0, 5)) / 5, rate=float(rng.random())
                    )
                },
            )
            for i in range(6)
        ]
        points[0] = replace(points[0], risks={"prosecutor": Risk(worst=0.4, rate=0.1)})
        limit = float(rng.integers(0, 5)) / 5
        answer = least_loss(points, loss="group-loss", risk="prosecutor", at_most=limit)
        good = [p for p in points if p.risks and p.risks["prosecutor"].worst <= limit]
        assert answer.within == len(good)
        assert (answer.point is None) == (not good)
        assert len(answer.uncounted) == sum(not p.risks for p in points)
        if answer.point is not None:
            assert answer.point in good
            assert answer.point.losses["group-loss"] == min(p.losses["group-loss"] for p in good)


def test_a_limit_that_a_float_reaches_is_within() -> None:
    third = Point(
        choices={},
        status="released",
        losses={"group-loss": 0},
        risks={"prosecutor": Risk(worst=1 / 3, rate=0)},
    )
    assert least_loss([third], loss="group-loss", risk="prosecutor", at_most=1 / 3).point is third
    assert least_loss([third], loss="group-loss", risk="prosecutor", at_most=0.333).point is None
    with pytest.raises(BadPlan, match="reports the risk"):
        least_loss([third], loss="group-loss", risk="marketer", at_most=1)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("models.k=2,5,10", (2, 5, 10)),
        ("algorithm=mondrian,optimal", ("mondrian", "optimal")),
        ("algorithm.max_suppression=0,0.02", (0, 0.02)),
        ("algorithm.flag=true,false", (True, False)),
    ],
)
def test_variations_are_read(text: str, values: tuple[object, ...]) -> None:
    assert read_variation(text).values == values


@pytest.mark.parametrize(
    "text",
    [
        *("models.k", "k=2", "data.sample=0.5", "models.=2", "models.k=", "models.k=2,2"),
        *("models.k=nan", "models.k=2,inf", "models.t=0,0.0"),
    ],
)
def test_what_is_no_variation_is_refused(text: str) -> None:
    with pytest.raises(BadPlan):
        read_variation(text)


def test_more_combinations_than_anyone_waits_for_are_refused() -> None:
    many = [Variation(path=f"models.{name}", values=tuple(range(2000))) for name in "abc"]
    with pytest.raises(BadPlan, match="8,000,000,000 combinations"):
        combinations(many)


def test_a_parameter_of_two_promises_needs_the_name_of_one() -> None:
    plan, _, _ = given(
        PATIENTS,
        models=[{"name": "k-anonymity", "k": 2}, {"name": "bucket-size", "k": 2}],
    )
    with pytest.raises(BadPlan, match="several privacy models"):
        model_at(plan, "models.k")
    assert model_at(plan, "models.bucket-size.k") == 1
    assert "models.k-anonymity.k" in numbers_of(plan.models)
    with pytest.raises(BadPlan, match="not a parameter of the plan's privacy models"):
        model_at(plan, "models.depth")
    with pytest.raises(BadPlan, match="varied twice"):
        combinations([read_variation("models.k=2"), read_variation("models.k=3")])


def test_an_unknown_parameter_of_a_technique_is_a_point_that_says_so() -> None:
    plan, table, levels = given(PATIENTS)
    what = Varied(variations=(read_variation("algorithm.depth=3"),), settings={})
    (point,) = sweep(plan, what, table, levels)
    assert point.status == "refused"
    assert "not a parameter of the technique" in point.why


@pytest.mark.long
def test_every_technique_that_permutes_gives_a_point_on_the_common_scale() -> None:
    case = random_case(np.random.default_rng(3), rows=24, quasi=2, missing=False)
    plan, table, levels = given(case)
    known = cast(dict[str, type[Algorithm]], family("algorithm"))
    names = [n for n, kind in known.items() if kind.shape.permutes and not kind.needs.public]
    points = sweep(plan, over(technique=names, k=(2,)), table, levels)
    assert len(points) == len(names) > 3
    assert all(p.status == "released" or p.why for p in points)
    done = [p for p in points if p.status == "released"]
    assert len(done) >= 3
    assert all(p.permuted for p in done)
    for point in done:  # of a release of another form a metric says that it is not defined for it
        assert point.result is not None
        untold = set(common_losses()) - set(point.losses)
        kinds = [cast(Metric, find("metric", name)()) for name in untold]
        assert all(kind.not_defined_for(point.result.release) for kind in kinds)
        assert "group-loss" in point.losses
