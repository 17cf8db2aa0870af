"""One permuted bucket against the public table (GetDelta's A and B)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import scipy

from anon_core.base.arrays import I64
from anon_core.base.context import Context
from anon_core.base.errors import BadInput
from anon_core.data.frequency import dense_rank
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
        -1 for a variable that counts people outside. What falls apart inside a published
        bucket is numbered separately.
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

    Anyone who was taken for a bucket is no choice for the next, so this may fail where there is a
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
    A bucket's people are chosen again from all who fit it and are in no other: a small integer
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


@dataclass(frozen=True, kw_only=True, eq=False)
class BucketProblem:
    """Which people of the public table can be the rows of one bucket.

    Attributes
    ----------
    codes : int32 array of shape (types, blocks)
        Number of each type's value in each link block; types are distinct.
    count : int64 array of shape (types,)
        Public people of the type.
    margins : tuple of int64 arrays of shape (values,)
        Per block, how often the bucket publishes each value.
    known : int64 array of shape (types,), or None
        A solution that is already known. It makes deciding faster and changes no answer.
    """

    codes: npt.NDArray[np.int32]
    count: I64
    margins: tuple[I64, ...]
    known: I64 | None = None

    def __post_init__(self) -> None:
        """Check shapes and that a known solution is one."""
        if self.codes.ndim != 2 or self.codes.shape != (len(self.count), len(self.margins)):
            raise BadInput(
                f"The codes of a bucket have shape {self.codes.shape}, but there are "
                f"{len(self.count)} types and {len(self.margins)} blocks.",
                remedy="Give one row per type and one column per link block.",
            )
        for b, margin in enumerate(self.margins):
            codes = self.codes[:, b]
            if len(codes) and (codes.min() < 0 or codes.max() >= len(margin)):
                raise BadInput(
                    f"Block {b} of a bucket has values outside its {len(margin)} published ones.",
                    remedy="Leave out people whose values the bucket does not publish.",
                )
        if self.known is not None and not self.system.solves(self.known):
            raise BadInput(
                "The known solution of a bucket does not add up to what is published.",
                remedy="Give the bucket's own people, or no known solution.",
            )

    @property
    def size(self) -> int:
        """Rows of the bucket."""
        return int(self.margins[0].sum()) if self.margins else 0

    @cached_property
    def system(self) -> System:
        """The bucket's equations: one variable per type, one row per published value."""
        widths = [len(m) for m in self.margins]
        offset = np.cumsum([0, *widths[:-1]]).astype(np.int32)
        return System(
            rows=(self.codes + offset).astype(np.int32),
            total=np.concatenate(self.margins).astype(np.int64),
            lower=np.zeros_like(self.count),
            upper=self.count,
            people=self.count,
            shared=np.zeros(len(self.count), dtype=np.bool_),
        )

    @property
    def variable(self) -> I64:
        """Variable of each type, shape (types,)."""
        return np.arange(len(self.count), dtype=np.int64)

    @property
    def outside(self) -> npt.NDArray[np.bool_]:
        """No type's variable counts those outside, shape (types,)."""
        return np.zeros(len(self.count), dtype=np.bool_)


def from_types(
    codes: npt.NDArray[np.int32], count: I64, margins: Sequence[I64]
) -> tuple[BucketProblem, I64]:
    """Build a problem from coded people, uniting those who look alike in the bucket.

    Returns
    -------
    problem : BucketProblem
    type_of : int64 array of shape (people given,)
    """
    type_of, first = dense_rank(list(codes.T), [len(m) for m in margins])
    merged = np.bincount(type_of, count, len(first)).astype(np.int64)
    return BucketProblem(codes=codes[first], count=merged, margins=tuple(margins)), type_of
