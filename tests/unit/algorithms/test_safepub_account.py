"""How large classes must be for (ε, δ): the values of the definition, and the exact δ by hand."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction as F
from math import comb, log

import numpy as np
import pytest

from anon_core.methods.differential_privacy.account import (
    GRAIN,
    delta_of,
    least_size,
    sample_rule,
    share_and_gamma,
    tail,
)
from tests.often import times

#: e^ε with β = 1 − e^−ε and γ = 1 − e^−2ε: δ(k), and the least k for δ = 10^−2 … 10^−5.
EXACT = {
    2: (
        {1: F(1, 2), 2: F(1, 4), 3: F(3, 16), 5: F(7, 64), 10: F(189, 4096)},
        [17, 29, 41, 53],
    ),
    3: ({5: F(32, 243), 10: F(13312, 177147)}, [20, 35, 50, 62]),
    4: ({5: F(243, 1024), 10: F(59049, 1048576)}, [23, 39, 54, 70]),
}


def binomial(drawn: int, rows: int, share: F) -> F:
    return comb(rows, drawn) * share**drawn * (1 - share) ** (rows - drawn)


def exact_delta(k: int, growth: F, share: F, most_rows: int = 60) -> F:
    """Return δ of one class by its definition: all sizes, both tables, both directions.

    Of `rows` rows or one fewer the sampled size is shown where it is at least k, else "too small".
    """
    worst = F(0)
    for rows in range(1, most_rows + 1):
        more = [binomial(j, rows, share) for j in range(rows + 1)]
        fewer = [*(binomial(j, rows - 1, share) for j in range(rows)), F(0)]
        values = [[sum(p[:k], start=F(0)), *p[k:]] for p in (more, fewer)]
        for one, other in (values, values[::-1]):
            over = sum((max(F(0), a - growth * b) for a, b in zip(one, other, strict=True)), F(0))
            worst = max(worst, over)
    return worst


@pytest.mark.parametrize("growth", list(EXACT))
def test_values_of_the_definition(growth: int) -> None:
    share, gamma = 1 - F(1, growth), 1 - F(1, growth**2)
    values, least = EXACT[growth]
    for k, delta in values.items():
        found = delta_of(k, share, gamma)
        assert delta <= found <= delta * (1 + F(1, 10**50))
    assert [least_size(share, gamma, F(1, 10**n))[0] for n in (2, 3, 4, 5)] == least


def test_values_at_ln_2_are_exact() -> None:
    found = {k: delta_of(k, F(1, 2), F(3, 4)) for k in EXACT[2][0]}
    assert found == EXACT[2][0]


@pytest.mark.parametrize(
    ("epsilon", "least"),
    [("0.5", [27, 39, 51, 63]), ("1", [34, 47, 61, 74]), ("2", [64, 81, 113, 131])],
)
def test_budgets_that_are_decimals(epsilon: str, least: list[int]) -> None:
    found = [sample_rule(F(epsilon), F(1, 10**n)) for n in (3, 4, 5, 6)]
    assert [rule.least for rule in found] == least
    assert all(rule.delta <= F(1, 10**n) for rule, n in zip(found, (3, 4, 5, 6), strict=True))


def test_near_ln_2_sizes_are_those_of_ln_2() -> None:
    """A hair above it, that is: at ε = ln 2 itself, rounded, every tie may count for δ."""
    above = [sample_rule(F(str(log(2))) + F(1, 10**15), F(1, 10**n)).least for n in (3, 4, 5)]
    assert above == [29, 41, 53]


@pytest.mark.parametrize(
    ("k", "delta"), [(1, F(1, 2)), (2, F(1, 4)), (3, F(1, 8)), (5, F(3, 64)), (10, F(31, 4096))]
)
def test_the_exact_delta_of_one_class_stays_below(k: int, delta: F) -> None:
    assert exact_delta(k, F(2), F(1, 2)) == delta
    assert delta <= delta_of(k, F(1, 2), F(3, 4))


def test_a_share_beyond_what_epsilon_allows_is_worse_than_the_bound_of_the_allowed_one() -> None:
    assert exact_delta(5, F(2), F(3, 5)) == F(7776, 100000)
    assert exact_delta(5, F(2), F(1, 2)) == F(3, 64)


@pytest.mark.often
def test_the_bound_is_above_the_exact_delta_whatever_the_share() -> None:
    """Also where less is sampled than ε allows."""
    rng = np.random.default_rng(75)
    for _ in range(times(60)):
        growth = F(int(rng.integers(11, 60)), 10)
        share = (1 - 1 / growth) * F(int(rng.integers(1, 11)), 10)
        k = int(rng.integers(1, 9))
        gamma = 1 - (1 - share) / growth
        assert exact_delta(k, growth, share, 24) <= delta_of(k, share, gamma)


@pytest.mark.parametrize("epsilon", ["0.001", "0.5", "1", "3.7", "10"])
def test_roundings_are_on_the_safe_side(epsilon: str) -> None:
    share, gamma = share_and_gamma(F(epsilon))
    with_more_digits = F((-Decimal(epsilon)).exp())
    assert share.denominator <= GRAIN
    assert share <= 1 - with_more_digits + F(1, 10**27)
    assert 1 - with_more_digits - share < F(2, GRAIN)
    assert gamma <= 1 - (1 - share) * with_more_digits + F(1, 10**27)
    assert share_and_gamma(F(epsilon), F(1, 1000))[0] <= F(1, 1000)


@pytest.mark.often
def test_tails_are_rounded_up_and_hardly() -> None:
    rng = np.random.default_rng(76)
    for _ in range(times(160)):
        rows = int(rng.integers(1, 80))
        share = F(int(rng.integers(1, 1000)), 1000)
        size = min(rows, int(rows * share) + 1 + int(rng.integers(0, 5)))
        true = sum((binomial(j, rows, share) for j in range(size, rows + 1)), F(0))
        assert true <= tail(rows, size, share) <= true * (1 + F(1, 10**50))


def test_the_least_size_is_the_least() -> None:
    for epsilon in ("0.3", "1", "2.5"):
        share, gamma = share_and_gamma(F(epsilon))
        for delta in (F(1, 50), F(1, 10**4), F(1, 10**9)):
            k, reached = least_size(share, gamma, delta)
            assert reached == delta_of(k, share, gamma) <= delta
            assert delta_of(k - 1, share, gamma) > delta
