"""What never moves: the types that every solution holds in full, or not at all."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import I64
from anon_core.base.context import Context, now
from anon_core.methods.membership.bucket_solver import bucket_witnesses, filled
from anon_core.methods.membership.equations import Ranges, System
from anon_core.methods.membership.integer_program import Solved, Targets, solve
from anon_core.methods.membership.neighbour_solutions import MANY, first_solution, local_witnesses
from anon_core.methods.membership.presolve import open_parts, presolve

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
