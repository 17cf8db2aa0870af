"""Grouping rows for few changed cells: the optimum by plain recursion, and the proven factors."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, Cancelled, Infeasible
from anon_core.contracts.partitioner import Buckets
from anon_core.methods.clusters.cell_groups import MOST_EXACT, cell_groups
from anon_core.methods.partition.best_gain import cell_prices, suppression_prices
from anon_core.pipeline.runner import run
from anon_core.release.problem import Problem
from anon_core.techniques.algorithms.cell_suppression import CellSuppression
from anon_core.techniques.metrics.loss import Loss
from anon_core.techniques.models.k_anonymity import KAnonymity
from tests import naive
from tests.making import Case, random_case
from tests.often import often, times
from tests.strategies import cases


def price(case: Case, members: Sequence[int], generalized: bool) -> float:
    """Return what a group pays: cells that differ, or the loss of the lowest common nodes."""
    total = 0.0
    for d, a in enumerate(case.attributes):
        values = {case.rows[i][d] for i in members}
        if generalized and len(values) > 1:
            level = naive.covering_level(a, values)
            cover = a.under(a.labels[next(iter(values))][level], level)
            total += float(naive.loss_of(a, cover))
        elif len(values) > 1:
            total += 1
    return total * len(members)


def optimum(case: Case, k: int, generalized: bool) -> float:
    """Return the least price over all partitions into groups of k to 2k − 1 rows."""

    @cache
    def least(left: frozenset[int]) -> float:
        if not left:
            return 0.0
        first, *others = sorted(left)
        best = math.inf
        for more in range(k - 1, 2 * k - 1):
            for some in itertools.combinations(others, more):
                group = (first, *some)
                best = min(best, price(case, group, generalized) + least(left - set(group)))
        return best

    return least(frozenset(range(len(case.rows))))


def paid(case: Case, problem: Problem, groups: Buckets, generalized: bool) -> float:
    total = 0.0
    by_key = {int(k): i for i, k in enumerate(problem.frequency.row_key)}  # a row with the key
    for g in range(int(groups.group.max()) + 1):
        members = [
            by_key[int(key)]
            for key, count in zip(
                groups.key[groups.group == g], groups.count[groups.group == g], strict=True
            )
            for _ in range(int(count))
        ]
        total += price(case, members, generalized)
    return total


@pytest.mark.kernels
@pytest.mark.often
@pytest.mark.parametrize("generalized", [False, True])
@pytest.mark.parametrize("k", [2, 3])
def test_no_method_pays_more_than_its_factor(k: int, generalized: bool) -> None:
    more = 0

    @settings(max_examples=times(80))
    @given(case=cases(rows=(k, 9), missing=False))
    def tried(case: Case) -> None:
        nonlocal more
        problem = case.problem()
        prices = (
            cell_prices(problem, Loss(), [True] * len(case.quasi), np.ones(len(case.quasi)))
            if generalized
            else suppression_prices(problem, [0] * len(case.quasi), np.ones(len(case.quasi)))
        )
        best = optimum(case, k, generalized)
        n = len(case.rows)
        few = all(len(set(column)) < 3 for column in zip(*case.rows, strict=True))
        factors = {
            "exact": 1.0,
            "forest": 3 * k - 3,
            "balls": 6 * k * (1 + math.log(n)),
            "links": (k + 1) / 2 if few else k,
        }
        for method, factor in factors.items():
            groups = cell_groups(problem, [KAnonymity(k=k)], prices, method, Context())
            sizes = np.bincount(groups.group, weights=groups.count)
            assert sizes.min() >= k
            assert sizes.sum() == n
            if method == "forest":
                assert sizes.max() <= max(3 * k - 3, 2 * k - 1)
            found = paid(case, problem, groups, generalized)
            assert found <= factor * best + 1e-9
            assert found >= best - 1e-9
            more += found > best + 1e-9

    tried()
    assert more > 0  # or nothing was approximated


@pytest.mark.parametrize("transformation", ["CS", "CG", "AG_CS"])
@pytest.mark.parametrize("method", ["forest", "balls", "links", "exact"])
@often(24)
@given(case=cases(rows=(4, 10)))
def test_what_is_published_verifies(method: str, transformation: str, case: Case) -> None:
    plan = case.plan(
        algorithm={
            "name": "cell-suppression",
            "method": method,
            "transformation": transformation,
        },
        models=[
            {"name": "k-anonymity", "k": 2},
            {"name": "l-diversity", "l": 2, "column": "s0"},
        ],
    )
    try:
        result = run(plan, case.dataset, case.levels, assess=False)
    except Infeasible:
        assert len(set(case.column("s0"))) < 2
        return
    assert result.verification.holds
    if transformation == "CS":
        for name in result.problem.quasi:
            vocabulary = result.release.vocabularies[name]
            whole = (vocabulary.lo == 0) & (
                vocabulary.hi == len(result.problem.hierarchies[name].leaves) - 1
            )
            assert ((vocabulary.lo == vocabulary.hi) | whole).all()


@pytest.mark.kernels
@pytest.mark.often
@pytest.mark.parametrize("k", [2, 3])
def test_links_of_columns_with_two_values_pay_at_most_half_as_much_again(k: int) -> None:
    """The factor is 1.5 for k = 2, and 2 for k = 3; rings of more than five rows are parted."""
    more, cell = 0, st.sampled_from("01")
    of_width = {w: st.lists(st.tuples(*[cell] * w), min_size=6, max_size=10) for w in (2, 3, 4)}

    @settings(max_examples=times(72))
    @given(rows=of_width[2] | of_width[3] | of_width[4])
    def tried(rows: list[tuple[str, ...]]) -> None:
        nonlocal more
        names = [f"q{d}" for d in range(len(rows[0]))]
        columns = {n: list(own) for n, own in zip(names, zip(*rows, strict=True), strict=True)}
        case = Case(columns=columns, quasi=tuple(names))  # type: ignore[arg-type]
        problem = case.problem()
        prices = suppression_prices(problem, [0] * len(names), np.ones(len(names)))
        groups = cell_groups(problem, [KAnonymity(k=k)], prices, "links", Context())
        best, found = optimum(case, k, False), paid(case, problem, groups, False)
        assert best - 1e-9 <= found <= (k + 1) / 2 * best + 1e-9
        more += found > best + 1e-9

    tried()
    assert more > 0  # or the optimum was found each time


@pytest.mark.kernels
def test_blocks_of_a_large_table_keep_k(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anon_core.methods.clusters.cell_groups.MOST_FOREST", 20)
    monkeypatch.setattr("anon_core.methods.clusters.cell_groups._PAIRS", 10)
    case = random_case(np.random.default_rng(61), rows=300, quasi=4)
    problem = case.problem()
    assert len(problem.frequency.run_count) > 20
    outcome = CellSuppression().run(problem, [KAnonymity(k=3)], Context())
    assert outcome.release.grouping.sizes.min() >= 3
    assert outcome.release.suppressed == 0


def test_tables_too_large_or_too_small_are_refused() -> None:
    case = random_case(np.random.default_rng(67), rows=MOST_EXACT + 1)
    with pytest.raises(BadPlan, match=f"at most {MOST_EXACT} rows"):
        CellSuppression(method="exact").run(case.problem(), [KAnonymity(k=2)], Context())
    with pytest.raises(BadPlan, match="of 2 and of 3 rows; k is 4"):
        CellSuppression(method="links").run(case.problem(), [KAnonymity(k=4)], Context())
    with pytest.raises(Infeasible, match="need at least 40 rows"):
        CellSuppression().run(case.problem(), [KAnonymity(k=40)], Context())
    context = Context()
    context.cancel.set()
    small = random_case(np.random.default_rng(71), rows=8).problem()
    for method in ("forest", "balls", "links", "exact"):
        with pytest.raises(Cancelled):
            CellSuppression(method=method).run(small, [KAnonymity(k=2)], context)
