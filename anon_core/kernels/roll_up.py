"""Regroup packed keys at a more general node by open addressing (3 to 10 ns a key)."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import I32, I64
from anon_core.kernels.compilation import compiled


class Packing(NamedTuple):
    """A lattice's attributes: where each is in a key, and what its leaves become at a level.

    Attributes
    ----------
    word, shift, mask : int64 arrays of shape (quasi,)
        Word, bit position and field mask.
    height, stride : int64 arrays of shape (quasi,)
        Highest level, and how far neighbours are apart in the flat lattice; 1 for the last.
    kinds : int64 array of shape (quasi, most levels)
        Nodes of each level.
    leaves, offset : int64 arrays of shape (quasi,)
        Number of leaves, and where an attribute begins in `table`.
    table : int64 array
        From `offset`, level after level by leaf: the first leaf of the leaf's node, moved to its
        place in the word.
    """

    word: I64
    shift: I64
    mask: I64
    height: I64
    stride: I64
    kinds: I64
    leaves: I64
    offset: I64
    table: I64


class Raised(NamedTuple):
    """The attributes that a roll-up raises.

    Attributes
    ----------
    shift, mask, offset : int64 arrays of shape (changed,)
        Bit position, field mask, and where an attribute's target level begins in `table`.
    table : int64 array
        First leaf of the target node of every leaf.
    """

    shift: I64
    mask: I64
    offset: I64
    table: I64


class Spare(NamedTuple):
    """Room for a roll-up of keys of one word; its content is no one's.

    Attributes
    ----------
    words, rows : int64 arrays of shape (at least keys,)
    slot : int32 array of shape (at least twice the keys, and a power of two,)
    """

    words: I64
    rows: I64
    slot: I32


@compiled
def roll_up(
    words: I64,
    count: I64,
    keep: I64,
    word_of: I64,
    raised: Raised,
    out_words: I64,
    out_count: I64,
    member: I64,
) -> int:
    """Map every key to its generalization and add up equal keys.

    Parameters
    ----------
    words : int64 array of shape (keys, words)
        Packed leaf numbers.
    count : int64 array of shape (keys,)
    keep : int64 array of shape (words,)
        Bits that stay as they are.
    word_of : int64 array of shape (changed,)
        Word of each attribute that changes.
    out_words, out_count, member : arrays to fill
        `member` receives each key's class.

    Returns
    -------
    int
        Number of classes; the first so many entries of the output are filled.
    """
    shift, mask, offset, table = raised
    keys = words.shape[0]
    wide = words.shape[1]
    size = 16
    while size < 2 * keys:
        size *= 2
    slot = np.full(size, -1, np.int32)
    key = np.empty(wide, np.int64)
    found = 0
    for i in range(keys):
        for w in range(wide):
            key[w] = words[i, w] & keep[w]
        for c in range(word_of.shape[0]):
            w = word_of[c]
            leaf = (words[i, w] >> shift[c]) & mask[c]
            key[w] |= table[offset[c] + leaf] << shift[c]
        mixed = np.uint64(0)
        for w in range(wide):
            mixed = (mixed ^ np.uint64(key[w])) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(29)
        place = np.int64(mixed & np.uint64(size - 1))
        while True:
            at = slot[place]
            if at < 0:
                slot[place] = found
                for w in range(wide):
                    out_words[found, w] = key[w]
                out_count[found] = count[i]
                member[i] = found
                found += 1
                break
            same = True
            for w in range(wide):
                if out_words[at, w] != key[w]:
                    same = False
                    break
            if same:
                out_count[at] += count[i]
                member[i] = at
                break
            place = (place + 1) & (size - 1)
    return found


@compiled
def roll_word(
    words: I64,
    count: I64,
    keep: int,
    raised: Raised,
    slot: npt.NDArray[np.int32],
    size: int,
    out_words: I64,
    out_count: I64,
) -> int:
    """Do as `roll_up` does, for keys of one word whose classes no one asks for.

    Parameters
    ----------
    words, count : int64 arrays of shape (keys,)
    keep : int
        Bits that stay as they are.
    raised : Raised
        Its table holds leaves that are moved to the attribute's bit position.
    slot : int32 array of shape (at least size,)
        Room to work in.
    size : int
        A power of two, more than the number of classes.

    Returns
    -------
    int
        Number of classes; the first so many entries of the output are filled.
    """
    shift, mask, offset, table = raised
    for i in range(size):
        slot[i] = -1
    last = np.uint64(size - 1)
    found = 0
    changed = shift.shape[0]
    for i in range(words.shape[0]):
        word = words[i]
        key = word & keep
        for c in range(changed):
            key |= table[offset[c] + ((word >> shift[c]) & mask[c])]
        mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
        place = np.int64((mixed >> np.uint64(32)) & last)
        at = slot[place]
        while at >= 0 and out_words[at] != key:
            place = (place + 1) & (size - 1)
            at = slot[place]
        if at < 0:
            slot[place] = found
            out_words[found] = key
            out_count[found] = count[i]
            found += 1
        else:
            out_count[at] += count[i]
    return found


def roll_to_in_arrays(
    words: I64, count: I64, below: I64, node: I64, packing: Packing, spare: Spare, values: int
) -> int:
    """Do what `roll_to` does, by sorting."""
    keys = words.copy()
    for d in np.flatnonzero(node > below):
        shift, mask = packing.shift[d], packing.mask[d]
        begin = packing.offset[d] + node[d] * packing.leaves[d]
        keys &= ~(mask << shift)
        keys |= packing.table[begin + ((words >> shift) & mask)]
    if not len(keys):
        return 0
    bits = len(keys).bit_length()
    if int(keys.max()).bit_length() + bits < 64 and keys.min() >= 0:
        ordered = np.sort(keys << bits | np.arange(len(keys)))  # many times as fast as by `argsort`
        by_key = ordered & ((1 << bits) - 1)
        ordered >>= bits
    else:
        by_key = np.argsort(keys, kind="stable")
        ordered = keys[by_key]
    begins = np.concatenate([[0], np.flatnonzero(ordered[1:] != ordered[:-1]) + 1])
    as_found = np.argsort(by_key[begins])  # classes are in the order of their first keys
    spare.words[: len(begins)] = ordered[begins[as_found]]
    spare.rows[: len(begins)] = np.add.reduceat(count[by_key], begins)[as_found]
    return len(begins)


@partial(compiled, in_arrays=roll_to_in_arrays)
def roll_to(
    words: I64, count: I64, below: I64, node: I64, packing: Packing, spare: Spare, values: int
) -> int:
    """Regroup keys of one word, found at one node, at a node above it.

    Parameters
    ----------
    words, count : int64 arrays of shape (keys,)
    below, node : int64 arrays of shape (quasi,)
        Levels of the node the keys are at, and of the one above it.
    spare : Spare
        Its `words` and `rows` are filled with the classes.
    values : int
        How many combinations there are of what the keys hold next to the quasi-identifiers.

    Returns
    -------
    int
        Number of classes; the first so many entries of the output are filled.
    """
    quasi = node.shape[0]
    shift = np.empty(quasi, np.int64)
    mask = np.empty(quasi, np.int64)
    begin = np.empty(quasi, np.int64)
    keep = -1
    many = 0
    most = min(values, words.shape[0])
    for d in range(quasi):
        most = min(most * packing.kinds[d, node[d]], words.shape[0])
        if node[d] > below[d]:
            shift[many] = packing.shift[d]
            mask[many] = packing.mask[d]
            begin[many] = packing.offset[d] + node[d] * packing.leaves[d]
            keep &= ~(mask[many] << shift[many])
            many += 1
    size = 16
    while size < 2 * most:
        size *= 2
    raised = Raised(shift[:many], mask[:many], begin[:many], packing.table)
    return roll_word(words, count, keep, raised, spare.slot, size, spare.words, spare.rows)


def smallest_below_in_arrays(levels: I64, weight: I64, kept: int, node: I64) -> int:
    """Do what `smallest_below` does, with whole arrays."""
    above_bottom = (levels[1:kept] <= node).all(axis=1)
    sets = np.append(0, np.flatnonzero(above_bottom) + 1)
    return int(sets[np.argmin(weight[sets])])


@partial(compiled, in_arrays=smallest_below_in_arrays)
def smallest_below(levels: I64, weight: I64, kept: int, node: I64) -> int:
    """Return the smallest of the class sets that a node can be rolled up from.

    Parameters
    ----------
    levels : int64 array of shape (at least kept, quasi)
        Where each set is; the first at the bottom, which is below every node.
    weight : int64 array of shape (at least kept,)
        How many entries each set has.
    node : int64 array of shape (quasi,)

    Returns
    -------
    int
        The set of fewest entries that is above the node in no attribute, the first of equals.
    """
    best = 0
    for i in range(1, kept):
        if weight[i] < weight[best]:
            d = 0
            while d < node.shape[0] and levels[i, d] <= node[d]:
                d += 1
            if d == node.shape[0]:
                best = i
    return best
