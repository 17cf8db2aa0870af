"""Solutions in which one bucket is filled anew, and the others stay as they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import scipy

from anon_core.base.arrays import I64
from anon_core.base.context import Context
from anon_core.methods.membership.equations import System
from anon_core.methods.membership.integer_program import Solved, Targets, solve
from anon_core.methods.membership.neighbour_solutions import first_solution

if TYPE_CHECKING:
    import scipy.sparse
    import scipy.sparse.csgraph

_SECONDS = 2.0


def bucket_of(part: System) -> tuple[I64, int]:
    """Find the buckets of a system: what hangs together without people who may choose.

    Returns
    -------
    bucket : int64 array of shape (variables,)
        -1 for a variable that counts people outside. What falls apart inside a published bucket
        is numbered apart.
    buckets : int
    """
    inside = part.rows >= 0
    outside = part.shared & (inside.sum(axis=1) == 1)
    choice = np.zeros(len(part.total) + 1, dtype=np.bool_)
    choice[part.rows[outside].max(axis=1)] = True
    inside &= ~choice[part.rows]
    variable, column = np.nonzero(inside)
    row = part.rows[variable, column]
    rows = len(part.total)
    size = rows + part.variables
    links = scipy.sparse.coo_array((np.ones(len(row)), (row, rows + variable)), shape=(size, size))
    component = scipy.sparse.csgraph.connected_components(links, directed=False)[1][rows:]
    found = np.full(part.variables, -1, dtype=np.int64)
    found[~outside] = np.unique(component[~outside], return_inverse=True)[1]
    return found, int(found.max(initial=-1)) + 1


def filled(part: System, context: Context) -> Solved:
    """Find any solution by filling one bucket after the other, the one with the least choice first.

    Whoever was taken for a bucket is no choice for the next, so this may fail where there is a
    solution; then nothing is known.
    """
    bucket, buckets = bucket_of(part)
    if buckets < 2:
        return Solved(state="unknown")
    x = np.where(bucket < 0, part.upper, part.lower)
    nobody = np.empty(0, dtype=np.int64)
    nothing = Targets(variable=nobody, bound=nobody, up=np.empty(0, dtype=np.bool_))
    for b in np.argsort(np.bincount(bucket[bucket >= 0], minlength=buckets)).tolist():
        free = _free(part, bucket, b)
        small = part.part(free, x)
        found = first_solution(small, nothing, context)
        if found.x is None:
            return Solved(state="unknown")
        x[free] = found.x
    return Solved(state="found", x=x) if part.solves(x) else Solved(state="unknown")


def _free(part: System, bucket: I64, chosen: int) -> I64:
    """Return the variables of a bucket, and of those outside who fit it: they come in, and go."""
    touched = np.zeros(len(part.total) + 1, dtype=np.bool_)
    touched[part.rows[bucket == chosen]] = True
    touched[-1] = False
    return np.flatnonzero((bucket == chosen) | ((bucket < 0) & touched[part.rows].any(axis=1)))


def bucket_witnesses(part: System, targets: Targets, known: I64, context: Context) -> Iterator[I64]:
    """Yield solutions that meet targets the ones before did not, one bucket at a time.

    Parameters
    ----------
    targets : Targets
        What is still open.
    known : int64 array of shape (variables,)
        A solution.

    Notes
    -----
    A bucket's people are chosen anew from all who fit it and stand in no other: a small integer
    program. Whatever it shows is a solution of the whole; that it shows nothing says nothing, as
    the others might have moved.
    """
    bucket, buckets = bucket_of(part)
    if buckets < 2:
        return
    x, left = known.copy(), targets
    for b in range(buckets):
        free = _free(part, bucket, b)
        place = np.full(part.variables, -1, dtype=np.int64)
        place[free] = np.arange(len(free))
        small = part.part(free, x)
        while not (context.cancel.is_set() or context.out_of_time()):
            mine = left.chosen(place[left.variable] >= 0)
            at = place[mine.variable]
            mine = Targets(variable=at, bound=mine.bound, up=mine.up)
            mine = mine.chosen((mine.bound >= small.lower[at]) & (mine.bound <= small.upper[at]))
            if not len(mine):
                break
            found = solve(small, mine, context, must=True, seconds=_SECONDS)
            if found.x is None:
                break
            x = x.copy()
            x[free] = found.x
            met = left.met(x)
            if not met.any() or not part.solves(x):
                break
            left = left.chosen(~met)
            yield x
        if not len(left) or context.cancel.is_set() or context.out_of_time():
            return
