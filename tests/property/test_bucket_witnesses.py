"""Solutions found bucket by bucket: each is one of the whole, and no answer hangs on them."""

from __future__ import annotations

import numpy as np
import pytest

from anon_core.base.context import Context
from anon_core.membership import variable_ranges as backbone
from anon_core.membership import witness
from anon_core.membership.bucket_solver import bucket_of, bucket_witnesses, filled
from anon_core.membership.decide import decide
from anon_core.membership.integer_program import Targets
from anon_core.membership.joint import JointProblem, from_buckets


def overlapping(rng: np.random.Generator) -> JointProblem:
    """Draw people who fit several buckets, and buckets of some of them."""
    people = [tuple(rng.integers(0, 3, 2).tolist()) for _ in range(int(rng.integers(6, 14)))]
    chosen = rng.permutation(len(people))[: int(rng.integers(4, 7))].tolist()
    parts = chosen[: len(chosen) // 2], chosen[len(chosen) // 2 :]
    buckets = [[[people[i][b] for i in part] for b in range(2)] for part in parts]
    return from_buckets(people, buckets)


def test_what_is_found_bucket_by_bucket_solves_the_whole() -> None:
    rng = np.random.default_rng(3)
    full = met = 0
    for _ in range(60):
        system = overlapping(rng).system
        bucket, _ = bucket_of(system)
        outside = system.shared & ((system.rows >= 0).sum(axis=1) == 1)
        assert np.array_equal(bucket < 0, outside)
        first = filled(system, Context())
        if first.x is None:
            continue
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
    assert min(full, met) > 20


def test_rows_of_a_bucket_share_its_number() -> None:
    joint = from_buckets([("a", 1), ("a", 2), ("b", 2)], [[["a"], [1]], [["a", "b"], [2, 2]]])
    bucket, buckets = bucket_of(joint.system)
    assert (bucket.tolist(), buckets) == ([0, 1, 1], 2)


def test_answers_are_the_same_where_buckets_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    for _ in range(40):
        joint = overlapping(rng)
        told = decide(joint).answer
        with monkeypatch.context() as patch:
            for name in ("_LARGE", "_HUGE", "MANY"):
                patch.setattr(backbone, name, 0)
            patch.setattr(witness, "MANY", 0)
            assert decide(joint).answer.tolist() == told.tolist()
