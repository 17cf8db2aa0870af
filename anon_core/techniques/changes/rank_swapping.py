"""Rank swapping: values exchanged between rows whose ranks are close."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from anon_core.base.errors import BadPlan
from anon_core.base.params import number
from anon_core.base.registry import register
from anon_core.contracts.change import Chance, Change, Effect
from anon_core.data.column import Column
from anon_core.data.roles.roles import Roles
from anon_core.data.table import Dataset
from anon_core.data.values.kinds import KINDS
from anon_core.methods.changes.numbers import by_row, in_order, refuse_constant


@register("change")
@dataclass(frozen=True, kw_only=True)
class RankSwapping(Change):
    """Each rank from the lowest takes an unswapped partner at most w ranks above (Moore 1996)."""

    name: ClassVar[str] = "rank-swapping"
    title: ClassVar[str] = "Rank swapping"
    summary: ClassVar[str] = (
        "Orders a column and exchanges each value with one at most p % of the ranks away. "
        "Frequencies of values stay exact, and values move little."
    )
    when: ClassVar[str] = (
        "Use it where numbers are analysed one column at a time and should stay near the truth; "
        "never with a window of one rank, which draws nothing, nor where an attacker knows several "
        "of the columns, since the true row lies in every window."
    )
    leaves: ClassVar[str] = (
        "It leaves every value of the column, and each row's true value within p % of the ranks."
    )
    formula: ClassVar[str] = (
        "w = ⌊p N/100⌋; from the lowest rank i, unswapped: exchange with a drawn unswapped rank of "
        "i + 1 … i + w"
    )
    source: ClassVar[str] = (
        "Moore 1996, Controlled data-swapping techniques for masking public use microdata"
    )
    effect: ClassVar[Effect] = Effect(draws=True)

    p: float = number(
        default=5.0,
        low=0.0,
        high=100.0,
        help="How far a value may move, as a share of the rows.",
        label="Window",
        unit="per cent of ranks",
    )

    def run(
        self, table: Dataset, columns: Sequence[str], roles: Roles, chance: Chance
    ) -> Mapping[str, Column]:
        """Return the columns after the exchange; missing values have no rank."""
        found: dict[str, Column] = {}
        for name in columns:
            column = table.column(name)
            if not KINDS[column.kind].measured:
                raise BadPlan(
                    f"'{name}' holds texts, which have no ranks.",
                    remedy="Name columns of numbers or dates, or use data swapping.",
                )
            present = column.codes >= 0
            refuse_constant(column, present)
            rows = in_order(chance.order, present)
            width = math.floor(Fraction(str(self.p)) * len(rows) / 100)
            if width < 2:
                raise BadPlan(
                    f"{self.p:g} % of {len(rows):,} ranks is a window of {width}: "
                    + (
                        "the table itself."
                        if width < 1
                        else "nothing is drawn, so anyone undoes it."
                    ),
                    remedy=f"Use at least {math.ceil(200 / len(rows) * 100) / 100:g} %.",
                )
            # Ties in a drawn order: values are numbered by size.
            tie = chance.generator.random(len(rows))
            ranked = rows[np.lexsort((tie, column.codes[rows]))]
            partner = partners(len(rows), width, chance.generator)
            codes = column.codes.copy()
            codes[ranked] = column.codes[ranked[partner]]
            values = [*column.values, None]
            found[name] = by_row(column, [values[code] for code in codes.tolist()])
        return found


def partners(size: int, width: int, generator: np.random.Generator) -> np.ndarray:
    """Return whom each rank exchanges with, itself where no one is left, shape (size,)."""
    free = np.ones(size, dtype=np.bool_)
    partner = np.arange(size)
    for rank in range(size):
        if not free[rank]:
            continue
        others = np.flatnonzero(free[rank + 1 : rank + 1 + width])
        if not len(others):
            continue
        other = rank + 1 + int(others[int(generator.integers(len(others)))])
        partner[rank], partner[other] = other, rank
        free[rank] = free[other] = False
    return partner
