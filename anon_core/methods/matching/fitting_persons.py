"""Whether all rows that fit somebody are one person's, where one person has several rows."""

from __future__ import annotations

import numpy as np

from anon_core.base.arrays import I32, I64
from anon_core.base.context import Context
from anon_core.methods.matching.fitting_rows import least_of_fitting, rows_fitting

_MOST = 2**62  # what sums of whole numbers may reach


def fewest_persons(
    codes: I32, low: I32, high: I32, pairs: tuple[I64, I64], context: Context
) -> I64:
    """Return whether anyone who fits a class fits rows of one person only: 1, else 2 for several.

    Where nobody fits a class, or there are too many to compare, it is as many persons as the class
    itself has: the least it can be.

    Parameters
    ----------
    codes : int32 array of shape (tuples, columns)
        Leaf numbers of the people.
    low, high : int32 arrays of shape (classes, columns)
        First and last leaf of each class's cells.
    pairs : tuple of int64 arrays of shape (pairs,)
        Class and person of everyone who has a row in it, no pair twice.
    context : Context

    Returns
    -------
    int64 array of shape (classes,)

    Notes
    -----
    Numbers p of persons are all the same if and only if N Σp² = (Σp)², by Cauchy and Schwarz. The
    three sums over the classes that fit are counted as rows are, and compared in whole numbers.
    """
    member, person = pairs
    classes = len(low)
    own = np.bincount(member, minlength=classes).astype(np.int64)
    most = int(person.max(initial=0))
    if len(person) * most * most >= _MOST:
        return own
    sums: list[I64] = []
    for power in range(3):
        weight = np.zeros(classes, dtype=np.int64)
        np.add.at(weight, member, person**power)
        found = rows_fitting(codes, low, high, weight, context)
        if found is None:
            return own
        sums.append(found)
    number, first, second = sums
    mean = first // np.maximum(number, 1)
    one = (number > 0) & (mean * number == first) & (mean * mean * number == second)
    return least_of_fitting(codes, low, high, np.where(one, 1, 2), own, context)
