"""Membership against listing every choice, on thousands of small buckets."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from anon_core.base.context import Context
from anon_core.membership.bucket import BucketProblem, from_types
from anon_core.membership.decide import YES, decide
from anon_core.membership.exact_chances import count, shares
from anon_core.membership.joint import from_buckets
from anon_core.membership.presolve import presolve
from tests.membership_twin import assigned, listed, random_bucket
from tests.often import chunks


def tiny(rng: np.random.Generator) -> BucketProblem:
    """Draw a bucket of few people; every eighth publishes something nobody could be."""
    people, values = int(rng.integers(1, 9)), int(rng.integers(1, 4))
    problem, _ = random_bucket(rng, people=people, values=values)
    if rng.random() < 0.125 and len(problem.margins) > 1:
        shuffled = [rng.permutation(m) for m in problem.margins]
        fits = np.all([m[problem.codes[:, b]] > 0 for b, m in enumerate(shuffled)], axis=0)
        problem, _ = from_types(problem.codes[fits], problem.count[fits], shuffled)
    return problem


@pytest.fixture
def _wrapping() -> Iterator[None]:
    # Uncompiled, the hash of a state warns where compiled code simply wraps around.
    with np.errstate(over="ignore"):
        yield


@pytest.mark.kernels
@pytest.mark.usefixtures("_wrapping")
@pytest.mark.parametrize("chunk", chunks(2, 10))
def test_counting_equals_listing(chunk: int) -> None:
    rng = np.random.default_rng([86, chunk])
    infeasible = 0
    for _ in range(1000):
        problem = tiny(rng)
        truth = listed(
            problem.codes.tolist(), problem.count.tolist(), [m.tolist() for m in problem.margins]
        )
        counted = count(problem.system)
        if not truth.worlds:
            infeasible += 1
            assert not counted.feasible
            continue
        assert counted.counted.all()
        found = shares(problem, counted.mean)
        assert found == pytest.approx([float(d) for d in truth.delta], abs=1e-12)
        assert counted.least.tolist() == list(truth.least)
        assert counted.most.tolist() == list(truth.most)
        settled = presolve(problem.system)
        assert np.all(settled.lower <= truth.least)
        assert np.all(settled.upper >= truth.most)
    assert infeasible > 5


@pytest.mark.parametrize("chunk", chunks(2, 4))
def test_the_integer_program_equals_the_counting(chunk: int) -> None:
    rng = np.random.default_rng([87, chunk])
    for _ in range(150):
        people, values = int(rng.integers(2, 40)), int(rng.integers(2, 6))
        problem, _ = random_bucket(rng, people=people, values=values)
        counted = count(problem.system)
        assert counted.counted.all()
        decision = decide(problem)
        assert np.array_equal(decision.all_present == YES, counted.least == problem.count)
        assert np.array_equal(decision.none_present == YES, counted.most == 0)
        assert np.array_equal(decision.some_present == YES, counted.least > 0)
        assert not np.any(decision.answer == 0)
        assert np.all(decision.least <= counted.least)
        assert np.all(decision.seen_least >= counted.least)
        assert np.all(decision.seen_most <= counted.most)


def overlapping(
    rng: np.random.Generator,
) -> tuple[list[tuple[int, ...]], list[list[list[int]]]]:
    people, values = int(rng.integers(2, 8)), int(rng.integers(1, 4))
    blocks, buckets = int(rng.integers(1, 4)), int(rng.integers(2, 4))
    public = [tuple(rng.integers(0, values, blocks).tolist()) for _ in range(people)]
    member = rng.integers(-1, buckets, people)
    shown: list[list[list[int]]] = []
    for g in sorted({int(m) for m in member if m >= 0}):
        mine = [p for p, m in zip(public, member, strict=True) if m == g]
        shown.append([sorted(p[b] for p in mine) for b in range(blocks)])
    return public, shown


@pytest.mark.parametrize("chunk", chunks(1, 4))
def test_overlapping_buckets_equal_listing(chunk: int) -> None:
    rng = np.random.default_rng([90, chunk])
    done = 0
    while done < 110:
        public, buckets = overlapping(rng)
        if not buckets:
            continue
        done += 1
        truth = assigned(public, buckets)
        joint = from_buckets(public, buckets)
        counted = count(joint.system)
        found = shares(joint, counted.mean)
        assert found == pytest.approx([float(d) for d in truth.delta_assignments], abs=1e-12)
        decision = decide(joint, Context())
        # Look-alikes that fit one bucket are one type; by symmetry their answer is each one's.
        assert [a == YES for a in decision.all_present] == [d == 1 for d in truth.delta_worlds]
        assert [a == YES for a in decision.none_present] == [d == 0 for d in truth.delta_worlds]


def test_the_order_of_people_changes_nothing() -> None:
    rng = np.random.default_rng(11)
    for _ in range(100):
        problem, _ = random_bucket(rng, people=16, values=3)
        order = rng.permutation(len(problem.count))
        other = BucketProblem(
            codes=problem.codes[order], count=problem.count[order], margins=problem.margins
        )
        assert np.array_equal(decide(problem).answer[order], decide(other).answer)
        one, two = count(problem.system), count(other.system)
        assert one.mean[order] == pytest.approx(two.mean, abs=1e-12)
