"""Which rows of the table a sample holds, drawn again from the recipe."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import BadPlan
from .texts import Codes, PrivateColumn

_STREAM = 54


def sample_of(recipe: Mapping[str, Any], data: Mapping[str, Any]) -> tuple[Fraction, int]:
    """Return the share of rows a recipe samples, and its seed.

    Raises
    ------
    BadPlan
        If one of them is no such number.
    """
    share, seed = data.get("sample", 1), recipe.get("seed", 0)
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share <= 1:
        raise BadPlan("The recipe's sample is no share.", remedy="Use a number above 0, up to 1.")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise BadPlan("The recipe's seed is no number.", remedy="Use a whole number from 0 up.")
    return Fraction(str(share)), seed


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
    places = np.random.default_rng([seed, _STREAM]).permutation(len(rows))[:size]
    found = np.zeros(len(kept), dtype=np.bool_)
    found[rows[order[places]]] = True
    return found


def _ranks(column: PrivateColumn) -> Codes:
    """Return the place of every code in the column's order; the missing value is the last."""
    keys = list(enumerate(column.keys))
    measured = sorted((Fraction(k), i) for i, k in keys if isinstance(k, Decimal | int))
    named = sorted((k, i) for i, k in keys if isinstance(k, str))
    ordered = [*(i for _, i in measured), *(i for _, i in named)]
    ranks = np.empty(len(column.keys) + 1, dtype=np.int64)
    ranks[[*ordered, len(column.keys)]] = np.arange(len(column.keys) + 1)
    return ranks
