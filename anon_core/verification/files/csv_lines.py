"""The lines of a CSV file: counted where every one is plain, and put together of their cells.

Lines are put together as `anon_core/kernels/lines.py` does it, and not by it: this is what a run's
files are compared with.
"""

from __future__ import annotations

import numpy as np

from anon_core.base.arrays import B1, I32, I64, U8
from anon_core.base.compilation import compiled

_QUOTE, _LINE, _RETURN = ord('"'), ord("\n"), ord("\r")


@compiled
def count_lines(text: U8, separator: int, width: int, windows: bool) -> int:
    """Return how many lines there are; -1 where one is not plain or the last has no end.

    Plain is a line that is not empty, has as many cells as columns and ends as all do, and in which
    every quote opens or closes a whole cell or is doubled inside one. No cell goes over several
    lines, and none has a NUL byte.

    Parameters
    ----------
    text : uint8 array of shape (bytes,)
    separator : int
        A byte.
    width : int
        Columns.
    windows : bool
        Whether a return stands before every line feed, rather than before none.
    """
    special = np.zeros(256, np.bool_)
    special[0] = special[_QUOTE] = special[_LINE] = special[_RETURN] = special[separator] = True
    size = len(text)
    lines = cells = at = begin = 0
    while at < size:
        if text[at] == _QUOTE:  # which opens a cell here
            at = after_quotes(text, at + 1, special, separator)
        else:
            while at < size and not special[text[at]]:
                at += 1
        if at >= size:
            return -1
        cells += 1
        if text[at] == separator:
            at += 1
            continue
        if at == begin or cells != width:
            return -1
        if windows and text[at] == _RETURN:
            at += 1
        elif windows:
            return -1
        if at >= size or text[at] != _LINE:
            return -1
        at += 1
        lines, cells, begin = lines + 1, 0, at
    return lines if begin == size else -1


@compiled
def after_quotes(text: U8, at: int, special: B1, separator: int) -> int:
    """Return the place behind the quote that closes a cell; that of the end where none does."""
    size = len(text)
    while True:
        while at < size and (not special[text[at]] or text[at] == separator):
            at += 1
        if at >= size or text[at] != _QUOTE:
            return size
        at += 1
        if at >= size or text[at] != _QUOTE:
            return at
        at += 1


@compiled
def put_together(cells: I32, first: I64, places: I64, text: U8) -> U8:
    """Return the lines of some rows, as bytes.

    Parameters
    ----------
    cells : int32 array of shape (columns, rows)
        By its number among the texts of its column, what stands in each cell.
    first : int64 array of shape (columns,)
        The number of each column's first text among all.
    places : int64 array of shape (texts + 1,)
        Where each text begins; the last is where all end.
    text : uint8 array of shape (bytes,)
        All texts, each with what follows it in a line.
    """
    columns, rows = cells.shape
    size = 0
    for column in range(columns):
        for row in range(rows):
            number = first[column] + cells[column, row]
            size += places[number + 1] - places[number]
    lines = np.empty(size, np.uint8)
    at = 0
    for row in range(rows):
        for column in range(columns):
            number = first[column] + cells[column, row]
            begin, end = places[number], places[number + 1]
            lines[at : at + end - begin] = text[begin:end]
            at += end - begin
    return lines
