"""Additive noise: plain, correlated as the columns are, and restoring their moments."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.base.arrays import F64
from anon_core.base.errors import BadPlan, listing
from anon_core.base.params import choice, number
from anon_core.base.registry import register
from anon_core.contracts.change import Chance, Change, Effect, more_decimals
from anon_core.data.column import Column
from anon_core.data.roles.roles import Roles
from anon_core.data.table import Dataset
from anon_core.methods.changes.numbers import (
    decimals_of,
    in_order,
    matrix_of,
    root_of,
    written,
)


@register("change")
@dataclass(frozen=True, kw_only=True)
class AdditiveNoise(Change):
    """x + e with a variance that is a share α of the column's (Kim 1986)."""

    name: ClassVar[str] = "additive-noise"
    title: ClassVar[str] = "Additive noise"
    summary: ClassVar[str] = (
        "Adds normal noise to numbers, separately for each column or correlated as the columns "
        "are. Variances can be restored afterwards."
    )
    when: ClassVar[str] = (
        "Use it where means and covariances of many rows are estimated; never uncorrelated on "
        "correlated columns, which a filter undoes best, nor for outliers, which stay outliers; it "
        "is not differential privacy."
    )
    leaves: ClassVar[str] = (
        "It leaves each value within a few standard deviations of the noise, and outliers as "
        "outliers; restoring moves the means of subgroups towards the mean of all."
    )
    formula: ClassVar[str] = (
        "x + e, e ~ N(0, α diag S) or N(0, α S); restoring: c (x + e) + (1 − c) x̄, "
        "c = 1/√(1 + α); exact: e orthogonal to 1 and x with covariance α S"
    )
    source: ClassVar[str] = (
        "Kim 1986, A method for limiting disclosure in microdata; Tendick and Matloff 1994, "
        "doi 10.1145/174638.174641"
    )
    effect: ClassVar[Effect] = Effect(draws=True)

    alpha: float = number(
        default=0.1,
        low=0.0,
        help="Variance of the noise as a share of the column's variance.",
        label="α",
        unit="share of the variance",
    )
    noise: str = choice(
        default="correlated",
        options={"correlated": "Correlated as the columns", "uncorrelated": "Each by itself"},
        help="Whether noise of several columns is correlated as they are.",
        label="Noise",
    )
    restore: str = choice(
        default="none",
        options={
            "none": "Not restored",
            "expected": "Restored in expectation",
            "exact": "Restored exactly",
        },
        help="Whether mean and covariance are brought back. It moves means of subgroups.",
        label="Moments",
    )
    decimals: int = more_decimals()

    def run(
        self, table: Dataset, columns: Sequence[str], roles: Roles, chance: Chance
    ) -> Mapping[str, Column]:
        """Return the columns with noise; rows that miss a value of any of them get none."""
        if not 0 < self.alpha < math.inf:
            raise BadPlan(
                f"Noise with α = {self.alpha:g} changes nothing.", remedy="Use a number above 0."
            )
        whole = matrix_of(table, columns)
        complete = np.asarray(~np.isnan(whole).any(axis=1), dtype=np.bool_)
        rows = in_order(chance.order, complete)
        refuse_gaps(table, columns, len(rows))
        x = whole[rows]
        drawn = chance.generator.standard_normal(x.shape)
        masked = whole.copy()
        masked[rows] = self.masked(x, drawn, columns)
        return {
            n: written(table.column(n), masked[:, d], decimals_of(table.column(n)) + self.decimals)
            for d, n in enumerate(columns)
        }

    def masked(self, x: F64, drawn: F64, columns: Sequence[str] = ()) -> F64:
        """Return numbers with noise, made of standard normal numbers of the same shape."""
        mean = x.mean(axis=0)
        covariance = np.atleast_2d(np.cov(x, rowvar=False))
        spread = np.sqrt(np.diag(covariance))
        flat = [n for n, s in zip(columns, spread, strict=False) if s <= 0]
        if flat:
            raise BadPlan(
                f"All numbers of {listing(flat)} are the same, so noise leaves them unchanged.",
                remedy="Take the column out of the change.",
            )
        wider = math.sqrt(self.alpha) * spread > np.ptp(x, axis=0)
        if wider.any():
            raise BadPlan(
                f"With α = {self.alpha:g} the noise is wider than the column"
                + (f" '{columns[int(np.argmax(wider))]}'." if columns else "."),
                remedy="Use a smaller α.",
            )
        if self.restore == "exact":
            noise = self._orthogonal(x, drawn, covariance)
        elif self.noise == "correlated":
            noise = drawn @ root_of(self.alpha * covariance)
        else:
            noise = drawn * math.sqrt(self.alpha) * spread
        if self.restore == "none":
            return x + noise
        shrunk = 1 / math.sqrt(1 + self.alpha)
        return shrunk * (x + noise) + (1 - shrunk) * mean

    def _orthogonal(self, x: F64, drawn: F64, covariance: F64) -> F64:
        """Return noise that is orthogonal to 1 and all columns, with covariance α S exactly."""
        rows, wide = x.shape
        if rows < 2 * wide + 1 or np.linalg.matrix_rank(covariance) < wide:
            raise BadPlan(
                f"Exact moments need at least {2 * wide + 1} rows and columns none of which "
                f"follows from the others; there are {rows} rows.",
                remedy="Restore moments in expectation, or name fewer columns.",
            )
        design = np.column_stack([np.ones(rows), x])
        rest = drawn - design @ np.linalg.lstsq(design, drawn, rcond=None)[0]
        own = np.atleast_2d(np.cov(rest, rowvar=False))
        return rest @ np.linalg.inv(root_of(own)) @ root_of(self.alpha * covariance)


def refuse_gaps(table: Dataset, columns: Sequence[str], whole: int) -> None:
    """Refuse columns that miss values in different rows: these would be published as they are.

    Raises
    ------
    BadPlan
    """
    present = max(table.rows - table.column(n).missing for n in columns)
    if whole < max(present, 2):
        raise BadPlan(
            f"{table.rows - whole:,} rows miss a value in one of {listing(columns)} and not in "
            "another, so that one would be published as it is.",
            remedy="Make a change for each column by itself, or drop rows with missing values.",
        )
