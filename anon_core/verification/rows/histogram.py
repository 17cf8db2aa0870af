"""How often the classes of a release show the values of one column."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_core.verification.text.texts import Codes

#: What one class shows: how often each value; None is the missing value.
Counts = Mapping[Any, int]


@dataclass(frozen=True, kw_only=True, eq=False)
class Histogram:
    """How often each class shows each value; of each class only the values that it shows.

    Attributes
    ----------
    owner, value, count : int64 arrays of shape (entries,)
        The class, the value as an index into `values`, and how many of its rows show it; by class
        and then by value, ascending.
    values : tuple
        What each code means: a `Decimal`, a day's number or a text; None is the missing value,
        which is an entry like the others. Spellings of one number are one value.
    classes : int
        Number of classes; one may have no entry.
    """

    owner: Codes
    value: Codes
    count: Codes
    values: tuple[Hashable, ...]
    classes: int

    @cached_property
    def sizes(self) -> Codes:
        """Rows counted in each class, shape (classes,)."""
        return tally(self.owner, self.count, self.classes)

    @cached_property
    def distinct(self) -> Codes:
        """Distinct values in each class, shape (classes,)."""
        return np.bincount(self.owner, minlength=self.classes).astype(np.int64)

    @cached_property
    def most(self) -> Codes:
        """Rows of each class's most frequent value, shape (classes,); 0 where it has none."""
        found = np.zeros(self.classes, dtype=np.int64)
        np.maximum.at(found, self.owner, self.count)
        return found

    @cached_property
    def start(self) -> Codes:
        """Where each class's entries begin, shape (classes + 1,)."""
        return np.searchsorted(self.owner, np.arange(self.classes + 1)).astype(np.int64)

    @cached_property
    def known(self) -> Histogram:
        """The same without the missing value, for promises to which that is no value."""
        keep = np.array([value is not None for value in self.values], dtype=np.bool_)[self.value]
        return Histogram(
            owner=self.owner[keep],
            value=self.value[keep],
            count=self.count[keep],
            values=self.values,
            classes=self.classes,
        )

    def of(self, which: int) -> dict[Any, int]:
        """Return what one class shows."""
        own = slice(int(self.start[which]), int(self.start[which + 1]))
        pairs = zip(self.value[own].tolist(), self.count[own].tolist(), strict=True)
        return {self.values[value]: count for value, count in pairs}

    def each(
        self, rule: Callable[[Counts], tuple[bool, float]]
    ) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.float64]]:
        """Ask a rule about every class; classes that show the same are asked about once.

        Parameters
        ----------
        rule : callable
            Given what one class shows, it returns whether the class keeps the promise, and what it
            reaches. It decides in whole numbers or fractions; what it reaches is only told.

        Returns
        -------
        broken : bool array of shape (classes,)
        reached : float64 array of shape (classes,)
        """
        broken = np.zeros(self.classes, dtype=np.bool_)
        reached = np.zeros(self.classes, dtype=np.float64)
        asked: dict[bytes, tuple[bool, float]] = {}
        pairs = np.ascontiguousarray(np.stack([self.value, self.count], axis=1))
        ends = self.start.tolist()
        for which in range(self.classes):
            key = pairs[ends[which] : ends[which + 1]].tobytes()
            if key not in asked:
                asked[key] = rule(self.of(which))
            keeps, reached[which] = asked[key]
            broken[which] = not keeps
        return broken, reached


def tally(codes: Codes, count: Codes, size: int = 0) -> Codes:
    """Return how many rows each code has in all, shape (size or more,).

    Parameters
    ----------
    codes, count : int64 arrays of one shape
        Lines, and how many rows each stands for.
    """
    return np.bincount(codes, weights=count, minlength=size).astype(np.int64)
