"""Columns of numbers as arrays, and arrays written back with the decimals that are asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal

import numpy as np

from anon_core.base.arrays import B1, F64, I64
from anon_core.base.errors import BadPlan
from anon_core.data.column import Column, encode
from anon_core.data.table import Dataset
from anon_core.data.values.kinds import KINDS, ColumnKind


def by_text(
    column: Column, changed: Callable[[str], str], kind: ColumnKind | None = None
) -> Column:
    """Return a column whose texts, as they were read, each become another; missing stays missing.

    Parameters
    ----------
    changed : callable
        Given a text, it returns what is published; asked once for each text that a row has.
    kind : str, optional
        The kind of what is published; the column's own where it is left out.
    """
    codes, texts = column.as_read
    used = np.zeros(len(texts) + 1, dtype=np.bool_)
    used[codes] = True
    made = [changed(text) if has else "" for text, has in zip(texts, used, strict=False)]
    return _encoded(column, codes.astype(np.int64), made, kind or column.kind)


def by_row(column: Column, texts: Sequence[str | None], kind: ColumnKind | None = None) -> Column:
    """Return a column with a text for every row; None where the value is missing."""
    place: dict[str, int] = {}
    codes = [-1 if t is None else place.setdefault(t, len(place)) for t in texts]
    return _encoded(column, np.array(codes, dtype=np.int64), list(place), kind or column.kind)


def _encoded(column: Column, codes: np.ndarray, texts: Sequence[str], kind: ColumnKind) -> Column:
    pool = list(dict.fromkeys(texts))
    place = {text: code for code, text in enumerate(pool)}
    target = np.array([*(place[text] for text in texts), -1], dtype=np.int32)
    made = encode(column.name, target[codes], pool, kind=kind, thousands="")
    return replace(made, origin=column.origin)


def numbers_of(column: Column) -> F64:
    """Return a column's numbers, NaN where one is missing, shape (rows,).

    Raises
    ------
    BadPlan
        If the column holds no numbers.
    """
    if not KINDS[column.kind].amount or column.measure is None:
        raise BadPlan(
            f"'{column.name}' holds {KINDS[column.kind].several}, and this change needs numbers.",
            remedy="Name columns of numbers, or choose a change for categories.",
        )
    return np.append(column.measure, np.nan)[column.codes]


def matrix_of(table: Dataset, columns: Sequence[str]) -> F64:
    """Return the numbers of several columns side by side, shape (rows, columns)."""
    return np.stack([numbers_of(table.column(n)) for n in columns], axis=1)


def decimals_of(column: Column) -> int:
    """Return the most decimals that a number of the column has, trailing zeros left out."""
    used = np.flatnonzero(column.counts > 0).tolist()
    places = [_decimals(column.values[i]) for i in used]
    return max(places, default=0)


def _decimals(text: str) -> int:
    exponent = Decimal(text.strip().replace(",", ".")).normalize().as_tuple().exponent
    return -exponent if isinstance(exponent, int) and exponent < 0 else 0


def written(column: Column, values: F64, decimals: int) -> Column:
    """Return a column of numbers rounded to decimals; NaN is missing."""
    texts = [None if np.isnan(v) else number_text(v, decimals) for v in values.tolist()]
    return by_row(column, texts, kind="number")


def number_text(value: float, decimals: int) -> str:
    """Return a number with so many decimals; nothing is written as minus zero.

    Examples
    --------
    >>> number_text(-0.04, 1), number_text(2.25, 1), number_text(1200.0, 0)
    ('0.0', '2.2', '1200')
    """
    text = f"{value:.{decimals}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def refuse_constant(column: Column, present: B1) -> None:
    """Refuse a column whose rows all say the same: exchanging them changes nothing.

    Raises
    ------
    BadPlan
    """
    if len(np.unique(column.codes[present])) < 2:
        raise BadPlan(
            f"All cells of '{column.name}' say the same, so the change changes nothing.",
            remedy="Take the column out of the change.",
        )


def root_of(covariance: F64) -> F64:
    """Return the symmetric square root of a covariance matrix: it is one, singular or not."""
    value, vector = np.linalg.eigh(covariance)
    return (vector * np.sqrt(np.maximum(value, 0.0))) @ vector.T


def in_order(order: I64, present: B1) -> I64:
    """Return the rows that are named, in the order of their content."""
    return order[present[order]]
