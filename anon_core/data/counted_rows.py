"""A table known by counts alone: its distinct values and distinct tuples, and no single row.

What works from counts works on it as on any table. What asks for a row learns that there is none,
so that nothing takes a part of the table for the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import NeedsRows
from anon_core.data.column import Column, Spelled
from anon_core.data.frequency import FrequencySet, dense_rank

_NO_ROWS = np.empty(0, dtype=np.int32)


def _refuse() -> NoReturn:
    raise NeedsRows(
        "It looks at single rows, and of this table only counts are held in memory.",
        remedy="Run it with engine = 'memory', if the table fits.",
    )


def _tallied(tokens: Spelled | None, tally: npt.NDArray[np.int64]) -> dict[str, int]:
    """Return how many rows have each text that was taken for a missing value."""
    if tokens is None:
        return {}
    codes, texts = tokens
    rows = [int(tally[codes == place].sum()) for place in range(len(texts))]
    return {text: count for text, count in zip(texts, rows, strict=True) if count}


class CountedColumn(Column):
    """A column whose values are known with the number of their rows; its codes are with no one."""

    def __init__(self, column: Column, tally: npt.NDArray[np.int64]) -> None:
        """Take a column of distinct texts.

        Parameters
        ----------
        column : Column
            One row for each distinct text.
        tally : int64 array of shape (texts,)
            Rows of the table with the text.
        """
        super().__init__(
            name=column.name,
            kind=column.kind,
            codes=_NO_ROWS,
            values=column.values,
            measure=column.measure,
            notes=column.notes,
            thousands=column.thousands,
            undecided=column.undecided,
        )
        held = column.codes >= 0
        counts = np.bincount(
            column.codes[held], weights=tally[held], minlength=len(column.values)
        ).astype(np.int64)
        # Found at once, instead of what a column of rows finds when it is asked.
        self.__dict__["counts"] = counts
        self.__dict__["written"] = column.written
        self.__dict__["replaced"] = _tallied(column.tokens, tally)
        self.__dict__["missing"] = int(tally[~held].sum())

    def __getattribute__(self, name: str) -> object:
        """Refuse the codes of rows; everything else is there."""
        if name == "codes":
            _refuse()
        return super().__getattribute__(name)

    def first_row(self, values: Sequence[int]) -> str:
        """Say nothing: which row has which value is with no one."""
        return ""


class CountedSet(FrequencySet):
    """A frequency set that does not know which row has which key."""

    def __getattribute__(self, name: str) -> object:
        """Refuse the keys of rows; everything else is there."""
        if name == "row_key":
            _refuse()
        return super().__getattribute__(name)


@dataclass(frozen=True, kw_only=True, eq=False)
class Keys:
    """A counted frequency set, and the key of every tuple that was counted.

    Attributes
    ----------
    of_tuple : int64 array of shape (tuples,)
    """

    frequency: FrequencySet
    of_tuple: npt.NDArray[np.int64]


def counted_set(
    names: tuple[str, ...],
    codes: list[npt.NDArray[np.int32]],
    sizes: list[int],
    count: npt.NDArray[np.int64],
    *,
    quasi: int,
) -> Keys:
    """Return the frequency set of tuples that were counted; equal ones are put together.

    Parameters
    ----------
    codes : list of int32 arrays of shape (tuples,)
        Leaf numbers.
    count : int64 array of shape (tuples,)
    """
    rank, first = dense_rank(codes, sizes)
    frequency = CountedSet(
        columns=names,
        quasi=quasi,
        codes=np.stack([column[first] for column in codes], axis=1, dtype=np.int32),
        count=np.bincount(rank, weights=count, minlength=len(first)).astype(np.int64),
        row_key=np.empty(0, dtype=np.int64),
    )
    return Keys(frequency=frequency, of_tuple=rank)
