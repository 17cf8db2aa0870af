"""Rows in classes that are too small, counted part by part until they are too many.

Most nodes that a search looks at fail, and by far: a tenth of the classes is enough to see it. Keys
are dealt into parts by a hash of the class they fall into, so that no class lies in two parts and
each part is grouped in a table that stays in the cache.
"""

from __future__ import annotations

import numpy as np

from anon_core.base.arrays import I64
from anon_core.kernels.compiled import compiled
from anon_core.kernels.packing import Packing, Spare


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
    """Count the rows that stand at a node in classes of fewer than `least`.

    Parameters
    ----------
    words, count : int64 arrays of shape (keys,)
        Keys of one word, found at a node below; what they hold beside the quasi-identifiers parts
        no class.
    below, node : int64 arrays of shape (quasi,)
        Levels of the node the keys stand at, and of the one above it.
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
