"""Sensitive values of a row taken together, for who knows some of a person's and not the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from anon_core.base.arrays import I32
from anon_core.data.column import encode
from anon_core.data.frequency import FrequencySet, dense_rank
from anon_core.data.hierarchy import Hierarchy, flat

#: What the frequency set calls the combinations of all sensitive values of a row.
COMBINED = "\0together"


@dataclass(frozen=True, kw_only=True, eq=False)
class Combined:
    """What each combination of sensitive values says of one column, and of the others.

    Attributes
    ----------
    value : int32 array of shape (combinations,)
        Leaf number of the column.
    others : int32 array of shape (combinations,)
        A number for what the other sensitive columns say, equal where they say the same; a missing
        value is one like any other.
    """

    value: I32
    others: I32


def with_combinations(
    frequency: FrequencySet, hierarchies: Mapping[str, Hierarchy]
) -> tuple[FrequencySet, Mapping[str, Hierarchy]]:
    """Return the frequency set with the combinations of sensitive values as one more column.

    Keys and their order stay, since a key has one combination. Nothing is added where there are
    fewer than two sensitive columns that are not quasi-identifiers.
    """
    names = frequency.shown[frequency.quasi :]
    if len(names) < 2:
        return frequency, {}
    codes, first = _ranked(frequency, names, hierarchies)
    digits = len(str(len(first)))
    values = [f"{number:0{digits}}" for number in range(len(first))]
    combined = replace(
        frequency,
        columns=(*frequency.columns, COMBINED),
        codes=np.concatenate([frequency.codes, codes[:, None]], axis=1),
        private=frequency.private + 1,
    )
    return combined, {COMBINED: flat(encode(COMBINED, codes, values, kind="text"))}


def combined_of(
    frequency: FrequencySet, hierarchies: Mapping[str, Hierarchy], column: str
) -> Combined:
    """Return what each combination says of a sensitive column, and of all others."""
    names = frequency.shown[frequency.quasi :]
    place = frequency.columns.index
    every = frequency.codes[:, place(COMBINED)]
    others, _ = _ranked(frequency, [name for name in names if name != column], hierarchies)
    found = Combined(
        value=np.zeros(int(every.max(initial=-1)) + 1, dtype=np.int32),
        others=np.zeros(int(every.max(initial=-1)) + 1, dtype=np.int32),
    )
    found.value[every] = frequency.codes[:, place(column)]
    found.others[every] = others
    return found


def _ranked(
    frequency: FrequencySet, names: Sequence[str], hierarchies: Mapping[str, Hierarchy]
) -> tuple[I32, Sequence[int]]:
    codes = [frequency.codes[:, frequency.columns.index(name)] for name in names]
    rank, first = dense_rank(codes, [len(hierarchies[name].leaves) for name in names])
    return rank.astype(np.int32), first.tolist()
