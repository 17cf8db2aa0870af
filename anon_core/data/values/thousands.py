"""Which mark parts the thousands of a column's numbers: 1.164,09, 1,164.09, 1 164,09, 1'164.09.

A cell alone may not tell: ``12.500`` is twelve and a half, or twelve thousand five hundred. The
column decides: by the cells that can be read in one way only, if these agree with each other.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?\Z")
#: What `thousands_mark` says of numbers whose marks contradict each other.
UNDECIDED = "?"
#: What people call the marks.
MARK_NAMES = {".": "Dots", ",": "Commas", " ": "Blanks", "'": "Apostrophes"}

_GROUPED = re.compile(
    r"[+-]?[1-9][0-9]{0,2}([.,'’ \u00a0\u2009\u202f])[0-9]{3}(?:\1[0-9]{3})*"
    r"(?:(?!\1)([.,])[0-9]+)?\Z"
)
#: Without any of these, at most one point a text, thousands are not marked.
_HINT = re.compile("[,'’ \u00a0\u2009\u202f]|\\.[^\n]*\\.")
_ALIKE = {"’": "'", "\u00a0": " ", "\u2009": " ", "\u202f": " "}


def thousands_mark(values: Sequence[str]) -> str:
    """Return the mark between the thousands of a column's distinct texts.

    Returns
    -------
    str
        ``.``, ``,``, a blank or an apostrophe; empty where thousands are not marked, or not known
        to be, or where a text is not a number at all; `UNDECIDED` where the texts contradict each
        other.

    Examples
    --------
    >>> thousands_mark(["1.164,09", "12.500"]), thousands_mark(["12.500", "1.5"])
    ('.', '')
    >>> thousands_mark(["3,5", "12.500"]), thousands_mark(["1.164,09", "2.5"])
    ('.', '?')
    """
    first = values[0].strip() if values else ""
    if not (NUMBER.match(first) or _GROUPED.match(first)) or not _HINT.search("\n".join(values)):
        return ""  # nearly all columns end here, quickly
    decimal: set[str] = set()
    thousands: set[str] = set()
    either: set[str] = set()
    for value in values:
        if value.isdecimal():
            continue
        text = value.strip()
        found = _GROUPED.match(text)
        if found is None:
            if NUMBER.match(text) is None:
                return ""
            decimal.update(mark for mark in ".," if mark in text)
            continue
        mark = _ALIKE.get(found[1], found[1])
        if found[2]:
            thousands.add(mark)
            decimal.add(found[2])
        elif mark in ".," and text.count(mark) == 1:
            either.add(mark)
        else:
            thousands.add(mark)
    return _settled(decimal, thousands, either)


def _settled(decimal: set[str], thousands: set[str], either: set[str]) -> str:
    """Return the mark of thousands by those that are certain, and those that may be either."""
    if not thousands and (not either or not decimal):
        # Each cell shows by itself, or none does: points are then decimal, commas doubtful.
        return UNDECIDED if len(either) > 1 else ""
    if not thousands:
        rest = either - decimal
        return UNDECIDED if len(decimal) > 1 else "".join(rest)
    if len(thousands) > 1 or thousands & decimal or len(decimal | (either - thousands)) > 1:
        return UNDECIDED
    mark = "".join(thousands)
    # Blanks alone are in telephone numbers, too.
    return mark if mark in ".," or decimal or either else ""


def without_thousands(text: str, mark: str) -> str:
    """Return the text of a number without the marks between its thousands.

    Examples
    --------
    >>> without_thousands("1.164,09", "."), without_thousands("3,5", ".")
    ('1164,09', '3,5')
    """
    text = text.strip()
    found = _GROUPED.match(text) if mark else None
    if found is None or _ALIKE.get(found[1], found[1]) != mark:
        return text
    return text.replace(found[1], "")


# Texts that are plain whole numbers, all at once: what most columns of many values hold.


#: Digits up to which every whole number is one of its own as a 64-bit float.
_MOST_DIGITS = 15


def whole_numbers(texts: Collection[str]) -> npt.NDArray[np.int64] | None:
    """Return the numbers that texts write; None unless each is written in digits and nothing else.

    No sign, mark or blank, no zero before other digits, and few enough digits to be distinguished
    from every other number: such a text is the one way to write its number.

    Returns
    -------
    int64 array of shape (texts,), or None

    Examples
    --------
    >>> whole_numbers(["120", "7", "0"])
    array([120,   7,   0])
    >>> whole_numbers(["120", "07"]) is whole_numbers(["1.5"]) is whole_numbers([]) is None
    True
    """
    together = "".join(texts)
    if not (together.isascii() and together.isdigit()):
        return None
    digits = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    if digits.min() < 1 or digits.max() > _MOST_DIGITS:
        return None
    numbers = np.fromiter(map(int, texts), dtype=np.int64, count=len(texts))
    least = np.where(digits > 1, 10 ** (digits - 1), 0)
    return None if np.any(numbers < least) else numbers
