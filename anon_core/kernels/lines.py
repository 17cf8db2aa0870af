"""Lines of text put together of cells, each of which is a place among the texts of its column."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np

from anon_core.base.arrays import I32, I64, U8
from anon_core.kernels.compilation import compiled

_BITS = 11  # of a digit: its counts stay near the processor


def in_digit_order_in_arrays(words: I64, spare: I64, low: int, high: int) -> I64:
    """Do what `in_digit_order` does, with whole arrays."""
    if high <= low:
        return words
    below = words & ((1 << low) - 1)
    if (below[1:] > below[:-1]).all() and not (words >> high).any():
        return np.sort(words)  # many times as fast as a sort that leaves equal ones as they are
    return words[np.argsort((words >> low) & ((1 << (high - low)) - 1), kind="stable")]


@partial(compiled, in_arrays=in_digit_order_in_arrays)
def in_digit_order(words: I64, spare: I64, low: int, high: int) -> I64:
    """Order words by their bits from `low` up to `high`; equal ones stay as they are.

    Parameters
    ----------
    words, spare : int64 arrays of shape (rows,)
        Whole numbers from 0, and room for as many; both are written to.
    low, high : int
        The first bit that counts, and the first that does not any more.

    Returns
    -------
    int64 array of shape (rows,)
        Either of the two.
    """
    shift = low
    while shift < high:
        wide = min(_BITS, high - shift)
        mask = (1 << wide) - 1
        begin = np.zeros((1 << wide) + 1, np.int64)
        for i in range(len(words)):
            begin[((words[i] >> shift) & mask) + 1] += 1
        for digit in range(1 << wide):
            begin[digit + 1] += begin[digit]
        for i in range(len(words)):
            digit = (words[i] >> shift) & mask
            spare[begin[digit]] = words[i]
            begin[digit] += 1
        words, spare = spare, words
        shift += wide
    return words


def joined_lines_in_arrays(codes: I32, first: I64, ends: I64, text: U8) -> U8:
    """Do what `joined_lines` does, with a list of texts."""
    whole = text.tobytes()
    texts = [whole[begin:end] for begin, end in pairwise(ends.tolist())]
    places = (codes + first[:, None]).T.ravel().tolist()
    return np.frombuffer(b"".join(map(texts.__getitem__, places)), np.uint8)


@partial(compiled, in_arrays=joined_lines_in_arrays)
def joined_lines(codes: I32, first: I64, ends: I64, text: U8) -> U8:
    """Return rows of texts one after the other, as bytes.

    Parameters
    ----------
    codes : int32 array of shape (columns, rows)
        The text of each cell, by its place in its column's.
    first : int64 array of shape (columns,)
        The place of each column's first text among all.
    ends : int64 array of shape (texts + 1,)
        Where each text begins, and ends where the next one begins.
    text : uint8 array
        All texts, with what follows each in its line.

    Returns
    -------
    uint8 array of shape (bytes,)
    """
    columns, rows = codes.shape
    size = 0
    for d in range(columns):
        for row in range(rows):
            place = first[d] + codes[d, row]
            size += ends[place + 1] - ends[place]
    lines = np.empty(size, np.uint8)
    at = 0
    for row in range(rows):
        for d in range(columns):
            place = first[d] + codes[d, row]
            size = ends[place + 1] - ends[place]
            lines[at : at + size] = text[ends[place] : ends[place + 1]]
            at += size
    return lines
