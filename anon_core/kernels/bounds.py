"""Bounds on lattice nodes: what suppressed rows cost below a node, spread over all nodes below."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import F64, I64, U8
from anon_core.kernels.compilation import compiled
from anon_core.kernels.roll_up import Packing, Spare, roll_to

_LARGEST = float(np.finfo(np.float64).max)


class Below(NamedTuple):
    """A class set to roll up from.

    Attributes
    ----------
    words, rows : int64 arrays of shape (keys,)
    node : int64 array of shape (quasi,)
        Where it is.
    free : int64 array of shape (free attributes,)
        The attributes in which nodes above it differ.
    """

    words: I64
    rows: I64
    node: I64
    free: I64


class Looked(NamedTuple):
    """Nodes that were looked at, in order: places, and rows in classes that are too small there."""

    place: I64
    removed: I64


@compiled
def mark(status: U8, stride: I64, low: I64, high: I64, sign: int) -> None:
    """Give every node from `low` to `high` a status.

    Parameters
    ----------
    status : uint8 array of shape (nodes,), changed in place
    stride : int64 array of shape (quasi,)
        How far neighbours in an attribute are apart; 1 for the last.
    low, high : int64 arrays of shape (quasi,)
        Levels, both included.
    """
    quasi = stride.shape[0]
    last = quasi - 1
    level = low.copy()
    place = 0
    for d in range(quasi):
        place += low[d] * stride[d]
    wide = high[last] - low[last] + 1
    while True:
        for n in range(wide):
            status[place + n] = sign
        d = last - 1
        while d >= 0 and level[d] == high[d]:
            place -= (level[d] - low[d]) * stride[d]
            level[d] = low[d]
            d -= 1
        if d < 0:
            return
        level[d] += 1
        place += stride[d]


@compiled
def climb(status: U8, stride: I64, level: I64, height: I64, free: I64, path: I64) -> int:
    """Follow open nodes (status 0) upwards, one level of a free attribute at a time.

    Parameters
    ----------
    status : uint8 array of shape (nodes,)
    stride, height : int64 arrays of shape (quasi,)
    level : int64 array of shape (quasi,)
        The open node to begin with; left at the end of the path.
    free : int64 array of shape (free attributes,)
    path : int64 array of shape (at least Σ height + 1,), filled

    Returns
    -------
    int
        Nodes on the path; their places fill the first so many entries.
    """
    place = 0
    for d in range(level.shape[0]):
        place += level[d] * stride[d]
    path[0] = place
    steps = 1
    climbing = True
    while climbing:
        climbing = False
        for f in range(free.shape[0]):
            d = free[f]
            if level[d] < height[d] and status[place + stride[d]] == 0:
                level[d] += 1
                place += stride[d]
                path[steps] = place
                steps += 1
                climbing = True
                break
    return steps


@compiled
def settle(
    below: Below,
    packing: Packing,
    places: I64,
    status: U8,
    least: int,
    most_work: int,
    spare: Spare,
    looked: Looked,
) -> int:
    """Decide open nodes where every row has to be in a class of a least size.

    Along a path of open nodes it searches in halves, as `Classification` does.

    Parameters
    ----------
    below : Below
        Of a node below all those in `places`, from which they differ only in free attributes.
    packing : Packing
        Of keys of one word.
    places : int64 array
        The nodes to decide, low ones first.
    status : uint8 array of shape (nodes,), changed in place
        0 where open, 1 where satisfied, 2 where failed.
    most_work : int
        Keys to regroup after which no further path is begun.
    looked : Looked, filled
        As many as `places` at most, if these are all open nodes with the same levels of attributes
        that are not free.

    Returns
    -------
    int
        How many nodes were looked at; where it stopped early, some are still open.
    """
    words, count, bottom, free = below
    height, stride = packing.height, packing.stride
    spare_rows = spare.rows
    place, removed = looked
    quasi = stride.shape[0]
    path = np.empty(height.sum() + 1, np.int64)
    level = np.empty(quasi, np.int64)
    zero = np.zeros(quasi, np.int64)
    done = 0
    work = 0
    for i in range(places.shape[0]):
        if status[places[i]] != 0:
            continue
        if work > most_work:
            return done
        for d in range(quasi):
            level[d] = places[i] // stride[d] % (height[d] + 1)
        low, high = 0, climb(status, stride, level, height, free, path) - 1
        while low <= high:
            middle = (low + high) // 2
            for d in range(quasi):
                level[d] = path[middle] // stride[d] % (height[d] + 1)
            found = roll_to(words, count, bottom, level, packing, spare, 1)
            work += words.shape[0]
            rows = 0
            for c in range(found):
                if spare_rows[c] < least:
                    rows += spare_rows[c]
            place[done] = path[middle]
            removed[done] = rows
            done += 1
            if rows == 0:
                mark(status, stride, level, height, 1)
                high = middle - 1
            else:
                mark(status, stride, zero, level, 2)
                low = middle + 1
    return done


def rows_kept_in_arrays(count: I64, keep: npt.NDArray[np.bool_]) -> int:
    """Do what `rows_kept` does, with whole arrays."""
    return int(count[keep].sum())


@partial(compiled, in_arrays=rows_kept_in_arrays)
def rows_kept(count: I64, keep: npt.NDArray[np.bool_]) -> int:
    """Return the rows of the classes that stay."""
    rows = 0
    for i in range(count.shape[0]):
        if keep[i]:
            rows += count[i]
    return rows


def removed_by_leaf_in_arrays(
    words: I64,
    count: I64,
    keep: npt.NDArray[np.bool_],
    word_of: I64,
    shift: I64,
    mask: I64,
    start: I64,
    out: F64,
) -> None:
    """Do what `removed_by_leaf` does, with whole arrays."""
    gone, rows = words[~keep], count[~keep]
    out[:] = 0.0
    for d in range(len(start)):
        leaf = start[d] + ((gone[:, word_of[d]] >> shift[d]) & mask[d])
        out += np.bincount(leaf, rows, len(out))


@partial(compiled, in_arrays=removed_by_leaf_in_arrays)
def removed_by_leaf(
    words: I64,
    count: I64,
    keep: npt.NDArray[np.bool_],
    word_of: I64,
    shift: I64,
    mask: I64,
    start: I64,
    out: F64,
) -> None:
    """Count the rows that are suppressed, per attribute and leaf.

    Parameters
    ----------
    words : int64 array of shape (classes, words)
    count : int64 array of shape (classes,)
    keep : bool array of shape (classes,)
        Which classes stay; the others are removed.
    word_of, shift, mask : int64 arrays of shape (quasi,)
        Where each attribute's leaf is in the words.
    start : int64 array of shape (quasi,)
        Where each attribute's leaves are in `out`.
    out : float64 array of shape (leaves of all attributes,), filled
    """
    for i in range(out.shape[0]):
        out[i] = 0.0
    for i in range(words.shape[0]):
        if not keep[i]:
            rows = float(count[i])
            for d in range(start.shape[0]):
                out[start[d] + ((words[i, word_of[d]] >> shift[d]) & mask[d])] += rows


def spared_in_arrays(
    rows: F64, start: I64, leaves: I64, node: I64, table: F64, offset: I64, out: F64
) -> None:
    """Do what `spared` does, with whole arrays; `cumsum` adds in the loop's order."""
    for d in range(len(node)):
        levels, wide = node[d] + 1, leaves[d]
        prices = table[offset[d] : offset[d] + levels * wide].reshape(levels, wide)
        products = rows[start[d] : start[d] + wide] * prices
        out[d, :levels] = np.cumsum(products, axis=1)[:, -1]


@partial(compiled, in_arrays=spared_in_arrays)
def spared(
    rows: F64, start: I64, leaves: I64, node: I64, table: F64, offset: I64, out: F64
) -> None:
    """Add up what suppressed rows would have paid, per attribute and level up to the node's own.

    Parameters
    ----------
    rows : float64 array of shape (leaves of all attributes,)
        See `removed_by_leaf`.
    start, leaves : int64 arrays of shape (quasi,)
    node : int64 array of shape (quasi,)
    table : float64 array
        Per attribute from `offset`, level after level, a price by leaf.
    offset : int64 array of shape (quasi,)
    out : float64 array of shape (quasi, most levels), filled
    """
    for d in range(node.shape[0]):
        for level in range(node[d] + 1):
            found = 0.0
            place = offset[d] + level * leaves[d]
            for leaf in range(leaves[d]):
                found += rows[start[d] + leaf] * table[place + leaf]
            out[d, level] = found


def raise_below_in_arrays(bound: F64, stride: I64, node: I64, part: F64, base: float) -> None:
    """Do what `raise_below` does, with whole arrays."""
    values = np.full(1, base)
    for d in range(len(node)):
        values = values[..., None] + part[d, : node[d] + 1]
    lattice = bound.reshape(-1, *(stride[:-1] // stride[1:]))
    here = lattice[tuple(slice(int(level) + 1) for level in node)]
    np.maximum(here, values[0], out=here)


@partial(compiled, in_arrays=raise_below_in_arrays)
def raise_below(bound: F64, stride: I64, node: I64, part: F64, base: float) -> None:
    """Raise the bound of every node below (and of) a node to base + Σ part[d, level].

    Parameters
    ----------
    bound : float64 array of shape (nodes,), changed in place
    stride : int64 array of shape (quasi,)
        How far apart neighbours in an attribute are; 1 for the last.
    node : int64 array of shape (quasi,)
    part : float64 array of shape (quasi, most levels)
    """
    quasi = node.shape[0]
    last = quasi - 1
    level = np.zeros(quasi, np.int64)
    upto = np.zeros(quasi + 1, np.float64)
    upto[0] = base
    changed = 0
    place = 0
    while True:
        for d in range(changed, last):
            upto[d + 1] = upto[d] + part[d, level[d]]
        for n in range(node[last] + 1):
            value = upto[last] + part[last, n]
            bound[place + n] = max(bound[place + n], value)
        changed = last - 1
        while changed >= 0 and level[changed] == node[changed]:
            place -= level[changed] * stride[changed]
            level[changed] = 0
            changed -= 1
        if changed < 0:
            return
        level[changed] += 1
        place += stride[changed]


def highest_in_arrays(bound: F64, stride: I64, height: I64, place: int, most: float) -> int:
    """Do what `highest` does: a few steps need no arrays."""
    steps = list(zip(stride.tolist(), height.tolist(), strict=True))
    climbing = True
    while climbing:
        climbing = False
        for apart, top in steps:
            if place // apart % (top + 1) < top and bound[place + apart] <= min(most, _LARGEST):
                place += apart
                climbing = True
                break
    return place


@partial(compiled, in_arrays=highest_in_arrays)
def highest(bound: F64, stride: I64, height: I64, place: int, most: float) -> int:
    """Climb from a node through nodes that are bounded by so much at most, as far as that goes.

    Of the nodes one level up, the first whose bound is finite and at most `most` is next.

    Parameters
    ----------
    bound : float64 array of shape (nodes,)
    stride, height : int64 arrays of shape (quasi,)
        How far neighbours in an attribute are apart, and its highest level.
    place : int
        Where it begins in the flat lattice.

    Returns
    -------
    int
        Where it ends.
    """
    d = 0
    while d < height.shape[0]:
        if place // stride[d] % (height[d] + 1) < height[d]:
            above = bound[place + stride[d]]
            if above <= most and above != np.inf:
                place += stride[d]
                d = -1
        d += 1
    return place
