"""Deciding many nodes at once.

Where no row may be suppressed, a node fails as soon as one class is smaller than a privacy model
allows. So a few rare rows close most of the lattice without a look at its nodes; and where the
privacy models are about sizes alone, what is left is decided in compiled code, part by part. With a
budget, privacy models about sizes are decided by one pass over all nodes.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import I64, U8
from anon_core.contracts.min_group_size import LeastSize
from anon_core.contracts.model import least_class
from anon_core.kernels.bounds import Below, Looked, settle
from anon_core.kernels.class_sizes import Chunks, sizes_at_nodes
from anon_core.methods.lattice.lattice import Lattice, Node
from anon_core.methods.lattice.nodes import FAILED, SATISFIED, UNKNOWN, Nodes
from anon_core.methods.lattice.size_sweep import SizeSweep, size_sweep

# How rare a row is at every node of the lattice: the size of its class, for all nodes at once.


#: Neighbouring fields of a key that are looked up together take so many bits at most.
_CHUNK_BITS = 11


class RowsAround:
    """Counts the rows that are in a class with one row, at every node.

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


# A lattice of fewer nodes is decided node by node; and a rare row that closes a smaller part than
# one so-many-th of what is open costs more than looking.
_FEW = 200
_WORTH = 16
#: Keys of the table times nodes up to which all nodes are counted in one pass.
_MOST_WALKED = 500_000_000
#: Keys that one call of the kernel regroups before it looks up: cancelling waits for it.
_WORK = 5_000_000


def close_many(nodes: Nodes, status: U8) -> None:
    """Decide many nodes, or all of them, for models that stay kept above; none with a budget.

    Parameters
    ----------
    status : uint8 array of the lattice's shape, changed in place
    """
    least = least_class(nodes.models, nodes.problem.population)
    lattice = nodes.lattice
    if nodes.budget or least < 2 or lattice.size < _FEW or lattice.public:
        return
    # Only then the top removes the fewest rows, so that a refusal may look no further.
    if not all(m.logic.monotone_merge and m.logic.monotone_suppress for m in nodes.models):
        return
    if status[lattice.top] == UNKNOWN:
        nodes.decide_at(lattice.top, status)
    if status[lattice.top] == FAILED:
        return
    height = lattice.height_of_nodes()
    _rule_out(nodes, status, height, least)
    if least_alone(nodes) is not None:
        _settle(nodes, status.reshape(-1), height, least)


def least_alone(nodes: Nodes) -> int | None:
    """Return the least class size if it is all that is required, and keys fit into one word."""
    lattice = nodes.lattice
    if any(m.of_release() or type(m).per_group is not LeastSize.per_group for m in nodes.models):
        return None
    if lattice.public or lattice.sensitive or lattice.layout.words > 1:
        return None
    return least_class(nodes.models, nodes.problem.population)


def walk_all(nodes: Nodes, status: U8) -> SizeSweep | None:
    """Count every node in one pass, where sizes alone are required and that takes seconds at most.

    Parameters
    ----------
    status : uint8 array of the lattice's shape, filled where the pass was made
    """
    least = least_alone(nodes)
    lattice = nodes.lattice
    keys = len(nodes.problem.frequency.run_count)
    if least is None or lattice.size < _FEW or lattice.size * keys > _MOST_WALKED:
        return None
    swept = size_sweep(nodes.problem, (least,), nodes.context)
    nodes.checked += int(np.count_nonzero(status == UNKNOWN))
    status.reshape(-1)[:] = np.where(swept.satisfied(least, nodes.budget), SATISFIED, FAILED)
    # From the top, so that a refusal names the most general of the nodes that remove least.
    removed = swept.removed[::-1, 0].tolist()
    for node, rows in zip(reversed(list(lattice.nodes())), removed, strict=True):
        nodes.note(node, rows)
    return swept


def _rule_out(nodes: Nodes, status: U8, height: npt.NDArray[np.int16], least: int) -> None:
    """Close the nodes where a few rare rows are alone.

    The rows of a class that is too small at a high node are counted at all nodes in one pass. It
    goes on with the rarest class of another open node while that closes many.
    """
    lattice = nodes.lattice
    flat = status.reshape(-1)
    # High nodes are cheap to look at, and what is rare there is rare at most nodes.
    high = np.ones(lattice.shape, dtype=np.bool_)
    for d, levels in enumerate(lattice.heights):
        high[(slice(None),) * d + (slice(None, levels // 2),)] = False
    places = np.flatnonzero(high)
    places = places[np.argsort(height[places], kind="stable")]
    rows = RowsAround(lattice)
    while True:
        places = places[flat[places] == UNKNOWN]
        if not len(places):
            return
        nodes.context.report(0.0, "Searching the lattice")
        before = int(np.count_nonzero(flat == UNKNOWN))
        node = lattice.node(int(places[3 * len(places) // 4]))
        if nodes.decide_at(node, status):
            continue
        classes, _ = lattice.stats(node)
        rarest = int(np.argmin(classes.count))
        if classes.count[rarest] >= least:
            return
        flat[rows.of_class(node, classes.words[rarest]) < least] = FAILED
        if before - int(np.count_nonzero(flat == UNKNOWN)) < before // _WORTH:
            return


def _settle(nodes: Nodes, flat: U8, height: npt.NDArray[np.int16], least: int) -> None:
    """Decide all open nodes, those that are reached from one stop of the lattice at a time."""
    lattice = nodes.lattice
    stride = lattice.packing.stride
    free = np.flatnonzero(~np.array(lattice.early))
    places = np.flatnonzero(flat == UNKNOWN)
    places = places[np.argsort(height[places], kind="stable")]
    stops = np.zeros(len(places), dtype=np.int64)
    for d in np.flatnonzero(lattice.early):
        stops += places // stride[d] % lattice.shape[d] * stride[d]
    for done, stop in enumerate(each := np.unique(stops)[::-1]):
        own = places[stops == stop]
        while len(own := own[flat[own] == UNKNOWN]):
            nodes.context.report(done / len(each), "Searching the lattice")
            bottom = (own[:, None] // stride % lattice.shape).min(axis=0)
            classes = lattice.at(tuple(bottom.tolist()))
            below = Below(np.ascontiguousarray(classes.words[:, 0]), classes.count, bottom, free)
            looked = Looked(*np.empty((2, len(own)), dtype=np.int64))
            found = settle(below, lattice.packing, own, flat, least, _WORK, lattice.spare, looked)
            places_of, rows_of = looked.place[:found].tolist(), looked.removed[:found].tolist()
            for place, rows in zip(places_of, rows_of, strict=True):
                nodes.checked += 1
                nodes.note(lattice.node(place), rows)
