"""Texts that are plain whole numbers, all at once: what most columns of many values hold."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import numpy.typing as npt

#: Digits up to which every whole number is one of its own as a 64-bit float.
_MOST_DIGITS = 15


def whole_numbers(texts: Collection[str]) -> npt.NDArray[np.int64] | None:
    """Return the numbers that texts write; None unless each is written in digits and nothing else.

    No sign, mark or blank, no zero before other digits, and few enough digits to be told apart from
    every other number: such a text is the one way to write its number.

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
