"""The arrays that the core works on, by what they hold; shapes are in the docstrings.

``I64``: counts, rows, places, packed keys. ``I32``: codes, which are numbers of leaves. ``I8``:
small states, -1 among them. ``U8``: states of lattice nodes. ``F64``: prices, weights, chances,
positions. ``B1``: marks.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

I64 = npt.NDArray[np.int64]
I32 = npt.NDArray[np.int32]
I8 = npt.NDArray[np.int8]
U8 = npt.NDArray[np.uint8]
F64 = npt.NDArray[np.float64]
B1 = npt.NDArray[np.bool_]


def weighted_sum(values: F64, weights: F64 | I64) -> float:
    """Return Σ value · weight, both of shape (n,).

    ``values @ weights`` is the same, but for a column of a table every core waits for the others,
    which takes a hundred times as long on a busy machine.

    Examples
    --------
    >>> weighted_sum(np.array([0.5, 2.0]), np.array([4, 1]))
    4.0
    """
    return float(np.einsum("i,i->", values, weights))
