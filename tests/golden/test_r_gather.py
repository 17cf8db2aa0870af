"""r-gather: worked examples, and its bound against every partition of small tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from anon_core.base.context import Context
from anon_core.base.errors import BadPlan
from anon_core.pipeline.runner import run
from anon_core.techniques.algorithms.r_gather import (
    Gathered,
    cellular,
    distances,
    gathered,
    price,
)
from tests.making import Case


def of_points(points: list[list[float]], r: int, count: list[int] | None = None) -> Gathered:
    rows = np.array(count or [1] * len(points), dtype=np.int64)
    return gathered(distances(np.array(points, dtype=float)), rows, r, Context())


def clusters(found: Gathered, points: list[list[float]]) -> list[tuple[float, list[float]]]:
    """Return each centre and the points of its cluster."""
    return [
        (points[c][0], [points[p][0] for p in np.flatnonzero(found.rows[:, i]).tolist()])
        for i, c in enumerate(found.centres.tolist())
    ]


def radius(found: Gathered, points: list[list[float]]) -> float:
    far = distances(np.array(points, dtype=float))[:, found.centres]
    return float(far[found.rows > 0].max())


def partitions(rows: list[int], r: int) -> Iterator[list[list[int]]]:
    """Return every partition into parts of r rows or more."""

    def parts(left: list[int]) -> Iterator[list[list[int]]]:
        if not left:
            yield []
            return
        first, rest = left[0], left[1:]
        for chosen in range(1 << len(rest)):
            one = [first, *(x for i, x in enumerate(rest) if chosen >> i & 1)]
            if len(one) >= r:
                for others in parts([x for x in rest if x not in one]):
                    yield [one, *others]

    return parts(rows)


def least_radius(points: list[list[float]], r: int) -> float:
    far = distances(np.array(points, dtype=float))
    return min(
        max(min(max(far[c, p] for p in part) for c in part) for part in partition)
        for partition in partitions(list(range(len(points))), r)
    )


def test_l49_the_radius_is_at_most_twice_the_least() -> None:
    points: list[list[float]] = [[0], [1], [2]]
    found = of_points(points, 3)
    assert (radius(found, points), least_radius(points, 3)) == (2, 1)


def test_l50_threshold_and_clusters() -> None:
    points: list[list[float]] = [[1], [2], [4], [10], [11], [15]]
    found = of_points(points, 2)
    assert found.threshold == 5
    assert clusters(found, points) == [(1, [1, 2, 4]), (10, [10, 11, 15])]
    assert (radius(found, points), least_radius(points, 2)) == (5, 4)
    # The centre is a real row, so that what covers a cluster is published.
    case = Case(columns={"q": ["1", "2", "4", "10", "11", "15"]}, quasi=("q",))
    plan = case.plan(algorithm={"name": "r-gather"}, models=[{"name": "k-anonymity", "k": 2}])
    result = run(plan, case.dataset, {}, assess=False)
    assert result.verification.holds
    (content,) = (c for n, c in result.files.items() if n.endswith(".csv"))
    assert content.decode().split("\n")[1:7] == ['"[1, 4]"'] * 3 + ['"[10, 15]"'] * 3


@pytest.mark.parametrize("seed", range(3))
def test_small_tables_keep_the_bound_and_every_row(seed: int) -> None:
    rng, worst = np.random.default_rng(seed), 0.0
    for _ in range(12):
        size, r = int(rng.integers(4, 8)), int(rng.integers(2, 4))
        points = rng.integers(0, 9, (size, 2)).astype(float).tolist()
        found = of_points(points, r)
        assert found.rows.sum(axis=1).tolist() == [1] * size
        assert found.rows.sum(axis=0).min() >= r
        assert radius(found, points) <= found.threshold <= 2 * least_radius(points, r) + 1e-9
        worst = max(worst, found.threshold)
    assert worst > 0


def test_equal_rows_count_as_many_as_they_are() -> None:
    points: list[list[float]] = [[0], [1], [9]]
    found = of_points(points, 3, [5, 1, 3])
    assert found.threshold == 1
    assert found.rows.sum(axis=1).tolist() == [5, 1, 3]
    assert found.rows.sum(axis=0).tolist() == [6, 3]


# ---- r-cellular -----------------------------------------------------------------------------


def cells(points: list[list[float]], r: int, cost: float, count: list[int] | None = None) -> Any:
    far = distances(np.array(points, dtype=float))
    begun = of_points(points, r, count)
    found = cellular(begun, far, r, cost, Context())

    def total(one: Gathered) -> float:
        return sum(price(far, c, one.rows[:, i], cost) for i, c in enumerate(one.centres.tolist()))

    return found, total(begun), total(found)


def least_cost(points: list[list[float]], r: int, cost: float) -> float:
    far = distances(np.array(points, dtype=float))
    return min(
        sum(len(part) * min(max(far[c, p] for p in part) for c in part) + cost for part in parts)
        for parts in partitions(list(range(len(points))), r)
    )


def test_r_cellular_moves_centres_and_joins_clusters_that_cost_much() -> None:
    points: list[list[float]] = [[1], [2], [4], [10], [11], [15]]  # L-50
    found, begun, ended = cells(points, 2, 0)
    assert (begun, ended) == (3 * 3 + 3 * 5, 3 * 2 + 3 * 4)
    assert sorted(found.centres.tolist()) == [1, 4]  # 2 and 11
    found, begun, ended = cells(points, 2, 100)
    assert (begun, ended, len(found.centres)) == (224, 6 * 9 + 100, 1)
    assert ended == least_cost(points, 2, 100)


@pytest.mark.parametrize("seed", range(3))
def test_r_cellular_never_costs_more_and_keeps_r_rows(seed: int) -> None:
    rng, best, gained = np.random.default_rng(seed), 0, 0
    for _ in range(12):
        size, r = int(rng.integers(4, 8)), int(rng.integers(2, 4))
        points = rng.integers(0, 9, (size, 2)).astype(float).tolist()
        cost = float(rng.integers(0, 6))
        found, begun, ended = cells(points, r, cost)
        assert found.rows.sum(axis=1).tolist() == [1] * size
        assert found.rows.sum(axis=0).min() >= r
        least = least_cost(points, r, cost)
        assert least - 1e-9 <= ended <= begun
        best += ended <= least + 1e-9
        gained += ended < begun - 1e-9
    assert best > 3
    assert gained > 3
    found, begun, ended = cells([[0], [1], [9]], 3, 1, [5, 1, 3])
    assert found.rows.sum(axis=1).tolist() == [5, 1, 3]
    assert ended <= begun


def test_r_cellular_through_a_run_and_a_cost_of_nothing_is_refused() -> None:
    ages: list[str | None] = ["1", "2", "4", "10", "11", "15"]
    case = Case(columns={"q": ages}, quasi=("q",))

    def published(**settings: Any) -> list[str]:
        plan = case.plan(
            algorithm={"name": "r-gather", **settings}, models=[{"name": "k-anonymity", "k": 2}]
        )
        result = run(plan, case.dataset, {}, assess=False)
        assert result.verification.holds
        (content,) = (c for n, c in result.files.items() if n.endswith(".csv"))
        return sorted(set(content.decode().split("\n")[1:7]))

    assert published(objective="cellular") == ['"[1, 4]"', '"[10, 15]"']
    assert len(published(objective="cellular", cost=100.0)) == 1
    with pytest.raises(BadPlan, match="largest radius alone"):
        published(cost=1.0)
