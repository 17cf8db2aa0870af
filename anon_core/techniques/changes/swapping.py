"""Data swapping: values of a column exchanged between pairs of rows, the rows otherwise whole."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from anon_core.base.errors import BadPlan
from anon_core.base.params import number, quasi_columns
from anon_core.base.registry import register
from anon_core.contracts.change import Chance, Change, Effect
from anon_core.data.column import Column
from anon_core.data.roles.roles import Roles
from anon_core.data.table import Dataset
from anon_core.methods.changes.numbers import by_row, in_order, refuse_constant


@register("change")
@dataclass(frozen=True, kw_only=True)
class Swapping(Change):
    """Disjoint pairs drawn uniformly exchange their value (Dalenius and Reiss 1982).

    Half of the pairs of a column are no permuted block: a row shows its own value with chance
    1 − s + s(c − 1)/(n − 1), where a permuted block would show it with c/n.
    """

    name: ClassVar[str] = "swapping"
    title: ClassVar[str] = "Data swapping"
    summary: ClassVar[str] = (
        "Draws pairs of rows, from the whole table or within strata, that exchange their values "
        "of a column. Frequencies of values stay exact."
    )
    when: ClassVar[str] = (
        "Use it where single columns are tabulated and their counts must stay exact; never where "
        "columns are analysed together, since swapping weakens every link of the column, and with "
        "all rows swapped it turns the sign of correlations."
    )
    leaves: ClassVar[str] = (
        "It leaves every count of the column, every count within the strata, and the true value in "
        "each row that was not drawn."
    )
    formula: ClassVar[str] = (
        "m = ⌊s n/2⌋ disjoint pairs, drawn uniformly, exchange x; E cov' = cov (1 − s n/(n − 1))"
    )
    source: ClassVar[str] = "Dalenius and Reiss 1982, doi 10.1016/0378-3758(82)90058-1"
    effect: ClassVar[Effect] = Effect(draws=True)

    share: float = number(
        default=0.1,
        low=0.0,
        high=1.0,
        help="Share of the rows that take part in an exchange.",
        label="Share swapped",
        unit="share of rows",
    )
    strata: tuple[str, ...] = quasi_columns(
        help="Values are exchanged only between rows that are equal in these columns.",
        label="Within equal",
        empty="the whole table",
    )

    def asks_of(self) -> tuple[str, ...]:
        """Return the columns that strata are made of."""
        return self.strata

    def run(
        self, table: Dataset, columns: Sequence[str], roles: Roles, chance: Chance
    ) -> Mapping[str, Column]:
        """Return the columns after the exchange; missing values take no part."""
        if not 0 < self.share <= 1:
            raise BadPlan(
                f"A share of {self.share:g} swaps nothing.",
                remedy="Use a share above 0, up to 1.",
            )
        if inside := [n for n in columns if n in self.strata]:
            raise BadPlan(
                f"'{inside[0]}' would be swapped within rows that are equal in it, which changes "
                "nothing.",
                remedy="Take it out of the strata.",
            )
        share = Fraction(str(self.share))
        found: dict[str, Column] = {}
        for name in columns:
            column = table.column(name)
            present = column.codes >= 0
            refuse_constant(column, present)
            codes = column.codes.copy()
            # 1. Strata in the order in which their rows come by content.
            groups: dict[tuple[int, ...], list[int]] = {}
            by = [table.column(n).codes for n in self.strata]
            for row in in_order(chance.order, present).tolist():
                groups.setdefault(tuple(int(c[row]) for c in by), []).append(row)
            # 2. In each, a drawn order; its first 2m rows are m pairs.
            for rows in groups.values():
                pairs = math.floor(share * len(rows) / 2)
                drawn = np.array(rows)[chance.generator.permutation(len(rows))[: 2 * pairs]]
                one, other = drawn[0::2], drawn[1::2]
                codes[one], codes[other] = column.codes[other], column.codes[one]
            values = [*column.values, None]
            found[name] = by_row(column, [values[code] for code in codes.tolist()])
        return found
