"""How rare a row is at every node of the lattice: the size of its class, for all nodes at once."""

from __future__ import annotations

import numpy as np

from anon_core.base.arrays import I64
from anon_core.kernels.class_size_at_nodes import Chunks, sizes_at_nodes
from anon_core.methods.lattice.lattice import Lattice, Node

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
        self._bottom = lattice.at((0,) * quasi)
        self._packing = packing = lattice.packing
        self._found = np.empty(lattice.size, dtype=np.int64)
        chunk, low = self._apportioned()
        chunks = int(chunk[-1]) + 1 if quasi else 0
        first = np.searchsorted(chunk, np.arange(chunks))
        last = np.searchsorted(chunk, np.arange(chunks), side="right") - 1
        # The highest field needs no more room than its leaves.
        room = packing.leaves[last] << low[last]
        inner = (np.int64(1) << low[last]) - 1
        self._chunks = Chunks(
            word=packing.word[first],
            shift=packing.shift[first],
            mask=(packing.mask[last] << low[last]) | inner,
            start=np.cumsum(room) - room,
            of=chunk,
            low=low,
            table=np.zeros(int(room.sum()), dtype=np.int64),
        )

    def _apportioned(self) -> tuple[I64, I64]:
        """Return every attribute's chunk, and the bit where it begins there."""
        packing = self._packing
        chunk: list[int] = []
        low: list[int] = []
        used, before = 0, -1
        for word, mask in zip(packing.word.tolist(), packing.mask.tolist(), strict=True):
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
        at = np.array(node, dtype=np.int64)
        words, count = self._bottom.words, self._bottom.count
        sizes_at_nodes(words, count, self._packing, self._chunks, key, at, self._found)
        return self._found
