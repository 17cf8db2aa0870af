"""Bounds on lattice nodes: what suppressed rows cost below a node, spread over all nodes below."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import F64, I64
from anon_core.kernels.compiled import compiled


@compiled
def rows_kept(count: I64, keep: npt.NDArray[np.bool_]) -> int:
    """Return the rows of the classes that stay."""
    rows = 0
    for i in range(count.shape[0]):
        if keep[i]:
            rows += count[i]
    return rows


@compiled
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
        Where each attribute's leaf stands in the words.
    start : int64 array of shape (quasi,)
        Where each attribute's leaves stand in `out`.
    out : float64 array of shape (leaves of all attributes,), filled
    """
    for i in range(out.shape[0]):
        out[i] = 0.0
    for i in range(words.shape[0]):
        if not keep[i]:
            rows = float(count[i])
            for d in range(start.shape[0]):
                out[start[d] + ((words[i, word_of[d]] >> shift[d]) & mask[d])] += rows


@compiled
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


@compiled
def raise_below(bound: F64, stride: I64, node: I64, part: F64, base: float) -> None:
    """Raise the bound of every node below (and of) a node to base + Σ part[d, level].

    Parameters
    ----------
    bound : float64 array of shape (nodes,), changed in place
    stride : int64 array of shape (quasi,)
        How far apart neighbours in an attribute stand; 1 for the last.
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


@compiled
def highest(bound: F64, stride: I64, height: I64, place: int, most: float) -> int:
    """Climb from a node through nodes that are bounded by so much at most, as far as that goes.

    Of the nodes one level up, the first whose bound is finite and at most `most` is next.

    Parameters
    ----------
    bound : float64 array of shape (nodes,)
    stride, height : int64 arrays of shape (quasi,)
        How far neighbours in an attribute stand apart, and its highest level.
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
