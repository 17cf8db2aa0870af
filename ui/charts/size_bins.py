"""Bins of class sizes for charts: where they begin, and how many classes and people are in each."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pandas as pd


def size_edges(least: Sequence[int], largest: int) -> list[int]:
    """Return where the bins of class sizes begin: 1, 2, 5, 10, 20, …, and every k asked for.

    Examples
    --------
    >>> size_edges([3], 40), size_edges([2], 70)
    ([1, 2, 3, 5, 10, 20, 50], [1, 2, 5, 10, 20, 50, 100])
    """
    edges = {1, *least}
    scale = 1
    while scale <= largest:
        edges |= {scale, 2 * scale, 5 * scale}
        scale *= 10
    edges.add(scale)
    ordered = sorted(edges)
    beyond = next((i for i, e in enumerate(ordered) if e > largest), len(ordered) - 1)
    return ordered[: max(beyond, max(ordered.index(k) for k in least) + 1) + 1]


def binned(
    sizes: npt.NDArray[np.int64],
    edges: Sequence[int],
    noun: tuple[str, str] = ("class", "classes"),
    counted: str = "rows",
) -> pd.DataFrame:
    """Return classes and people per bin of class size, one row a bin.

    `noun` and `counted`, what a size is of, name the columns.
    """
    import pandas as pd

    bins = len(edges) - 1
    place = np.searchsorted(np.array(edges), sizes, side="right") - 1
    labels = [f"{lo:,}" if hi == lo + 1 else f"{lo:,}–{hi - 1:,}" for lo, hi in pairwise(edges)]
    return pd.DataFrame(
        {
            f"{counted} in the {noun[0]}": labels,
            noun[1]: np.bincount(place, minlength=bins)[:bins],
            "people": np.bincount(place, weights=sizes, minlength=bins).astype(np.int64)[:bins],
        }
    )
