"""How strongly columns go together, and the sets they form."""

from __future__ import annotations

import numpy as np
import pytest

from anon_core.dependence import binned, column_groups, contingency, dependence_rows


def codes(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int32)


def test_mean_square_contingency() -> None:
    a = codes(0, 0, 1, 1)
    assert contingency(a, a, (2, 2)) == pytest.approx(1)
    assert contingency(a, codes(0, 1, 0, 1), (2, 2)) == pytest.approx(0)
    # Shares 1/2 1/4 / 0 1/4: (1/8)²/(3/8) + (1/8)²/(3/8) + (1/8)²/(1/8) + (1/8)²/(1/8) = 1/3.
    assert contingency(codes(0, 0, 0, 1), codes(0, 0, 1, 1), (2, 2)) == pytest.approx(1 / 3)
    # Values that never occur, and columns with one value.
    assert contingency(a, a, (5, 7)) == pytest.approx(1)
    assert contingency(a, codes(0, 0, 0, 0), (2, 1)) == 0
    assert contingency(codes(), codes(), (2, 2)) == 0


def test_contingency_is_symmetric_and_in_range() -> None:
    rng = np.random.default_rng(239)
    for _ in range(50):
        a, b = (rng.integers(0, 5, 40).astype(np.int32) for _ in range(2))
        one, other = contingency(a, b, (5, 5)), contingency(b, a, (5, 5))
        assert one == pytest.approx(other)
        assert 0 <= one <= 1 + 1e-12


def test_bins_keep_the_order_and_are_nearly_equal() -> None:
    values = np.arange(1000, dtype=np.int32)
    cut, size = binned(values, 1000)
    assert size == 20
    assert np.all(np.diff(cut) >= 0)
    assert np.bincount(cut).min() >= 49
    few, same = binned(values % 7, 7)
    assert same == 7
    assert np.array_equal(few, values % 7)


def test_columns_that_say_the_same_stand_together() -> None:
    rng = np.random.default_rng(241)
    a, b, c = (rng.integers(0, 4, 500).astype(np.int32) for _ in range(3))
    columns = [(a, 4), (b, 4), (3 - a, 4), (c, 4), ((b + 1) % 4, 4)]
    assert column_groups(columns, 3) == [[0, 2], [1, 4], [3]]
    assert column_groups(columns, 5) == [[0], [1], [2], [3], [4]]
    assert column_groups(columns, 50) == [[0], [1], [2], [3], [4]]
    assert column_groups(columns, 1) == [[0, 1, 2, 3, 4]]


def test_large_tables_are_measured_on_a_sample() -> None:
    rng = np.random.default_rng(0)
    assert dependence_rows(5, rng).tolist() == [0, 1, 2, 3, 4]
    rows = dependence_rows(100_001, rng)
    assert len(rows) == len(set(rows.tolist())) == 100_000
    assert np.all(np.diff(rows) > 0)
