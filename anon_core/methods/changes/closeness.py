"""How near changed rows are to what they were: distances, windows of ranks, and filters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import B1, F64, I64
from anon_core.base.context import Context
from anon_core.release.changed_rows import ChangedColumn

#: Distances that are held at a time.
_AT_ONCE = 4_000_000
#: Two distances that differ by less are a tie: sums round.
_ALIKE = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class Points:
    """Columns of original and published rows, scaled so that distances can be added.

    Attributes
    ----------
    was, now : float64 arrays of shape (rows, columns)
        Amounts by the original's standard deviation; NaN where a value is missing.
    amount : bool array of shape (columns,)
        Others are 0 or 1.
    """

    was: F64
    now: F64
    amount: B1


def points_of(columns: Sequence[ChangedColumn]) -> Points:
    """Return columns as points."""
    was = np.stack([c.was for c in columns], axis=1)
    now = np.stack([c.now for c in columns], axis=1)
    amount = np.array([c.amount for c in columns], dtype=np.bool_)
    spread = np.array([_spread(c.was) if c.amount else 1.0 for c in columns])
    return Points(was=was / spread, now=now / spread, amount=amount)


def _spread(values: F64) -> float:
    present = values[~np.isnan(values)]
    found = float(np.std(present, ddof=1)) if len(present) > 1 else 0.0
    return found if found > 0 else 1.0


def distances(from_: F64, to: F64, amount: B1) -> F64:
    """Return squared distances, shape (from, to); a missing value is 1 from any other."""
    found = np.zeros((len(from_), len(to)))
    for d, is_amount in enumerate(amount.tolist()):
        one, other = from_[:, d][:, None], to[:, d][None, :]
        gone = np.isnan(one) | np.isnan(other)
        both = np.isnan(one) & np.isnan(other)
        apart = (one - other) ** 2 if is_amount else (one != other).astype(np.float64)
        found += np.where(gone, np.where(both, 0.0, 1.0), apart)
    return found


def attacked(shown: I64, most: int, context: Context) -> tuple[I64, bool]:
    """Return the rows that are attacked, in their order, and whether they were drawn."""
    if len(shown) <= most:
        return shown, False
    return np.sort(context.generator.choice(shown, most, replace=False)), True


def nearest_chances(points: Points, rows: I64, context: Context) -> F64:
    """Return the chance that a published row is linked to its own original, shape (rows asked,).

    Ties share: of t originals that are nearest alike each is picked with chance 1/t.
    """
    step = max(1, _AT_ONCE // max(len(points.was), 1))
    found = np.zeros(len(rows))
    for start in range(0, len(rows), step):
        context.report(start / max(len(rows), 1), "Linking rows")
        part = rows[start : start + step]
        far = distances(points.now[part], points.was, points.amount)
        least = far.min(axis=1, keepdims=True)
        near = far <= least + _ALIKE
        own = near[np.arange(len(part)), part]
        found[start : start + step] = np.where(own, 1.0 / near.sum(axis=1), 0.0)
    return found


def assigned(points: Points, rows: I64) -> B1:
    """Return whose row an assignment of least total distance links rightly, shape (rows asked,)."""
    from scipy.optimize import linear_sum_assignment

    far = distances(points.now[rows], points.was[rows], points.amount)
    _, to = linear_sum_assignment(far)
    return np.asarray(to == np.arange(len(rows)), dtype=np.bool_)


def window(values: F64, published: F64, width: int) -> tuple[F64, F64]:
    """Return what a published value can have been: the values `width` ranks around its own.

    Parameters
    ----------
    values : float64 array
        Published values whose window is asked.
    published : float64 array
        All of the column, without missing ones.
    """
    ordered = np.sort(published)
    first = np.searchsorted(ordered, values, side="left") - width
    last = np.searchsorted(ordered, values, side="right") - 1 + width
    size = len(ordered)
    return ordered[np.clip(first, 0, size - 1)], ordered[np.clip(last, 0, size - 1)]


def filtered(published: F64, noise: F64) -> F64:
    """Return the best linear estimate of what stood behind noise of a known covariance.

    x̄' + Σ_x (Σ_x + Σ_e)^(−1) (x' − x̄'), with Σ_x = S' − Σ_e cut at 0.

    Parameters
    ----------
    published : float64 array of shape (rows, columns)
    noise : float64 array of shape (columns, columns)
    """
    mean = published.mean(axis=0)
    value, vector = np.linalg.eigh(np.atleast_2d(np.cov(published, rowvar=False)) - noise)
    signal = (vector * np.maximum(value, 0.0)) @ vector.T
    return mean + (published - mean) @ np.linalg.pinv(signal + noise) @ signal


def spectral(published: F64, variance: float) -> F64:
    """Return the projection on directions that uncorrelated noise alone would not make.

    Kept are eigenvalues above σ² (1 + √(d/n))², the largest that noise has (Kargupta et al. 2003).
    """
    rows, wide = published.shape
    mean = published.mean(axis=0)
    value, vector = np.linalg.eigh(np.atleast_2d(np.cov(published, rowvar=False)))
    held = vector[:, value > variance * (1 + np.sqrt(wide / rows)) ** 2]
    return mean + (published - mean) @ held @ held.T


def lifts(one: npt.NDArray[np.int64], other: npt.NDArray[np.int64]) -> F64:
    """Return n n_ab / (n_a n_b) of each row: how much oftener its pair is than by chance."""
    rows = len(one)
    pair = one * (int(other.max(initial=0)) + 1) + other
    a, b, ab = (
        np.unique(c, return_inverse=True, return_counts=True)[1:] for c in (one, other, pair)
    )
    return rows * ab[1][ab[0]] / (a[1][a[0]] * b[1][b[0]])
