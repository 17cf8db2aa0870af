"""Which mark parts thousands in a column of numbers, found by trying each way to write numbers.

A way is a mark between thousands and one before decimals. The column is read as the one way in
which every one of its cells can be; where several are left, it is not known what the numbers are.
"""

from __future__ import annotations

import re
from collections.abc import Collection

#: Marks between thousands, as one of their kind; what else counts as it.
_MARKS = {".": ".", ",": ",", " ": " \u00a0\u2009\u202f", "'": "'’"}
_DECIMALS = (".", ",")
_PLAIN = r"[+-]?(\d+({0}\d*)?|{0}\d+)([eE][+-]?\d+)?"
_ANY = re.compile(_PLAIN.format("[.,]"))
_EITHER = re.compile(r"[+-]?[1-9][0-9]{0,2}[.,][0-9]{3}")


def thousands_of(texts: Collection[str]) -> str | None:
    """Return the mark between thousands, empty where there is none, None where it is not known.

    Examples
    --------
    >>> thousands_of(["1.164,09", "12.500"]), thousands_of(["12.500", "1.5"])
    ('.', '')
    >>> thousands_of(["3,5", "12.500"]), thousands_of(["1.164,09", "2.5"])
    ('.', None)
    """
    if all(text.isdecimal() for text in texts):
        return ""
    cells = [text.strip() for text in texts]
    if all(_ANY.fullmatch(cell) for cell in cells):
        marks = {cell[-4] for cell in cells if _EITHER.fullmatch(cell)}
        if not marks:
            return ""  # each cell tells by itself
        if any(_all(_PLAIN.format(re.escape(point)), cells) for point in _DECIMALS):
            return ""
    ways = [
        (mark, point)
        for mark, alike in _MARKS.items()
        for point in _DECIMALS
        if mark != point and _all(_marked(alike, point), cells)
    ]
    return ways[0][0] if len(ways) == 1 else None


def unmarked(text: str, mark: str) -> str:
    """Return a number's text without marks between thousands; any other text as it is.

    Examples
    --------
    >>> unmarked("1.164,09", "."), unmarked("3,5", "."), unmarked("1.5", ".")
    ('1164,09', '3,5', '1.5')
    """
    if not mark or not any(
        re.fullmatch(_parted(_MARKS[mark], point), text) for point in _DECIMALS if point != mark
    ):
        return text
    return "".join(c for c in text if c not in _MARKS[mark])


def _parted(alike: str, point: str) -> str:
    """Return what matches numbers whose thousands are marked, by one mark all through."""
    groups = "|".join(f"(?:{re.escape(one)}[0-9]{{3}})+" for one in alike)
    return f"[+-]?[1-9][0-9]{{0,2}}(?:{groups})(?:{re.escape(point)}[0-9]+)?"


def _marked(alike: str, point: str) -> str:
    """Return what matches all numbers of one way, whether their thousands are marked or not."""
    return f"(?:{_parted(alike, point)}|{_PLAIN.format(re.escape(point))})"


def _all(form: str, cells: Collection[str]) -> bool:
    read = re.compile(form).fullmatch
    return all(read(cell) is not None for cell in cells)
