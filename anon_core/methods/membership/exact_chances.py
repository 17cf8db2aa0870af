"""The exact chance of presence: how many solutions hold each type, in floats and in fractions."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import comb, factorial

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import I64
from anon_core.base.context import Context
from anon_core.methods.membership.equations import System
from anon_core.methods.membership.joint_model import Asked
from anon_core.methods.membership.presolve import open_parts, presolve
from anon_core.methods.membership.settling_order import plan, settle_order
from anon_core.methods.membership.sweep import Swept, sweep

MAX_STATES = 2_000_000
MAX_EDGES = 40_000_000


@dataclass(frozen=True, kw_only=True, eq=False)
class Counted:
    """Exact answers by variable; NaN and presolve's bounds where a part was too large.

    Attributes
    ----------
    mean : float64 array of shape (variables,)
        Expected people over all equally likely choices of public people that fit; exact up to
        rounding. Never compare it with a bound: whether a type is always there is `least`.
    least, most : int64 arrays of shape (variables,)
        Extremes over all solutions.
    counted : bool array of shape (variables,)
        Whether the variable's part was small enough.
    infeasible : bool array of shape (variables,)
        The variable's part has no solution: the table is not part of the public one.
    feasible : bool
        Whether nothing contradicts that it is.
    states : int
        Widest layer met.
    """

    mean: npt.NDArray[np.float64]
    least: I64
    most: I64
    counted: npt.NDArray[np.bool_]
    infeasible: npt.NDArray[np.bool_]
    feasible: bool
    states: int


def settled_only(system: System) -> tuple[Counted, list[I64]]:
    """Settle what presolve settles, and return the variables of every part left open."""
    settled = presolve(system)
    fixed = (settled.lower == settled.upper) & ~settled.infeasible
    start = Counted(
        mean=np.where(fixed, settled.lower.astype(np.float64), np.nan),
        least=settled.lower,
        most=settled.upper,
        counted=fixed,
        infeasible=settled.infeasible,
        feasible=not settled.broken_rows.any() and not settled.infeasible.any(),
        states=1,
    )
    return start, open_parts(system.rows, len(system.total), settled.free)


def count_part(
    part: System, context: Context, *, max_states: int = MAX_STATES, max_edges: int = MAX_EDGES
) -> Swept | None:
    """Count the solutions of one connected part.

    Returns
    -------
    Swept, or None
        None where it is too large, out of time or cancelled.
    """
    laid = plan(part, context)
    if laid is None:
        return None
    return sweep(laid, context, max_states=max_states, max_edges=max_edges)


def count(
    system: System,
    context: Context | None = None,
    *,
    max_states: int = MAX_STATES,
    max_edges: int = MAX_EDGES,
) -> Counted:
    """Count the solutions of a system, part by part (S-86; the frontier dynamic program).

    Parameters
    ----------
    context : Context, optional
        Its deadline and cancel leave the remaining parts uncounted.
    max_states, max_edges : int
        A part that exceeds them stays uncounted.
    """
    context = context or Context()
    start, pieces = settled_only(system)
    mean, least, most = start.mean.copy(), start.least.copy(), start.most.copy()
    counted, infeasible, states = start.counted.copy(), start.infeasible.copy(), 1
    inner = system.bounded(start.least, start.most)
    for done, piece in enumerate(pieces):
        if context.cancel.is_set() or context.out_of_time():
            break
        context.progress(done / len(pieces), "Counting the ways to fill the buckets")
        swept = count_part(
            inner.part(piece, start.least), context, max_states=max_states, max_edges=max_edges
        )
        if swept is None:
            continue
        if not swept.possible:
            infeasible[piece] = True
            continue
        base = start.least[piece]
        mean[piece] = base + swept.mean
        least[piece], most[piece] = base + swept.least, base + swept.most
        counted[piece] = True
        states = max(states, swept.states)
    return Counted(
        mean=mean,
        least=least,
        most=most,
        counted=counted,
        infeasible=infeasible,
        feasible=start.feasible and not infeasible.any(),
        states=states,
    )


def shares(asked: Asked, means: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return δ of every type from its variable's mean: the chance that one copy is in the table.

    Parameters
    ----------
    means : float64 array of shape (variables,)

    Returns
    -------
    float64 array of shape (types,)
        NaN where the mean is.
    """
    inside = asked.variable >= 0
    found = np.zeros(len(asked.variable))
    at = asked.variable[inside]
    part = means[at] / asked.system.people[at]
    found[inside] = np.where(asked.outside[inside], 1.0 - part, part)
    return found


_MOST_STATES = 200_000

State = tuple[int, ...]


def exact_means(part: System) -> list[Fraction] | None:
    """Return the expected people of every variable, over all equally likely solutions.

    The same sum as the frontier dynamic program, in Python's whole numbers: where a chance may be
    equal to a bound, no rounding can decide.

    Returns
    -------
    list of Fraction, or None
        None where there are more states, or no solution.
    """
    rows = [[int(r) for r in line if r >= 0] for line in part.rows.tolist()]
    lower = [int(n) for n in part.lower]
    room = [int(u) - n for u, n in zip(part.upper, lower, strict=True)]
    total = (part.total - part.sums(part.lower)).tolist()
    order = settle_order(part.rows, len(total))
    ways = [_ways(part, j, lower[j], room[j]) for j in range(part.variables)]
    later = _capacity(rows, room, order, len(total))
    layers: list[dict[State, int]] = [{tuple(total): 1}]
    held = 1
    for step, j in enumerate(order):
        found: dict[State, int] = {}
        for state, weight in layers[-1].items():
            for taken, after in _steps(state, rows[j], room[j], later[step]):
                found[after] = found.get(after, 0) + weight * ways[j][taken]
        held += len(found)
        if held > _MOST_STATES or not found:
            return None
        layers.append(found)
    done = dict.fromkeys(layers[-1], 1)
    whole = sum(layers[-1].values())
    means = [Fraction(0)] * part.variables
    for step in range(len(order) - 1, -1, -1):
        j, before = order[step], dict[State, int]()
        summed = 0
        for state, weight in layers[step].items():
            ahead = 0
            for taken, after in _steps(state, rows[j], room[j], later[step]):
                reached = ways[j][taken] * done.get(after, 0)
                ahead += reached
                summed += weight * reached * taken
            before[state] = ahead
        done = before
        means[j] = lower[j] + Fraction(summed, whole)
    return means


def _ways(part: System, j: int, lower: int, room: int) -> list[int]:
    """Return the choices of lower … lower + room people, up to one factor."""
    people = int(part.people[j])
    if part.shared[j]:
        return [factorial(people) // factorial(lower + y) for y in range(room + 1)]
    return [comb(people, lower + y) for y in range(room + 1)]


def _capacity(
    rows: list[list[int]], room: list[int], order: list[int], size: int
) -> list[dict[int, int]]:
    """Return, per step, what variables after it can still add to the rows of its variable."""
    left = [0] * size
    for j, mine in enumerate(rows):
        for r in mine:
            left[r] += room[j]
    found: list[dict[int, int]] = []
    for j in order:
        for r in rows[j]:
            left[r] -= room[j]
        found.append({r: left[r] for r in rows[j]})
    return found


def _steps(
    state: State, mine: list[int], room: int, later: dict[int, int]
) -> list[tuple[int, State]]:
    """Return every number of people that can be taken in a state, and the state after it."""
    least = max([0, *(state[r] - later[r] for r in mine)])
    most = min([room, *(state[r] for r in mine)])
    found: list[tuple[int, State]] = []
    for y in range(least, most + 1):
        after = list(state)
        for r in mine:
            after[r] -= y
        found.append((y, tuple(after)))
    return found
