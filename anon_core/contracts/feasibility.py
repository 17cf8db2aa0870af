"""What a table itself allows a privacy model to ask, whatever technique forms the groups."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import Infeasible
from anon_core.base.terms import ROWS_SUPPRESSED
from anon_core.release.problem import Problem

_DIGITS = 4


@dataclass(frozen=True, kw_only=True)
class Allowed:
    """The values of a parameter beyond which no release of a table keeps a privacy model.

    What lies within need not be kept by a release of a given technique; what lies beyond cannot be
    kept by any that removes no more rows than was said.

    Attributes
    ----------
    column : str
        The sensitive column concerned; empty where it is none.
    low, high : float or None
        Ends of what is allowed; None where the table sets none.
    open : bool
        Whether the ends themselves are not allowed.
    """

    parameter: str
    column: str = ""
    low: float | None = None
    high: float | None = None
    open: bool = False


def value_rows(problem: Problem, column: str) -> npt.NDArray[np.int64]:
    """Return the rows of every value that occurs in a column; a missing one is none."""
    rows = problem.leaf_counts(column)
    missing = problem.hierarchies[column].missing_leaf
    if 0 <= missing < len(rows):
        rows[missing] = 0
    return rows[rows > 0]


def impossible(
    what: str, why: str, best: float, best_of: str, *, removable: int, remedy: str
) -> Infeasible:
    """Return the refusal of a privacy model that no release of a table keeps.

    Parameters
    ----------
    what : str
        The privacy model with its parameters and column.
    why : str
        What the table allows instead.
    removable : int
        Rows that a release may leave out.
    """
    also = f", also with {removable:,} {ROWS_SUPPRESSED}" if removable else ""
    return Infeasible(
        f"{what} is impossible for this table{also}: {why}.",
        remedy=remedy,
        best=best,
        best_of=best_of,
    )


def rounded(number: float, way: Literal["up", "down"]) -> float:
    """Return a number with a few digits, no less or no more than it is.

    Examples
    --------
    >>> rounded(1.7547653, "down"), rounded(6.15652, "up"), rounded(3.0, "down")
    (1.754, 6.157, 3.0)
    """
    if not number or not math.isfinite(number):
        return number
    places = _DIGITS - 1 - math.floor(math.log10(abs(number)))
    found = round(number, places)
    step = 10.0**-places
    if way == "down" and found > number:
        found -= step
    if way == "up" and found < number:
        found += step
    return round(found, places)
