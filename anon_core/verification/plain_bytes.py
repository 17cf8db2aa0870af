"""Whether a CSV file is one about which no two readers differ, from its bytes, some at a time."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from .ahead import ahead

_BLOCK = 1 << 23
_LONGEST_LINE = 1 << 26
_QUOTE, _LINE, _RETURN = ord('"'), ord("\n"), ord("\r")


def plain_lines(path: Path, separator: str, width: int) -> int | None:
    """Return how many lines a CSV file has, each of them a row; None where it is not plain.

    Plain is a file whose lines all end alike, which has no empty one, and in which every quote
    opens or closes a whole cell or is doubled inside one; no cell goes over several lines. Lines
    have as many cells as columns on average: a database finds one that has too few of them, but may
    take one too many for nothing.

    Parameters
    ----------
    path : Path
        A file of bytes in UTF-8.
    separator : str
    width : int
        Columns.
    """
    sign = separator.encode()
    if len(sign) != 1:
        return None
    lines, cells = 0, 0
    with path.open("rb") as file:
        windows = file.readline(_LONGEST_LINE).endswith(b"\r\n")
        file.seek(0)
        parts = _whole_lines(file, b"\r\n" if windows else b"\n")
        for found in ahead(lambda part: _lines_of(part, sign[0], windows=windows), parts):
            if found is None:
                return None
            lines, cells = lines + found[0], cells + found[1]
    return lines if cells == lines * width else None


def _whole_lines(file: BinaryIO, ending: bytes) -> Iterator[bytes]:
    """Yield a file in parts that end with a line; a line that is too long is the last part."""
    rest = b""
    while block := file.read(_BLOCK):
        whole = rest + block
        end = whole.rfind(b"\n") + 1
        if end:
            yield whole[:end]
        elif len(whole) > _LONGEST_LINE:
            yield whole
            return
        rest = whole[end:]
    if rest:
        yield rest + ending


def _lines_of(content: bytes, separator: int, *, windows: bool) -> tuple[int, int] | None:
    """Return the lines and cells of a part; None where it is not plain or ends with no line."""
    if not content.endswith(b"\n"):
        return None
    text = np.frombuffer(content, dtype=np.uint8)
    ends, quotes = text == _LINE, text == _QUOTE
    marks = text == separator
    marks |= ends
    marks |= quotes
    # What follows looks at these places alone: they are few beside the bytes.
    place = np.flatnonzero(marks)
    sign = text[place]
    line = place[sign == _LINE]
    if b"\0" in content or not _lines_end_alike(text, line, windows=windows):
        return None
    quote = sign == _QUOTE
    if not quote.any():
        return len(line), len(place)
    if not _quotes_are_plain(text, place[quote], separator, windows=windows):
        return None
    inside = np.bitwise_xor.accumulate(quote)
    if np.any(inside[sign == _LINE]):
        return None
    outside = int(np.count_nonzero(~inside & (sign == separator)))
    return len(line), len(line) + outside


def _lines_end_alike(
    text: npt.NDArray[np.uint8], line: npt.NDArray[np.int64], *, windows: bool
) -> bool:
    """Say whether a return stands before every line feed, or none anywhere; no line is empty."""
    returns = int(np.count_nonzero(text == _RETURN))
    if returns != (len(line) if windows else 0):
        return False
    # Lines of an end and nothing else are empty.
    if np.any(np.diff(line, prepend=-1) <= 1 + windows):
        return False
    return not windows or bool(np.all(text[line - 1] == _RETURN))


def _quotes_are_plain(
    text: npt.NDArray[np.uint8], place: npt.NDArray[np.int64], separator: int, *, windows: bool
) -> bool:
    """Say whether quotes stand around whole cells, or doubled inside them only."""
    if len(place) % 2:
        return False
    opening, closing = place[::2], place[1::2]
    before, after = text[np.maximum(opening - 1, 0)], text[closing + 1]
    starts = (before == separator) | (before == _LINE) | (opening == 0)
    stops = (after == separator) | (after == (_RETURN if windows else _LINE))
    # A doubled quote closes and opens again at once.
    doubled = opening[1:] == closing[:-1] + 1
    starts[1:] |= doubled
    stops[:-1] |= doubled
    return bool(starts.all() and stops.all())
