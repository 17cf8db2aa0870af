"""(1, k), (k, 1), (k, k) and global (1, k) against enumeration on single rows."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from anon_core.base.context import Context, now
from anon_core.base.errors import Infeasible
from anon_core.job.runner import run
from anon_core.overlap.matching import matches
from tests.making import random_case

MODELS = ("one-k-anonymity", "k-one-anonymity", "k-k-anonymity", "global-one-k-anonymity")


def test_matches_are_those_of_single_rows() -> None:
    rng = np.random.default_rng(79)
    smaller = 0
    for _ in range(200):
        people = int(rng.integers(2, 6))
        shown = int(rng.integers(1, people + 1))
        rows = rng.integers(0, 4, (people, 2)).astype(np.int32)
        # Published rows are true of different people.
        low = np.maximum(rows[:shown] - rng.integers(0, 3, (shown, 2)), 0).astype(np.int32)
        high = np.minimum(rows[:shown] + rng.integers(0, 3, (shown, 2)), 3).astype(np.int32)
        fits = [
            [bool((a <= r).all() and (r <= b).all()) for a, b in zip(low, high, strict=True)]
            for r in rows
        ]
        every = [
            p
            for p in itertools.permutations(range(people), shown)
            if all(fits[i][j] for j, i in enumerate(p))
        ]
        tuples, at, count = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
        boxes, of, size = np.unique(
            np.hstack([low, high]), axis=0, return_inverse=True, return_counts=True
        )
        found = matches(
            tuples,
            count.astype(np.int64),
            boxes[:, :2],
            boxes[:, 2:],
            size.astype(np.int64),
            Context(),
        )
        assert found is not None
        at, of = at.ravel(), of.ravel()
        for i in range(people):
            assert found.per_tuple[at[i]] == sum(fits[i])
            given = {j for p in every for j, who in enumerate(p) if who == i}
            # Rows of one box stand for each other.
            assert found.per_tuple_perfect[at[i]] == len(given)
            smaller += len(given) < sum(fits[i])
        for j in range(shown):
            assert found.per_class[of[j]] == sum(fits[i][j] for i in range(people))
    assert smaller > 20


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("algorithm", ["matching", "mondrian", "optimal"])
def test_releases_keep_the_promise_and_verify(model: str, algorithm: str) -> None:
    rng = np.random.default_rng([83, len(model)])
    below = 0
    for _ in range(12):
        case = random_case(rng, rows=25, quasi=3)
        plan = case.plan(algorithm={"name": algorithm}, models=[{"name": model, "k": 3}])
        try:
            result = run(plan, case.dataset, case.levels)
        except Infeasible:
            assert algorithm == "optimal"
            continue
        assert result.verification.holds
        assert all(v.holds for v in result.verdicts)
        below += int(result.class_sizes.min() < 3)
    # Boxes by matches need no classes of k rows, even where only perfect matchings count.
    assert (below > 0) == (algorithm == "matching")


def test_boxes_by_matches_lose_less_than_classes() -> None:
    rng = np.random.default_rng(89)
    lost = {"k-anonymity": 0.0, "k-k-anonymity": 0.0}
    for _ in range(10):
        case = random_case(rng, rows=40, quasi=3, kinds=("number", "text"))
        for model in lost:
            plan = case.plan(algorithm={"name": "matching"}, models=[{"name": model, "k": 3}])
            lost[model] += run(plan, case.dataset, case.levels).measures["ncp"].value
    assert lost["k-k-anonymity"] < lost["k-anonymity"]


@pytest.mark.parametrize("model", MODELS)
def test_boxes_by_matches_never_lose_more_than_clusters(model: str) -> None:
    rng = np.random.default_rng([97, len(model)])
    less = 0
    for _ in range(8):
        case = random_case(rng, rows=60, quasi=3, kinds=("number", "text"))
        lost = [
            run(
                case.plan(algorithm={"name": name}, models=[{"name": model, "k": 4}]),
                case.dataset,
                case.levels,
            )
            .measures["ncp"]
            .value
            for name in ("matching", "k-member")
        ]
        assert lost[0] <= lost[1] + 1e-12
        less += lost[0] < lost[1] - 1e-12
    assert less > 4


@pytest.mark.parametrize("seconds", [-1.0, 0.0])
def test_without_time_classes_are_published(seconds: float) -> None:
    case = random_case(np.random.default_rng(101), rows=60, quasi=3, kinds=("number", "text"))
    model = {"name": "global-one-k-anonymity", "k": 4}
    plan = case.plan(algorithm={"name": "matching"}, models=[model])
    late = Context(deadline=now() + seconds)
    result = run(plan, case.dataset, case.levels, context=late)
    assert result.verification.holds
    assert [step["Published"] for step in result.account.steps] == ["yes", "no"]
    assert result.class_sizes.min() >= 4
