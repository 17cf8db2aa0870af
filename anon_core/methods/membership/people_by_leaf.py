"""The public tuples, findable by the leaf of any quasi-identifier."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anon_core.base.arrays import B1, I32, I64


class PeopleByLeaf:
    """Public tuples by each of their leaves.

    Parameters
    ----------
    codes : int32 array of shape (tuples, quasi)
    sizes : list of int
        Leaves of each column.
    """

    def __init__(self, codes: I32, sizes: list[int]) -> None:
        self.codes = codes
        self.sizes = sizes
        # Slot 0 is a value that no cell can cover.
        self.order = [np.argsort(codes[:, d], kind="stable") for d in range(codes.shape[1])]
        self.start = [
            np.searchsorted(codes[self.order[d], d], np.arange(-1, size + 1))
            for d, size in enumerate(sizes)
        ]
        self._many = [np.diff(start) for start in self.start]

    def with_leaves(self, d: int, leaf: B1) -> I64:
        """Return the tuples whose leaf of column `d` is chosen; slot 0 is no leaf."""
        start, order = self.start[d], self.order[d]
        runs = [order[start[i] : start[i + 1]] for i in np.flatnonzero(leaf)]
        return np.concatenate([np.empty(0, np.int64), *runs]).astype(np.int64)

    def how_many(self, d: int, leaf: B1) -> int:
        """Return how many tuples `with_leaves` would."""
        return int(self._many[d][leaf].sum())

    def within(self, leaves: Sequence[B1]) -> I64:
        """Return the tuples whose leaf is chosen in every column, ascending.

        Parameters
        ----------
        leaves : sequence of bool arrays of shape (leaves + 1,)
            Slot 0 is no leaf.
        """
        many = [self.how_many(d, leaf) for d, leaf in enumerate(leaves)]
        order = np.argsort(many, kind="stable").tolist()
        found = np.sort(self.with_leaves(order[0], leaves[order[0]]))
        for d in order[1:]:
            found = found[leaves[d][self.codes[found, d] + 1]]
        return found
