"""Transition matrices of post-randomisation: read as fractions, and what follows from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from anon_core.base.errors import BadPlan, clipped, listing

Row = tuple[Fraction, ...]


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


def read_transition(text: str) -> Transition:
    """Read a matrix: a line for each category, ``category: 4/5, 1/5``, columns in the same order.

    Raises
    ------
    BadPlan
        If it is no square, a chance is negative, or a row does not sum to 1 exactly.
    """
    names: list[str] = []
    rows: list[Row] = []
    for line in text.splitlines():
        if not line.strip():
            continue
        name, mark, number = line.rpartition(":")
        try:
            row = tuple(Fraction(part.strip()) for part in number.replace(";", ",").split(","))
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
