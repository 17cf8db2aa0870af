"""One pass for many least class sizes against the enumeration of every node, and the search."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given, settings

from anon_core.base.context import Context
from anon_core.base.errors import BadPlan, Cancelled
from anon_core.methods.lattice import size_sweep as sweeping
from anon_core.methods.lattice.nodes import rows_allowed
from anon_core.methods.lattice.size_sweep import size_sweep
from anon_core.techniques.algorithms.optimal import Optimal
from anon_core.techniques.metrics.average_class_size import AverageClassSize
from anon_core.techniques.metrics.discernibility import Discernibility
from anon_core.techniques.models.k_anonymity import KAnonymity
from tests.enumeration import Enumeration
from tests.making import PATIENTS, Case
from tests.often import often, times
from tests.strategies import cases

BUDGETS = (0.0, 0.1, 0.3, 1.0)
METRICS = ("loss", "discernibility", "average-class-size")


@pytest.mark.often
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("at_once", [1, 8_000_000])
def test_the_pass_finds_what_enumeration_finds(
    threads: int, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeping, "_AT_ONCE", at_once)  # many parts, or one
    found = 0

    @settings(max_examples=times(80))
    @given(case=cases(quasi=(1, 3)))
    def tried(case: Case) -> None:
        nonlocal found
        problem = case.problem()
        limits = sorted({2, 3, min(6, len(case.rows))})
        swept = size_sweep(problem, limits, Context(), threads=threads)
        costs = {
            "loss": swept.loss,
            "discernibility": swept.cost(Discernibility()),
            "average-class-size": swept.cost(AverageClassSize()),
        }
        for place, k in enumerate(swept.limits):
            answer = Enumeration(case, k, metrics=METRICS)
            for at, node in enumerate(np.ndindex(swept.shape)):
                assert swept.removed[at, place] == answer.removed[node]
                assert swept.classes[at, place] == answer.kept[node]
                for metric, own in costs.items():
                    if answer.kept[node]:
                        cost = float(answer.costs[metric][node])
                        assert own[at, place] == pytest.approx(cost, rel=1e-12, abs=1e-12)
            for budget in BUDGETS:
                nodes = answer.satisfied(budget)
                allowed = rows_allowed(problem, budget)
                assert set(nodes) == {
                    node
                    for node, good in zip(
                        np.ndindex(swept.shape), swept.satisfied(k, allowed), strict=True
                    )
                    if good
                }
                for metric in METRICS:
                    best = swept.best(k, allowed, costs[metric])
                    assert best == (answer.best(metric, nodes)[1] if nodes else None)
                    found += best is not None

    tried()
    assert found > 100


@pytest.mark.parametrize("metric", ["loss", "ncp", "generalization-height"])
@often(60)
@given(case=cases(quasi=(3, 3)))
def test_the_pass_and_the_search_agree(metric: str, case: Case) -> None:
    problem = case.problem()
    swept = size_sweep(problem, (3, 2), Context(), metric=metric)
    assert swept.limits == (2, 3)
    for place, k in enumerate(swept.limits):
        best = swept.best(k, rows_allowed(problem, 0.3), swept.loss)
        if best is None:
            continue
        search = Optimal(metric=metric, max_suppression=0.3)
        account = search.run(problem, [KAnonymity(k=k)], Context()).account
        assert account.node == dict(zip(case.quasi, best, strict=True))
        at = int(np.ravel_multi_index(best, swept.shape))
        assert account.cost == pytest.approx(swept.loss[at, place], rel=1e-12, abs=1e-12)


def test_a_metric_of_sizes_cannot_price_cells() -> None:
    problem = PATIENTS.problem()
    with pytest.raises(BadPlan, match="metric of cells"):
        size_sweep(problem, (2,), Context(), metric="discernibility")


def test_the_pass_can_be_stopped() -> None:
    problem = PATIENTS.problem()
    stop = threading.Event()
    stop.set()
    with pytest.raises(Cancelled):
        size_sweep(problem, (2,), Context(cancel=stop))
