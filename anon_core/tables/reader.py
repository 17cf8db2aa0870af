"""What a reader works out of what is published: the least and greatest value of every cell.

A linear program gives two things, and both are checked in fractions: a table that the reader cannot
rule out (a witness), and multipliers that add the published sums up to a bound (a proof). Where
both agree the value is exact; where they do not, what is proven is said.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog
from scipy.sparse import csc_array

from anon_core.base.concurrency import solved
from anon_core.base.context import Context
from anon_core.tables.system import Bounds, Number, System

#: Denominators that values and multipliers of a corner are tried with.
_DENOMINATORS = (1, 12, 1_000, 100_000)
#: Cells from which on a program takes so long that it has to be one that can be stopped.
_LARGE = 1_000
#: Corners of a branch and bound for whole numbers that are looked at before it is left open.
_MOST_BRANCHES = 400
#: Programs whose answers are kept, so that nobody asks twice.
_KEPT = 5_000
#: Cells of a program that is small: the time goes into its making, and not into its solution.
SMALL = 200


@dataclass(frozen=True, kw_only=True)
class Side:
    """How far one cell can go in one direction from its true value.

    Attributes
    ----------
    reached : int or Fraction
        What a witness reaches.
    proven : int, Fraction or None
        What no table exceeds; None: no proof of a limit.
    endless : bool
        Whether there is proof that there is no limit.
    witness : mapping of int to int or Fraction
        How the table that reaches it differs from the true one, by cell.
    """

    reached: Number
    proven: Number | None
    endless: bool
    witness: Mapping[int, Number]

    @property
    def exact(self) -> bool:
        """Whether what is reached is the limit."""
        return self.endless or self.reached == self.proven


class Reader:
    """A reader of the published cells who knows the sums, and limits of the other cells.

    Parameters
    ----------
    suppressed : iterable of int
        Cells that are not published; cells that are the same are all published if one is.
    bounds : Bounds
        What the reader knows beforehand.
    context : Context, optional
        Whose stop ends a large program; its deadline leaves it unproven.
    """

    def __init__(
        self,
        system: System,
        suppressed: Iterable[int],
        bounds: Bounds,
        *,
        context: Context | None = None,
    ) -> None:
        self.system, self.context = system, context
        hidden = frozenset(suppressed)
        open_ones = {system.same[c] for c in range(len(system.names)) if c not in hidden}
        self.hidden = sorted({system.same[c] for c in hidden} - open_ones)
        self.lower: dict[int, Number | None] = {}
        self.upper: dict[int, Number | None] = {}
        for cell in self.hidden:
            self.lower[cell], self.upper[cell] = None, None
        inside = set(self.hidden)
        for cell in hidden:  # what is known of one of several same cells is known of all
            first = system.same[cell]
            if first in inside:
                value = system.values[cell]
                low, high = bounds.lower[cell], bounds.upper[cell]
                if low is not None:
                    old = self.lower[first]
                    self.lower[first] = low - value if old is None else max(old, low - value)
                if high is not None:
                    old = self.upper[first]
                    self.upper[first] = high - value if old is None else min(old, high - value)
        self._sums: list[tuple[int, list[tuple[int, int]]]] = []
        part_of: dict[int, list[int]] = {cell: [] for cell in self.hidden}
        for number, relation in enumerate(system.distinct):
            row = [(c, 1) for c in relation.children if c in inside]
            if relation.parent in inside:
                row.append((relation.parent, -1))
            if row:
                for cell, _ in row:
                    part_of[cell].append(len(self._sums))
                self._sums.append((number, row))
        self._part = self._split(part_of)
        self._solvers: dict[int, _Component] = {}

    def _split(self, part_of: Mapping[int, Sequence[int]]) -> dict[int, int]:
        """Return which part of the system each cell is in: parts know nothing of each other."""
        found: dict[int, int] = {}
        for start in self.hidden:
            if start in found:
                continue
            stack, found[start] = [start], start
            while stack:
                for at in part_of[stack.pop()]:
                    for cell, _ in self._sums[at][1]:
                        if cell not in found:
                            found[cell] = start
                            stack.append(cell)
        return found

    def part(self, cell: int) -> _Component:
        """Return the part of the system that a suppressed cell is in."""
        key = self._part[self.system.same[cell]]
        if key not in self._solvers:
            cells = [c for c in self.hidden if self._part[c] == key]
            rows = [(n, row) for n, row in self._sums if self._part[row[0][0]] == key]
            self._solvers[key] = _Component(
                cells, rows, self.lower, self.upper, self.context, self.system.answers
            )
        return self._solvers[key]

    def hides(self, cell: int) -> bool:
        """Return whether a cell is not printed anywhere."""
        return self.system.same[cell] in self._part

    def side(
        self,
        cell: int,
        sign: int,
        *,
        whole: bool = False,
        own: tuple[Number | None, Number | None] | None = None,
    ) -> Side:
        """Return how far a cell can go up (1) or down (-1) from its value.

        Parameters
        ----------
        sign : {1, -1}
        whole : bool
            Whether the reader knows that all values are whole numbers.
        own : pair of int, Fraction or None, optional
            Least and greatest change of this cell, where they are other than the reader's limits.
        """
        if not self.hides(cell):
            return Side(reached=0, proven=0, endless=False, witness={})
        first = self.system.same[cell]
        part = self.part(cell)
        return part.whole_side(first, sign) if whole else part.side(first, sign, own)

    def allows(self, witness: Mapping[int, Number]) -> bool:
        """Return whether a table that keeps every sum is one that this reader cannot rule out.

        Parameters
        ----------
        witness : mapping of int to int or Fraction
            As that of a `Side` of another reader who sees the same suppressed cells.
        """
        for cell, change in witness.items():
            low, high = self.lower[cell], self.upper[cell]
            if (low is not None and change < low) or (high is not None and change > high):
                return False
        return True

    def allows_without_end(self, witness: Mapping[int, Number]) -> bool:
        """Return whether this reader has no limit in a direction that keeps every sum."""
        return not any(
            (self.lower[cell] is not None and change < 0)
            or (self.upper[cell] is not None and change > 0)
            for cell, change in witness.items()
        )

    def multipliers(self, cell: int, sign: int) -> dict[int, Number]:
        """Return how often each distinct sum of the system is taken for the bound of a cell."""
        return self.part(cell).multipliers(self.system.same[cell], sign)

    def values(self, witness: Mapping[int, Number]) -> dict[int, Number]:
        """Return all suppressed values of the table that a witness describes."""
        values = self.system.values
        return {
            cell: values[cell] + witness.get(self.system.same[cell], 0)
            for cell in self.system.closed(self.hidden)
        }


class _Component:
    """Suppressed cells that sums tie together, as a linear program in their changes."""

    def __init__(
        self,
        cells: Sequence[int],
        rows: Sequence[tuple[int, list[tuple[int, int]]]],
        lower: Mapping[int, Number | None],
        upper: Mapping[int, Number | None],
        context: Context | None,
        answers: dict[Any, Any],
    ) -> None:
        self.context = context if len(cells) > _LARGE else None
        self.answers = answers
        self.cells = list(cells)
        self.at = {cell: n for n, cell in enumerate(self.cells)}
        self.rows = [[(self.at[c], sign) for c, sign in row] for _, row in rows]
        #: Numbers of the system's distinct sums, by row.
        self.sums = [number for number, _ in rows]
        self.lower = [lower[c] for c in self.cells]
        self.upper = [upper[c] for c in self.cells]
        entries = [(r, c, float(sign)) for r, row in enumerate(self.rows) for c, sign in row]
        matrix = csc_array(
            (
                [e[2] for e in entries],
                ([e[0] for e in entries], [e[1] for e in entries]),
            ),
            shape=(len(self.rows), len(self.cells)),
        )
        #: Of few cells, the time goes into taking sparse arrays to pieces.
        self.matrix: Any = matrix.toarray() if len(self.cells) <= SMALL else matrix

    def side(
        self, cell: int, sign: int, own: tuple[Number | None, Number | None] | None = None
    ) -> Side:
        """Return how far a cell can go, proven in fractions; see `Reader.side`."""
        k = self.at[cell]
        if own is None:
            return self._solve(k, sign, self.lower, self.upper)
        lower, upper = list(self.lower), list(self.upper)
        lower[k], upper[k] = own
        return self._solve(k, sign, lower, upper)

    def _solve(
        self,
        k: int,
        sign: int,
        lower: Sequence[Number | None],
        upper: Sequence[Number | None],
        start: Sequence[Number] | None = None,
    ) -> Side:
        low, high = lower[k], upper[k]
        limit = high if sign > 0 else (None if low is None else -low)
        if not self.rows:
            if limit is None:
                return Side(reached=0, proven=None, endless=True, witness={self.cells[k]: sign})
            return Side(
                reached=limit, proven=limit, endless=False, witness={self.cells[k]: sign * limit}
            )
        found = self._program(k, sign, lower, upper)
        if found is None:
            return self._endless(k, sign, lower, upper, limit)
        changes, multipliers = found
        exact = self.corner(changes, lower, upper)
        witness = dict(zip(self.cells, exact, strict=True)) if exact is not None else {}
        reached = sign * exact[k] if exact is not None else 0
        proven = self.bound(k, sign, multipliers, lower, upper, reached)
        if limit is not None:
            proven = limit if proven is None else min(proven, limit)
        return Side(reached=reached, proven=proven, endless=False, witness=witness)

    def _program(
        self, k: int, sign: int, lower: Sequence[Number | None], upper: Sequence[Number | None]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]] | None:
        """Return the changes at a corner and the multipliers of its sums; None without an end.

        Its sums follow from its cells, so that these and their limits are the whole program.
        """
        if len(self.cells) > SMALL:
            return self._answered(k, sign, lower, upper)
        asked = (k, sign, tuple(self.cells), tuple(lower), tuple(upper))
        if asked in self.answers:
            return self.answers[asked]
        found = self._answered(k, sign, lower, upper)
        if len(self.answers) < _KEPT:
            self.answers[asked] = found
        return found

    def _answered(
        self, k: int, sign: int, lower: Sequence[Number | None], upper: Sequence[Number | None]
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]] | None:
        cost = np.zeros(len(self.cells))
        cost[k] = -sign
        limits = [
            (-np.inf if lo is None else float(lo), np.inf if hi is None else float(hi))
            for lo, hi in zip(lower, upper, strict=True)
        ]
        program: dict[str, Any] = {
            "c": cost,
            "A_eq": self.matrix,
            "b_eq": np.zeros(len(self.rows)),
            "bounds": limits,
        }
        if self.context is None:
            found: Any = linprog(**program, method="highs")
        else:
            found = solved("linprog", self.context, **program)
        if found is None:
            return np.zeros(len(self.cells)), np.zeros(len(self.rows))
        if found.status == 0:
            return np.asarray(found.x), -np.asarray(found.eqlin.marginals)
        if found.status == 3:
            return None
        return np.zeros(len(self.cells)), np.zeros(len(self.rows))  # nothing proven

    def multipliers(self, cell: int, sign: int) -> dict[int, Number]:
        """Return the multipliers of the sums that bound a cell, rounded."""
        found = self._program(self.at[cell], sign, self.lower, self.upper) if self.rows else None
        if found is None:
            return {}
        return {
            number: t
            for number, value in zip(self.sums, found[1], strict=True)
            if (t := as_fraction(float(value), 12))
        }

    def corner(
        self,
        changes: npt.NDArray[np.float64],
        lower: Sequence[Number | None],
        upper: Sequence[Number | None],
    ) -> list[Number] | None:
        """Return changes as fractions that keep every sum and limit exactly, or none."""
        for most in _DENOMINATORS:
            exact = [as_fraction(float(x), most) for x in changes]
            if self._keeps(exact, lower, upper):
                return exact
        return None

    def _keeps(
        self,
        exact: Sequence[Number],
        lower: Sequence[Number | None],
        upper: Sequence[Number | None],
    ) -> bool:
        return all(
            (lo is None or x >= lo) and (hi is None or x <= hi)
            for x, lo, hi in zip(exact, lower, upper, strict=True)
        ) and all(sum(sign * exact[c] for c, sign in row) == 0 for row in self.rows)

    def bound(
        self,
        k: int,
        sign: int,
        multipliers: npt.NDArray[np.float64],
        lower: Sequence[Number | None],
        upper: Sequence[Number | None],
        reached: Number,
    ) -> Number | None:
        """Return what the sums, added up with these multipliers, prove of a cell; None: nothing.

        Any multipliers prove something, so rounding them is no error.
        """
        best: Number | None = None
        for most in _DENOMINATORS:
            exact = [as_fraction(float(t), most) for t in multipliers]
            total: Number | None = 0
            for gain, lo, hi in zip(self.gains(k, sign, exact), lower, upper, strict=True):
                if not gain:
                    continue
                end = hi if gain > 0 else lo
                if end is None:
                    total = None
                    break
                total += gain * end
            if total is not None:
                best = total if best is None else min(best, total)
                if best == reached:
                    break
        return best

    def gains(self, k: int, sign: int, multipliers: Sequence[Number]) -> list[Number]:
        """Return what is left of the objective after the sums are taken off it: e_k − Aᵗt."""
        found: list[Number] = [0] * len(self.cells)
        found[k] = sign
        for t, row in zip(multipliers, self.rows, strict=True):
            if t:
                for c, s in row:
                    found[c] -= t * s
        return found

    def _endless(
        self,
        k: int,
        sign: int,
        lower: Sequence[Number | None],
        upper: Sequence[Number | None],
        limit: Number | None,
    ) -> Side:
        """Prove that there is no limit by a direction that leads on for ever."""
        low: list[Number | None] = [-1 if lo is None else 0 for lo in lower]
        high: list[Number | None] = [1 if hi is None else 0 for hi in upper]
        found = self._program(k, sign, low, high)
        exact = self.corner(found[0], low, high) if found is not None else None
        if exact is None or sign * exact[k] <= 0:
            return Side(reached=0, proven=limit, endless=False, witness={})
        return Side(
            reached=0,
            proven=None,
            endless=True,
            witness=dict(zip(self.cells, exact, strict=True)),
        )

    def whole_side(self, cell: int, sign: int) -> Side:
        """Return how far a cell can go in whole numbers, by branch and bound with exact bounds."""
        k = self.at[cell]
        best = Side(reached=0, proven=0, endless=False, witness={})
        open_bound: Number | None = 0
        work: list[tuple[list[Number | None], list[Number | None]]] = [
            (list(self.lower), list(self.upper))
        ]
        looked = 0
        while work:
            lower, upper = work.pop()
            looked += 1
            side = self._solve(k, sign, lower, upper)
            if side.endless:
                return side
            bound = None if side.proven is None else math.floor(side.proven)
            if bound is not None and bound <= best.reached:
                continue
            broken = next(
                (c for c, x in side.witness.items() if Fraction(x).denominator != 1), None
            )
            if broken is None and side.witness and side.exact:
                best = side
                continue
            if broken is None or looked >= _MOST_BRANCHES:
                open_bound = None if bound is None or open_bound is None else max(open_bound, bound)
                continue
            at, value = self.at[broken], side.witness[broken]
            down, up = list(upper), list(lower)
            down[at], up[at] = math.floor(value), math.ceil(value)
            work += [(lower, down), (up, upper)]
        proven = None if open_bound is None else max(open_bound, best.reached)
        return Side(reached=best.reached, proven=proven, endless=False, witness=best.witness)


def as_fraction(value: float, most: int) -> Number:
    """Return the nearest number of a small denominator."""
    if most == 1 or abs(value - round(value)) < 1e-9:
        return round(value)
    return Fraction(value).limit_denominator(most)


def pieces(reader: Reader) -> Iterator[frozenset[int]]:
    """Yield the suppressed cells that sums tie together."""
    seen: set[int] = set()
    for cell in reader.hidden:
        if cell not in seen:
            piece = frozenset(reader.part(cell).cells)
            seen |= piece
            yield piece
