"""Lines of text put together of cells, each of which is a place among the texts of its column."""

from __future__ import annotations

import numpy as np

from ..base.arrays import I32, I64, U8
from .compiled import compiled


@compiled
def joined_lines(codes: I32, first: I64, ends: I64, text: U8) -> U8:
    """Return rows of texts one after the other, as bytes.

    Rows are in order, and those of a class stand together: what a row begins with is taken from the
    one before.

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
    upto = np.zeros(columns + 1, np.int64)  # where each cell of the row before ends in its line
    size = 0
    for row in range(rows):
        for d in range(alike(codes, row), columns):
            place = first[d] + codes[d, row]
            upto[d + 1] = upto[d] + ends[place + 1] - ends[place]
        size += upto[columns]
    lines = np.empty(size, np.uint8)
    at = before = 0
    for row in range(rows):
        same = alike(codes, row)
        for byte in range(upto[same] if row else 0):
            lines[at + byte] = lines[before + byte]
        for d in range(same, columns):
            place = first[d] + codes[d, row]
            begin, end = ends[place], ends[place + 1]
            upto[d + 1] = upto[d] + end - begin
            for byte in range(end - begin):
                lines[at + upto[d] + byte] = text[begin + byte]
        before = at
        at += upto[columns]
    return lines


@compiled
def alike(codes: I32, row: int) -> int:
    """Return how many first cells of a row say what those of the row before say."""
    same = 0
    if row:
        while same < len(codes) and codes[same, row] == codes[same, row - 1]:
            same += 1
    return same
