"""Bounds propagation to a fixpoint, and the independent parts that are left."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import scipy

from anon_core.base.arrays import I64
from anon_core.base.context import Context, now
from anon_core.methods.membership.bucket import bucket_witnesses, filled
from anon_core.methods.membership.equations import Ranges, System
from anon_core.methods.membership.integer_program import Solved, Targets, solve
from anon_core.methods.membership.neighbour_solutions import MANY, first_solution, local_witnesses

if TYPE_CHECKING:
    import scipy.sparse
    import scipy.sparse.csgraph


_LARGE = 150  # free variables from which the first solution is rounded, not searched
_TURN = 5.0  # seconds of the whole program's first turn between local witnesses; then doubled
_HUGE = 150  # free variables from which local witnesses are sought first


class _Seen:
    """Extremes over the solutions met so far."""

    def __init__(self, x: I64) -> None:
        self.low, self.high = x.copy(), x.copy()

    def add(self, x: I64) -> None:
        np.minimum(self.low, x, out=self.low)
        np.maximum(self.high, x, out=self.high)


def settle(part: System, targets: Targets, known: I64 | None, context: Context) -> Ranges:
    """Answer every target of one connected part, by witness or by proof.

    Parameters
    ----------
    known : int64 array of shape (variables,), or None
        A solution; without one the first is sought. It changes no answer.
    context : Context
        When its time is up or it is cancelled, what is left stays undecided.

    Notes
    -----
    The loop: ask for a solution that meets as many open targets as possible, at least one. Each
    solution found closes those it meets; that there is none proves all others at once. In a large
    part `extra` targets come after the others, and get one turn.
    """
    none = np.zeros(part.variables, dtype=np.bool_)
    lower, upper = part.lower.copy(), part.upper.copy()
    if known is None:
        large = part.variables >= _LARGE
        seek = first_solution if large else partial(solve, must=False)
        first = filled(part, context) if part.variables >= MANY else Solved(state="unknown")
        if first.x is None:
            first = seek(part, targets, context)
        if first.x is None:
            return Ranges(
                lower=lower,
                upper=upper,
                seen_low=upper + 1,
                seen_high=lower - 1,
                infeasible=none | (first.state == "none"),
            )
        known = first.x
    seen = _Seen(known)
    huge = part.variables >= _HUGE
    left = targets.chosen(~targets.met(known))
    stages = [left]
    if huge and left.extra is not None:
        stages = [left.chosen(~left.extra), left.chosen(left.extra)]
    for stage, asked in enumerate(stages):
        asked = _open(asked, seen)
        turn = replace(context, deadline=_earlier(context.deadline, now() + _TURN))
        unmet = _unmet(part, asked, known, seen, turn if stage else context, once=bool(stage))
        up, at = unmet.up, unmet.variable
        np.minimum.at(upper, at[up], unmet.bound[up] - 1)
        np.maximum.at(lower, at[~up], unmet.bound[~up] + 1)
    return Ranges(
        lower=lower,
        upper=upper,
        seen_low=seen.low,
        seen_high=seen.high,
        infeasible=none,
    )


def _unmet(
    part: System, left: Targets, known: I64, seen: _Seen, context: Context, *, once: bool
) -> Targets:
    """Look for solutions that meet targets; return those that are proven to be met by none."""
    nobody = left.chosen(np.empty(0, dtype=np.int64))
    huge, attempt, seconds = part.variables >= _HUGE, 0, _TURN
    while len(left) and not (once and attempt):
        if huge:
            if not attempt:
                for x in bucket_witnesses(part, left, known, context):
                    seen.add(x)
                    left = _open(left, seen)
                if not len(left):
                    break
            for x in local_witnesses(part, left, known, context, attempt):
                seen.add(x)
                left = _open(left, seen)
            if not len(left):
                break
        found = solve(part, left, context, must=True, seconds=seconds if huge else None)
        if found.state == "none":
            return left
        if found.x is not None:
            seen.add(found.x)
            left = _open(left, seen)
        elif not huge or context.cancel.is_set() or context.out_of_time():
            break
        attempt, seconds = attempt + 1, seconds * 2
    return nobody


def _earlier(deadline: float | None, other: float) -> float:
    return other if deadline is None else min(deadline, other)


def _open(left: Targets, seen: _Seen) -> Targets:
    low, high = seen.low[left.variable], seen.high[left.variable]
    return left.chosen(np.where(left.up, high < left.bound, low > left.bound))


def ranges(
    system: System,
    targets: Targets,
    context: Context,
    known: I64 | None = None,
) -> tuple[Ranges, npt.NDArray[np.bool_]]:
    """Answer every target: presolve, then each connected part by itself.

    Returns
    -------
    broken : bool array of shape (rows,)
        Rows of equations that no choice of public people meets.
    """
    settled = presolve(system)
    lower, upper = settled.lower.copy(), settled.upper.copy()
    infeasible = settled.infeasible.copy()
    fixed = (lower == upper) & ~infeasible
    seen_low = np.where(fixed, lower, upper + 1)
    seen_high = np.where(fixed, upper, lower - 1)
    broken = settled.broken_rows.copy()
    inner = system.bounded(settled.lower, settled.upper)
    pieces = open_parts(system.rows, len(system.total), settled.free)
    # Many small parts are decided first, so that a cancelled run keeps most.
    pieces.sort(key=len)
    work = np.cumsum([len(p) for p in pieces])
    place = np.full(system.variables, -1, dtype=np.int64)
    owner = np.full(system.variables, -1, dtype=np.int64)
    for number, piece in enumerate(pieces):
        place[piece] = np.arange(len(piece))
        owner[piece] = number
    # What presolve has answered is no question any more.
    at = targets.variable
    asked = np.where(
        targets.up,
        (targets.bound > lower[at]) & (targets.bound <= upper[at]),
        (targets.bound < upper[at]) & (targets.bound >= lower[at]),
    )
    asked = np.flatnonzero(asked & (owner[at] >= 0))
    by_part = asked[np.argsort(owner[at[asked]], kind="stable")]
    begin = np.searchsorted(owner[at[by_part]], np.arange(len(pieces) + 1))
    for number, piece in enumerate(pieces):
        context.progress(float(work[number] / work[-1]), "Deciding who must be in the table")
        if context.cancel.is_set():
            break  # what is left stays as presolve left it, undecided
        mine = targets.chosen(by_part[begin[number] : begin[number + 1]])
        mine = replace(mine, variable=place[mine.variable])
        part = inner.part(piece, settled.lower)
        start = None if known is None else known[piece]
        got = settle(part, mine, start, context)
        lower[piece], upper[piece] = got.lower, got.upper
        seen_low[piece], seen_high[piece] = got.seen_low, got.seen_high
        infeasible[piece] = got.infeasible
        if got.infeasible.any():
            rows = system.rows[piece]
            broken[rows[rows >= 0]] = True
    return (
        Ranges(
            lower=lower,
            upper=upper,
            seen_low=seen_low,
            seen_high=seen_high,
            infeasible=infeasible,
        ),
        broken,
    )


_FAR = np.int64(1) << 40


@dataclass(frozen=True, kw_only=True, eq=False)
class Presolved:
    """Bounds that hold in every solution.

    Attributes
    ----------
    lower, upper : int64 arrays of shape (variables,)
    infeasible : bool array of shape (variables,)
        Parts whose equations contradict each other; their bounds are the ones given.
    broken_rows : bool array of shape (rows,)
        The rows of such parts.
    rounds : int
        Sweeps until nothing changed.
    """

    lower: I64
    upper: I64
    infeasible: npt.NDArray[np.bool_]
    broken_rows: npt.NDArray[np.bool_]
    rounds: int

    @property
    def free(self) -> I64:
        """Variables whose value is still open."""
        return np.flatnonzero((self.lower < self.upper) & ~self.infeasible)


def parts(rows: npt.NDArray[np.int32], size: int) -> tuple[int, I64, I64]:
    """Return the connected parts of variables and rows.

    Parameters
    ----------
    rows : int32 array of shape (variables, width)
    size : int
        Number of rows.

    Returns
    -------
    parts : int
    of_variable : int64 array of shape (variables,)
    of_row : int64 array of shape (rows,)
    """
    n = len(rows)
    if n and any(np.all(column == column[0]) and column[0] >= 0 for column in rows.T):
        # All of them add to one row: one part, and each row no one adds to is one by itself.
        own = np.ones(size, dtype=np.bool_)
        own[rows[rows >= 0]] = False
        of_row = np.where(own, np.cumsum(own), 0).astype(np.int64)
        return 1 + int(own.sum()), np.zeros(n, dtype=np.int64), of_row
    variable, place = np.nonzero(rows >= 0)
    ends = rows[variable, place] + n
    graph = scipy.sparse.coo_array(
        (np.ones(len(ends), np.int8), (variable, ends)), shape=(n + size, n + size)
    )
    found, label = scipy.sparse.csgraph.connected_components(graph, directed=False)
    label = label.astype(np.int64)
    return int(found), label[:n], label[n:]


def open_parts(rows: npt.NDArray[np.int32], size: int, free: I64) -> list[I64]:
    """Return the variables of every connected part of the variables `free`.

    Parameters
    ----------
    rows : int32 array of shape (variables, width)
    size : int
        Number of rows.
    free : int64 array
    """
    if not len(free):
        return []
    found, label, _ = parts(rows[free], size)
    order = np.argsort(label, kind="stable")
    cuts = np.searchsorted(label[order], np.arange(found + 1))
    return [free[order[a:b]] for a, b in pairwise(cuts) if b > a]


def presolve(system: System) -> Presolved:
    """Propagate bounds until nothing changes (Toth 2015, alg. 5, by equations).

    Every row f = Σ x gives x_j ≤ f − Σ_{i≠j} lower_i and x_j ≥ f − Σ_{i≠j} upper_i.

    Notes
    -----
    Sound, not complete: what it fixes is fixed in every solution, but more may be.
    """
    size = len(system.total)
    # Variables without a row at a place point to one more row that never binds.
    rows = np.where(system.rows < 0, size, system.rows)
    flat, width = rows.ravel(), rows.shape[1]
    total = np.append(system.total, 0)
    lower, upper = system.lower.copy(), system.upper.copy()
    _, label, row_label = parts(system.rows, size)
    broken = np.zeros(system.variables + size, dtype=np.bool_)  # by part
    rounds = 0
    while True:
        rounds += 1
        low_sum = np.bincount(flat, np.repeat(lower, width), size + 1).astype(np.int64)
        high_sum = np.bincount(flat, np.repeat(upper, width), size + 1).astype(np.int64)
        room, need = total - low_sum, total - high_sum
        room[size], need[size] = _FAR, -_FAR
        broken[row_label[((room < 0) | (need > 0))[:size]]] = True
        broken[label[lower > upper]] = True
        lost = broken[label]
        tight_upper = np.minimum(upper, lower + room[rows].min(axis=1, initial=_FAR))
        tight_lower = np.maximum(lower, upper + need[rows].max(axis=1, initial=-_FAR))
        # Bounds of contradicting equations mean nothing, and would drift for ever.
        tight_upper = np.where(lost, system.upper, tight_upper)
        tight_lower = np.where(lost, system.lower, tight_lower)
        if np.array_equal(tight_upper, upper) and np.array_equal(tight_lower, lower):
            return Presolved(
                lower=lower,
                upper=upper,
                infeasible=lost,
                broken_rows=broken[row_label],
                rounds=rounds,
            )
        lower, upper = tight_lower, tight_upper
