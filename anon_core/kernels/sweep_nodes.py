"""Walk a part of the lattice depth first, and count what every class size bound removes there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import F64, I64
from anon_core.kernels.compilation import compiled
from anon_core.kernels.roll_up import Packing


class Priced(NamedTuple):
    """Keys of one word.

    Attributes
    ----------
    words, rows : int64 arrays of shape (at least keys,)
    price : float64 array of shape (at least keys,)
        What a row of the key costs.
    """

    words: I64
    rows: I64
    price: F64


class Totals(NamedTuple):
    """What least class sizes leave at every node.

    Attributes
    ----------
    removed : int64 array of shape (nodes, least sizes)
        Rows of the classes below the least size.
    classes, squares : int64 arrays of shape (nodes, least sizes)
        Number and Σ rows² of the others.
    spared : float64 array of shape (nodes, least sizes)
        Σ rows · price of the classes below the least size.
    """

    removed: I64
    classes: I64
    squares: I64
    spared: F64


@compiled
def raise_field(
    source: Priced,
    keys: int,
    shift: int,
    mask: int,
    table: I64,
    dearer: F64,
    slot: npt.NDArray[np.int32],
    out: Priced,
) -> int:
    """Raise one attribute of keys of one word, and add up equal keys.

    The output may be the input: a class never is behind the first of its keys.

    Parameters
    ----------
    shift, mask : int
        Where the attribute is.
    table : int64 array of shape (leaves,)
        First leaf of each leaf's node after the raise, moved to the attribute's bit position.
    dearer : float64 array of shape (leaves,)
        What the raise adds to a row's cost.
    slot : int32 array of shape (at least twice the keys, and a power of two,)
        Room to work in.

    Returns
    -------
    int
        Number of classes; the first so many entries of the output are filled.
    """
    words, count, price = source
    out_words, out_count, out_price = out
    size = 16
    while size < 2 * keys:
        size *= 2
    for i in range(size):
        slot[i] = -1
    last = np.uint64(size - 1)
    keep = ~(mask << shift)
    found = 0
    for i in range(keys):
        word = words[i]
        leaf = (word >> shift) & mask
        key = (word & keep) | table[leaf]
        mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
        place = np.int64((mixed >> np.uint64(32)) & last)
        at = slot[place]
        while at >= 0 and out_words[at] != key:
            place = (place + 1) & (size - 1)
            at = slot[place]
        if at < 0:
            slot[place] = found
            rows, paid = count[i], price[i] + dearer[leaf]
            out_words[found] = key
            out_count[found] = rows
            out_price[found] = paid
            found += 1
        else:
            out_count[at] += count[i]
    return found


@compiled
def tally(count: I64, price: F64, keys: int, bucket: I64, whole: I64, paid: F64) -> None:
    """Sort classes by the least size they reach, and add them up.

    Parameters
    ----------
    count : int64 array of shape (at least keys,)
    price : float64 array of shape (at least keys,)
    bucket : int64 array of shape (largest least size + 1,)
        How many of the least sizes a class of this size reaches; larger ones reach all.
    whole : int64 array of shape (least sizes + 1, 3), filled
        Rows, classes and Σ rows² of the classes that reach so many of them.
    paid : float64 array of shape (least sizes + 1,), filled
        Σ rows · price of them; 0 for those that reach all.
    """
    whole[:] = 0
    paid[:] = 0.0
    most = bucket.shape[0] - 1
    rows, squares, classes = 0, 0, 0
    for i in range(keys):
        own = count[i]
        if own >= most:
            rows += own
            squares += own * own
            classes += 1
        else:
            b = bucket[own]
            whole[b, 0] += own
            whole[b, 1] += 1
            whole[b, 2] += own * own
            paid[b] += own * price[i]
    last = whole.shape[0] - 1
    whole[last, 0] = rows
    whole[last, 1] = classes
    whole[last, 2] = squares


@compiled
def walk(
    begin: Priced,
    at: int,
    outer: int,
    order: I64,
    packing: Packing,
    dearer: F64,
    bucket: I64,
    totals: Totals,
) -> None:
    """Count at every node that raises only the attributes from `outer` on in an order.

    Each class set is rolled up from the one a single step below, and only one set an attribute is
    held at a time.

    Parameters
    ----------
    begin : Priced
        The class set at the node to begin with.
    at : int
        Place of that node in the flat lattice.
    order : int64 array of shape (quasi,)
        The attributes; the last changes fastest.
    dearer : float64 array
        As the table of `packing`: what a level costs more than the level below, by leaf.
    bucket : int64 array
        See `tally`.
    """
    words, count, price = begin
    height, stride, leaves = packing.height, packing.stride, packing.leaves
    shift, mask, offset, table = packing.shift, packing.mask, packing.offset, packing.table
    removed, classes, squares, spared = totals
    keys = words.shape[0]
    inner = order.shape[0] - outer
    limits = removed.shape[1]
    words_of = np.empty((inner + 1, keys), np.int64)
    count_of = np.empty((inner + 1, keys), np.int64)
    price_of = np.empty((inner + 1, keys), np.float64)
    words_of[0] = words
    count_of[0] = count
    price_of[0] = price
    size = 16
    while size < 2 * keys:
        size *= 2
    slot = np.empty(size, np.int32)
    many = np.zeros(inner + 1, np.int64)
    many[0] = keys
    level = np.zeros(inner + 1, np.int64)
    source = np.zeros(inner + 1, np.int64)  # at level 0 an attribute shares the set before it
    whole = np.zeros((limits + 1, 3), np.int64)
    paid = np.zeros(limits + 1, np.float64)
    here = 0
    while True:
        tally(count_of[here], price_of[here], many[here], bucket, whole, paid)
        rows, cost = 0, 0.0
        for b in range(limits):
            rows += whole[b, 0]
            cost += paid[b]
            removed[at, b] = rows
            spared[at, b] = cost
        number, squared = 0, 0
        for b in range(limits, 0, -1):
            number += whole[b, 1]
            squared += whole[b, 2]
            classes[at, b - 1] = number
            squares[at, b - 1] = squared
        step = inner
        while step > 0 and level[step] == height[order[outer + step - 1]]:
            at -= int(level[step] * stride[order[outer + step - 1]])
            level[step] = 0
            step -= 1
        if step == 0:
            return
        d = order[outer + step - 1]
        level[step] += 1
        at += int(stride[d])
        low = offset[d] + level[step] * leaves[d]
        high = low + leaves[d]
        here = source[step]
        many[step] = raise_field(
            Priced(words_of[here], count_of[here], price_of[here]),
            int(many[here]),
            int(shift[d]),
            int(mask[d]),
            table[low:high],
            dearer[low:high],
            slot,
            Priced(words_of[step], count_of[step], price_of[step]),
        )
        here = step
        for deeper in range(step, inner + 1):
            source[deeper] = step
