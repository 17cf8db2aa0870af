"""Membership against listing every choice, on thousands of small buckets."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.base.context import Context
from anon_core.methods.membership.bucket import BucketProblem
from anon_core.methods.membership.decisions import YES, decide
from anon_core.methods.membership.exact_chances import count, shares
from anon_core.methods.membership.presolve import presolve
from tests.membership_twin import assigned, from_buckets, listed
from tests.often import often, times
from tests.strategies import bucket_of, bucket_people, overlapping_buckets

Drawn = tuple[list[tuple[int, ...]], list[bool]]


@pytest.fixture
def _wrapping() -> Iterator[None]:
    # Uncompiled, the hash of a state warns where compiled code simply wraps around.
    with np.errstate(over="ignore"):
        yield


@pytest.mark.kernels
@pytest.mark.often
@pytest.mark.usefixtures("_wrapping")
def test_counting_equals_listing() -> None:
    infeasible = 0

    @settings(max_examples=times(1600))
    @given(
        drawn=bucket_people(people=(1, 8), values=(1, 3)),
        odd=st.sampled_from([0, 0, 0, 0, 0, 1, 2]),
    )
    def tried(drawn: Drawn, odd: int) -> None:
        nonlocal infeasible
        problem = bucket_of(*drawn, odd)
        truth = listed(
            problem.codes.tolist(), problem.count.tolist(), [m.tolist() for m in problem.margins]
        )
        counted = count(problem.system)
        if not truth.worlds:
            infeasible += 1
            assert not counted.feasible
            return
        assert counted.counted.all()
        found = shares(problem, counted.mean)
        assert found == pytest.approx([float(d) for d in truth.delta], abs=1e-12)
        assert counted.least.tolist() == list(truth.least)
        assert counted.most.tolist() == list(truth.most)
        settled = presolve(problem.system)
        assert np.all(settled.lower <= truth.least)
        assert np.all(settled.upper >= truth.most)

    tried()
    assert infeasible > 5


@often(400)
@given(drawn=bucket_people(people=(2, 39), values=(2, 4)))
def test_the_integer_program_equals_the_counting(drawn: Drawn) -> None:
    problem = bucket_of(*drawn)
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


@often(300)
@given(drawn=overlapping_buckets())
def test_overlapping_buckets_equal_listing(
    drawn: tuple[list[tuple[int, ...]], list[list[list[int]]]],
) -> None:
    public, buckets = drawn
    truth = assigned(public, buckets)
    joint = from_buckets(public, buckets)
    counted = count(joint.system)
    found = shares(joint, counted.mean)
    assert found == pytest.approx([float(d) for d in truth.delta_assignments], abs=1e-12)
    decision = decide(joint, Context())
    # Look-alikes that fit one bucket are one type; by symmetry their answer is each one's.
    assert [a == YES for a in decision.all_present] == [d == 1 for d in truth.delta_worlds]
    assert [a == YES for a in decision.none_present] == [d == 0 for d in truth.delta_worlds]


@often(160)
@given(drawn=bucket_people(people=(8, 16), values=(2, 3)), data=st.data())
def test_the_order_of_people_changes_nothing(drawn: Drawn, data: st.DataObject) -> None:
    problem = bucket_of(*drawn)
    order = np.array(data.draw(st.permutations(range(len(problem.count)))))
    other = BucketProblem(
        codes=problem.codes[order], count=problem.count[order], margins=problem.margins
    )
    assert np.array_equal(decide(problem).answer[order], decide(other).answer)
    one, two = count(problem.system), count(other.system)
    assert one.mean[order] == pytest.approx(two.mean, abs=1e-12)
