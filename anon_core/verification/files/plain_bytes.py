"""Whether a CSV file is one about which no two readers differ, from its bytes, some at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from anon_core.verification.files.prefetch import ahead

_BLOCK = 1 << 23
_LONGEST_LINE = 1 << 26


def plain_lines(path: Path, separator: str, width: int) -> int | None:
    """Return how many lines a CSV file has, each of them a row; None where it is not plain.

    Plain is a file whose lines all end alike and have as many cells as columns, which has no empty
    one, and in which every quote opens or closes a whole cell or is doubled inside one; no cell
    goes over several lines.

    Parameters
    ----------
    path : Path
        A file of bytes in UTF-8.
    width : int
        Columns.
    """
    sign = separator.encode()
    if len(sign) != 1:
        return None
    lines = 0
    with path.open("rb") as file:
        windows = file.readline(_LONGEST_LINE).endswith(b"\r\n")
        parts = _whole_lines(file, b"\r\n" if windows else b"\n")
        for found in ahead(lambda part: lines_of(part, sign, width, windows=windows), parts):
            if found is None:
                return None
            lines += found
    return lines


def lines_of(
    content: bytes | memoryview, sign: bytes, width: int, *, windows: bool = False
) -> int | None:
    """Return how many lines a part of a file has; None where one is not plain or has no end."""
    from anon_core.verification.files.csv_lines import (  # a compiler, which small files do without
        count_lines,
    )

    text = np.frombuffer(content, dtype=np.uint8)
    found = count_lines(text, sign[0], width, windows)
    return None if found < 0 else found


def _whole_lines(file: BinaryIO, ending: bytes) -> Iterator[bytes | memoryview]:
    """Yield a file in parts that end with a line; a line that is too long is the last part."""
    begin, size = 0, _BLOCK
    while True:
        file.seek(begin)
        block = file.read(size)
        end = block.rfind(b"\n") + 1
        if end:
            yield memoryview(block)[:end]
            begin, size = begin + end, _BLOCK
        elif len(block) < size:  # the last line may have no end
            if block:
                yield block + ending
            return
        elif size > _LONGEST_LINE:
            yield block
            return
        else:
            size *= 2
