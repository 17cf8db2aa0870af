"""The equations behind a permuted release: how many people of each type each bucket holds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import I64
from anon_core.base.errors import BadInput


@dataclass(frozen=True, kw_only=True, eq=False)
class System:
    """Whole numbers x with lower ≤ x ≤ upper whose sums over rows are what was published.

    A variable is a type of people (a distinct combination of public values) in one bucket; a row
    is one published value of one link block of one bucket: the people who have it add up to how
    often it was published.

    Attributes
    ----------
    rows : int32 array of shape (variables, width)
        Rows each variable adds to, -1 where it adds to fewer than `width`.
    total : int64 array of shape (rows,)
        What each row adds up to.
    lower, upper : int64 arrays of shape (variables,)
    people : int64 array of shape (variables,)
        Public people of the variable's type.
    shared : bool array of shape (variables,)
        Whether the type's people are divided over several variables. Then x of them are chosen
        in proportion to 1/x!, else in C(people, x) ways.
    """

    rows: npt.NDArray[np.int32]
    total: I64
    lower: I64
    upper: I64
    people: I64
    shared: npt.NDArray[np.bool_]

    def __post_init__(self) -> None:
        """Check that the arrays belong together."""
        n = len(self.rows)
        if not (len(self.lower) == len(self.upper) == len(self.people) == len(self.shared) == n):
            raise BadInput(
                "The arrays of a membership problem differ in length.",
                remedy="Give every type its codes, its bounds and its number of people.",
            )

    @property
    def variables(self) -> int:
        """Number of variables."""
        return len(self.rows)

    @cached_property
    def _entries(self) -> tuple[I64, npt.NDArray[np.int32]]:
        """Every variable that adds to a row, and the row, shape (entries,) each."""
        variable, column = np.nonzero(self.rows >= 0)
        return variable, self.rows[variable, column]

    def sums(self, x: I64) -> I64:
        """Return what every row adds up to under `x`, shape (rows,)."""
        variable, row = self._entries
        return np.bincount(row, x[variable], len(self.total)).astype(np.int64)

    def solves(self, x: I64) -> bool:
        """Say, in whole numbers, whether `x` is a solution."""
        return bool(
            np.all(x >= self.lower)
            and np.all(x <= self.upper)
            and np.array_equal(self.sums(x), self.total)
        )

    def part(self, chosen: I64, fixed: I64) -> System:
        """Return the system of the variables `chosen`, all others held at `fixed`.

        Parameters
        ----------
        chosen : int64 array of shape (chosen,)
        fixed : int64 array of shape (variables,)
            Values of the others; entries at `chosen` are ignored.
        """
        rest = fixed.copy()
        rest[chosen] = 0
        touched, local = np.unique(self.rows[chosen], return_inverse=True)
        shift = 1 if len(touched) and touched[0] < 0 else 0
        left = self.total - self.sums(rest)
        return System(
            rows=(local.reshape(self.rows[chosen].shape) - shift).astype(np.int32),
            total=left[touched[shift:]],
            lower=self.lower[chosen],
            upper=self.upper[chosen],
            people=self.people[chosen],
            shared=self.shared[chosen],
        )

    def bounded(self, lower: I64, upper: I64) -> System:
        """Return the same system under other bounds."""
        return replace(self, lower=lower, upper=upper)


@dataclass(frozen=True, kw_only=True, eq=False)
class Ranges:
    """What is known of every variable: proven bounds, and the extremes some solution shows.

    Attributes
    ----------
    lower, upper : int64 arrays of shape (variables,)
        No solution lies outside.
    seen_low, seen_high : int64 arrays of shape (variables,)
        Some solution goes down and some goes up to here; before any solution is known,
        `seen_low` lies above `upper` and `seen_high` below `lower`.
    infeasible : bool array of shape (variables,)
        The variable is in equations that no choice of public people meets.
    """

    lower: I64
    upper: I64
    seen_low: I64
    seen_high: I64
    infeasible: npt.NDArray[np.bool_]
