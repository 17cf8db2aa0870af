"""The kernels that count pairs of cells against plain loops."""

from __future__ import annotations

import numpy as np
import pytest

from anon_core.base.arrays import F64, I64
from anon_core.kernels.pair_counts import count_apart, count_linked
from tests import naive_kernels

pytestmark = pytest.mark.kernels


def test_linked_pairs_are_counted_one_by_one() -> None:
    rng = np.random.default_rng(251)
    for _ in range(50):
        entries = int(rng.integers(0, 30))
        first, second = rng.integers(0, 4, (2, entries)).astype(np.int32)
        rows = rng.integers(1, 9, entries)
        found = np.zeros((4, 4))
        count_linked(first, second, rows, found)
        listed = zip(first.tolist(), second.tolist(), rows.tolist(), strict=True)
        expected = naive_kernels.pairs_linked(list(listed))
        shown = [(int(a), int(b)) for a, b in np.argwhere(found)]
        assert {pair: found[pair] for pair in shown} == expected


def test_every_pairing_within_a_group_counts() -> None:
    rng = np.random.default_rng(257)
    several = 0
    for _ in range(100):
        groups = int(rng.integers(1, 6))
        most = int(rng.choice([12, 90]))  # several entries of a group may have one cell
        sides = [_side(rng, groups, most), _side(rng, groups, most)]
        sizes = rng.integers(1, 9, groups)
        (group, first, rows), (other, second, more) = sides
        found: F64 = np.zeros((5, 5))
        count_apart(
            group, first.astype(np.int32), rows, other, second.astype(np.int32), more, sizes, found
        )
        one, two = (list(zip(*(part.tolist() for part in side), strict=True)) for side in sides)
        expected = naive_kernels.pairs_apart(one, two, sizes.tolist())
        whole = np.zeros((5, 5))
        for pair, share in expected.items():
            whole[pair] = float(share)
        np.testing.assert_allclose(found, whole, rtol=1e-12)
        several += len(expected) > 2
    assert several > 20


def test_many_entries_of_one_cell_take_steps_by_entry_and_lose_no_digit() -> None:
    many = 1 << 20  # a loop over pairs of entries would take a day
    rng = np.random.default_rng(263)
    group = np.zeros(many, dtype=np.int64)
    first, second = rng.integers(0, 3, (2, many)).astype(np.int32)
    once = np.ones(many, dtype=np.int64)
    found: F64 = np.zeros((3, 3))
    count_apart(group, first, once, group, second, once, np.array([many]), found)
    shares = np.outer(*(np.bincount(cells, minlength=3) for cells in (first, second))) / many
    np.testing.assert_allclose(found, shares, rtol=1e-14)


def _side(rng: np.random.Generator, groups: int, most: int) -> tuple[I64, I64, I64]:
    """Return entries of (group, cell, rows) in the order of groups; some groups have none."""
    entries = int(rng.integers(0, most))
    return (
        np.sort(rng.integers(0, groups, entries)),
        rng.integers(0, 5, entries),
        rng.integers(1, 9, entries),
    )
