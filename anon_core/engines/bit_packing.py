"""Columns of small numbers packed into few words, which an engine orders at less cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

#: A word is a signed number of 64 bits in every engine; its sign is not used.
_BITS = 63


@dataclass(frozen=True, kw_only=True)
class Field:
    """Where the numbers of one column are.

    Attributes
    ----------
    word : int
        In which word, from 0.
    shift : int
        How many bits of it come after them.
    bits : int
        How many they take.
    """

    word: int
    shift: int
    bits: int

    def of(self, words: npt.NDArray[np.int64]) -> npt.NDArray[np.int32]:
        """Return the column's numbers from its words."""
        return ((words >> self.shift) & ((1 << self.bits) - 1)).astype(np.int32)


def fields(sizes: Sequence[int]) -> list[Field]:
    """Return where columns are so that words in order are rows in order, the first before all.

    Parameters
    ----------
    sizes : sequence of int
        One more than each column's largest number.
    """
    widths = [max(1, (size - 1).bit_length()) for size in sizes]
    words: list[list[int]] = [[]]
    for width in widths:
        if sum(words[-1]) + width > _BITS:
            words.append([])
        words[-1].append(width)
    return [
        Field(word=word, shift=sum(held[place + 1 :]), bits=width)
        for word, held in enumerate(words)
        for place, width in enumerate(held)
    ]
