"""How strongly columns go together, and groups of columns that do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

_BINS = 20  # numbers with more values are cut into so many equal counts


def binned(codes: npt.NDArray[np.int32], size: int) -> tuple[npt.NDArray[np.int32], int]:
    """Return codes in at most 20 bins of nearly equal counts, keeping their order."""
    if size <= _BINS:
        return codes, size
    share = np.cumsum(np.bincount(codes, minlength=size)) / max(len(codes), 1)
    bin_of = np.minimum((share * _BINS).astype(np.int32), np.int32(_BINS - 1))
    return bin_of[codes].astype(np.int32), _BINS


def contingency(
    a: npt.NDArray[np.int32], b: npt.NDArray[np.int32], sizes: tuple[int, int]
) -> float:
    """Return the mean-square contingency coefficient φ² in [0, 1].

    φ² = Σ (f_ij − f_i· f_·j)² / (f_i· f_·j) / (min(d1, d2) − 1), over values that occur
    (Cramér 1946; Li et al. 2012, doi 10.1109/TKDE.2010.236).
    """
    table = np.bincount(a.astype(np.int64) * sizes[1] + b, minlength=sizes[0] * sizes[1])
    share = table.reshape(sizes) / max(len(a), 1)
    share = share[share.sum(axis=1) > 0][:, share.sum(axis=0) > 0]
    if min(share.shape) < 2:
        return 0.0
    expected = np.outer(share.sum(axis=1), share.sum(axis=0))
    return float(((share - expected) ** 2 / expected).sum() / (min(share.shape) - 1))


def correlation(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64]) -> float:
    """Return the square of Pearson's coefficient, in [0, 1], over rows that have both numbers.

    The square is a share of variance, as φ² is of χ², so that both stand on one scale. A column of
    one number goes with nothing.
    """
    known = ~(np.isnan(a) | np.isnan(b))
    x, y = a[known], b[known]
    if len(x) < 2:
        return 0.0
    x, y = x - x.mean(), y - y.mean()
    spread = float((x @ x) * (y @ y))
    return min(float(x @ y) ** 2 / spread, 1.0) if spread > 0 else 0.0


def column_groups(
    columns: Sequence[tuple[npt.NDArray[np.int32], int]],
    groups: int,
    numbers: Sequence[npt.NDArray[np.float64] | None] = (),
) -> list[list[int]]:
    """Group columns that depend on each other, by k-medoids on the distance 1 − φ², or 1 − r².

    The start is the best single medoid and then, one by one, the medoid that lowers the total
    distance most (the build step of Kaufman and Rousseeuw 1990); exchanges follow until none helps.

    Parameters
    ----------
    columns : sequence of (int32 array of shape (rows,), number of values)
    groups : int
    numbers : sequence of float64 arrays of shape (rows,), or None
        The numbers of columns that have some, NaN where missing: two of them are compared by their
        correlation. Without any, all columns are compared by φ².

    Returns
    -------
    list of lists of int
        Column numbers, ascending, by their group's first column.
    """
    count = len(columns)
    cut = [binned(codes, size) for codes, size in columns]
    distance = np.zeros((count, count), dtype=np.float64)
    for i in range(count):
        for j in range(i + 1, count):
            one, other = (numbers[i], numbers[j]) if numbers else (None, None)
            if one is not None and other is not None:
                value = 1.0 - correlation(one, other)
            else:
                value = 1.0 - contingency(cut[i][0], cut[j][0], (cut[i][1], cut[j][1]))
            distance[i, j] = distance[j, i] = value
    medoids: list[int] = []
    for _ in range(min(groups, count)):
        totals = [
            (distance[:, [*medoids, m]].min(axis=1).sum(), m)
            for m in range(count)
            if m not in medoids
        ]
        medoids.append(min(totals)[1])
    best = distance[:, medoids].min(axis=1).sum()
    improved = True
    while improved:
        improved = False
        for place in range(len(medoids)):
            for other in range(count):
                if other in medoids:
                    continue
                tried = [*medoids[:place], other, *medoids[place + 1 :]]
                total = distance[:, tried].min(axis=1).sum()
                if total < best - 1e-12:
                    medoids, best, improved = tried, total, True
    owner = np.argmin(distance[:, medoids], axis=1)
    owner[medoids] = np.arange(len(medoids))
    found = [np.flatnonzero(owner == g).tolist() for g in range(len(medoids))]
    return sorted((g for g in found if g), key=lambda g: g[0])


def dependence_rows(count: int, generator: np.random.Generator) -> npt.NDArray[np.int64]:
    """Return the rows a dependence is measured on: all, or 100,000 drawn."""
    most = 100_000
    if count <= most:
        return np.arange(count, dtype=np.int64)
    return np.sort(generator.choice(count, size=most, replace=False)).astype(np.int64)
