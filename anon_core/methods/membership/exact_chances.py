"""The exact chance of presence: how many solutions hold each type, where they can be counted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import I64
from anon_core.base.context import Context
from anon_core.methods.membership.equations import System
from anon_core.methods.membership.joint_model import Asked
from anon_core.methods.membership.presolve import open_parts, presolve
from anon_core.methods.membership.settling_order import plan
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
