"""Whole numbers put in order by their bits, a few bits at a time: many rows, few passes."""

from __future__ import annotations

import numpy as np

from anon_core.base.arrays import I64
from anon_core.kernels.compiled import compiled

_BITS = 11  # of a digit: its counts stay near the processor


@compiled
def in_digit_order(words: I64, spare: I64, low: int, high: int) -> I64:
    """Order words by their bits from `low` up to `high`; equal ones stay as they stand.

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
