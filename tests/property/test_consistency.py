"""(1, k), (k, 1), (k, k) and global (1, k) against enumeration on single rows."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.base.context import Context, now
from anon_core.base.errors import Infeasible
from anon_core.methods.matching.matching import matches
from anon_core.pipeline.runner import run
from tests.making import Case, random_case
from tests.often import times
from tests.strategies import cases

MODELS = ("one-k-anonymity", "k-one-anonymity", "k-k-anonymity", "global-one-k-anonymity")


@st.composite
def shown_people(draw: st.DrawFn) -> tuple[list[tuple[int, int]], list[tuple[int, int, int, int]]]:
    """Draw people with two values each, and for some of them how much wider a row shows them."""
    value, more = st.integers(0, 3), st.integers(0, 2)
    people = draw(st.lists(st.tuples(value, value), min_size=2, max_size=5))
    wider = draw(st.lists(st.tuples(more, more, more, more), min_size=1, max_size=len(people)))
    return people, wider


@pytest.mark.often
def test_matches_are_those_of_single_rows() -> None:
    smaller = 0

    @settings(max_examples=times(400))
    @given(drawn=shown_people())
    def tried(drawn: tuple[list[tuple[int, int]], list[tuple[int, int, int, int]]]) -> None:
        nonlocal smaller
        people, shown = len(drawn[0]), len(drawn[1])
        rows, wider = np.array(drawn[0], np.int32), np.array(drawn[1], np.int32)
        # Published rows are true of different people.
        low = np.maximum(rows[:shown] - wider[:, :2], 0)
        high = np.minimum(rows[:shown] + wider[:, 2:], 3)
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

    tried()
    assert smaller > 20


@pytest.mark.often
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("algorithm", ["matching", "mondrian", "optimal"])
def test_releases_keep_the_promise_and_verify(model: str, algorithm: str) -> None:
    below = 0

    @settings(max_examples=times(32))
    @given(case=cases(rows=(12, 25), quasi=(3, 3)))
    def tried(case: Case) -> None:
        nonlocal below
        plan = case.plan(algorithm={"name": algorithm}, models=[{"name": model, "k": 3}])
        try:
            result = run(plan, case.dataset, case.levels, assess=False)
        except Infeasible:
            assert algorithm == "optimal"
            return
        assert result.verification.holds
        assert all(v.holds for v in result.verdicts)
        below += int(result.class_sizes.min() < 3)

    tried()
    # Boxes by matches need no classes of k rows, even where only perfect matchings count.
    assert (below > 0) == (algorithm == "matching")


@pytest.mark.often
def test_boxes_by_matches_lose_less_than_classes() -> None:
    lost = {"k-anonymity": 0.0, "k-k-anonymity": 0.0}

    @settings(max_examples=times(24))
    @given(case=cases(rows=(12, 40), quasi=(3, 3), kinds=("number", "text")))
    def tried(case: Case) -> None:
        for model in lost:
            plan = case.plan(algorithm={"name": "matching"}, models=[{"name": model, "k": 3}])
            lost[model] += run(plan, case.dataset, case.levels).measures["ncp"].value

    tried()
    assert lost["k-k-anonymity"] < lost["k-anonymity"]


@pytest.mark.often
@pytest.mark.parametrize("model", MODELS)
def test_boxes_by_matches_never_lose_more_than_clusters(model: str) -> None:
    less = 0

    @settings(max_examples=times(16))
    @given(case=cases(rows=(12, 60), quasi=(3, 3), kinds=("number", "text")))
    def tried(case: Case) -> None:
        nonlocal less
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

    tried()
    assert less > 0


@pytest.mark.parametrize("seconds", [-1.0, 0.0])
def test_without_time_classes_are_published(seconds: float) -> None:
    case = random_case(np.random.default_rng(101), rows=60, quasi=3, kinds=("number", "text"))
    model = {"name": "global-one-k-anonymity", "k": 4}
    plan = case.plan(algorithm={"name": "matching"}, models=[model])
    late = Context(deadline=now() + seconds)
    result = run(plan, case.dataset, case.levels, context=late, assess=False)
    assert result.verification.holds
    assert [step["Published"] for step in result.account.steps] == ["yes", "no"]
    assert result.class_sizes.min() >= 4
