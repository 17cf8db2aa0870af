"""Class sizes at nodes of the lattice: rows in small ones, and those of one row."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from anon_core.base.arrays import I64
from anon_core.kernels.compilation import compiled
from anon_core.kernels.roll_up import Packing, Spare


class Chunks(NamedTuple):
    """Neighbouring fields of a key that are looked up together.

    Attributes
    ----------
    word, shift, mask, start : int64 arrays of shape (chunks,)
        Where a chunk is in the key, and where its part of `table` begins.
    of, low : int64 arrays of shape (quasi,)
        Each attribute's chunk, and the bit where it begins there; attributes of a chunk follow
        each other from bit 0 upwards.
    table : int64 array
        Places by chunk, added up: see `meeting_places` and `sums_by_chunk`.
    """

    word: I64
    shift: I64
    mask: I64
    start: I64
    of: I64
    low: I64
    table: I64


@compiled
def first_with(words: I64, packing: Packing, key: I64, node: I64, row: I64) -> None:
    """Find the first row that is in a class of a node.

    Parameters
    ----------
    words : int64 array of shape (keys, words)
        Packed leaves.
    key : int64 array of shape (words,)
        The class: packed first leaves of its nodes.
    node : int64 array of shape (quasi,)
    row : int64 array of shape (quasi,), filled
        Its leaves; left alone where no row is in the class.
    """
    word_of, shift, mask = packing.word, packing.shift, packing.mask
    first, offset, leaves = packing.table, packing.offset, packing.leaves
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
def meeting_places(row: I64, packing: Packing, step: I64) -> None:
    """Say, per attribute and leaf, from which level on it shares a node with the row's leaf.

    Parameters
    ----------
    row : int64 array of shape (quasi,)
        Leaves of the row.
    step : int64 array of shape (leaves of all attributes,), filled
        The level, times the stride; below any place of the lattice where they never meet.
    """
    first, offset, leaves = packing.table, packing.offset, packing.leaves
    height, stride = packing.height, packing.stride
    at = 0
    never = -1
    for d in range(row.shape[0]):
        never -= height[d] * stride[d]
    for d in range(row.shape[0]):
        for leaf in range(leaves[d]):
            place = offset[d]
            level = 0
            while level <= height[d] and first[place + leaf] != first[place + row[d]]:
                place += leaves[d]
                level += 1
            step[at + leaf] = level * stride[d] if level <= height[d] else never
        at += leaves[d]


@compiled
def sums_by_chunk(step: I64, leaves: I64, chunks: Chunks) -> None:
    """Add up numbers by leaf for all combinations of the leaves of some neighbouring fields.

    Parameters
    ----------
    step : int64 array of shape (leaves of all attributes,)
    leaves : int64 array of shape (quasi,)
    chunks : Chunks
        Its table is filled.
    """
    chunk, low, start, table = chunks.of, chunks.low, chunks.start, chunks.table
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
def rows_around(words: I64, count: I64, chunks: Chunks, packing: Packing, found: I64) -> None:
    """Count, at every node, the rows that share the class of the row behind the table of `chunks`.

    A row shares it exactly at the nodes above the place where all its attributes have met the
    row's own; so it is counted there, and the counts are added up attribute by attribute.

    Parameters
    ----------
    words : int64 array of shape (keys, words)
        Packed leaves.
    count : int64 array of shape (keys,)
    packing : Packing
        Of the attributes of the lattice.
    found : int64 array of shape (nodes,), filled
    """
    word_of, shift, mask = chunks.word, chunks.shift, chunks.mask
    start, table = chunks.start, chunks.table
    height, stride = packing.height, packing.stride
    for i in range(found.shape[0]):
        found[i] = 0
    for i in range(words.shape[0]):
        place = 0
        for c in range(start.shape[0]):
            place += table[start[c] + ((words[i, word_of[c]] >> shift[c]) & mask[c])]
        if place >= 0:
            found[place] += count[i]
    for d in range(stride.shape[0]):
        apart, whole = stride[d], stride[d] * (height[d] + 1)
        for block in range(0, found.shape[0], whole):
            for begin in range(block + apart, block + whole, apart):
                above, below = found[begin : begin + apart], found[begin - apart : begin]
                for i in range(apart):
                    above[i] += below[i]


@compiled
def sizes_at_nodes(
    words: I64, count: I64, packing: Packing, chunks: Chunks, key: I64, node: I64, found: I64
) -> None:
    """Count, at every node, the rows that are in a class with one row.

    Parameters
    ----------
    words : int64 array of shape (keys, words)
        Packed leaves.
    count : int64 array of shape (keys,)
    chunks : Chunks
        Its table is overwritten.
    key : int64 array of shape (words,), node : int64 array of shape (quasi,)
        The row is the first that is in this class of this node.
    found : int64 array of shape (nodes,), filled
    """
    row = np.zeros(node.shape[0], np.int64)
    step = np.empty(packing.leaves.sum(), np.int64)
    first_with(words, packing, key, node, row)
    meeting_places(row, packing, step)
    sums_by_chunk(step, packing.leaves, chunks)
    rows_around(words, count, chunks, packing, found)


@compiled
def rows_in_small(
    words: I64,
    count: I64,
    below: I64,
    node: I64,
    packing: Packing,
    spare: Spare,
    least: int,
    most: int,
) -> int:
    """Count the rows that are at a node in classes of fewer than `least`.

    Parameters
    ----------
    words, count : int64 arrays of shape (keys,)
        Keys of one word, found at a node below; what they hold next to the quasi-identifiers parts
        no class.
    below, node : int64 arrays of shape (quasi,)
        Levels of the node the keys are at, and of the one above it.
    most : int
        The count stops where it is more.

    Returns
    -------
    int
        The rows; where they are more than `most`, a number above it that estimates them.
    """
    keys, quasi = words.shape[0], node.shape[0]
    shift = np.empty(quasi, np.int64)
    mask = np.empty(quasi, np.int64)
    begin = np.empty(quasi, np.int64)
    keep = 0
    raised = 0
    for d in range(quasi):
        if node[d] > below[d]:
            shift[raised] = packing.shift[d]
            mask[raised] = packing.mask[d]
            begin[raised] = packing.offset[d] + node[d] * packing.leaves[d]
            raised += 1
        else:
            keep |= packing.mask[d] << packing.shift[d]
    bits = 0
    while keys >> bits > 4096:
        bits += 1
    parts = 1 << bits
    ends = np.zeros(parts + 1, np.int64)
    rows = spare.rows
    table = packing.table
    mix = np.uint64(0x9E3779B97F4A7C15)
    far = np.uint64(63)
    for i in range(keys):
        word = words[i]
        key = word & keep
        for c in range(raised):
            key |= table[begin[c] + ((word >> shift[c]) & mask[c])]
        spare.words[i] = key
        part = np.int64(((np.uint64(key) * mix) >> np.uint64(1)) >> (far - np.uint64(bits)))
        ends[part + 1] += 1
    largest = 0
    for p in range(parts):
        largest = max(largest, ends[p + 1])
        ends[p + 1] += ends[p]
    dealt = np.empty(keys, np.int64)
    free = ends[:parts].copy()
    for i in range(keys):
        key = spare.words[i]
        part = np.int64(((np.uint64(key) * mix) >> np.uint64(1)) >> (far - np.uint64(bits)))
        dealt[free[part]] = key
        rows[free[part]] = count[i]
        free[part] += 1
    size = 16
    while size < 2 * largest:
        size *= 2
    last = np.uint64(size - 1)
    gone = 0
    for p in range(parts):
        for i in range(size):
            spare.slot[i] = -1
        first = ends[p]
        found = first
        for i in range(first, ends[p + 1]):
            key = dealt[i]
            amount = rows[i]
            place = np.int64(((np.uint64(key) * mix) >> np.uint64(24)) & last)
            at = np.int64(spare.slot[place])
            while at >= 0 and dealt[at] != key:
                place = (place + 1) & (size - 1)
                at = np.int64(spare.slot[place])
            if at < 0:  # classes gather at the front of their part, behind what was read
                spare.slot[place] = found
                dealt[found] = key
                rows[found] = amount
                found += 1
            else:
                rows[at] += amount
        for i in range(first, found):
            if rows[i] < least:
                gone += rows[i]
        if gone > most:
            return gone * parts // (p + 1)
    return gone
