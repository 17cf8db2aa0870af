"""Post-randomisation: categories redrawn by a matrix of chances, with or without known counts."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from anon_core.base.errors import BadPlan, clipped, listing
from anon_core.base.params import choice, number, text
from anon_core.base.registry import register
from anon_core.contracts.change import Chance, Change, Effect
from anon_core.data.column import Column
from anon_core.data.roles.roles import Roles
from anon_core.data.table import Dataset
from anon_core.methods.changes.numbers import by_row

Row = tuple[Fraction, ...]


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


@dataclass(frozen=True, kw_only=True)
class Transition:
    """Chances of publishing each category for each: rows are true values.

    Attributes
    ----------
    categories : tuple of str
        The empty text is the missing value.
    """

    categories: tuple[str, ...]
    rows: tuple[Row, ...]

    def ratio(self) -> Fraction | None:
        """Return the largest ratio of two chances of one published value; None if one is 0.

        It is e^ε of the column's local differential privacy.
        """
        most = Fraction(1)
        for column in zip(*self.rows, strict=True):
            if max(column) > 0:
                if min(column) == 0:
                    return None
                most = max(most, max(column) / min(column))
        return most

    def estimated(self, counts: Sequence[Fraction | int]) -> list[Fraction]:
        """Return the unbiased estimate of the true counts; it may be negative, and is not cut off.

        Raises
        ------
        BadPlan
            If the matrix is singular: then nothing can be estimated.
        """
        size = len(self.rows)
        lines = [
            [self.rows[k][i] for k in range(size)] + [Fraction(counts[i])] for i in range(size)
        ]
        for at in range(size):
            pivot = next((r for r in range(at, size) if lines[r][at] != 0), None)
            if pivot is None:
                raise BadPlan(
                    "The matrix is singular, so true counts cannot be estimated from published "
                    "ones.",
                    remedy="Keep every value with a chance above 1/2.",
                )
            lines[at], lines[pivot] = lines[pivot], lines[at]
            lines[at] = [value / lines[at][at] for value in lines[at]]
            for r in range(size):
                if r != at and lines[r][at] != 0:
                    lines[r] = [
                        a - lines[r][at] * b for a, b in zip(lines[r], lines[at], strict=True)
                    ]
        return [line[-1] for line in lines]

    def invariant(self, counts: Sequence[int], share: Fraction) -> Transition:
        """Return the matrix that leaves these counts as they are in expectation.

        R = P Q with Q_lk = P_kl t_k / Σ_j P_jl t_j, then a R + (1 − a) I.

        Parameters
        ----------
        counts : sequence of int
            True rows of each category.
        share : Fraction
            a, above 0 and at most 1.
        """
        size, p = len(self.rows), self.rows
        seen = [sum((p[j][i] * counts[j] for j in range(size)), Fraction(0)) for i in range(size)]
        back = [
            [
                p[k][i] * counts[k] / seen[i] if seen[i] else Fraction(int(i == k))
                for k in range(size)
            ]
            for i in range(size)
        ]
        made = [
            tuple(
                share * sum((p[k][i] * back[i][j] for i in range(size)), Fraction(0))
                + (1 - share) * (k == j)
                for j in range(size)
            )
            for k in range(size)
        ]
        return Transition(categories=self.categories, rows=tuple(made))

    def posterior(self, shares: Sequence[Fraction], published: int) -> list[Fraction]:
        """Return the chance of each true category where one is published."""
        joint = [s * row[published] for s, row in zip(shares, self.rows, strict=True)]
        return [one / sum(joint) for one in joint]


def read_transition(matrix: str) -> Transition:
    """Read a matrix: a line for each category, ``category: 4/5, 1/5``, columns in the same order.

    Raises
    ------
    BadPlan
        If it is no square, a chance is negative, or a row does not sum to 1 exactly.
    """
    names: list[str] = []
    rows: list[Row] = []
    for line in matrix.splitlines():
        if not line.strip():
            continue
        name, mark, chances = line.rpartition(":")
        try:
            row = tuple(Fraction(part.strip()) for part in chances.replace(";", ",").split(","))
        except (ValueError, ZeroDivisionError) as error:
            raise BadPlan(
                f"A line of the matrix reads {clipped(line.strip())!r}.",
                remedy="Write each as category: 4/5, 1/5 – fractions or decimals.",
            ) from error
        if not mark:
            raise BadPlan(
                "A line of the matrix names no category.", remedy="Write category: 4/5, 1/5."
            )
        if min(row) < 0:
            raise BadPlan(
                f"The row of '{name.strip()}' has a negative entry.", remedy="Use chances from 0."
            )
        if sum(row) != 1:
            raise BadPlan(
                f"The row of '{name.strip()}' sums to {sum(row)}.",
                remedy="Chances of a row sum to 1 exactly; fractions such as 1/3 do.",
            )
        names.append(name.strip())
        rows.append(row)
    if not rows or any(len(row) != len(rows) for row in rows):
        raise BadPlan(
            f"The matrix has {len(rows)} rows, and rows of "
            f"{listing(sorted({str(len(row)) for row in rows})) or 'no'} chances.",
            remedy="Give a line for each category, with a chance for each category.",
        )
    if len(set(names)) < len(names):
        raise BadPlan("The matrix names a category twice.", remedy="Name each once.")
    return Transition(categories=tuple(names), rows=tuple(rows))


def keeping(categories: Sequence[str], share: Fraction) -> Transition:
    """Return the matrix that keeps each value with a chance, and draws all others alike."""
    size = len(categories)
    other = (1 - share) / (size - 1) if size > 1 else Fraction(0)
    own = share if size > 1 else Fraction(1)
    rows = [tuple(own if i == k else other for i in range(size)) for k in range(size)]
    return Transition(categories=tuple(categories), rows=tuple(rows))


def refuse_unknown(transition: Transition, values: Mapping[str, int], column: str) -> None:
    """Refuse values of a column that the matrix has no row for.

    Raises
    ------
    BadPlan
    """
    gone = [value for value in values if value not in transition.categories]
    if gone:
        raise BadPlan(
            f"The matrix has no row for {listing(gone)} of '{column}'."
            if any(gone)
            else f"'{column}' misses values, and the matrix has no row for the missing value.",
            remedy="Add a line for each; that of the missing value begins with a colon.",
            values=gone[:5],
        )
