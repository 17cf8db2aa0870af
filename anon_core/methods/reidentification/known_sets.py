"""Which columns an attacker knows: sets of one, of two and so on, up to all of them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

_SETS = 3  # sets of each size that are tried
#: Columns up to which every number of known ones is tried; of more, as many numbers are.
MOST_SIZES = 24


def sizes_tried(columns: int) -> list[int]:
    """Return the numbers of known columns that are tried: each, or closer together where few.

    Examples
    --------
    >>> sizes_tried(3)
    [1, 2, 3]
    >>> found = sizes_tried(300)
    >>> (len(found), found[:4], found[-2:])
    (24, [1, 2, 3, 4], [243, 300])
    """
    if columns <= MOST_SIZES:
        return list(range(1, columns + 1))
    few = MOST_SIZES // 2
    far = np.geomspace(few + 1, columns, MOST_SIZES - few).round().astype(np.int64)
    return sorted({*range(1, few + 1), *far.tolist()})


def known_sets(places: Sequence[int], generator: np.random.Generator) -> list[tuple[int, ...]]:
    """Return up to three sets of every size tried, drawn where there are more; all columns last.

    Examples
    --------
    >>> known_sets([0, 2], np.random.default_rng(1))
    [(0,), (2,), (0, 2)]
    """
    found: list[tuple[int, ...]] = []
    for size in sizes_tried(len(places)):
        if math.comb(len(places), size) <= _SETS:
            found += itertools.combinations(places, size)
            continue
        drawn: dict[tuple[int, ...], None] = {}
        while len(drawn) < _SETS:
            some = generator.choice(len(places), size, replace=False)
            drawn[tuple(sorted(places[i] for i in some.tolist()))] = None
        found += drawn
    return found


def with_errors(
    true: np.ndarray[tuple[int, ...], np.dtype[np.int32]],
    register: np.ndarray[tuple[int, ...], np.dtype[np.int32]],
    count: np.ndarray[tuple[int, ...], np.dtype[np.int64]],
    share: float,
    generator: np.random.Generator,
) -> np.ndarray[tuple[int, ...], np.dtype[np.int32]]:
    """Return what an attacker knows who is wrong about a share of the values.

    In place of a wrong value stands that of somebody else of the register.

    Parameters
    ----------
    true : int32 array of shape (people, columns)
    register : int32 array of shape (tuples, columns)
    count : int64 array of shape (tuples,)
        People of each tuple.
    """
    told = true.copy()
    for d in range(true.shape[1]):
        wrong = np.flatnonzero(generator.random(len(true)) < share)
        other = generator.choice(len(register), len(wrong), p=count / count.sum())
        told[wrong, d] = register[other, d]
    return told
