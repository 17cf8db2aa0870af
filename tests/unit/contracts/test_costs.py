"""The bounds that steer the search hold at every node above and below."""

from __future__ import annotations

import numpy as np
import pytest

from anon_core.base.context import Context
from anon_core.contracts.search_cost import SizeCost
from anon_core.techniques.metrics.average_class_size import AverageClassSize
from anon_core.techniques.metrics.discernibility import Discernibility
from anon_core.techniques.metrics.loss import Loss
from anon_core.techniques.metrics.ncp import CertaintyPenalty
from tests import naive
from tests.making import by_hand, random_case

COSTS = [Discernibility(), AverageClassSize(), AverageClassSize(k=3)]


@pytest.mark.parametrize("cost", COSTS, ids=["discernibility", "average", "average k=3"])
def test_floors_hold_above_and_below(cost: SizeCost) -> None:
    rng = np.random.default_rng(131)
    for _ in range(30):
        case = random_case(rng, quasi=2)
        rows, attributes, k = case.rows, case.attributes, int(rng.integers(2, 5))
        n = len(rows)
        at = {node: naive.classes(rows, attributes, node) for node in naive.every_node(attributes)}
        values, removed = {}, {}
        for node, found in at.items():
            kept = naive.kept_classes(found, k)
            removed[node] = len(naive.removed_rows(found, kept))
            sizes = np.array([len(m) for m in kept.values()], dtype=np.int64)
            values[node] = cost.of_sizes(sizes, removed[node], n)
        for node in at:
            above = cost.floor_above(np.array([len(m) for m in at[node].values()]), n)
            below = cost.floor_below(removed[node], n, k)
            for other, value in values.items():
                if all(o >= m for o, m in zip(other, node, strict=True)):
                    assert above <= value + 1e-9
                if all(o <= m for o, m in zip(other, node, strict=True)):
                    assert below <= value + 1e-9 or value == below == np.inf


def test_prices_lie_between_0_and_1() -> None:
    rng = np.random.default_rng(137)
    for _ in range(60):
        problem = random_case(rng).problem()
        for cost in (Loss(), CertaintyPenalty()):
            for name in problem.quasi:
                h = problem.hierarchies[name]
                ends = [(a, b) for a in range(len(h.leaves)) for b in range(a, len(h.leaves))]
                lo, hi = (np.array(e, dtype=np.int32) for e in zip(*ends, strict=True))
                price = cost.price(problem, name, lo, hi)
                assert price.shape == lo.shape
                assert np.all((price >= 0) & (price <= 1))
                assert np.all(price[lo == hi] == 0)


def test_a_removed_row_pays_1_in_every_cell() -> None:
    rng = np.random.default_rng(139)
    case = random_case(rng, rows=10, quasi=2, missing=False)
    problem = case.problem()
    release = by_hand(problem, [0] * 7 + [-1] * 3, ((*case.quasi, *case.sensitive),))
    for cost in (Loss(), CertaintyPenalty()):
        found = cost.measure(problem, release, Context())
        assert found.value == found.share == pytest.approx(0.3)
        assert found.per_column == pytest.approx({"q0": 0.3, "q1": 0.3})


def test_a_cost_of_sizes_has_one_form_unless_it_says_so() -> None:
    class Largest(SizeCost):
        name = "largest"

        def of_sizes(self, sizes, removed, rows):  # type: ignore[no-untyped-def]
            return float(sizes.max(initial=0) + removed)

        def floor_above(self, sizes, rows):  # type: ignore[no-untyped-def]
            return float(sizes.max())

        def floor_below(self, removed, rows, least):  # type: ignore[no-untyped-def]
            return float(removed)

        def share_of(self, value, rows):  # type: ignore[no-untyped-def]
            return value / rows

    case = random_case(np.random.default_rng(167), rows=10, quasi=2, missing=False)
    release = by_hand(case.problem(), [0] * 7 + [-1] * 3, ((*case.quasi, *case.sensitive),))
    found = Largest().measure(release.problem, release, Context())
    assert (found.value, found.share, found.also) == (10, 1, {})
    assert found.per_class is None
