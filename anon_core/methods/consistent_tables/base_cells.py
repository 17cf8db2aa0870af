"""Base cells: the combinations of single values that rows of a class could have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import I64
from anon_core.contracts.stop_rules import shown
from anon_core.data.hierarchy import Hierarchy
from anon_core.release.release import View


@dataclass(frozen=True, kw_only=True, eq=False)
class Boxes:
    """The classes of a release as boxes of leaves.

    Attributes
    ----------
    lo, hi : int32 arrays of shape (classes, quasi)
        First and last leaf of each cell.
    size : int64 array of shape (classes,)
    shown : callable, or None
        Returns what is published of the classes, to be compared with what another table leads to;
        asked of small tables alone.
    """

    lo: npt.NDArray[np.int32]
    hi: npt.NDArray[np.int32]
    size: I64
    hierarchies: tuple[Hierarchy, ...]
    shown: Callable[[], object] | None = None

    def cells(self, number: int) -> float:
        """Return how many base cells a class has."""
        with np.errstate(over="ignore"):  # of many columns they are beyond any number
            return float(np.prod((self.hi[number] - self.lo[number] + 1).astype(np.float64)))

    def base(self, number: int) -> I64:
        """Return the base cells of a class, shape (cells, quasi), in lexicographic order."""
        lo, hi = self.lo[number].tolist(), self.hi[number].tolist()
        return combinations([range(a, b + 1) for a, b in zip(lo, hi, strict=True)])

    def everywhere(self) -> I64:
        """Return the base cells of the whole domain, shape (cells, quasi)."""
        return combinations([range(len(h.leaves)) for h in self.hierarchies])

    @property
    def domain(self) -> float:
        """How many base cells the whole domain has."""
        with np.errstate(over="ignore"):
            return float(np.prod([float(len(h.leaves)) for h in self.hierarchies]))


def combinations(ranges: Sequence[range]) -> I64:
    """Return all combinations, shape (combinations, ranges), the last one running fastest."""
    grid = np.meshgrid(*(np.array(r, dtype=np.int64) for r in ranges), indexing="ij")
    return np.stack([axis.ravel() for axis in grid], axis=1)


def boxes_of(view: View, hierarchies: Sequence[Hierarchy]) -> Boxes | None:
    """Return the classes as boxes; None where rows are not whole, or cells cover nothing for sure.

    Classes are in the order of `View.persons`.
    """
    block = view.whole_quasi()
    if block is None or view.averaged:
        return None
    persons = view.persons(block)
    place = [persons.columns.index(name) for name in view.quasi]
    ends = [
        (view.vocabularies[n].lo[persons.codes[:, p]], view.vocabularies[n].hi[persons.codes[:, p]])
        for n, p in zip(view.quasi, place, strict=True)
    ]
    return Boxes(
        lo=np.stack([lo for lo, _ in ends], axis=1),
        hi=np.stack([hi for _, hi in ends], axis=1),
        size=persons.sizes,
        hierarchies=tuple(hierarchies),
        shown=partial(shown, view),
    )
