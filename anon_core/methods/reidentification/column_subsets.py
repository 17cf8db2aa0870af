"""k-anonymity of several sets of columns at once, as statistics offices state it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import BadPlan, listing, nearest
from anon_core.data.frequency import dense_rank

#: Sets of columns that one privacy model may be about.
MOST_SETS = 2000
Codes = npt.NDArray[np.int64]


def named_sets(
    quasi: Sequence[str], columns: Sequence[str], subsets: int, owner: str
) -> tuple[tuple[str, ...], ...]:
    """Return the sets of columns a privacy model is about.

    Parameters
    ----------
    quasi : sequence of str
        All quasi-identifiers.
    columns : sequence of str
        Those the privacy model is about; none represents all of them.
    subsets : int
        How many columns each set has; 0 is one set of them all.
    owner : str
        For messages.

    Raises
    ------
    BadPlan
        If a column is no quasi-identifier, sets have more columns than there are, or there are too
        many of them.

    Examples
    --------
    >>> named_sets(("age", "sex", "zip"), (), 2, "k")
    (('age', 'sex'), ('age', 'zip'), ('sex', 'zip'))
    >>> named_sets(("age", "sex", "zip"), ("zip", "age"), 0, "k")
    (('age', 'zip'),)
    """
    for name in columns:
        if name not in quasi:
            raise BadPlan(
                f"{owner} names '{name}', which is no quasi-identifier; they are {listing(quasi)}.",
                remedy=f"Remove it, or mark it as a quasi-identifier.{nearest(name, quasi)}",
            )
    chosen = tuple(name for name in quasi if not columns or name in columns)
    if subsets > len(chosen):
        raise BadPlan(
            f"{owner} asks for sets of {subsets} columns, and there are {len(chosen)}.",
            remedy=f"Set subsets to at most {len(chosen)}, or 0 for one set of them all.",
        )
    if subsets and math.comb(len(chosen), subsets) > MOST_SETS:
        raise BadPlan(
            f"{owner} asks for {math.comb(len(chosen), subsets):,} sets of columns; at most "
            f"{MOST_SETS:,} are looked at.",
            remedy="Name fewer columns, or choose smaller or larger sets.",
        )
    return tuple(itertools.combinations(chosen, subsets)) if subsets else (chosen,)


def combination_of(
    cells: Mapping[str, Codes], sets: Sequence[Sequence[str]]
) -> list[npt.NDArray[np.int64]]:
    """Return, for every set, which combination each class shows, (classes,) each."""
    found: list[npt.NDArray[np.int64]] = []
    for names in sets:
        columns = [cells[name].astype(np.int32) for name in names]
        found.append(dense_rank(columns, [int(c.max(initial=0)) + 1 for c in columns])[0])
    return found


def fewest(
    sizes: Codes, combinations: Sequence[Codes], keep: npt.NDArray[np.bool_]
) -> tuple[Codes, int]:
    """Return each class's rarest combination in rows, shape (classes,), and the set of the rarest.

    Only rows of kept classes count.
    """
    least = np.full(len(sizes), np.iinfo(np.int64).max)
    worst, place = np.iinfo(np.int64).max, 0
    kept = np.where(keep, sizes, 0)
    for number, own in enumerate(combinations):
        rows = np.bincount(own, weights=kept).astype(np.int64)[own]
        least = np.minimum(least, rows)
        rarest = int(rows[keep].min(initial=worst))
        if rarest < worst:
            worst, place = rarest, number
    return least, place


def largest_valid(
    sizes: Codes, combinations: Sequence[Codes], k: int, keep: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """Return the classes left once combinations of fewer than k rows are suppressed until none is.

    That is the one largest valid choice: a class removed in a round shows a combination of fewer
    than k rows among all that were left, and so in any choice among these; it is in no valid one.
    Hence every valid choice survives every round. What is removed for one set of columns may break
    another (rows (0,0), (0,1), (1,0), (1,1) with k = 2 for each column: without the rows of the
    first 0, each value of the second is once), so rounds go on until nothing changes.
    """
    while True:
        least, _ = fewest(sizes, combinations, keep)
        left = keep & (least >= k)
        if np.array_equal(left, keep):
            return keep
        keep = left
