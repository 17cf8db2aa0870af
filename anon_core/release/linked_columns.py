"""Every column of a link block, those included that no one matches people by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from anon_core.base.arrays import B1, I32, I64
from anon_core.data.frequency import FrequencySet, dense_rank
from anon_core.data.hierarchy import Hierarchy
from anon_core.data.table import Dataset
from anon_core.release.problem import leaf_codes


@dataclass(frozen=True, kw_only=True, eq=False)
class RowSource:
    """Where the rows of a view come from, kept until someone asks for all of their columns.

    It holds no `Problem`, so that a view that is kept by its problem does not keep it.

    Attributes
    ----------
    member : int64 array of shape (keys,)
        Class of each key, -1 where its rows are not published.
    group : int64 array of shape (classes,)
    cells : mapping of str to int32 array of shape (classes,)
        Columns that all rows of a class say alike; others say their leaves.
    blocks : tuple of tuples of str
        Columns of each link block.
    """

    dataset: Dataset
    hierarchies: Mapping[str, Hierarchy]
    frequency: FrequencySet
    member: I64
    group: I64
    cells: Mapping[str, I32]
    blocks: tuple[tuple[str, ...], ...]

    def lines(self, block: tuple[str, ...]) -> tuple[I64, I64]:
        """Return the published rows of the table and the line of a block that each one shows.

        Lines are numbered as `distinct_lines` lists them. It is the truth, and no view shows it.

        Returns
        -------
        row, line : int64 arrays of shape (published rows,)
        """
        kept, member = self._published
        return kept, self._ranked(kept, member, block)[0]

    def distinct_lines(
        self, among: B1 | None = None
    ) -> list[tuple[tuple[str, ...], I64, I32, I64]]:
        """Return columns, groups, codes and rows of the distinct lines of each block.

        Parameters
        ----------
        among : bool array of shape (rows,), optional
            The rows of the table that are asked about; all where it is left out.
        """
        kept, member = self._published
        if among is not None:
            these = among[kept]
            kept, member = kept[these], member[these]
        found: list[tuple[tuple[str, ...], I64, I32, I64]] = []
        for block in self.blocks:
            rank, first = self._ranked(kept, member, block)
            rows, classes = kept[first], member[first]
            # A column at a time, as they are found and looked at.
            lines = np.empty((len(first), len(block)), dtype=np.int32, order="F")
            for d, name in enumerate(block):
                lines[:, d] = self._codes(name, rows, classes)
            count = np.bincount(rank, minlength=len(first)).astype(np.int64)
            found.append((block, self.group[classes], lines, count))
        return found

    @property
    def _published(self) -> tuple[I64, I64]:
        """The published rows, and the class of each."""
        member = self.member[self.frequency.row_key]
        kept = np.flatnonzero(member >= 0)
        return kept, member[kept]

    def _ranked(self, kept: I64, member: I64, block: Sequence[str]) -> tuple[I64, I64]:
        """Number the distinct lines of a block in their order; return a row of each, too."""
        parts = [self.group.astype(np.int32)[member]]
        parts += [
            self._codes(name, kept, member) for name in block if name not in self._shown_by_group
        ]
        return dense_rank(parts, [int(part.max(initial=0)) + 1 for part in parts])

    @cached_property
    def _shown_by_group(self) -> frozenset[str]:
        """The columns that the group shows, by which nothing is distinguished."""
        said = np.zeros(int(self.group.max(initial=-1)) + 1, dtype=np.int32)

        def is_shown(cells: I32) -> bool:
            said[self.group] = cells
            return bool(np.all(said[self.group] == cells))

        return frozenset(name for name, cells in self.cells.items() if is_shown(cells))

    def _codes(self, name: str, rows: I64, member: I64) -> I32:
        """Return what some rows of the table say, whose classes are `member`."""
        if name in self.cells:
            return self.cells[name][member]
        return leaf_codes(self.dataset.column(name), self.hierarchies[name], rows)
