"""The time-boxed search: promises, bounds and quality, against enumeration where that is small."""

from __future__ import annotations

import dataclasses
from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.base.context import Context
from anon_core.base.errors import Infeasible, NotFound
from anon_core.base.registry import find
from anon_core.contracts.metric import Metric
from anon_core.contracts.model import GroupModel, ModelLogic
from anon_core.methods.lattice.nodes import Nodes
from anon_core.methods.lattice.row_bound import SET_SIZES, column_bound, row_bound
from anon_core.techniques.algorithms.anytime import Anytime
from anon_core.techniques.algorithms.mondrian import Mondrian
from anon_core.techniques.models.frequency_l_diversity import FrequencyLDiversity
from anon_core.techniques.models.k_anonymity import KAnonymity
from anon_core.techniques.models.l_diversity import DistinctLDiversity
from tests.asked import measured
from tests.enumeration import METRICS, Enumeration
from tests.making import Case, random_case
from tests.often import times
from tests.strategies import cases, ks


@pytest.mark.often
def test_whole_columns_reach_the_optimum_of_small_lattices() -> None:
    optimal = decided = 0

    @settings(max_examples=times(200))
    @given(case=cases(quasi=(1, 3)), data=st.data())
    def tried(case: Case, data: st.DataObject) -> None:
        nonlocal optimal, decided
        k = data.draw(ks(case))
        found = Enumeration(case, k)
        problem = case.problem()
        for metric in METRICS:
            for budget in (0.0, 0.3):
                nodes = found.satisfied(budget)
                search = Anytime(recoding="full-domain", metric=metric, max_suppression=budget)
                if not nodes:
                    with pytest.raises(Infeasible) as refused:
                        search.run(problem, [KAnonymity(k=k)], Context())
                    assert refused.value.best is not None
                    continue
                account = search.run(problem, [KAnonymity(k=k)], Context()).account
                best = float(found.best(metric, nodes)[0])
                assert account.cost is not None
                assert account.bound is not None
                node = tuple((account.node or {}).values())
                assert node in nodes
                assert account.cost == pytest.approx(float(found.costs[metric][node]), rel=1e-12)
                # Never below the optimum, which the bound never passes.
                assert account.bound <= best + 1e-12 <= account.cost + 2e-12
                decided += 1
                optimal += account.cost <= best + 1e-12
                assert not account.proven or account.cost <= best + 1e-12

    tried()
    # A heuristic; on lattices this small it all but always gets there.
    assert optimal > 0.95 * decided > 0


@pytest.mark.often
@pytest.mark.parametrize("promises", ["k", "k+l", "k+frequency"])
def test_part_by_part_keeps_promises_and_its_bound(promises: str) -> None:
    released = better = 0

    @settings(max_examples=times(160))
    @given(case=cases(rows=(8, 60), sensitive="abcd"))
    def tried(case: Case) -> None:
        nonlocal released, better
        models: list[GroupModel] = [KAnonymity(k=3)]
        if promises == "k+l":
            models.append(DistinctLDiversity(l=2))
        if promises == "k+frequency":
            models.append(FrequencyLDiversity(l=2, column="s0"))
        problem = case.problem()
        try:
            outcome = Anytime().run(problem, models, Context())
        except Infeasible:
            return
        released += 1
        release, account = outcome.release, outcome.account
        assert release.suppressed == 0
        assert release.grouping.sizes.sum() == problem.rows
        for model in models:
            assert all(v.holds for v in model.measure(*measured(problem, release.view), Context()))
        metric = find("metric", "loss")()
        assert isinstance(metric, Metric)
        assert account.cost == metric.measure(problem, release, Context()).value
        assert account.bound is not None
        assert 0 <= account.bound <= account.cost
        for d, name in enumerate(problem.quasi):
            vocabulary = release.vocabularies[name]
            assert np.all(vocabulary.level >= 0)  # every cell is a node of the hierarchy
            run = release.grouping.member[problem.frequency.run_start]
            cells = release.cells[name][run]
            codes = problem.frequency.run_codes[:, d]
            assert np.all((vocabulary.lo[cells] <= codes) & (codes <= vocabulary.hi[cells]))
        try:
            whole = Anytime(recoding="full-domain").run(problem, models, Context()).account
        except Infeasible:
            return
        assert whole.cost is not None
        better += account.cost <= whole.cost + 1e-12

    tried()
    assert released > 16
    assert better > 0.8 * released


@pytest.mark.often
def test_the_bounds_by_enumeration() -> None:
    """No node costs less than the bound on nodes, no row less than the bound on rows."""
    positive = 0

    @settings(max_examples=times(120))
    @given(case=cases(quasi=(1, 3)))
    def tried(case: Case) -> None:
        nonlocal positive
        found = Enumeration(case, 2)
        problem = case.problem()
        for name in METRICS:
            metric = find("metric", name)()
            assert isinstance(metric, Metric)
            for budget in (0.0, 0.3):
                satisfied = found.satisfied(budget)
                if not satisfied:
                    continue
                best = float(found.best(name, satisfied)[0])
                nodes = Nodes(problem, [KAnonymity(k=2)], int(budget * found.size), Context())
                before = 0.0
                for most in SET_SIZES:
                    bound = column_bound(nodes, metric, most, lambda: True)
                    assert bound <= best + 1e-12
                    before = max(before, bound)
                # All columns in one set: the bound is the optimum.
                if name in ("loss", "ncp", "generalization-height"):
                    assert before == pytest.approx(best, abs=1e-12)
                assert row_bound(problem, metric, 2, 1_500, lambda: True) <= best + 1e-12
                positive += before > 0
                assert column_bound(nodes, metric, 1, lambda: False) <= best + 1e-12

    tried()
    assert positive > 40


@pytest.mark.often
def test_part_by_part_is_never_behind_mondrian_at_nodes() -> None:
    ahead = 0

    @settings(max_examples=times(240))
    @given(case=cases(rows=(10, 60)), k=st.integers(2, 4))
    def tried(case: Case, k: int) -> None:
        nonlocal ahead
        problem = case.problem()
        models: list[GroupModel] = [KAnonymity(k=k)]
        loss = find("metric", "loss")()
        assert isinstance(loss, Metric)
        cuts = Mondrian(output="node", cut_at="best-gain", metric="loss")
        behind = cuts.run(problem, models, Context()).release
        found = Anytime(metric="loss").run(problem, models, Context())
        lost = loss.measure(problem, behind, Context()).value
        assert found.account.cost is not None
        assert found.account.cost <= lost + 1e-12
        assert any(step["way"] == "cuts alone" for step in found.account.steps)
        ahead += found.account.cost < lost - 1e-12

    tried()
    assert ahead > 3


class TogetherAtMost(KAnonymity):
    """A promise that merging can break: classes of k to k + 3 rows."""

    logic: ClassVar[ModelLogic] = replace(KAnonymity.logic, by_limits=False, monotone_merge=False)

    def per_group(self, stats, reference):  # type: ignore[no-untyped-def]
        return (stats.sizes >= self.k) & (stats.sizes <= self.k + 3)


@pytest.mark.often
def test_models_that_cannot_steer_parts_are_kept_by_whole_columns() -> None:
    released = 0

    @settings(max_examples=times(160))
    @given(case=cases(quasi=(2, 2)))
    def tried(case: Case) -> None:
        nonlocal released
        search = Anytime(max_suppression=0.5)
        try:
            outcome = search.run(case.problem(), [TogetherAtMost(k=2)], Context())
        except (Infeasible, NotFound):
            return
        assert outcome.account.node is not None
        sizes = outcome.release.grouping.sizes
        assert sizes.min() >= 2
        assert sizes.max() <= 5
        released += 1

    tried()
    assert released > 5


@pytest.mark.parametrize("recoding", ["local", "full-domain"])
def test_the_time_box_ends_the_search(recoding: str) -> None:
    case = random_case(np.random.default_rng(34), rows=300, quasi=4, kinds=("number", "ordered"))
    problem = case.problem()
    models = [KAnonymity(k=3)]
    seen: list[float] = []
    context = Context(progress=lambda share, stage: seen.append(share))
    search = Anytime(recoding=recoding, restarts=10_000, seconds=0.5)
    account = search.run(problem, models, context).account
    assert account.cost is not None
    assert seen == sorted(seen)
    # No time at all still gives a valid release.
    late = dataclasses.replace(Context(), deadline=0.0)
    release = Anytime(recoding=recoding).run(problem, models, late).release
    assert all(v.holds for v in models[0].measure(*measured(problem, release.view), Context()))
