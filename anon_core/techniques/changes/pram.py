"""Post-randomisation: categories redrawn by a matrix of chances, with or without known counts."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from anon_core.base.errors import BadPlan
from anon_core.base.params import choice, number, text
from anon_core.base.registry import register
from anon_core.contracts.change import Chance, Change, Effect
from anon_core.data.column import Column
from anon_core.data.roles.roles import Roles
from anon_core.data.table import Dataset
from anon_core.methods.changes.matrices import keeping, read_transition, refuse_unknown
from anon_core.methods.changes.numbers import by_row


@register("change")
@dataclass(frozen=True, kw_only=True)
class Pram(Change):
    """Each row publishes l for k with chance p_kl, independently (Gouweleeuw et al. 1998)."""

    name: ClassVar[str] = "pram"
    title: ClassVar[str] = "Post-randomisation (PRAM)"
    summary: ClassVar[str] = (
        "Replaces each category at random, with stated probabilities, so that counts can be "
        "estimated without bias from the published ones."
    )
    when: ClassVar[str] = (
        "Use it for categories whose counts are estimated with the matrix at hand; never with a "
        "matrix that keeps nearly everything where rare values matter, since a published rare "
        "value is then mostly true."
    )
    leaves: ClassVar[str] = (
        "It leaves the true value with the chance that Bayes' rule gives; with a stated matrix, "
        "readers correct counts by it."
    )
    formula: ClassVar[str] = (
        "P(x' = l | x = k) = p_kl; E t' = Pᵀ t, t̂ = P^(−T) t'; invariant: R = P Q, then "
        "a R + (1 − a) I, so that E t' = t"
    )
    source: ClassVar[str] = (
        "Gouweleeuw, Kooiman, Willenborg and de Wolf 1998, Post randomisation for statistical "
        "disclosure control"
    )
    effect: ClassVar[Effect] = Effect(draws=True)

    matrix: str = text(
        default="",
        help="A line for each category, such as 'yes: 4/5, 1/5', columns in the same order. A line "
        "that begins with a colon is the missing value's. Without it each value is kept with one "
        "chance.",
        label="Matrix of chances",
        empty="one chance for all",
        lines=True,
    )
    keep: float = number(
        default=0.8,
        low=0.0,
        high=1.0,
        help="Chance of keeping a value where no matrix is stated; all others are alike.",
        label="Chance to keep",
    )
    kind: str = choice(
        default="fixed",
        options={"fixed": "Fixed", "invariant": "Invariant: counts stay in expectation"},
        help="An invariant matrix is made from the table's own counts, and guarantees nothing.",
        label="Matrix",
    )
    mix: float = number(
        default=1.0,
        low=0.0,
        high=1.0,
        help="Share of the invariant matrix; the rest keeps every value.",
        label="a",
    )

    def run(
        self, table: Dataset, columns: Sequence[str], roles: Roles, chance: Chance
    ) -> Mapping[str, Column]:
        """Return the columns redrawn; a missing value is a category where the matrix has one."""
        if not 0 < self.mix <= 1:
            raise BadPlan(f"A share of {self.mix:g} redraws nothing.", remedy="Use one above 0.")
        found: dict[str, Column] = {}
        for name in columns:
            column = table.column(name)
            texts = ["" if code < 0 else column.values[code] for code in column.codes.tolist()]
            counts = Counter(texts)
            if self.matrix.strip():
                matrix = read_transition(self.matrix)
            else:
                matrix = keeping(sorted(counts), Fraction(str(self.keep)))
            refuse_unknown(matrix, counts, name)
            if self.kind == "invariant":
                own = [counts.get(category, 0) for category in matrix.categories]
                matrix = matrix.invariant(own, Fraction(str(self.mix)))
            if all(row[k] == 1 for k, row in enumerate(matrix.rows)):
                raise BadPlan(
                    f"The matrix keeps every value of '{name}', so it changes nothing.",
                    remedy="Lower the chance to keep a value.",
                )
            # Cumulated as fractions, so that chances are those of the matrix.
            upto = [
                np.array([float(c) for c in itertools.accumulate(row)][:-1]) for row in matrix.rows
            ]
            drawn = chance.generator.random(len(texts))
            place = {category: k for k, category in enumerate(matrix.categories)}
            cells: list[str | None] = [None] * len(texts)
            for row, lot in zip(chance.order.tolist(), drawn.tolist(), strict=True):
                at = int(np.searchsorted(upto[place[texts[row]]], lot, side="right"))
                cells[row] = matrix.categories[at] or None
            found[name] = by_row(column, cells)
        return found

    def guarantee(self) -> str:
        """Return the local differential privacy that a stated matrix gives."""
        if not self.matrix.strip() or self.kind != "fixed":
            return "Its matrix is made from the table, so it guarantees no ε."
        ratio = read_transition(self.matrix).ratio()
        if ratio is None:
            return "A chance of 0 in the matrix rules values out, so no ε holds."
        return (
            f"Fixed without the data, the matrix gives local differential privacy of the column "
            f"with e^ε = {ratio}; several columns and rows of a person multiply."
        )
