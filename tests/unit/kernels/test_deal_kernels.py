"""The kernels that deal and halve rows by sensitive value against plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chisquare

from anon_core.base.arrays import I64
from anon_core.kernels.cuts import Cuts
from anon_core.kernels.l_diverse_groups import Points, anatomize, bisect, eligible, next_random
from anon_core.kernels.pair_counts import shuffle_runs
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


def test_random_numbers_are_those_of_xoshiro256() -> None:
    twin = [1, 2, 3, 4]
    state = np.array(twin, dtype=np.uint64)
    numbers: list[int] = []
    for _ in range(50):
        twin, number = naive_kernels.next_random(twin)
        numbers.append(number)
        assert int(next_random(state)) == number
        assert state.tolist() == twin
    # The reference implementation's first numbers for this state.
    assert numbers[:4] == [11520, 0, 1509978240, 1215971899390074240]


def test_runs_are_shuffled_as_from_a_hat() -> None:
    rng = np.random.default_rng(239)
    for _ in range(100):
        sizes = rng.integers(0, 7, int(rng.integers(1, 9)))
        rows = rng.permutation(int(sizes.sum()))
        drawn = rng.integers(0, (1 << 64) - 1, len(rows), dtype=np.uint64, endpoint=True)
        expected = naive_kernels.shuffled_runs(rows.tolist(), sizes.tolist(), drawn.tolist())
        shuffle_runs(rows, sizes, drawn)
        assert rows.tolist() == expected


def test_every_order_of_a_run_is_as_likely() -> None:
    rng = np.random.default_rng(241)
    runs = 60_000
    rows = np.tile(np.arange(3), runs)
    drawn = rng.integers(0, (1 << 64) - 1, len(rows), dtype=np.uint64, endpoint=True)
    shuffle_runs(rows, np.full(runs, 3), drawn)
    counts = np.unique(rows.reshape(runs, 3), axis=0, return_counts=True)[1]
    assert len(counts) == 6
    assert chisquare(counts).pvalue > 1e-6


def test_nobody_fills_too_much() -> None:
    rng = np.random.default_rng(229)
    seen = set[bool]()
    for _ in range(200):
        part = rng.integers(0, 5, int(rng.integers(0, 13)))
        least, missing = int(rng.integers(1, 5)), int(rng.integers(-1, 5))
        tally = np.zeros(5, dtype=np.int64)
        found = eligible(part, tally, missing, least)
        assert found == naive_kernels.eligible(np.where(part == missing, -1, part), least)
        assert not tally.any()
        seen.add(found)
    assert seen == {True, False}


@pytest.mark.parametrize("work", [1, 1_000_000])
def test_bisection_is_its_plain_twin(work: int) -> None:
    rng = np.random.default_rng(233)
    halved = 0
    for _ in range(60):
        rows, attributes = int(rng.integers(4, 60)), int(rng.integers(1, 4))
        codes = rng.integers(0, 5, (rows, attributes))
        value = rng.integers(0, 8, rows)
        missing = int(rng.choice([-1, 7]))
        least, tries = int(rng.integers(2, 4)), int(rng.integers(1, 4))
        order = np.arange(rows)
        stack = np.empty((rows + 1, 2), dtype=np.int64)
        stack[0] = 0, rows
        parts = np.empty((rows, 2), dtype=np.int64)
        points, cuts = _points(codes, value, missing), Cuts(order, stack, parts)
        state = rng.integers(1, 1 << 64, size=4, dtype=np.uint64)
        begun = state.tolist()
        depth, found = 1, 0
        while depth:
            depth, found = bisect(points, cuts, depth, found, least, tries, state, work)
        got = {frozenset(order[a:b].tolist()) for a, b in parts[:found]}
        known = np.where(value == missing, -1, value)
        twin = naive_kernels.Bisection((codes / 4).tolist(), known.tolist(), least, begun)
        assert got == twin.parts(tries)
        assert state.tolist() == twin.state
        halved += len(got) > 1
    assert halved > 20


def _points(codes: I64, value: I64, missing: int) -> Points:
    """Pack codes 0 to 4, which stand at quarters: they add up exactly in whatever order."""
    attributes = codes.shape[1]
    word, shift = np.arange(attributes + 1) % 2, np.arange(attributes + 1) // 2 * 3
    words = np.zeros((2, len(codes)), dtype=np.int64)
    for d, column in enumerate([*codes.T, value]):
        words[word[d]] |= column << shift[d]
    return Points(
        words=words,
        word=word,
        shift=shift,
        mask=np.full(attributes + 1, 7),
        offset=np.arange(attributes) * 5,
        position=np.tile(np.arange(5) / 4, attributes),
        values=8,
        missing=missing,
    )
