"""Condensation: rows drawn again from the moments of groups of at least k."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.base.arrays import F64, I64
from anon_core.base.errors import BadPlan, listing
from anon_core.base.params import integer, sensitive_column
from anon_core.base.registry import register
from anon_core.contracts.change import Chance, Change
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
    """

    name: ClassVar[str] = "condensation"
    title: ClassVar[str] = "Condensation"
    summary: ClassVar[str] = (
        "Gathers the k most alike rows, keeps only their means and covariances, and publishes rows "
        "drawn from these. No published row is a person's own."
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
    draws: ClassVar[bool] = True

    k: int = integer(default=10, low=2, help="Rows of a group at least.", label="k", unit="rows")
    within: str = sensitive_column(
        help="Rows are gathered only with others of the same value of this column.",
        label="Within equal",
        empty="the whole table",
    )
    decimals: int = integer(
        default=0,
        low=0,
        high=6,
        help="Decimals published beyond those that the column's own values have.",
        label="More decimals",
    )

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
        scale = x[chance.order].std(axis=0)  # sums round by their order, and ties hang on it
        points = x / np.where(scale > 0, scale, 1.0)
        parts: dict[int, list[int]] = {}
        beside = table.column(self.within).codes if self.within else np.zeros(table.rows, np.int32)
        for row in chance.order.tolist():
            parts.setdefault(int(beside[row]), []).append(row)
        told = np.empty_like(x)
        for part in parts.values():
            rows = np.array(part)
            if len(rows) < self.k:
                raise BadPlan(
                    f"A part of the table has {len(rows)} rows, fewer than k = {self.k}.",
                    remedy="Use a smaller k, or no column that parts the table.",
                )
            group = grouped(points[rows], self.k, chance.generator)
            for number in range(int(group.max()) + 1):
                of = rows[group == number]
                told[of] = regenerated(x[of], chance.generator)
        return {
            n: written(table.column(n), told[:, d], decimals_of(table.column(n)) + self.decimals)
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


def regenerated(x: F64, generator: np.random.Generator) -> F64:
    """Return as many rows drawn from the moments of some, shape (rows, columns)."""
    mean = x.mean(axis=0)
    value, vector = np.linalg.eigh((x - mean).T @ (x - mean) / len(x))
    # A direction has no sign of its own: its largest part is taken to be positive.
    largest = vector[np.abs(vector).argmax(axis=0), np.arange(vector.shape[1])]
    vector = vector * np.where(largest < 0, -1.0, 1.0)
    width = np.sqrt(12 * np.maximum(value, 0.0))
    return mean + ((generator.random(x.shape) - 0.5) * width) @ vector.T
