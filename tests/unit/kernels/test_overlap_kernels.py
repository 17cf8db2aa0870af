"""The kernels that say which classes cover a person, against plain loops, on random input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from anon_core.kernels import overlap as kernels
from tests import naive_kernels

pytestmark = pytest.mark.kernels


def plain(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Return the Python function behind a kernel."""
    return getattr(kernel, "py_func", kernel)


def test_the_lowest_bit() -> None:
    rng = np.random.default_rng(5)
    for place in range(64):
        above = int(rng.integers(0, 1 << 62)) << 1 | 1
        word = np.uint64((above << place) & ((1 << 64) - 1))
        assert kernels.lowest(word) == plain(kernels.lowest)(word) == place
        assert naive_kernels.lowest_bit(int(word)) == place


@pytest.mark.parametrize("seed", range(8))
def test_who_fits_whom(seed: int) -> None:
    rng = np.random.default_rng([211, seed])
    # The first and last class of a table and of its words are among them.
    classes = (1, 63, 64, 65, 200, 700, 4095, kernels.WORD * kernels.WORDS)[seed]
    columns, tuples = int(rng.integers(1, 4)), 12
    leaves = rng.integers(1, 9, columns)
    ends = np.sort(rng.integers(0, leaves, (2, classes, columns)), axis=0).astype(np.int32)
    low, high = ends
    codes = rng.integers(0, leaves, (tuples, columns))
    people, rows = rng.integers(1, 5, tuples), rng.integers(1, 7, classes)
    boxes = list(zip(map(tuple, low.tolist()), map(tuple, high.tolist()), strict=True))
    expected = [naive_kernels.fitting_classes(boxes, tuple(t)) for t in codes.tolist()]

    first = np.concatenate([[0], np.cumsum(leaves + 1)]).astype(np.int64)
    lines = (codes + first[:-1]).astype(np.int32)
    found = np.empty(kernels.WORD * kernels.WORDS, dtype=np.int64)
    table = np.empty((int(first[-1]), kernels.WORDS + 1), dtype=np.uint64)
    kernels.mark(low, high, first, table)
    if classes <= 200:
        other = np.full_like(table, 7)
        plain(kernels.mark)(low, high, first, other)
        assert np.array_equal(table, other)
    for fitting in (kernels.fitting, plain(kernels.fitting)):
        for t in range(tuples):
            assert found[: fitting(table, lines[t], found)].tolist() == expected[t]
    of_person = [sum(int(rows[c]) for c in fit) for fit in expected]
    of_class = [sum(int(people[t]) for t in range(tuples) if c in expected[t]) for c in range(99)]
    fewest = [
        min([of_person[t] for t in range(tuples) if c in expected[t]] + [9]) for c in range(99)
    ]
    for tally, least in (
        (kernels.tally, kernels.least),
        (plain(kernels.tally), plain(kernels.least)),
    ):
        own, their = np.full(tuples, 2), np.full(classes, 3)
        assert tally(table, lines, people, rows, own, their, found) == sum(map(len, expected))
        assert (own - 2).tolist() == of_person
        assert (their - 3)[:99].tolist() == of_class[:classes]
        lowered = np.full(classes, 9)
        least(table, lines, own - 2, lowered, found)
        assert lowered[:99].tolist() == fewest[:classes]
