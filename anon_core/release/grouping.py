"""Which rows are together: keys of the frequency set → classes → groups."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from anon_core.data.frequency import FrequencySet, stable_order
from anon_core.kernels.pair_counts import shuffle_runs

REMOVED = -1


@dataclass(frozen=True, kw_only=True, eq=False)
class Grouping:
    """Assignment of the table's rows to classes, and of classes to groups.

    A class is (group, published cells). Equal rows may part (relaxed partitions, Anatomy), so an
    entry is (key, class, number of rows) and one key may have several entries.

    Attributes
    ----------
    key : int64 array of shape (entries,)
        Key of the frequency set; ascending.
    member : int64 array of shape (entries,)
        Class, or -1 where the rows are suppressed.
    count : int64 array of shape (entries,)
        Rows of the entry.
    group : int64 array of shape (classes,)
        Group of each class.
    published : bool
        Whether group ids are in the release. If not, equal cells are one class to an attacker.
    """

    key: npt.NDArray[np.int64]
    member: npt.NDArray[np.int64]
    count: npt.NDArray[np.int64]
    group: npt.NDArray[np.int64]
    published: bool = False

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self.group)

    @cached_property
    def sizes(self) -> npt.NDArray[np.int64]:
        """Rows per class, shape (classes,)."""
        kept = self.member >= 0
        return np.bincount(
            self.member[kept], weights=self.count[kept], minlength=self.classes
        ).astype(np.int64)

    @cached_property
    def removed(self) -> int:
        """Rows that are in no class."""
        return int(self.count[self.member < 0].sum())

    @cached_property
    def whole_keys(self) -> bool:
        """Whether all rows of one key are in one class, so that nothing is left to draw."""
        return np.array_equal(self.key, np.arange(len(self.key)))

    def of_rows(
        self,
        frequency: FrequencySet,
        generator: np.random.Generator,
        order: npt.NDArray[np.int64] | None = None,
    ) -> npt.NDArray[np.int64]:
        """Return the class of every row, shape (rows,), -1 where removed.

        Rows with one key are alike in every column that matters; where such rows part, which of
        them goes where is drawn by `generator`. `order` lists the rows (see `Problem.row_order`),
        so that the draw does not depend on where they are in the table.
        """
        if self.whole_keys:
            return self.member[frequency.row_key]
        key, keys = frequency.row_key, len(frequency.count)
        order = np.arange(len(key)) if order is None else order
        by_key = stable_order(key[order], keys)
        found = np.empty(frequency.rows, dtype=np.int64)
        found[order[shuffled(by_key, frequency.count, generator)]] = np.repeat(
            self.member, self.count
        )
        return found


def shuffled(
    places: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64], generator: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Return the places of all rows, run by run, each run in an order of its own that is drawn.

    A number is drawn for every place, so that it does not matter how runs are numbered.

    Parameters
    ----------
    places : int64 array of shape (rows,)
        From 0, no two alike.
    sizes : int64 array of shape (runs,)
        Places of each run, one after the other.
    """
    drawn = generator.integers(0, (1 << 64) - 1, len(places), dtype=np.uint64, endpoint=True)
    found = places.copy()
    shuffle_runs(found, sizes, drawn[places])
    return found


def group_runs(
    frequency: FrequencySet, class_of_run: npt.NDArray[np.int64], classes: int
) -> Grouping:
    """Build a grouping in which every quasi tuple belongs to one class and every class is a group.

    Parameters
    ----------
    class_of_run : int64 array of shape (runs,)
        Class of each distinct quasi tuple, -1 to remove its rows.
    """
    return Grouping(
        key=np.arange(len(frequency.count), dtype=np.int64),
        member=class_of_run[frequency.run],
        count=frequency.count,
        group=np.arange(classes, dtype=np.int64),
    )
