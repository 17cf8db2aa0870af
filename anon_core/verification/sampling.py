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
from anon_core.verification.texts import Codes, PrivateColumn

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
