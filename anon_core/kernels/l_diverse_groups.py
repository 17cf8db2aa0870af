"""Forming l-diverse groups: Anatomize's draws, and Li's bisection by growing boxes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import F64, I64
from anon_core.kernels.compilation import compiled
from anon_core.kernels.cuts import Cuts

#: Rows that are fetched at a time: they lie far from each other, and none has to wait for another.
NEAR = 64


class Points(NamedTuple):
    """Rows as packed words, and what the codes in them represent.

    A column's code in row i is ``words[word, i] >> shift & mask``. The attributes come first, the
    sensitive column last.

    Attributes
    ----------
    words : int64 array of shape (words, rows)
    word, shift, mask : int64 arrays of shape (attributes + 1,)
    offset : int64 array of shape (attributes,)
        Where an attribute's codes begin in `position`.
    position : float64 array
        Of each code of each attribute, normalized to [0, 1].
    values, missing : int
        Number of codes of the sensitive column; that of rows without a value, or -1.
    """

    words: I64
    word: I64
    shift: I64
    mask: I64
    offset: I64
    position: F64
    values: int
    missing: int


@compiled
def anatomize(left: I64, least: int, groups: int, value_of: I64) -> int:
    """Draw groups of `least` different values from the values with most rows left.

    Xiao and Tao 2006, algorithm Anatomize, steps 3 to 8: while at least `least` values have rows
    left, one row of each of the `least` most numerous forms a group.

    Parameters
    ----------
    left : int64 array of shape (values,)
        Rows left per value; changed in place.
    groups : int
        Room of `value_of`.
    value_of : int64 array of shape (groups, least)
        Filled with the values of each group.

    Returns
    -------
    int
        Number of groups formed.
    """
    values = left.shape[0]
    # Values in buckets by rows left, so that the largest are found without sorting. Buckets that
    # are in use are linked from the largest down: others may lie between them by the thousand.
    top = 0
    for v in range(values):
        top = max(top, left[v])
    head = np.full(top + 2, -1, np.int64)
    below, above = np.zeros(top + 2, np.int64), np.zeros(top + 2, np.int64)
    after = np.full(values, -1, np.int64)
    alive = 0
    for v in range(values - 1, -1, -1):
        if left[v] > 0:
            after[v] = head[left[v]]
            head[left[v]] = v
            alive += 1
    size = top + 1  # is above all
    for other in range(top, -1, -1):
        if head[other] >= 0 or other == 0:
            below[size], above[other] = other, size
            size = other
    formed = 0
    taken = np.empty(least, np.int64)
    while alive >= least and formed < groups:
        size = below[top + 1]
        for i in range(least):
            while head[size] < 0:
                size = below[size]
            v = head[size]
            head[size] = after[v]
            taken[i] = v
        for i in range(least):
            v = taken[i]
            value_of[formed, i] = v
            size = left[v]
            left[v] -= 1
            if left[v] > 0:
                if below[size] != left[v]:  # the bucket below comes into use
                    other = below[size]
                    below[size], above[left[v]] = left[v], size
                    below[left[v]], above[other] = other, left[v]
                after[v] = head[left[v]]
                head[left[v]] = v
            else:
                alive -= 1
        for i in range(least):
            size = left[taken[i]] + 1
            if head[size] < 0 and below[above[size]] == size:  # the bucket goes out of use
                below[above[size]], above[below[size]] = below[size], above[size]
        formed += 1
    return formed


@compiled
def next_random(state: npt.NDArray[np.uint64]) -> np.uint64:
    """Return the next number of a xoshiro256** sequence; `state` has four elements."""
    found = state[1] * np.uint64(5)
    found = ((found << np.uint64(7)) | (found >> np.uint64(57))) * np.uint64(9)
    shifted = state[1] << np.uint64(17)
    state[2] ^= state[0]
    state[3] ^= state[1]
    state[1] ^= state[2]
    state[0] ^= state[3]
    state[2] ^= shifted
    state[3] = (state[3] << np.uint64(45)) | (state[3] >> np.uint64(19))
    return found


@compiled
def shuffle(order: I64, start: int, stop: int, state: npt.NDArray[np.uint64]) -> None:
    """Shuffle order[start:stop] in place (Durstenfeld 1964)."""
    own = state.copy()  # memory that is nothing else's stays in registers
    for i in range(stop - 1, start, -1):
        j = start + np.int64(next_random(own) % np.uint64(i - start + 1))
        order[i], order[j] = order[j], order[i]
    state[:] = own


@compiled
def fetch(points: Points, rows: I64, position: F64, sensitive: I64) -> None:
    """Look up some rows: their positions, shape (rows, attributes), and sensitive codes."""
    attributes = len(points.offset)
    for d in range(attributes + 1):
        word, shift, mask = points.word[d], points.shift[d], points.mask[d]
        for i in range(len(rows)):
            code = (points.words[word, rows[i]] >> shift) & mask
            if d < attributes:
                position[i, d] = points.position[points.offset[d] + code]
            else:
                sensitive[i] = code


@compiled
def stands_outside(box: F64, row: F64) -> bool:
    """Return whether a row would make a box grow; `box` holds its lows and its highs."""
    found = False
    for d in range(len(row)):
        found |= (row[d] < box[0, d]) | (row[d] > box[1, d])
    return found


@compiled
def growth(box: F64, row: F64) -> float:
    """Return by how much a box grows in all to hold a row."""
    found = 0.0
    for d in range(len(row)):
        found += max(box[0, d] - row[d], 0.0) + max(row[d] - box[1, d], 0.0)
    return found


@compiled
def grow(box: F64, row: F64) -> None:
    """Make a box hold a row."""
    for d in range(len(row)):
        box[0, d] = min(box[0, d], row[d])
        box[1, d] = max(box[1, d], row[d])


@compiled
def eligible(sensitive: I64, tally: I64, missing: int, least: int) -> bool:
    """Return whether no value fills more than 1/least of the rows that have one.

    Parameters
    ----------
    sensitive : int64 array of shape (rows,)
    tally : int64 array of shape (values,)
        Room for counting; zero before and after.
    missing : int
        Code of the rows that have none; one row at least must have one.
    """
    most = 0
    known = 0
    for v in sensitive:
        if v != missing:
            known += 1
            tally[v] += 1
            most = max(most, tally[v])
    for v in sensitive:
        tally[v] = 0
    return bool(known > 0 and most * least <= known)


@compiled
def bisect(
    points: Points,
    cuts: Cuts,
    depth: int,
    found: int,
    least: int,
    tries: int,
    state: npt.NDArray[np.uint64],
    work: int,
) -> tuple[int, int]:
    """Halve sub-tables while both halves stay l-eligible (Li et al. 2015, algorithm 2).

    Each try shuffles the rows and adds every row to the half whose NCP grows less; the halves start
    from artificial tuples of all-highest and all-lowest values, which never count as rows.

    Parameters
    ----------
    depth, found : int
        Parts on its stack, and parts done.
    least, tries : int
        l, and how often a part is tried before it is left whole.
    state : uint64 array of shape (4,)
        Random state, not all 0: as long as the secret it comes from.
    work : int
        Row visits to spend before returning.

    Returns
    -------
    depth, found : int
        As the parameters; `depth` is 0 when all is done.
    """
    order, stack, parts = cuts.order, cuts.stack, cuts.parts
    rows, attributes = points.words.shape[1], len(points.offset)
    # The rows of the second half, and the sensitive codes of either, until a part is through.
    spare = np.empty(rows, np.int64)
    secret = np.empty((2, rows), np.int64)
    tally = np.zeros(points.values, np.int64)
    boxes = np.empty((2, 2, attributes), np.float64)
    position = np.empty((NEAR, attributes), np.float64)
    sensitive = np.empty(NEAR, np.int64)
    spent = 0
    while depth > 0 and spent < work:
        depth -= 1
        start, stop = stack[depth, 0], stack[depth, 1]
        done = False
        if stop - start >= 2 * least:
            for _ in range(tries):
                spent += stop - start
                shuffle(order, start, stop, state)
                boxes[0] = 1.0
                boxes[1] = 0.0
                wide0, wide1 = 0.0, 0.0
                one, other = 0, 0
                for begin in range(start, stop, NEAR):
                    end = min(begin + NEAR, stop)
                    fetch(points, order[begin:end], position, sensitive)
                    for i in range(end - begin):
                        row = position[i]
                        # Most rows are inside both boxes soon.
                        out0, out1 = stands_outside(boxes[0], row), stands_outside(boxes[1], row)
                        grow0 = growth(boxes[0], row) if out0 else 0.0
                        grow1 = growth(boxes[1], row) if out1 else 0.0
                        # NCP of a half is rows × width of its box, the artificial row included.
                        more0 = (one + 1) * grow0 + wide0 + grow0
                        more1 = (other + 1) * grow1 + wide1 + grow1
                        if more0 < more1:
                            if out0:
                                grow(boxes[0], row)
                                wide0 += grow0
                            secret[0, one] = sensitive[i]
                            order[start + one] = order[begin + i]
                            one += 1
                        else:
                            if out1:
                                grow(boxes[1], row)
                                wide1 += grow1
                            secret[1, other] = sensitive[i]
                            spare[other] = order[begin + i]
                            other += 1
                cut = start + one
                order[cut:stop] = spare[:other]
                if eligible(secret[0, :one], tally, points.missing, least) and eligible(
                    secret[1, :other], tally, points.missing, least
                ):
                    stack[depth, 0], stack[depth, 1] = start, cut
                    stack[depth + 1, 0], stack[depth + 1, 1] = cut, stop
                    depth += 2
                    done = True
                    break
        if not done:
            parts[found, 0], parts[found, 1] = start, stop
            found += 1
    return depth, found
