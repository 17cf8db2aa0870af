"""Condensation: rows drawn again from the moments of groups of at least k."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.base.arrays import F64, I64
from anon_core.base.errors import BadPlan, listing
from anon_core.base.params import flag, integer, sensitive_column
from anon_core.base.registry import register
from anon_core.contracts.change import Chance, Change, Effect, more_decimals
from anon_core.data.column import Column
from anon_core.data.roles.roles import Roles
from anon_core.data.table import Dataset
from anon_core.methods.changes.numbers import decimals_of, matrix_of, written


@register("change")
@dataclass(frozen=True, kw_only=True)
class Condensation(Change):
    """Groups of k by random centres, regenerated along eigenvectors (Aggarwal and Yu 2004).

    1. While k rows are left, a random one takes its k − 1 nearest.
    2. Rows left over join the group with the nearest mean.
    3. Each row of a group is drawn again: uniform of width √(12 λ) along each eigenvector.

    Growing, as for a table that comes row by row: each row joins the group with the nearest mean,
    and one that reaches 2k is split along its largest eigenvector by its moments alone.
    """

    name: ClassVar[str] = "condensation"
    title: ClassVar[str] = "Condensation"
    summary: ClassVar[str] = (
        "Groups the k most similar rows, keeps only their means and covariances, and publishes "
        "rows drawn from these. No published row is a person's own."
    )
    when: ClassVar[str] = (
        "Use it where numbers are analysed together, as for training; never as k-anonymity, since "
        "a group of equal rows is published as it is."
    )
    leaves: ClassVar[str] = (
        "It leaves means and covariances of each group, and rows of a group that are all equal."
    )
    formula: ClassVar[str] = (
        "x̄ + Σ_j u_j √(12 λ_j) v_j, u uniform on [−½, ½], λ and v of Σxxᵀ/n − x̄x̄ᵀ of the group"
    )
    source: ClassVar[str] = "Aggarwal and Yu 2004, doi 10.1007/978-3-540-24741-8_12"
    effect: ClassVar[Effect] = Effect(draws=True)

    k: int = integer(default=10, low=2, help="Rows of a group at least.", label="k", unit="rows")
    within: str = sensitive_column(
        help="Rows are gathered only with others of the same value of this column.",
        label="Within equal",
        empty="the whole table",
    )
    growing: bool = flag(
        default=False,
        help="Rows come one by one, in an order that is drawn; a group of 2k is split in two.",
        label="Groups grow and split",
    )
    decimals: int = more_decimals()

    def asks_of(self) -> tuple[str, ...]:
        """Return the column whose values part the table, where one is named."""
        return (self.within,) if self.within else ()

    def run(
        self, table: Dataset, columns: Sequence[str], roles: Roles, chance: Chance
    ) -> Mapping[str, Column]:
        """Return the columns regenerated."""
        x = matrix_of(table, columns)
        missing = [n for n in columns if table.column(n).missing]
        if missing:
            raise BadPlan(
                f"{listing(missing)} miss values, and a row is regenerated as a whole.",
                remedy="Leave rows with missing values out of the table, or the columns.",
            )
        if len(columns) == 1 and self.k < 3:
            raise BadPlan(
                "Mean and variance of two numbers give both away.",
                remedy="Use k of at least 3 for a single column.",
            )
        scale = x[chance.order].std(axis=0)  # sums round by their order, and ties depend on it
        points = x / np.where(scale > 0, scale, 1.0)
        parts: dict[int, list[int]] = {}
        by = table.column(self.within).codes if self.within else np.zeros(table.rows, np.int32)
        for row in chance.order.tolist():
            parts.setdefault(int(by[row]), []).append(row)
        regenerated_rows = np.empty_like(x)
        for part in parts.values():
            rows = np.array(part)
            if len(rows) < self.k:
                raise BadPlan(
                    f"A part of the table has {len(rows)} rows, fewer than k = {self.k}.",
                    remedy="Use a smaller k, or no column that parts the table.",
                )
            if self.growing:
                for group, moments in grown(points[rows], self.k, chance.generator):
                    regenerated_rows[rows[group]] = moments.drawn(chance.generator) * scale
                continue
            group = grouped(points[rows], self.k, chance.generator)
            for number in range(int(group.max()) + 1):
                of = rows[group == number]
                regenerated_rows[of] = regenerated(x[of], chance.generator)
        return {
            n: written(
                table.column(n),
                regenerated_rows[:, d],
                decimals_of(table.column(n)) + self.decimals,
            )
            for d, n in enumerate(columns)
        }


def grouped(points: F64, k: int, generator: np.random.Generator) -> I64:
    """Return the group of each point, shape (rows,)."""
    group = np.full(len(points), -1, dtype=np.int64)
    left = np.arange(len(points))
    number = 0
    while len(left) >= k:
        centre = points[left[int(generator.integers(len(left)))]]
        far = ((points[left] - centre) ** 2).sum(axis=1)
        # Of equal distances the first row counts; few rows have to be put in order.
        close = np.flatnonzero(far <= np.partition(far, k - 1)[k - 1])
        near = close[np.argsort(far[close], kind="stable")][:k]
        group[left[near]] = number
        left = np.delete(left, near)
        number += 1
    means = np.stack([points[group == g].mean(axis=0) for g in range(number)])
    for row in left.tolist():
        group[row] = int(np.argmin(((means - points[row]) ** 2).sum(axis=1)))
    return group


#: Variance that is none but for rounding, in units of the columns' own.
_FLAT = 1e-12


@dataclass(frozen=True, kw_only=True, eq=False)
class Moments:
    """What is kept of a group that grows: n, Σ x and Σ x xᵀ, in units of the columns' own spread.

    Attributes
    ----------
    total : float64 array of shape (columns,)
    square : float64 array of shape (columns, columns)
    """

    rows: int
    total: F64
    square: F64

    @property
    def mean(self) -> F64:
        """Return the mean, shape (columns,)."""
        return self.total / self.rows

    @property
    def covariance(self) -> F64:
        """Return the covariance with divisor n, shape (columns, columns)."""
        return self.square / self.rows - np.outer(self.mean, self.mean)

    def drawn(self, generator: np.random.Generator) -> F64:
        """Return as many rows as it has, uniform along each axis, shape (rows, columns)."""
        value, vector = axes(self.covariance)
        value = np.where(value > _FLAT, value, 0.0)
        return uniform_along(self.rows, self.mean, value, vector, generator)

    def and_one(self, point: F64) -> Moments:
        """Return the moments of one row more."""
        return Moments(
            rows=self.rows + 1,
            total=self.total + point,
            square=self.square + np.outer(point, point),
        )

    def halves(self) -> tuple[Moments, Moments]:
        """Return two halves along the largest axis, as if rows were uniform on it."""
        value, vector = axes(self.covariance)
        line, size, rows = vector[:, -1], float(value[-1]), self.rows // 2
        left = self.covariance + np.outer(line, line) * (size / 4 - size)  # λ becomes λ/4
        centres = (self.mean + side * math.sqrt(12 * size) / 4 * line for side in (-1, 1))
        low, high = (
            Moments(rows=rows, total=rows * c, square=rows * (left + np.outer(c, c)))
            for c in centres
        )
        return low, high


def moments_of(x: F64) -> Moments:
    """Return the moments of some rows."""
    return Moments(rows=len(x), total=x.sum(axis=0), square=x.T @ x)


def axes(covariance: F64) -> tuple[F64, F64]:
    """Return the eigenvalues, ascending, and their vectors, shape (columns, columns)."""
    value, vector = np.linalg.eigh(covariance)
    # A direction has no sign of its own: its largest part is taken to be positive.
    largest = vector[np.abs(vector).argmax(axis=0), np.arange(vector.shape[1])]
    return np.maximum(value, 0.0), vector * np.where(largest < 0, -1.0, 1.0)


def uniform_along(
    rows: int, mean: F64, value: F64, vector: F64, generator: np.random.Generator
) -> F64:
    """Return rows that are uniform of width √(12 λ) along each axis, shape (rows, columns)."""
    return mean + ((generator.random((rows, len(mean))) - 0.5) * np.sqrt(12 * value)) @ vector.T


def regenerated(x: F64, generator: np.random.Generator) -> F64:
    """Return as many rows drawn from the moments of some, shape (rows, columns)."""
    mean = x.mean(axis=0)
    value, vector = axes((x - mean).T @ (x - mean) / len(x))
    return uniform_along(len(x), mean, value, vector, generator)


def grown(points: F64, k: int, generator: np.random.Generator) -> list[tuple[I64, Moments]]:
    """Return groups of k to 2k − 1 rows that grew one row at a time: their rows and moments.

    Of a group that is split, the half of its rows that lies lower along the axis goes with the
    lower moments. Which rows these are says only where regenerated rows are put.
    """
    order = generator.permutation(len(points))
    rows = [order[:k].tolist()]
    moments = [moments_of(points[order[:k]])]
    means = np.empty((len(points) // k + 1, points.shape[1]))
    means[0] = moments[0].mean
    for row in order[k:].tolist():
        far = ((means[: len(rows)] - points[row]) ** 2).sum(axis=1)
        at = int(np.argmin(far))
        rows[at].append(row)
        moments[at] = moments[at].and_one(points[row])
        if len(rows[at]) == 2 * k:
            along = axes(moments[at].covariance)[1][:, -1]
            # Equal rows may be an ulp apart along the axis; rounded, they keep their order.
            place = np.round((points[rows[at]] * along).sum(axis=1), 9)
            ranked = np.array(rows[at])[np.argsort(place, kind="stable")].tolist()
            moments[at], upper = moments[at].halves()
            rows[at] = ranked[:k]
            rows.append(ranked[k:])
            moments.append(upper)
            means[len(rows) - 1] = upper.mean
        means[at] = moments[at].mean
    return [(np.array(r, dtype=np.int64), m) for r, m in zip(rows, moments, strict=True)]
