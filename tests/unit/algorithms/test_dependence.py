"""How strongly columns go together, and the sets they form."""

from __future__ import annotations

import numpy as np
import pytest

from anon_core.techniques.algorithms.slicing import (
    binned,
    column_groups,
    contingency,
    correlation,
    dependence_rows,
)


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


def test_the_square_of_pearsons_coefficient() -> None:
    rng = np.random.default_rng(46)
    a, b = rng.normal(size=50), rng.normal(size=50)
    for one, other in ((a, b), (a, a + b), (a, 3 - 2 * a)):
        assert correlation(one, other) == pytest.approx(np.corrcoef(one, other)[0, 1] ** 2)
    holes = np.where(np.arange(50) % 5 == 0, np.nan, a + b)
    known = ~np.isnan(holes)
    expected = np.corrcoef(a[known], holes[known])[0, 1] ** 2
    assert correlation(a, holes) == pytest.approx(expected)
    assert correlation(a, np.ones(50)) == 0
    assert correlation(a[:1], b[:1]) == 0


def test_columns_are_grouped_by_correlation_where_both_are_numbers() -> None:
    """A parabola is all dependence and no correlation; a line is both."""
    x = np.arange(-10, 11)
    line, parabola, noise = 2 * x + 1, x * x, (x * 7) % 5
    shown = [np.unique(column, return_inverse=True)[1] for column in (x, line, parabola, noise)]
    columns = [(c.astype(np.int32), int(c.max()) + 1) for c in shown]
    numbers = [c.astype(np.float64) for c in (x, line, parabola, noise)]
    assert [0, 1] in column_groups(columns, 3, numbers)
    # A column without numbers is compared by contingency, as it is without being asked.
    mixed = [numbers[0], None, numbers[2], numbers[3]]
    assert column_groups(columns, 2, [None] * 4) == column_groups(columns, 2)
    assert len(column_groups(columns, 2, mixed)) == 2


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
