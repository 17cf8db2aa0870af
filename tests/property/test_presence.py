"""Techniques that count public people, against listing every set of people on small tables."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, Infeasible, NotFound
from anon_core.contracts.model import GroupModel
from anon_core.data.table import Dataset
from anon_core.pipeline.runner import run
from anon_core.techniques.algorithms.combined import CombinedAlg
from anon_core.techniques.algorithms.mpalm import Mpalm
from anon_core.techniques.models.bucket_size import BucketSize
from anon_core.techniques.models.delta_presence import DeltaPresence
from anon_core.techniques.models.l_diversity import DistinctLDiversity
from tests.asked import lost, measured
from tests.making import PATIENTS, Case
from tests.often import times
from tests.presence_cases import chances_by_listing
from tests.strategies import cases, publics, reordered

LIMITS = [0.0, 0.0, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9]
#: The least and the most of what anybody's chance may be.
BOUNDS = st.tuples(st.sampled_from(LIMITS), st.sampled_from(LIMITS)).map(sorted)
Around = tuple[Case, Dataset]


@st.composite
def around(
    draw: st.DrawFn,
    rows: tuple[int, int],
    more: int,
    *,
    quasi: tuple[int, int] = (2, 2),
    missing: bool = False,
) -> Around:
    """Draw a table and a public one around it."""
    case = draw(cases(rows=rows, quasi=quasi, missing=missing))
    return case, draw(publics(case, more=more))


@pytest.mark.often
@pytest.mark.parametrize("cuts", ["by-kind", "hierarchy", "values"])
def test_mpalm_by_listing(cuts: str) -> None:
    """Everyone's chance is within bounds; refused exactly where the whole is out of them."""
    released = refused = parted = 0

    @settings(max_examples=times(160, share=4))
    @given(drawn=around((4, 6), 8, missing=True), limits=BOUNDS)
    def tried(drawn: Around, limits: list[float]) -> None:
        nonlocal released, refused, parted
        case, public = drawn
        model = DeltaPresence(delta_min=limits[0], delta_max=limits[1])
        problem = case.problem(public)
        whole = model.bounds.admits(Fraction(problem.rows, public.rows))
        try:
            release = Mpalm(cuts=cuts).run(problem, [model], Context()).release
        except Infeasible:
            refused += 1
            assert not whole
            return
        released += 1
        assert whole
        chances = chances_by_listing(problem, release.view)
        assert all(model.bounds.admits(c) for c in chances)
        assert model.measure(*measured(problem, release.view), Context())[0].state == "holds"
        parted += release.grouping.classes > 1
        assert release.suppressed == 0

    tried()
    assert released > 5
    assert refused > 5
    assert parted > 2


@pytest.mark.often
def test_the_whole_table_is_refused_only_for_its_ratio() -> None:
    """With every public value known, one class of everyone has the table's own share."""
    seen = set[bool]()

    @settings(max_examples=times(160))
    @given(drawn=around((4, 8), 8), limits=BOUNDS)
    def tried(drawn: Around, limits: list[float]) -> None:
        case, public = drawn
        model = DeltaPresence(delta_min=limits[0], delta_max=limits[1])
        problem = case.problem(public)
        own, people = problem.rows, public.rows
        whole = model.bounds.admits(Fraction(own, people))
        seen.add(whole)
        if whole:
            Mpalm().run(problem, [model], Context())
        else:
            with pytest.raises(Infeasible, match=f"{own} of {people} public people") as refused:
                Mpalm().run(problem, [model], Context())
            assert refused.value.best == pytest.approx(own / people)

    tried()
    assert seen == {True, False}


@pytest.mark.often
def test_mpalm_keeps_other_promises_too() -> None:
    parted = 0

    @settings(max_examples=times(80))
    @given(drawn=around((6, 20), 25))
    def tried(drawn: Around) -> None:
        nonlocal parted
        case, public = drawn
        models: list[GroupModel] = [
            DeltaPresence(delta_min=0.1, delta_max=0.8),
            BucketSize(k=3),
            DistinctLDiversity(l=2, column="s0"),
        ]
        try:
            release = Mpalm().run(case.problem(public), models, Context()).release
        except Infeasible:
            return
        for model in models:
            (verdict,) = model.measure(*measured(release.problem, release.view), Context())
            assert verdict.state == "holds"
        parted += release.grouping.classes > 1

    tried()
    assert parted > 2


@pytest.mark.often
def test_mpalm_does_not_see_the_order_of_either_table() -> None:
    released = 0

    @settings(max_examples=times(40))
    @given(drawn=around((4, 12), 20), data=st.data())
    def tried(drawn: Around, data: st.DataObject) -> None:
        nonlocal released
        case, public = drawn
        plan = case.plan(
            algorithm={"name": "mpalm"}, models=[{"name": "delta-presence", "delta_max": 0.7}]
        )
        kinds = {n: k for n, k in case.kinds.items() if n in case.quasi}
        order = data.draw(st.permutations(range(public.rows)))
        other = Dataset.from_frame(public.frame().iloc[order].reset_index(drop=True), kinds=kinds)
        turned = data.draw(reordered(case))
        try:
            one = run(plan, case.dataset, case.levels, population=public, assess=False)
        except Infeasible:
            with pytest.raises(Infeasible):
                run(plan, turned.dataset, case.levels, population=other, assess=False)
            return
        two = run(plan, turned.dataset, case.levels, population=other, assess=False)
        assert one.csv == two.csv
        assert one.verification.holds
        released += 1

    tried()
    assert released > 2


@pytest.mark.often
@pytest.mark.parametrize("partition", ["mpalm", "mondrian"])
def test_combined_by_listing(partition: str) -> None:
    """Everyone's chance, listed, is within bounds; the second computation agrees."""
    released = coarse = exact = 0

    @settings(max_examples=times(120, share=4))
    @given(
        drawn=around((4, 6), 8, missing=True),
        low=st.sampled_from([0.0, 0.0, 0.2]),
        high=st.sampled_from([0.6, 0.75, 0.9]),
    )
    def tried(drawn: Around, low: float, high: float) -> None:
        nonlocal released, coarse, exact
        case, public = drawn
        plan = case.plan(
            algorithm={"name": "combined", "partition": partition},
            models=[
                {"name": "delta-presence", "delta_min": low, "delta_max": high},
                {"name": "bucket-size", "k": 3},
            ],
        )
        try:
            result = run(plan, case.dataset, case.levels, population=public, assess=False)
        except (Infeasible, NotFound):
            return
        released += 1
        assert result.verification.holds
        bounds = DeltaPresence(delta_min=low, delta_max=high).bounds
        assert all(
            bounds.admits(c) for c in chances_by_listing(result.problem, result.release.view)
        )
        loss = lost(result)
        coarse += loss > 0
        exact += loss == 0
        assert result.class_sizes.min() >= 3

    tried()
    assert released > 5
    assert coarse > 1
    assert exact + coarse == released


@pytest.mark.often
def test_a_node_before_the_chosen_one_does_not_hold() -> None:
    """What `least` leaves out and what is tried before are all broken, by listing fillings."""
    from anon_core.methods.bucketized.coarsening import Group, ascending
    from anon_core.methods.matching.fitting_people import public_people
    from anon_core.methods.membership.presence import Bounds, judge

    left_out = 0

    @settings(max_examples=times(120))
    @given(drawn=around((4, 6), 8, quasi=(3, 3)), high=st.sampled_from([0.4, 0.5, 0.6, 0.8]))
    def tried(drawn: Around, high: float) -> None:
        nonlocal left_out
        case, public = drawn
        problem = case.problem(public)
        people = public_people(problem.population, problem.frequency, "x")
        runs = np.arange(len(problem.frequency.run_count))
        group = Group(problem, people, runs, problem.frequency.run_count)
        bounds = Bounds.of(0.0, high)
        start = group.least(bounds)
        levels = [[o.level for o in column] for column in group.options]
        for node in ascending(levels):
            if start is not None and all(a >= b for a, b in zip(node, start, strict=True)):
                continue
            left_out += 1
            assert judge(group.at(node)[0], bounds, Context()).state == "broken"

    tried()
    assert left_out > 20


#: The six patients twice, as a public table.
TWICE = {name: cells * 2 for name, cells in PATIENTS.columns.items()}


def test_combined_gives_up_openly() -> None:
    problem = PATIENTS.problem(replace(PATIENTS, columns=TWICE).dataset)
    models: list[GroupModel] = [DeltaPresence(delta_max=0.6)]
    with pytest.raises(NotFound, match="time box ended with 0 of") as refused:
        CombinedAlg(seconds=0.0).run(problem, models, Context())
    assert refused.value.best == 0.0
    with pytest.raises(BadPlan, match="no privacy model says how large"):
        CombinedAlg(partition="mondrian").run(problem, models, Context())
    with pytest.raises(NotFound, match="even the most general cells"):
        CombinedAlg(partition="mondrian").run(
            problem, [DeltaPresence(delta_max=0.01), BucketSize(k=2)], Context()
        )
