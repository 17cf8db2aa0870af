"""How rare a row is at every node of the lattice: the size of its class, for all nodes at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .kernels.rare import first_with, meeting_places, rows_around, sums_by_chunk
from .lattice import Lattice, Node

I64 = npt.NDArray[np.int64]

#: Neighbouring fields of a key that are looked up together take so many bits at most.
_CHUNK_BITS = 11


class RowsAround:
    """Counts the rows that stand in a class with one row, at every node.

    Parameters
    ----------
    lattice : Lattice
        Without a public table.
    """

    def __init__(self, lattice: Lattice) -> None:
        quasi = len(lattice.heights)
        layout = lattice.layout
        self._bottom = lattice.at((0,) * quasi)
        self._field = layout.word[:quasi], layout.shift[:quasi], layout.mask[:quasi]
        self._leaves = np.array([lattice.leaves(d) for d in range(quasi)], dtype=np.int64)
        self._levels = np.array(lattice.shape, dtype=np.int64)
        self._stride = lattice.strides
        self._first, self._offset = lattice.targets()
        self._row = np.empty(quasi, dtype=np.int64)
        self._step = np.empty(int(self._leaves.sum()), dtype=np.int64)
        self._found = np.empty(lattice.size, dtype=np.int64)
        self._chunk, self._low = self._chunks()
        chunks = int(self._chunk[-1]) + 1 if quasi else 0
        first = np.searchsorted(self._chunk, np.arange(chunks))
        last = np.searchsorted(self._chunk, np.arange(chunks), side="right") - 1
        # The highest field needs no more room than its leaves.
        room = self._leaves[last] << self._low[last]
        word, shift, mask = self._field
        self._start = np.cumsum(room) - room
        self._chunk_field = (
            word[first],
            shift[first],
            (mask[last] << self._low[last]) | ((np.int64(1) << self._low[last]) - 1),
        )
        self._table = np.zeros(int(room.sum()), dtype=np.int64)

    def _chunks(self) -> tuple[I64, I64]:
        """Return every attribute's chunk, and the bit where it begins there."""
        chunk: list[int] = []
        low: list[int] = []
        used, before = 0, -1
        for word, mask in zip(self._field[0].tolist(), self._field[2].tolist(), strict=True):
            bits = int(mask).bit_length()
            if word != before or used + bits > _CHUNK_BITS:
                chunk.append(chunk[-1] + 1 if chunk else 0)
                used = 0
            else:
                chunk.append(chunk[-1])
            low.append(used)
            used, before = used + bits, word
        return np.array(chunk, dtype=np.int64), np.array(low, dtype=np.int64)

    def of_class(self, node: Node, key: I64) -> I64:
        """Return the size of a row's class at every node, flat in the lattice's order.

        The row is the first of those that have the key, shape (words,), at the node. What is
        returned is overwritten by the next call.
        """
        first_with(
            self._bottom.words,
            *self._field,
            key,
            np.array(node, dtype=np.int64),
            self._first,
            self._offset,
            self._leaves,
            self._row,
        )
        meeting_places(
            self._row,
            self._first,
            self._offset,
            self._leaves,
            self._stride,
            self._levels,
            self._step,
        )
        sums_by_chunk(self._step, self._leaves, self._chunk, self._low, self._start, self._table)
        rows_around(
            self._bottom.words,
            self._bottom.count,
            *self._chunk_field,
            self._start,
            self._table,
            self._stride,
            self._levels,
            self._found,
        )
        return self._found
