"""Multiplicative noise: numbers times a mask whose mean is 1."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from anon_core.base.arrays import F64
from anon_core.base.errors import BadPlan
from anon_core.base.params import choice, number
from anon_core.base.registry import register
from anon_core.contracts.change import Chance, Change, Effect, more_decimals
from anon_core.data.column import Column
from anon_core.data.roles.roles import Roles
from anon_core.data.table import Dataset
from anon_core.methods.changes.numbers import decimals_of, in_order, numbers_of, written


@register("change")
@dataclass(frozen=True, kw_only=True)
class MultiplicativeNoise(Change):
    """x m with E m = 1 and Var m = v (Kim and Winkler 2003)."""

    name: ClassVar[str] = "multiplicative-noise"
    title: ClassVar[str] = "Multiplicative noise"
    summary: ClassVar[str] = (
        "Multiplies each number by a random factor around 1, so that large numbers get more "
        "noise. Keeps the expected mean, zeros and signs."
    )
    when: ClassVar[str] = (
        "Use it for skewed amounts such as incomes and turnovers; never where zeros or signs are "
        "sensitive, since both stay."
    )
    leaves: ClassVar[str] = (
        "It leaves zeros and signs, and the order of magnitude; a ring also rules out that the "
        "published number is nearly the true one."
    )
    formula: ClassVar[str] = (
        "x m; lognormal: ln m ~ N(−τ²/2, τ²), v = e^(τ²) − 1; ring: |m − 1| uniform on [a, b], "
        "either sign; variance σ² + v(σ² + μ²)"
    )
    source: ClassVar[str] = "Kim and Winkler 2003, Multiplicative noise for masking continuous data"
    effect: ClassVar[Effect] = Effect(draws=True)

    mask: str = choice(
        default="lognormal",
        options={"lognormal": "Lognormal", "ring": "Ring around 1"},
        help="How masks are drawn.",
        label="Mask",
    )
    variance: float = number(
        default=0.04, low=0.0, help="Variance of a lognormal mask.", label="Variance of the mask"
    )
    near: float = number(
        default=0.1, low=0.0, high=1.0, help="Least distance of a ring's mask from 1.", label="a"
    )
    far: float = number(
        default=0.3, low=0.0, high=1.0, help="Largest distance of a ring's mask from 1.", label="b"
    )
    decimals: int = more_decimals()

    def run(
        self, table: Dataset, columns: Sequence[str], roles: Roles, chance: Chance
    ) -> Mapping[str, Column]:
        """Return the columns with masked numbers; missing ones stay missing."""
        found: dict[str, Column] = {}
        for name in columns:
            column = table.column(name)
            values = numbers_of(column)
            rows = in_order(chance.order, ~np.isnan(values))
            masked = values.copy()
            masked[rows] = values[rows] * self.masks(len(rows), chance.generator)
            found[name] = written(column, masked, decimals_of(column) + self.decimals)
        return found

    def masks(self, rows: int, generator: np.random.Generator) -> F64:
        """Draw masks, shape (rows,)."""
        if self.mask == "lognormal":
            if not 0 < self.variance < math.inf:
                raise BadPlan("A mask of variance 0 is 1.", remedy="Use a number above 0.")
            scale = math.sqrt(math.log1p(self.variance))
            return np.exp(-scale * scale / 2 + scale * generator.standard_normal(rows))
        if not 0 <= self.near < self.far <= 1:
            raise BadPlan(
                f"A ring from {self.near:g} to {self.far:g} is empty or leaves 0 to 1.",
                remedy="Use 0 ≤ a < b ≤ 1.",
            )
        away = self.near + (self.far - self.near) * generator.random(rows)
        return 1 + np.where(generator.random(rows) < 0.5, -away, away)
