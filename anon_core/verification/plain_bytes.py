"""Whether a CSV file is one about which no two readers differ, from its bytes, some at a time."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

_BLOCK = 1 << 24
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
    lines, cells, rest, windows = 0, 0, b"", False
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            whole = rest + block
            end = whole.rfind(b"\n") + 1
            if not end:
                if len(whole) > _LONGEST_LINE:
                    return None
                rest = whole
                continue
            if not lines:
                windows = whole[: whole.find(b"\n")].endswith(b"\r")
            found = _lines_of(whole[:end], sign[0], windows=windows)
            if found is None:
                return None
            lines, cells, rest = lines + found[0], cells + found[1], whole[end:]
    if rest:
        found = _lines_of(rest + (b"\r\n" if windows else b"\n"), sign[0], windows=windows)
        if found is None:
            return None
        lines, cells = lines + found[0], cells + found[1]
    return lines if cells == lines * width else None


def _lines_of(content: bytes, separator: int, *, windows: bool) -> tuple[int, int] | None:
    """Return the lines and cells of a part that ends with a line; None where it is not plain."""
    if b"\0" in content or content.startswith((b"\n", b"\r")) or b"\n\n" in content:
        return None
    lines = content.count(b"\n")
    returns = content.count(b"\r")
    if windows:
        if returns != lines or content.count(b"\r\n") != lines or b"\n\r" in content:
            return None
    elif returns:
        return None
    text = np.frombuffer(content, dtype=np.uint8)
    quotes = text == _QUOTE
    place = np.flatnonzero(quotes)
    if not len(place):
        return lines, lines + content.count(separator)
    if not _quotes_are_plain(text, place, separator, windows=windows):
        return None
    inside = np.bitwise_xor.accumulate(quotes.view(np.uint8))
    if np.any(inside[text == _LINE]):
        return None
    return lines, lines + int(np.count_nonzero((text == separator) & (inside == 0)))


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
