"""How many rows are left to a person once two releases of the same people are laid side by side.

A person in both is in a class of each, with one value. Of a value's rows in the one class, no
more can be the person's than there are in the other. Anyone who joined since the earlier release is
no row that came from it: where all of these are still here, they take places away.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import B1, F64, I32, I64
from anon_core.base.context import Context, part_of
from anon_core.methods.matching.composition import Classes

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_CELLS = 1 << 26


@dataclass(frozen=True, kw_only=True, eq=False)
class Left:
    """Rows of this release that are left to the people of each quasi tuple.

    Attributes
    ----------
    both, joined : csr arrays of shape (tuples, values)
        Rows by value that may be a person's who is in both, and who joined since.
    here, there : int64 arrays of shape (tuples,)
        Rows that fit in this release and in the earlier one.
    """

    both: csr_array
    joined: csr_array | None
    here: I64
    there: I64


def rows_left(one: Classes, two: Classes, people: I32, *, grown: bool, context: Context) -> Left:
    """Return the rows that two releases leave (Fung, Wang, Fu and Pei 2008, in closed form).

    With A rows of a value in the earlier class and B in this one, min(A, B) are left to anyone who
    stood in both. With T rows of the value in all classes of this release that the earlier class
    may have gone to, min(B, T - A) are left to anyone who joined.

    Parameters
    ----------
    one, two : Classes
        Of this release and the earlier one.
    people : int32 array of shape (tuples, quasi)
    grown : bool
        Whether everyone of the earlier release is still here, so that others have joined.
    """
    from scipy.sparse import csr_array

    values = 1 + max(int(c.value.max(initial=0)) for c in (one, two))
    fits = [
        _fitting(classes, people, part_of(context, begin, begin + 0.4))
        for begin, classes in ((0.0, one), (0.4, two))
    ]
    held = [_held(classes, values) for classes in (one, two)]
    here, there = (f @ h for f, h in zip(fits, held, strict=True))
    joined = None
    if grown:
        reached = _reached(one, two, part_of(context, 0.8, 1.0)) @ held[0]
        # Where several earlier classes fit, what may have come from them is not distinguished.
        alone = fits[1].sum(axis=1) == 1
        if two.count.sum() > two.rows.sum():  # labels of several values: nor are these
            alone[:] = False
        rest = fits[1] @ (reached - held[1]).maximum(0)
        joined = here.minimum(rest)
        joined = csr_array(joined.multiply(alone[:, None]) + here.multiply(~alone[:, None]))
    return Left(
        both=here.minimum(there),
        joined=joined,
        here=np.asarray(here.sum(axis=1)).astype(np.int64),
        there=(fits[1] @ two.rows).astype(np.int64),
    )


def _fitting(classes: Classes, people: I32, context: Context) -> csr_array:
    """Return which pools of values each person fits, shape (people, pools) of 0 and 1."""
    from scipy.sparse import csr_array

    found = [np.stack(pair) for pair in classes.fitting(people, context)]
    who, pool = np.concatenate(found, axis=1) if found else np.empty((2, 0), dtype=np.int64)
    shape = len(people), len(classes.rows)
    matrix = csr_array((np.ones(len(who), dtype=np.int64), (who, pool)), shape=shape)
    matrix.sum_duplicates()
    matrix.data[:] = 1  # two classes of one pool are one
    return matrix


def _held(classes: Classes, values: int) -> csr_array:
    """Return the rows of each value in each pool, shape (pools, values)."""
    from scipy.sparse import csr_array

    shape = len(classes.rows), values
    return csr_array((classes.count, (classes.entry, classes.value)), shape=shape)


def _reached(one: Classes, two: Classes, context: Context) -> csr_array:
    """Return which pools of this release share values with each earlier one in every column."""
    from scipy.sparse import csr_array

    shared: list[tuple[npt.NDArray[np.bool_], int, int]] = []
    for d, place in enumerate(two.places):
        at = one.places.index(place)
        overlap: B1 = (two.cover[d].astype(np.float32) @ one.cover[at].T.astype(np.float32)) > 0
        shared.append((overlap, d, at))
    step = max(1, _CELLS // max(len(one.cells), 1))
    rows: list[I64] = []
    pools: list[I64] = []
    for begin in range(0, len(two.cells), step):
        context.check()
        part = two.cells[begin : begin + step]
        near = np.ones((len(part), len(one.cells)), dtype=np.bool_)
        for overlap, d, at in shared:
            near &= overlap[part[:, d]][:, one.cells[:, at]]
        who, which = near.nonzero()
        rows.append(who.astype(np.int64) + begin)
        pools.append(one.pool[which])
    who, pool = (np.concatenate(x) if x else np.empty(0, dtype=np.int64) for x in (rows, pools))
    matrix = csr_array(
        (np.ones(len(who), dtype=np.int64), (two.pool[who], pool)),
        shape=(len(two.rows), len(one.rows)),
    )
    matrix.sum_duplicates()
    matrix.data[:] = 1
    return matrix


def chance_of(left: csr_array, tuples: I64, value: I32) -> F64:
    """Return one over the rows left, where a row of the own value is; shape of `tuples`."""
    rows = np.asarray(left.sum(axis=1)).astype(np.float64)
    own = np.asarray(left[tuples, value]).ravel() > 0
    return np.where(own, 1.0 / np.maximum(rows[tuples], 1.0), 0.0)
