"""Coins that protection rests on: what chances they have, and what they are keyed by."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from fractions import Fraction as F

import numpy as np
import pytest
from scipy.stats import chi2

from anon_core.methods.differential_privacy.chosen_levels import Coins

TRIES = 4000


def coins(number: int) -> Coins:
    """Return coins that are the same in every run of the tests."""
    return Coins(hashlib.sha256(b"for tests").digest(), str(number).encode())


def as_expected(seen: Counter[int], chances: list[float]) -> bool:
    expected = np.array(chances) * sum(seen.values())
    found = np.array([seen[i] for i in range(len(chances))])
    return chi2.sf(((found - expected) ** 2 / expected).sum(), len(chances) - 1) > 1e-4


@pytest.mark.parametrize("limit", [2, 3, 7, 256, 257])
def test_whole_numbers_are_even(limit: int) -> None:
    tossed = coins(limit)
    seen = Counter(tossed.below(limit) * 7 // limit for _ in range(TRIES))
    width = Counter(i * 7 // limit for i in range(limit))
    assert as_expected(
        Counter({n: seen[k] for n, k in enumerate(width)}), [w / limit for w in width.values()]
    )


def test_of_one_number_there_is_no_choice() -> None:
    assert {coins(1).below(1) for _ in range(9)} == {0}


@pytest.mark.parametrize("exponent", ["0", "0.25", "1", "1.7", "4"])
def test_a_coin_falls_with_the_chance_of_an_exponential(exponent: str) -> None:
    tossed = coins(5)
    heads = sum(tossed.falls_as(F(exponent)) for _ in range(TRIES))
    chance = math.exp(-float(exponent))
    assert heads / TRIES == pytest.approx(chance, abs=4 * math.sqrt(chance / TRIES) * (chance < 1))


def test_candidates_are_drawn_by_the_exponential_mechanism() -> None:
    tossed, scores = coins(6), [F(0), F(1, 2), F(3), F(-100)]
    seen = Counter(tossed.candidate(scores, F(3, 2)) for _ in range(TRIES))
    weights = [math.exp(0.75 * float(s)) for s in scores]
    assert not seen.pop(3, 0)
    assert as_expected(seen, [w / sum(weights) for w in weights[:3]])


def test_words_are_even_and_go_on_where_they_ended() -> None:
    whole, parts = coins(7), coins(7)
    words = whole.words(20_000)
    assert np.array_equal(words, np.concatenate([parts.words(n) for n in (3, 9_997, 10_000)]))
    assert as_expected(Counter((words >> np.uint64(61)).tolist()), [1 / 8] * 8)
    assert len(coins(7).words(0)) == 0


def test_a_single_bit_of_secret_or_purpose_changes_everything() -> None:
    streams = [
        Coins(b"a" * 32, b"x"),
        Coins(b"a" * 31 + b"b", b"x"),
        Coins(b"a" * 32, b"y"),
        Coins(b"a" * 32, b"x", b""),
        Coins(b"a" * 32, b"", b"x"),
    ]
    words = [s.words(4).tolist() for s in streams]
    assert len({w for drawn in words for w in drawn}) == 20
