"""How many rows stand in one row's class, at every node of the lattice at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from .compiled import compiled

I64 = npt.NDArray[np.int64]


@compiled
def first_with(
    words: I64,
    word_of: I64,
    shift: I64,
    mask: I64,
    key: I64,
    node: I64,
    first: I64,
    offset: I64,
    leaves: I64,
    row: I64,
) -> None:
    """Find the first row that stands in a class of a node.

    Parameters
    ----------
    words : int64 array of shape (keys, words)
        Packed leaves.
    word_of, shift, mask, offset, leaves : int64 arrays of shape (quasi,)
    key : int64 array of shape (words,)
        The class: packed first leaves of its nodes.
    node : int64 array of shape (quasi,)
    first : int64 array
        Per attribute from `offset`, level after level by leaf, a number that tells nodes apart.
    row : int64 array of shape (quasi,), filled
        Its leaves; left alone where no row stands in the class.
    """
    for i in range(words.shape[0]):
        inside = True
        for d in range(node.shape[0]):
            leaf = (words[i, word_of[d]] >> shift[d]) & mask[d]
            own = (key[word_of[d]] >> shift[d]) & mask[d]
            place = offset[d] + node[d] * leaves[d]
            if first[place + leaf] != first[place + own]:
                inside = False
                break
        if inside:
            for d in range(node.shape[0]):
                row[d] = (words[i, word_of[d]] >> shift[d]) & mask[d]
            return


@compiled
def meeting_places(
    row: I64, first: I64, offset: I64, leaves: I64, stride: I64, levels: I64, step: I64
) -> None:
    """Say, per attribute and leaf, from which level on it shares a node with the row's leaf.

    Parameters
    ----------
    row : int64 array of shape (quasi,)
        Leaves of the row.
    first : int64 array
        Per attribute from `offset`, level after level by leaf, a number that tells nodes apart.
    offset, leaves, stride, levels : int64 arrays of shape (quasi,)
        `stride` is how far neighbours stand apart in the flat lattice.
    step : int64 array of shape (leaves of all attributes,), filled
        The level, times the stride; below any place of the lattice where they never meet.
    """
    at = 0
    never = -1
    for d in range(row.shape[0]):
        never -= (levels[d] - 1) * stride[d]
    for d in range(row.shape[0]):
        for leaf in range(leaves[d]):
            place = offset[d]
            level = 0
            while level < levels[d] and first[place + leaf] != first[place + row[d]]:
                place += leaves[d]
                level += 1
            step[at + leaf] = level * stride[d] if level < levels[d] else never
        at += leaves[d]


@compiled
def sums_by_chunk(step: I64, leaves: I64, chunk: I64, low: I64, start: I64, table: I64) -> None:
    """Add up numbers by leaf for all combinations of the leaves of some neighbouring fields.

    Parameters
    ----------
    step : int64 array of shape (leaves of all attributes,)
    leaves, chunk, low : int64 arrays of shape (quasi,)
        Per attribute, its leaves, its chunk, and the bit where it begins there; attributes of a
        chunk follow each other from bit 0 upwards.
    start : int64 array of shape (chunks,)
        Where a chunk's sums begin in the table.
    table : int64 array, filled
    """
    at = 0
    for d in range(leaves.shape[0]):
        begin = start[chunk[d]]
        if low[d] == 0:
            table[begin] = 0
        known = 1 << low[d]
        for leaf in range(leaves[d] - 1, -1, -1):  # leaf 0 last: its sums were the others' start
            for i in range(known):
                table[begin + (leaf << low[d]) + i] = table[begin + i] + step[at + leaf]
        at += leaves[d]


@compiled
def rows_around(
    words: I64,
    count: I64,
    word_of: I64,
    shift: I64,
    mask: I64,
    start: I64,
    table: I64,
    stride: I64,
    levels: I64,
    found: I64,
) -> None:
    """Count, at every node, the rows that share the class of the row behind `table`.

    A row shares it exactly at the nodes above the place where all its attributes have met the
    row's own; so it is counted there, and the counts are added up attribute by attribute.

    Parameters
    ----------
    words : int64 array of shape (keys, words)
        Packed leaves.
    count : int64 array of shape (keys,)
    word_of, shift, mask, start : int64 arrays of shape (chunks,)
        Where some neighbouring fields stand, and where their part of `table` begins.
    table : int64 array
        Places by chunk, added up: see `meeting_places` and `sums_by_chunk`.
    stride, levels : int64 arrays of shape (quasi,)
    found : int64 array of shape (nodes,), filled
    """
    for i in range(found.shape[0]):
        found[i] = 0
    for i in range(words.shape[0]):
        place = 0
        for c in range(start.shape[0]):
            place += table[start[c] + ((words[i, word_of[c]] >> shift[c]) & mask[c])]
        if place >= 0:
            found[place] += count[i]
    for d in range(stride.shape[0]):
        apart = stride[d]
        for block in range(0, found.shape[0], apart * levels[d]):
            for begin in range(block + apart, block + apart * levels[d], apart):
                above, below = found[begin : begin + apart], found[begin - apart : begin]
                for i in range(apart):
                    above[i] += below[i]
