"""When a search stopped: what is public of the way in which a release was chosen.

A technique states it with the release. It follows from the technique's name and parameters, which
are published with the release, and says of the table only what the release shows: an attacker who
knows the algorithm reasons from it which tables would have been released like that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
import numpy.typing as npt

#: What a technique publishes of a table with these quasi-identifiers, given as leaf numbers of
#: shape (rows, quasi): classes with their sizes, to be compared with `Boxes.shown`; None where it
#: publishes nothing.
Replay = Callable[[npt.NDArray[np.int32]], object]
#: What choices of levels cost in a table with these distinct quasi-identifiers and their rows.
Costs = Callable[[npt.NDArray[np.int32], npt.NDArray[np.int64]], Callable[[tuple[int, ...]], float]]


@dataclass(frozen=True, kw_only=True, eq=False)
class StopRule:
    """What every class had to keep when it was decided whether to go on.

    Attributes
    ----------
    least : int
        Rows every class needs.
    rows : int
        Rows of the table, those included that were removed.
    distinct : mapping of str to int
        Different values of a sensitive column that every class needs.
    share : mapping of str to int
        l of a sensitive column of which no value may fill more than 1/l of a class.
    bounds : tuple of (int, int)
        The lowest and highest level of each quasi-identifier, where these were bounded; else empty.
    again : callable, or None
        The technique itself, for tables small enough to be tried one by one; see `Replay`. None
        where sensitive values or chance have a part in what it does.
    """

    least: int
    rows: int
    distinct: Mapping[str, int] = field(default_factory=dict[str, int])
    share: Mapping[str, int] = field(default_factory=dict[str, int])
    bounds: tuple[tuple[int, int], ...] = ()
    again: Replay | None = field(default=None, repr=False)

    @property
    def sizes_alone(self) -> bool:
        """Whether nothing but the sizes of classes decided."""
        return not self.distinct and not self.share

    def bounds_of(self, heights: Sequence[int]) -> tuple[tuple[int, int], ...]:
        """Return the lowest and highest levels to choose from, given the hierarchies' heights."""
        return self.bounds or tuple((0, height) for height in heights)

    def choices(self, heights: Sequence[int]) -> Iterator[tuple[int, ...]]:
        """Return every choice of levels, given the hierarchies' heights."""
        return product(*(range(low, high + 1) for low, high in self.bounds_of(heights)))


@dataclass(frozen=True, kw_only=True, eq=False)
class CheapestLevels(StopRule):
    """One level a column, no row removed: all choices that come before it break a privacy model.

    Attributes
    ----------
    levels : tuple of int
        Level of every quasi-identifier.
    prices : tuple of float64 arrays of shape (levels, leaves), or None
        What a value's cell costs at each level, by quasi-identifier: choices are ordered by the sum
        over all rows, then by the sum of levels, then by the levels. None where prices depend on
        the table: without it one knows only that a choice below another one is never dearer.
    costs : callable
        The same order for an attacker who knows everyone's quasi-identifiers; see `Costs`.
    """

    levels: tuple[int, ...]
    prices: tuple[npt.NDArray[np.float64], ...] | None = None
    costs: Costs = field(repr=False)


@dataclass(frozen=True, kw_only=True, eq=False)
class RaisedLevels(StopRule):
    """Levels were raised one at a time until few enough rows were left over, which were removed.

    The column of most distinct values was raised, of those below their top; among equals the first.

    Attributes
    ----------
    levels : tuple of int
        Level of every quasi-identifier at the end.
    budget : int
        Rows that could be removed.
    """

    levels: tuple[int, ...]
    budget: int


@dataclass(frozen=True, kw_only=True, eq=False)
class UncutClasses(StopRule):
    """No class could be cut any further in any column, so that all its parts keep the models.

    Cells are as narrow as the values they represent: a range ends with values of its rows, a group
    of the hierarchy is the smallest one that holds them.

    Attributes
    ----------
    cut : tuple of {'median', 'children', 'apart', 'anywhere'}
        How each quasi-identifier would have been cut: at the lower median, up to it, or below it
        where ties leave too little above; into the children of the smallest group; by any one group
        except for the rest; or at any place.
    by_node : tuple of bool
        Whether each is published in groups of the hierarchy, and not in ranges.
    marginal : bool
        Whether everything that was decided on the way hung on each column by itself, so that rows
        of a class could exchange their values in a column and nothing else would have come of it.
    positions, weights : tuples
        Of median cuts, where each leaf is, and a factor, by quasi-identifier: the column in
        which a part is widest is tried first, of equal ones the first.
    """

    cut: tuple[str, ...]
    by_node: tuple[bool, ...]
    marginal: bool = False
    positions: tuple[npt.NDArray[np.float64], ...] = ()
    weights: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class MinimalRows(StopRule):
    """No row can be published in more detail: whatever else said less of no row would break k.

    Cells are groups of the hierarchy, chosen row by row, and no row was removed.
    """
