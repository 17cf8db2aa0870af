"""Solutions found bucket by bucket: each is one of the whole, and no answer depends on them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from anon_core.base.context import Context
from anon_core.methods.membership import neighbour_solutions as witness
from anon_core.methods.membership import presolve as backbone
from anon_core.methods.membership.bucket import bucket_of, bucket_witnesses, filled
from anon_core.methods.membership.decisions import decide
from anon_core.methods.membership.integer_program import Targets
from tests.membership_twin import from_buckets
from tests.often import times
from tests.strategies import overlapping_buckets

Drawn = tuple[list[tuple[int, ...]], list[list[list[int]]]]
SEVERAL = overlapping_buckets(people=(6, 13), blocks=(2, 2))


@pytest.mark.often
def test_what_is_found_bucket_by_bucket_solves_the_whole() -> None:
    full = met = 0

    @settings(max_examples=times(200))
    @given(drawn=SEVERAL)
    def tried(drawn: Drawn) -> None:
        nonlocal full, met
        system = from_buckets(*drawn).system
        bucket, _ = bucket_of(system)
        outside = system.shared & ((system.rows >= 0).sum(axis=1) == 1)
        assert np.array_equal(bucket < 0, outside)
        first = filled(system, Context())
        if first.x is None:
            return
        full += 1
        assert system.solves(first.x)
        every = np.arange(system.variables)
        targets = Targets(
            variable=np.concatenate([every, every]),
            bound=np.concatenate([system.lower, system.upper]),
            up=np.repeat([False, True], len(every)),
        )
        left = targets.chosen(~targets.met(first.x))
        for x in bucket_witnesses(system, left, first.x, Context()):
            assert system.solves(x)
            assert left.met(x).any()
            left = left.chosen(~left.met(x))
            met += 1

    tried()
    assert min(full, met) > 10


def test_rows_of_a_bucket_share_its_number() -> None:
    joint = from_buckets([("a", 1), ("a", 2), ("b", 2)], [[["a"], [1]], [["a", "b"], [2, 2]]])
    bucket, buckets = bucket_of(joint.system)
    assert (bucket.tolist(), buckets) == ([0, 1, 1], 2)


@pytest.mark.often
def test_answers_are_the_same_where_buckets_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    @settings(max_examples=times(120))
    @given(drawn=SEVERAL)
    def tried(drawn: Drawn) -> None:
        joint = from_buckets(*drawn)
        answer = decide(joint).answer
        with monkeypatch.context() as patch:
            for name in ("_LARGE", "_HUGE", "MANY"):
                patch.setattr(backbone, name, 0)
            patch.setattr(witness, "MANY", 0)
            assert decide(joint).answer.tolist() == answer.tolist()

    tried()
