"""Every column of a link block, those included that nobody matches people by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..base.arrays import I32, I64
from ..data.frequency import FrequencySet, dense_rank
from ..data.table import Dataset
from ..hierarchy import Hierarchy
from .problem import leaf_codes


@dataclass(frozen=True, kw_only=True, eq=False)
class RowSource:
    """Where the rows of a view come from, kept until somebody asks for all of their columns.

    It holds no `Problem`, so that a view that is kept by its problem does not keep it.

    Attributes
    ----------
    dataset : Dataset
    hierarchies : mapping of str to Hierarchy
    frequency : FrequencySet
    member : int64 array of shape (keys,)
        Class of each key, -1 where its rows are not published.
    group : int64 array of shape (classes,)
    cells : mapping of str to int32 array of shape (classes,)
        Columns that do not say their leaves.
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

        Lines are numbered as `told` lists them. It is the truth, and no view tells it.

        Returns
        -------
        row, line : int64 arrays of shape (published rows,)
        """
        member = self.member[self.frequency.row_key]
        kept = np.flatnonzero(member >= 0)
        member = member[kept]
        parts = [self.group[member].astype(np.int32)]
        parts += [self._codes(name, member, kept) for name in block]
        return kept, dense_rank(parts, [int(part.max(initial=0)) + 1 for part in parts])[0]

    def told(self) -> list[tuple[tuple[str, ...], I64, I32, I64]]:
        """Return columns, groups, codes and rows of the distinct lines of each block."""
        member = self.member[self.frequency.row_key]
        kept = np.flatnonzero(member >= 0)
        member = member[kept]
        group = self.group[member]
        found: list[tuple[tuple[str, ...], I64, I32, I64]] = []
        for block in self.blocks:
            codes = [self._codes(name, member, kept) for name in block]
            found.append((block, *distinct_lines(group, codes)))
        return found

    def _codes(self, name: str, member: I64, kept: I64) -> npt.NDArray[np.int32]:
        if name in self.cells:
            return self.cells[name][member]
        return leaf_codes(self.dataset.column(name), self.hierarchies[name])[kept]


def distinct_lines(group: I64, codes: Sequence[I32]) -> tuple[I64, I32, I64]:
    """Return groups, codes and counts of the distinct lines among rows."""
    parts = [group.astype(np.int32), *codes]
    rank, first = dense_rank(parts, [int(part.max(initial=0)) + 1 for part in parts])
    # A column at a time, as they are found and looked at.
    lines = np.empty((len(first), len(codes)), dtype=np.int32, order="F")
    for d, own in enumerate(codes):
        np.take(own, first, out=lines[:, d])
    count = np.bincount(rank, minlength=len(first)).astype(np.int64)
    return group[first], lines, count
