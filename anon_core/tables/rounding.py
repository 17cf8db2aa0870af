"""Rounding of counts to a base: at random, controlled so that totals add up, or small cells alone.

Hundepool et al., Handbook on Statistical Disclosure Control, 2nd ed., ch. 5. Chance comes from a
secret and the rows of a cell, so the same cell is always rounded the same way.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, cast

import numpy as np
from scipy.optimize import Bounds as Box
from scipy.optimize import LinearConstraint, milp
from scipy.sparse import csr_array

from anon_core.base.errors import BadPlan, Infeasible, NotFound, brief
from anon_core.tables.system import Bounds, Number, System


class Program:
    """The rows of an integer program over the net changes, or multiples, of a table's cells.

    Column n is of the n-th distinct cell, column n + `many` of how far it moves; cells that are
    always equal are one.
    """

    def __init__(self, system: System) -> None:
        self.firsts = sorted(set(system.same))
        self.at = {cell: n for n, cell in enumerate(self.firsts)}
        self.many = len(self.firsts)
        #: How many cells of the table each one is.
        self.weight = [0] * self.many
        for first in system.same:
            self.weight[self.at[first]] += 1
        self._rows, self._columns = list[int](), list[int]()
        self._entries = list[float]()
        self._least, self._most = list[float](), list[float]()
        for relation in system.distinct:
            parts = [(self.at[relation.parent], -1), *((self.at[c], 1) for c in relation.children)]
            self.row(parts, 0, 0)

    def row(self, parts: Sequence[tuple[int, float]], low: float, high: float) -> None:
        """Let a sum of columns lie between two numbers."""
        for column, entry in parts:
            self._rows.append(len(self._least))
            self._columns.append(column)
            self._entries.append(entry)
        self._least.append(low)
        self._most.append(high)

    def moves(self, n: int, unit: int = 1, start: int = 0) -> None:
        """Let a cell's second column be no less than |unit · first − start|."""
        self.row([(n, unit), (self.many + n, -1)], -np.inf, start)
        self.row([(n, -unit), (self.many + n, -1)], -np.inf, -start)

    def constraint(self, width: int) -> LinearConstraint:
        """Return all rows, of so many columns."""
        shape = (len(self._least), width)
        matrix = csr_array((self._entries, (self._rows, self._columns)), shape=shape, dtype=float)
        return LinearConstraint(cast(Any, matrix), self._least, self._most)


def refuse_base(base: object) -> int:
    """Return a base that rounds.

    Raises
    ------
    BadPlan
    """
    if isinstance(base, bool) or not isinstance(base, int) or base < 2:
        raise BadPlan(
            f"The base is {brief(base)}; allowed are whole numbers from 2 up.",
            remedy="Use base = 3 or base = 5.",
        )
    return base


def conventional(value: int, base: int) -> int:
    """Return the nearest multiple: weak, since it is no secret which way a value went.

    Examples
    --------
    >>> [conventional(v, 5) for v in (1, 3, 12, 32, 39)]
    [0, 5, 10, 30, 40]
    """
    whole, rest = divmod(value, base)
    return base * (whole + (2 * rest >= base))


def chances(value: int, base: int) -> dict[int, Fraction]:
    """Return what random rounding publishes, each with its chance: on average the value itself.

    Examples
    --------
    >>> chances(7, 5)
    {5: Fraction(3, 5), 10: Fraction(2, 5)}
    """
    whole, rest = divmod(value, refuse_base(base))
    if not rest:
        return {value: Fraction(1)}
    up = Fraction(rest, base)
    return {whole * base: 1 - up, (whole + 1) * base: up}


def cell_chance(secret: int, rows: Sequence[int]) -> Fraction:
    """Return a number in [0, 1) that depends on the secret and the set of a cell's rows alone."""
    digest = hashlib.blake2b(key=hashlib.sha256(str(secret).encode()).digest(), digest_size=16)
    for row in sorted(rows):
        digest.update(row.to_bytes(8, "big"))
    return Fraction(int.from_bytes(digest.digest(), "big"), 2**128)


def random_rounding(value: int, base: int, chance: Fraction) -> int:
    """Round up where chance falls below r/b, else down."""
    whole, rest = divmod(value, refuse_base(base))
    return base * (whole + (chance < Fraction(rest, base)))


def small_cells(system: System, base: int, draws: Sequence[Fraction]) -> tuple[int, ...]:
    """Round inner cells of 1 to base − 1 to 0 or base, and add all totals up again."""
    refuse_base(base)
    totals = {relation.parent for relation in system.relations}
    found = [
        random_rounding(int(v), base, draws[cell]) if 0 < v < base else int(v)
        for cell, v in enumerate(system.values)
    ]
    below: dict[int, tuple[int, ...]] = {}
    for relation in system.relations:
        below.setdefault(relation.parent, relation.children)

    done = [cell not in totals for cell in range(len(found))]

    def added(cell: int) -> int:
        if not done[cell]:
            found[cell] = sum(added(child) for child in below[cell])
            done[cell] = True
        return found[cell]

    for cell in totals:
        added(cell)
    return tuple(found)


def controlled(
    system: System, base: int, *, steps: int = 0, seconds: float = 60
) -> tuple[tuple[int, ...], int]:
    """Round every cell to a neighbouring multiple so that all sums hold, as near as possible.

    Parameters
    ----------
    steps : int
        How many multiples beyond the two neighbours are allowed where needed.

    Returns
    -------
    values : tuple of int
    bound : int
        No such table is nearer, in the sum of changes of all cells.

    Raises
    ------
    Infeasible
        If there is no such table: beyond two ways one need not exist.
    NotFound
        If time ran out before one was found.
    """
    refuse_base(base)
    program = Program(system)
    many = program.many
    values = [int(system.values[cell]) for cell in program.firsts]
    low = [max(0, v // base - steps) for v in values]
    high = [-(-v // base) + steps for v in values]
    # y is the multiple, d no less than |y·base − a|.
    for n, value in enumerate(values):
        program.moves(n, base, value)
    begun = time.monotonic()
    found = milp(
        np.array([0] * many + program.weight, dtype=float),
        constraints=program.constraint(2 * many),
        bounds=Box([*map(float, low), *[0.0] * many], [*map(float, high), *[np.inf] * many]),
        integrality=np.array([1] * many + [0] * many),
        options={"time_limit": seconds, "mip_rel_gap": 0.0},
    )
    if found.x is None:
        if found.status == 2:
            raise Infeasible(
                f"No table of multiples of {base} within {steps} steps adds up.",
                remedy="Allow one more step (steps), or use a larger base.",
            )
        raise NotFound(
            f"No rounded table was found in {time.monotonic() - begun:.0f} s.",
            remedy="Give it more seconds, or allow more steps.",
        )
    rounded = [base * round(float(y)) for y in found.x[:many]]
    whole = tuple(rounded[program.at[first]] for first in system.same)
    System(names=system.names, values=whole, relations=system.relations)  # refuses what is no sum
    distance = sum(abs(z - int(v)) for z, v in zip(whole, system.values, strict=True))
    return whole, min(distance, int(np.ceil(float(found.mip_dual_bound) - 1e-6)))


def known_of_rounded(published: Sequence[int], base: int, steps: int = 0) -> list[tuple[int, int]]:
    """Return what a reader knows of each value that was rounded so, by itself.

    Examples
    --------
    >>> known_of_rounded([0, 5, 15], 5), known_of_rounded([5], 5, 1)
    ([(0, 4), (1, 9), (11, 19)], [(0, 14)])
    """
    reach = (steps + 1) * base - 1
    return [(max(0, z - reach), z + reach) for z in published]


def bounds_of_rounded(published: Sequence[int], base: int, steps: int = 0) -> Bounds:
    """Return the same as limits, for an audit in which no cell is printed as it is."""
    known = known_of_rounded(published, base, steps)
    lower: tuple[Number, ...] = tuple(low for low, _ in known)
    return Bounds(lower=lower, upper=tuple(high for _, high in known))


def bounds_of_noise(published: Sequence[int], most: int) -> Bounds:
    """Return what a reader knows of counts that were each changed by no more than a number.

    Examples
    --------
    >>> bounds_of_noise([2, 9], 2)
    Bounds(lower=(0, 7), upper=(4, 11))
    """
    lower: tuple[Number, ...] = tuple(max(0, z - most) for z in published)
    return Bounds(lower=lower, upper=tuple(z + most for z in published))


def bounds_of_small_cells(system: System, published: Sequence[int], base: int) -> Bounds:
    """Return what a reader knows of inner cells of which those below the base were rounded.

    Totals are added up afterwards, and say nothing by themselves.
    """
    totals = {relation.parent for relation in system.relations}
    lower: list[Number | None] = []
    upper: list[Number | None] = []
    for cell, z in enumerate(published):
        rounded = z in (0, base)
        lower.append(0 if cell in totals else min(1, z) if rounded else z)
        upper.append(None if cell in totals else max(z, base - 1) if rounded else z)
    return Bounds(lower=tuple(lower), upper=tuple(upper))
