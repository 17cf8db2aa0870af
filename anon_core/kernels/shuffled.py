"""Rows shuffled within their groups by numbers that were drawn before: one look at each."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import I64
from anon_core.kernels.compiled import compiled


@compiled
def shuffle_runs(rows: I64, sizes: I64, drawn: npt.NDArray[np.uint64]) -> None:
    """Shuffle each run of rows in place (Durstenfeld 1964).

    The remainder of 64 bits stands in for a number drawn below i: of i, no choice is likelier than
    another by more than i/2**64.

    Parameters
    ----------
    rows : int64 array of shape (rows,)
    sizes : int64 array of shape (runs,)
        Rows of each run, one after the other.
    drawn : uint64 array of shape (rows,)
        Independent and uniform.
    """
    start = 0
    for size in sizes:
        for i in range(start + size - 1, start, -1):
            j = start + np.int64(drawn[i] % np.uint64(i - start + 1))
            rows[i], rows[j] = rows[j], rows[i]
        start += size
