"""Count the people that published cells cover: a point query per class."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anon_core.kernels.compiled import compiled


@compiled
def covered(
    lo: npt.NDArray[np.int32],
    hi: npt.NDArray[np.int32],
    codes: npt.NDArray[np.int32],
    count: npt.NDArray[np.int64],
    found: npt.NDArray[np.int64],
) -> None:
    """Add to `found` how many people each class's cells cover.

    Parameters
    ----------
    lo, hi : int32 arrays of shape (classes, attributes)
        First and last leaf of every cell.
    codes : int32 array of shape (tuples, attributes)
        Leaf numbers, -1 for values no cell can cover.
    count : int64 array of shape (tuples,)
    found : int64 array of shape (classes,)
    """
    for g in range(lo.shape[0]):
        total = 0
        for t in range(codes.shape[0]):
            inside = True
            for d in range(codes.shape[1]):
                c = codes[t, d]
                if c < lo[g, d] or c > hi[g, d]:
                    inside = False
                    break
            if inside:
                total += count[t]
        found[g] += total


@compiled
def several(
    lo: npt.NDArray[np.int32],
    hi: npt.NDArray[np.int32],
    codes: npt.NDArray[np.int32],
    found: npt.NDArray[np.bool_],
) -> None:
    """Mark in `found` the classes that some tuple fits beside another.

    Parameters
    ----------
    found : bool array of shape (classes,)
    """
    for t in range(codes.shape[0]):
        first = -1
        for g in range(lo.shape[0]):
            inside = True
            for d in range(codes.shape[1]):
                c = codes[t, d]
                if c < lo[g, d] or c > hi[g, d]:
                    inside = False
                    break
            if inside:
                if first < 0:
                    first = g
                else:
                    found[first] = True
                    found[g] = True
