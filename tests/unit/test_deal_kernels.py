"""The kernels that deal and halve rows by sensitive value against plain loops."""

from __future__ import annotations

import numpy as np
import pytest

from anon_core.kernels.deal import anatomize, bisect, eligible, next_random
from tests import naive_kernels

pytestmark = pytest.mark.kernels


@pytest.fixture(autouse=True)
def _wrapping():  # type: ignore[no-untyped-def]
    with np.errstate(over="ignore"):  # random numbers wrap around at 2⁶⁴
        yield


def test_anatomize_draws_the_most_numerous_values() -> None:
    rng = np.random.default_rng(227)
    for _ in range(100):
        least = int(rng.integers(2, 5))
        left = rng.integers(0, 9, int(rng.integers(least, 9)))
        expected, rest = naive_kernels.drawn_groups(left.tolist(), least)
        groups = np.empty((int(left.sum()) + 1, least), dtype=np.int64)
        formed = anatomize(left, least, len(groups), groups)
        assert groups[:formed].tolist() == expected
        assert left.tolist() == rest
        assert np.count_nonzero(left) < least


def test_random_numbers_are_those_of_splitmix64() -> None:
    state, twin = np.array([1234567], dtype=np.uint64), 1234567
    for turn in range(50):
        twin, number = naive_kernels.next_random(twin)
        assert int(next_random(state)) == number
        assert int(state[0]) == twin
        if not turn:  # the reference implementation's first number for this seed
            assert number == 6457827717110365317


def test_nobody_fills_too_much() -> None:
    rng = np.random.default_rng(229)
    seen = set[bool]()
    for _ in range(200):
        values = rng.integers(0, 5, 12)
        order, tally = rng.permutation(12), np.zeros(5, dtype=np.int64)
        start, stop = sorted(rng.integers(0, 13, 2).tolist())
        least = int(rng.integers(1, 5))
        part = values[order[start:stop]].tolist()
        found = eligible(order, start, stop, values, tally, least)
        assert found == naive_kernels.eligible(part, least)
        assert not tally.any()
        seen.add(found)
    assert seen == {True, False}


@pytest.mark.parametrize("work", [1, 1_000_000])
def test_bisection_is_its_plain_twin(work: int) -> None:
    rng = np.random.default_rng(233)
    halved = 0
    for turn in range(60):
        rows, attributes = int(rng.integers(4, 60)), int(rng.integers(1, 4))
        # Quarters add up exactly, in whatever order a compiler adds them.
        position = rng.integers(0, 5, (rows, attributes)) / 4
        value = rng.integers(0, 8, rows)
        least, tries, seed = int(rng.integers(2, 4)), int(rng.integers(1, 4)), 1000 + turn
        order = np.arange(rows)
        stack = np.empty((rows + 1, 2), dtype=np.int64)
        stack[0] = 0, rows
        parts = np.empty((rows, 2), dtype=np.int64)
        state = np.array([seed], dtype=np.uint64)
        depth, found = 1, 0
        while depth:
            depth, found = bisect(
                position, value, order, stack, depth, parts, found, least, tries, state, work
            )
        got = {frozenset(order[a:b].tolist()) for a, b in parts[:found]}
        twin = naive_kernels.Bisection(position.tolist(), value.tolist(), least, seed)
        assert got == twin.parts(tries)
        assert int(state[0]) == twin.state
        halved += len(got) > 1
    assert halved > 20
