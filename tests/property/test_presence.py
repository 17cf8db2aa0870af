"""Techniques that count public people, against listing every set of people on small tables."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from anon_core.algorithms.combined import CombinedAlg
from anon_core.algorithms.mpalm import Mpalm
from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, Infeasible, NotFound
from anon_core.contracts.model import GroupModel
from anon_core.job.runner import run
from anon_core.models.bucket_size import BucketSize
from anon_core.models.delta_presence import DeltaPresence
from anon_core.models.l_diversity import DistinctLDiversity
from tests.asked import measured
from tests.presence_cases import chances_by_listing, random_public

LIMITS = [0.0, 0.0, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9]


@pytest.mark.parametrize("cuts", ["by-kind", "hierarchy", "values"])
def test_mpalm_by_listing(cuts: str) -> None:
    """Everyone's chance is within bounds; refused exactly where the whole is out of them."""
    rng = np.random.default_rng(307)
    released = refused = parted = 0
    for turn in range(60):
        case, public = random_public(rng, rows=7, more=6, missing=turn % 3 == 0)
        low, high = sorted(rng.choice(LIMITS, 2).tolist())
        model = DeltaPresence(delta_min=low, delta_max=high)
        problem = case.problem(public)
        whole = model.bounds.admits(Fraction(7, 13))
        try:
            release = Mpalm(cuts=cuts).run(problem, [model], Context()).release
        except Infeasible:
            refused += 1
            assert not whole
            continue
        released += 1
        assert whole
        chances = chances_by_listing(problem, release.view)
        assert all(model.bounds.admits(c) for c in chances)
        assert model.measure(*measured(problem, release.view), Context())[0].state == "holds"
        parted += release.grouping.classes > 1
        assert release.suppressed == 0
    assert released > 20
    assert refused > 10
    assert parted > 8


def test_the_whole_table_is_refused_only_for_its_ratio() -> None:
    """With every public value known, one class of everyone has the table's own share."""
    rng = np.random.default_rng(311)
    seen = set[bool]()
    for _ in range(40):
        case, public = random_public(rng, rows=6, more=6)
        low, high = sorted(rng.choice(LIMITS, 2).tolist())
        model = DeltaPresence(delta_min=low, delta_max=high)
        problem = case.problem(public)
        whole = low <= 0.5 <= high
        seen.add(whole)
        if whole:
            Mpalm().run(problem, [model], Context())
        else:
            with pytest.raises(Infeasible, match=r"6 of 12 public people") as refused:
                Mpalm().run(problem, [model], Context())
            assert refused.value.best == 0.5
    assert seen == {True, False}


def test_mpalm_keeps_other_promises_too() -> None:
    rng = np.random.default_rng(313)
    parted = 0
    for _ in range(25):
        case, public = random_public(rng, rows=20, more=25)
        models: list[GroupModel] = [
            DeltaPresence(delta_min=0.1, delta_max=0.8),
            BucketSize(k=3),
            DistinctLDiversity(l=2, column="s0"),
        ]
        try:
            release = Mpalm().run(case.problem(public), models, Context()).release
        except Infeasible:
            continue
        for model in models:
            (verdict,) = model.measure(*measured(release.problem, release.view), Context())
            assert verdict.state == "holds"
        parted += release.grouping.classes > 1
    assert parted > 8


def test_mpalm_does_not_see_the_order_of_either_table() -> None:
    rng = np.random.default_rng(317)
    for _ in range(8):
        case, public = random_public(rng, rows=15, more=15)
        plan = case.plan(
            algorithm={"name": "mpalm"}, models=[{"name": "delta-presence", "delta_max": 0.7}]
        )
        one = run(plan, case.dataset, case.levels, population=public)
        turned = public.frame().iloc[::-1].reset_index(drop=True)
        kinds = {n: k for n, k in case.kinds.items() if n in case.quasi}
        other = type(public).from_frame(turned, kinds=kinds)
        two = run(plan, case.dataset, case.levels, population=other)
        assert one.csv == two.csv
        assert one.verification.holds


@pytest.mark.parametrize("partition", ["mpalm", "mondrian"])
def test_combined_by_listing(partition: str) -> None:
    """Everyone's chance, listed, is within bounds; the second computation agrees."""
    rng = np.random.default_rng(331)
    released = coarse = exact = 0
    for turn in range(40):
        case, public = random_public(rng, rows=7, more=7, missing=turn % 4 == 0)
        low = float(rng.choice([0.0, 0.0, 0.2]))
        high = float(rng.choice([0.6, 0.75, 0.9]))
        plan = case.plan(
            algorithm={"name": "combined", "partition": partition},
            models=[
                {"name": "delta-presence", "delta_min": low, "delta_max": high},
                {"name": "bucket-size", "k": 3},
            ],
        )
        try:
            result = run(plan, case.dataset, case.levels, population=public)
        except (Infeasible, NotFound):
            continue
        released += 1
        assert result.verification.holds
        bounds = DeltaPresence(delta_min=low, delta_max=high).bounds
        assert all(
            bounds.admits(c) for c in chances_by_listing(result.problem, result.release.view)
        )
        loss = result.measures["loss"].value
        coarse += loss > 0
        exact += loss == 0
        assert result.class_sizes.min() >= 3
    assert released > 10
    assert coarse > 3
    assert exact + coarse == released


def test_a_node_before_the_chosen_one_does_not_hold() -> None:
    """What `least` leaves out and what is tried before are all broken, by listing fillings."""
    from anon_core.algorithms.combined.coarsening import Group, ascending
    from anon_core.membership.presence import Bounds, judge
    from anon_core.overlap.fitting_people import public_people

    rng = np.random.default_rng(337)
    left_out = 0
    for _ in range(60):
        case, public = random_public(rng, rows=6, more=8, quasi=3)
        problem = case.problem(public)
        people = public_people(problem.population, problem.frequency, "x")
        runs = np.arange(len(problem.frequency.run_count))
        group = Group(problem, people, runs, problem.frequency.run_count)
        bounds = Bounds.of(0.0, float(rng.choice([0.4, 0.5, 0.6, 0.8])))
        start = group.least(bounds)
        levels = [[o.level for o in column] for column in group.options]
        for node in ascending(levels):
            if start is not None and all(a >= b for a, b in zip(node, start, strict=True)):
                continue
            left_out += 1
            assert judge(group.at(node)[0], bounds, Context()).state == "broken"
    assert left_out > 50


def test_combined_gives_up_openly() -> None:
    rng = np.random.default_rng(347)
    case, public = random_public(rng, rows=12, more=12, quasi=3)
    problem = case.problem(public)
    models: list[GroupModel] = [DeltaPresence(delta_max=0.6)]
    with pytest.raises(NotFound, match="time box ended with 0 of") as refused:
        CombinedAlg(seconds=0.0).run(problem, models, Context())
    assert refused.value.best == 0.0
    with pytest.raises(BadPlan, match="no promise says how large"):
        CombinedAlg(partition="mondrian").run(problem, models, Context())
    with pytest.raises(NotFound, match="even the most general cells"):
        CombinedAlg(partition="mondrian").run(
            problem, [DeltaPresence(delta_max=0.01), BucketSize(k=2)], Context()
        )
