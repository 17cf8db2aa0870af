"""Which rows of the table a sample holds, drawn again from the recipe."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import BadPlan
from anon_core.verification.text.texts import Codes, PrivateColumn

_DIGITS = re.compile("[0-9a-fA-F]{1,64}")
_LONG = 256  # bits of a seed
_SHORT = 1 << 128


def sample_of(recipe: Mapping[str, Any], data: Mapping[str, Any]) -> tuple[Fraction, int | None]:
    """Return the share of rows a recipe samples, and its seed; None where it has none.

    Raises
    ------
    BadPlan
        If the share is none, or the seed is no seed.
    """
    share = data.get("sample", 1)
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1:
        raise BadPlan("The recipe's sample is no share.", remedy="Use a number above 0, up to 1.")
    found = Fraction(str(share))
    return found, seed_of(recipe["seed"]) if "seed" in recipe else None


def seed_of(given: object) -> int:
    """Return a seed that is written as text of hexadecimal digits, or as a number.

    Raises
    ------
    BadPlan
        If it is neither; the message does not repeat it.
    """
    if isinstance(given, str) and _DIGITS.fullmatch(given):
        return int(given, 16)
    if isinstance(given, int) and not isinstance(given, bool) and 0 <= given < 1 << _LONG:
        return given
    raise BadPlan(
        "The recipe's seed is neither a text of at most 64 hexadecimal digits nor a whole number "
        "from 0 up.",
        remedy="Use the recipe that the run completed.",
    )


def is_guessable(seed: int) -> bool:
    """Say whether a seed is found by trying: short ones, and long ones that repeat themselves."""
    digits = f"{seed:x}"
    cycle = (digits + digits).find(digits[: len(digits) // 2 + 1], 1)
    turns = 0 < cycle <= len(digits) // 2 and (digits[:cycle] * 64).startswith(digits)
    return seed < _SHORT or turns or len(set(digits)) <= 8


def drawn(
    columns: Sequence[PrivateColumn], kept: npt.NDArray[np.bool_], share: Fraction, seed: int
) -> npt.NDArray[np.bool_]:
    """Return which of the rows that are kept are drawn, shape (rows,).

    Rows are drawn from the table sorted by what it publishes: numbers and days by size, texts by
    their letters, missing values last.
    """
    rows = np.flatnonzero(kept)
    sort = [_ranks(column)[column.codes[rows]] for column in columns]
    order = np.lexsort(sort[::-1]) if sort else np.arange(len(rows))
    # A third has no end as a decimal: the guard keeps the last of its rows.
    size = math.floor(share * len(rows) + Fraction(1, 10**9))
    places = _draws(seed).permutation(len(rows))[:size]
    found = np.zeros(len(kept), dtype=np.bool_)
    found[rows[order[places]]] = True
    return found


def _draws(seed: int) -> np.random.Generator:
    """Return the random numbers that a seed gives for samples."""
    digest = hashlib.sha256(seed.to_bytes(_LONG // 8))
    digest.update(hashlib.sha256(b"sample").digest())
    start = np.random.SeedSequence(int.from_bytes(digest.digest()))
    return np.random.Generator(np.random.Philox(start))


def _ranks(column: PrivateColumn) -> Codes:
    """Return the place of every code in the column's order; the missing value is the last."""
    keys = list(enumerate(column.keys))
    measured = sorted((Fraction(k), i) for i, k in keys if isinstance(k, Decimal | int))
    named = sorted((k, i) for i, k in keys if isinstance(k, str))
    ordered = [*(i for _, i in measured), *(i for _, i in named)]
    ranks = np.empty(len(column.keys) + 1, dtype=np.int64)
    ranks[[*ordered, len(column.keys)]] = np.arange(len(column.keys) + 1)
    return ranks


# How large a class must be for (ε, δ), recomputed: by sizes of tables, not of samples.
#
# Shares are bounded by a series in fractions; δ is the greatest of the chances P[Bin(n, β) > γ n],
# as the definition has it, from the least n on for which a class can be published. These chances
# come from the incomplete beta function, a little raised, so that a tie counts against the
# release.


_TERMS = 200
_GRAIN = 1 << 64
_FINE = 1 << 400
#: Floats of the incomplete beta function are good to about 10**-12.
_RAISED = 1 + 1e-9
#: Sizes of tables that are looked at; beyond, nothing is decided.
MOST_SIZES = 20_000_000


def falling(exponent: Fraction) -> tuple[Fraction, Fraction]:
    """Return a lower and an upper bound of e^−x for x up to 64: 1 over the series of e^x.

    Examples
    --------
    >>> low, high = falling(Fraction(1))
    >>> low < high, float(low) == float(high) == 0.36787944117144233
    (True, True)
    """
    # e^(x/64) by its first terms: the rest is less than twice the last. Then its 64th power.
    part = exponent / 64
    term = total = Fraction(1)
    for n in range(1, _TERMS):
        term = Fraction(math.ceil(term * part / n * _FINE), _FINE)
        total += term
    short = total - Fraction(2 * _TERMS, _FINE)  # every term is raised by less than two parts
    long = total + 2 * term
    return (1 / long) ** 64, (1 / short) ** 64


def share_of(epsilon: Fraction, most: Fraction) -> tuple[Fraction, Fraction]:
    """Return β and a lower bound of γ = 1 − (1 − β) e^−ε."""
    upper = falling(epsilon)[1]
    share = Fraction(math.floor(min(1 - upper, most) * _GRAIN), _GRAIN)
    return share, 1 - (1 - share) * upper


def least_of(share: Fraction, gamma: Fraction, delta: Fraction) -> int | None:
    """Return the least k with δ(k) ≤ δ; None where that takes too many sizes of tables.

    δ(k) is the greatest chance over n ≥ ⌈k/γ − 1⌉. Let n be the last whose chance exceeds δ: k is
    the least for which ⌈k/γ − 1⌉ > n, that is k > γ (n + 1).
    """
    from scipy.special import betainc

    near, far = float(gamma), float(1 - gamma)
    entropy = near * math.log(float(gamma / share))
    entropy += far * math.log(float((1 - gamma) / (1 - share)))
    sizes = math.ceil(-math.log(float(delta)) / (entropy * (1 - 1e-6))) + 1
    if sizes > MOST_SIZES:
        return None
    # ⌊γ n⌋ in whole numbers; γ is taken down to 2**-200, which can only lower it.
    scaled = math.floor(gamma * (1 << 200))
    rows = np.arange(1, sizes + 1, dtype=np.float64)
    drawn = np.array([(scaled * n) >> 200 for n in range(1, sizes + 1)], dtype=np.float64) + 1
    possible = drawn <= rows
    chance = np.zeros(sizes)
    chance[possible] = betainc(drawn[possible], rows[possible] - drawn[possible] + 1, float(share))
    over = np.flatnonzero(chance * _RAISED > float(delta))
    last = int(over[-1]) + 1 if len(over) else 0
    return math.floor(gamma * (last + 1)) + 1 if last else 1
