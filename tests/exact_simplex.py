"""A linear program in fractions, by the plain simplex method: the twin of what audits tables."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def greatest(
    objective: Sequence[int], rows: Sequence[Sequence[int]], right: Sequence[int]
) -> Fraction | None:
    """Return max c·y where A·y = b and y ≥ 0, or None without an end; some y has to exist.

    Two phases over a dense tableau, with Bland's rule, so that it ends.
    """
    many = len(objective)
    table: list[list[Fraction]] = []
    for row, value in zip(rows, right, strict=True):
        sign = -1 if value < 0 else 1
        table.append([Fraction(sign * x) for x in (*row, value)])
    basis = [many + at for at in range(len(table))]
    for at, row in enumerate(table):
        row[many:many] = [Fraction(int(n == at)) for n in range(len(table))]
    costs = [Fraction(0)] * many + [Fraction(-1)] * len(table)
    _climb(table, basis, costs, many + len(table))
    assert all(row[-1] == 0 for row, at in zip(table, basis, strict=True) if at >= many)
    for at, row in enumerate(table):  # take what is left of the first phase out of the basis
        if basis[at] >= many:
            enter = next((n for n in range(many) if row[n]), None)
            if enter is not None:
                _pivot(table, basis, at, enter)
    ended = _climb(table, basis, [*map(Fraction, objective), *[Fraction(0)] * len(table)], many)
    if not ended:
        return None
    return sum(
        (objective[n] * row[-1] for row, n in zip(table, basis, strict=True) if n < many),
        Fraction(0),
    )


def _climb(
    table: list[list[Fraction]], basis: list[int], costs: list[Fraction], enterable: int
) -> bool:
    while True:
        prices = [costs[n] for n in basis]
        enter = next(
            (
                n
                for n in range(enterable)
                if n not in basis
                and costs[n] > sum(p * row[n] for p, row in zip(prices, table, strict=True))
            ),
            None,
        )
        if enter is None:
            return True
        ratios = [
            (row[-1] / row[enter], basis[at], at) for at, row in enumerate(table) if row[enter] > 0
        ]
        if not ratios:
            return False
        _pivot(table, basis, min(ratios)[2], enter)


def _pivot(table: list[list[Fraction]], basis: list[int], leave: int, enter: int) -> None:
    scale = table[leave][enter]
    table[leave] = [x / scale for x in table[leave]]
    for at, row in enumerate(table):
        if at != leave and row[enter]:
            factor = row[enter]
            table[at] = [x - factor * y for x, y in zip(row, table[leave], strict=True)]
    basis[leave] = enter
