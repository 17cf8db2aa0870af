"""Texts of digits alone, of which a column may have many: looked up by the numbers they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import overload

import numpy as np
import numpy.typing as npt

from anon_core.verification.text.kinds import are_digits

_MOST = 18  # digits that fit a word whatever they are


def numbers_of(texts: Sequence[str]) -> npt.NDArray[np.int64] | None:
    """Return the numbers that texts are; None where one is more than digits, or has too many.

    Examples
    --------
    >>> numbers_of(["0", "120"])
    array([  0, 120])
    >>> numbers_of(["007"]) is None, numbers_of(["1", "-2"]) is None, numbers_of([]) is None
    (True, True, True)
    """
    if not are_digits(texts) or max(map(len, texts)) > _MOST:
        return None
    return np.fromstring("\n".join(texts), dtype=np.int64, sep="\n")


class Numbers(Sequence[Decimal]):
    """The numbers that texts are, each made when it is asked for."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = texts

    def __len__(self) -> int:
        return len(self._texts)

    @overload
    def __getitem__(self, place: int) -> Decimal: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[Decimal]: ...
    def __getitem__(self, place: int | slice) -> Decimal | Sequence[Decimal]:
        found = self._texts[place]
        return Decimal(found) if isinstance(found, str) else Numbers(found)


@dataclass(frozen=True, kw_only=True, eq=False)
class Digits:
    """The codes of a column's values, which are digits alone.

    Attributes
    ----------
    values : int64 array of shape (values,)
        Ascending, no two alike; one at least.
    codes : int64 array of shape (values,)
    """

    values: npt.NDArray[np.int64]
    codes: npt.NDArray[np.int64]

    def codes_of(self, texts: Sequence[str]) -> npt.NDArray[np.int64] | None:
        """Return the codes of texts, -1 where there is none; None where one is more than digits."""
        numbers = numbers_of(texts)
        if numbers is None:
            return None
        place = np.minimum(np.searchsorted(self.values, numbers), len(self.values) - 1)
        return np.where(self.values[place] == numbers, self.codes[place], -1)
