"""Clusters of at least k rows against plain loops, and as verified releases."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings

from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, Cancelled, Infeasible
from anon_core.base.registry import find
from anon_core.contracts.algorithm import Algorithm
from anon_core.contracts.model import GroupModel
from anon_core.kernels.best_gain_split import cover_price
from anon_core.kernels.cluster import cheapest_runs
from anon_core.methods.clusters.cluster_rows import k_members, ordered_runs
from anon_core.methods.partition.best_gain import cell_prices
from anon_core.pipeline.runner import run
from anon_core.techniques.metrics.ncp import CertaintyPenalty
from anon_core.techniques.models.k_anonymity import KAnonymity
from tests.making import Case, random_case
from tests.often import times
from tests.strategies import cases

pytestmark = pytest.mark.kernels
NAMES = ("k-member", "r-gather", "spatial-order", "utility-halving")


def algorithm(name: str, **given: object) -> Algorithm:
    made = find("algorithm", name).from_mapping(given)
    assert isinstance(made, Algorithm)
    return made


@pytest.mark.often
@pytest.mark.parametrize("name", NAMES)
def test_releases_verify_and_lose_less_than_one_class(name: str) -> None:
    parts = 0

    @settings(max_examples=times(40, share=4))
    @given(case=cases(rows=(6, 40)))
    def tried(case: Case) -> None:
        nonlocal parts
        plan = case.plan(
            algorithm={"name": name, "weights": {"q0": 2}},
            models=[
                {"name": "k-anonymity", "k": 3},
                {"name": "l-diversity", "l": 2, "column": "s0"},
            ],
        )
        try:
            result = run(plan, case.dataset, case.levels, assess=False)
        except Infeasible:
            assert len(set(case.column("s0"))) < 2
            return
        assert result.verification.holds
        assert result.class_sizes.min() >= 3
        assert result.release.suppressed == 0
        parts += len(result.class_sizes) > 1

    tried()
    assert parts > 4


@pytest.mark.parametrize("name", NAMES)
def test_small_tables_wrong_weights_and_cancelling(name: str) -> None:
    problem = random_case(np.random.default_rng(103), rows=8).problem()
    models: list[GroupModel] = [KAnonymity(k=9)]
    with pytest.raises(Infeasible, match="need at least 9 rows"):
        algorithm(name).run(problem, models, Context())
    with pytest.raises(BadPlan, match="not a quasi-identifier"):
        algorithm(name, weights={"nothing": 2}).run(problem, models, Context())
    context = Context()
    context.cancel.set()
    with pytest.raises(Cancelled):
        algorithm(name).run(problem, [KAnonymity(k=2)], context)


@pytest.mark.often
def test_runs_of_an_order_are_the_cheapest() -> None:
    several = 0

    @settings(max_examples=times(100))
    @given(case=cases(rows=(4, 9)))
    def tried(case: Case) -> None:
        nonlocal several
        problem = case.problem()
        nodes = [False] * len(case.quasi)
        prices = cell_prices(problem, CertaintyPenalty(), nodes, np.ones(len(nodes)))
        codes, count = problem.frequency.run_codes, problem.frequency.run_count
        k, size = 2, len(count)

        def price(start: int, stop: int, codes=codes, count=count, prices=prices) -> float:  # type: ignore[no-untyped-def]
            rows = int(count[start:stop].sum())
            ends = zip(codes[start:stop].min(axis=0), codes[start:stop].max(axis=0), strict=True)
            return rows * sum(cover_price(prices, d, a, b) for d, (a, b) in enumerate(ends))

        best = np.inf
        for cuts in itertools.product([0, 1], repeat=size - 1):
            ends = [0, *(i + 1 for i, c in enumerate(cuts) if c), size]
            if all(count[a:b].sum() >= k for a, b in itertools.pairwise(ends)):
                best = min(best, sum(price(a, b) for a, b in itertools.pairwise(ends)))
        run_of = cheapest_runs(prices, codes, count, k)
        ends = [0, *(np.flatnonzero(np.diff(run_of)) + 1).tolist(), size]
        assert all(count[a:b].sum() >= k for a, b in itertools.pairwise(ends))
        assert sum(price(a, b) for a, b in itertools.pairwise(ends)) == pytest.approx(best)
        assert len(ordered_runs(problem, k, prices, Context())) == size
        several += len(ends) > 2

    tried()
    assert several > 5


@pytest.mark.often
def test_clusters_grow_by_the_row_that_costs_least() -> None:
    several = 0

    @settings(max_examples=times(100))
    @given(case=cases(rows=(6, 14)))
    def tried(case: Case) -> None:
        nonlocal several
        problem = case.problem()
        nodes = [False] * len(case.quasi)
        prices = cell_prices(problem, CertaintyPenalty(), nodes, np.ones(len(nodes)))
        codes, count = problem.frequency.run_codes, problem.frequency.run_count
        size, k = len(count), 3

        def price(members: list[int], codes=codes, count=count, prices=prices) -> float:  # type: ignore[no-untyped-def]
            ends = zip(codes[members].min(axis=0), codes[members].max(axis=0), strict=True)
            one = sum(cover_price(prices, d, a, b) for d, (a, b) in enumerate(ends))
            return one * int(count[members].sum())

        def apart(a: int, b: int, codes=codes, prices=prices) -> float:  # type: ignore[no-untyped-def]
            pairs = zip(codes[a], codes[b], strict=True)
            return sum(cover_price(prices, d, min(p), max(p)) for d, p in enumerate(pairs))

        left, last, expected = set(range(size)), 0, list[list[int]]()
        while left:
            cluster = [max(sorted(left), key=lambda t: (apart(last, t), -t))]
            while count[cluster].sum() < k and left - set(cluster):
                free = sorted(left - set(cluster))
                cluster.append(min(free, key=lambda t: (price([*cluster, t]), t)))
            if count[cluster].sum() < k:
                expected += [[t] for t in sorted(left)]
                break
            expected.append(cluster)
            left -= set(cluster)
            last = cluster[-1]
        block = np.zeros(size, dtype=np.int64)
        found = k_members(problem, block, k, prices, Context())
        groups = [np.flatnonzero(found == g).tolist() for g in range(int(found.max()) + 1)]
        assert sorted(groups) == sorted(sorted(c) for c in expected)
        several += len(groups) > 1

    tried()
    assert several > 5
