"""The integer program: find a solution that moves as many types as possible, or prove none does."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt
import scipy

from anon_core.base.arrays import I64
from anon_core.base.context import Context, now
from anon_core.methods.membership.equations import System

if TYPE_CHECKING:
    import scipy.optimize
    import scipy.sparse

_LARGE = 150  # variables from which a solve gets its own thread, so that it can be left
_LOOK = 0.05  # seconds between two looks at the cancel button
_GRACE = 0.2  # seconds the solver may need to notice that its time is up
_TIE = 1e-3  # below any gain
_LEAST = 0.02  # seconds below which no solve is begun
_GAP = 0.5  # a solution that moves half of what is possible is good enough: the rest has its turn


@dataclass(frozen=True, kw_only=True, eq=False)
class Targets:
    """Questions about single variables: can x go down to, or up to, a bound?

    Attributes
    ----------
    variable, bound : int64 arrays of shape (targets,)
    up : bool array of shape (targets,)
        True asks for x ≥ bound, False for x ≤ bound.
    extra : bool array of shape (targets,), or None
        Questions that only narrow limits: in a large part they wait for the others, and get one
        turn. None where there are none.
    """

    variable: I64
    bound: I64
    up: npt.NDArray[np.bool_]
    extra: npt.NDArray[np.bool_] | None = None

    def chosen(self, which: npt.NDArray[Any]) -> Targets:
        """Return some of the targets."""
        return Targets(
            variable=self.variable[which],
            bound=self.bound[which],
            up=self.up[which],
            extra=None if self.extra is None else self.extra[which],
        )

    def met(self, x: I64) -> npt.NDArray[np.bool_]:
        """Return which targets the solution `x` meets."""
        at = x[self.variable]
        return np.where(self.up, at >= self.bound, at <= self.bound)

    def __len__(self) -> int:
        """Return the number of targets."""
        return len(self.variable)


@dataclass(frozen=True, kw_only=True, eq=False)
class Solved:
    """Outcome of one solve.

    Attributes
    ----------
    state : {'found', 'none', 'unknown'}
        Whether a solution was found, proven not to exist, or neither in time.
    x : int64 array of shape (variables,), or None
        Checked in whole numbers.
    """

    state: Literal["found", "none", "unknown"]
    x: I64 | None = None


def solve(
    part: System, targets: Targets, context: Context, *, must: bool, seconds: float | None = None
) -> Solved:
    """Maximise how many targets a solution meets.

    Parameters
    ----------
    context : Context
        Its deadline bounds the solver's time; on cancel the solver is left behind.
    must : bool
        Ask for at least one; then 'none' proves that no solution meets any of them.
    seconds : float, optional
        Further bound on the time.

    Notes
    -----
    The solver is HiGHS through `scipy.optimize.milp`. All its coefficients are small whole
    numbers; what it finds is rounded and checked in whole numbers before it counts.
    """
    left = np.inf if seconds is None else seconds
    if context.deadline is not None:
        left = min(left, context.deadline - now())
    if left < _LEAST or context.cancel.is_set():
        return Solved(state="unknown")
    arguments = _program(part, targets, must)
    result = _answer(part, arguments, left, context)
    if result is None:
        return Solved(state="unknown")
    if result.x is not None:
        x = np.rint(result.x[: part.variables]).astype(np.int64)
        if part.solves(x) and (not must or targets.met(x).any()):
            return Solved(state="found", x=x)
        return Solved(state="unknown")
    return Solved(state="none" if result.status == 2 else "unknown")


def solvable(part: System, context: Context) -> bool:
    """Return whether a solution was found in time."""
    nobody = np.empty(0, dtype=np.int64)
    nothing = Targets(variable=nobody, bound=nobody, up=np.empty(0, dtype=np.bool_))
    return solve(part, nothing, context, must=False).state == "found"


def relaxed(
    part: System, targets: Targets, context: Context, generator: np.random.Generator
) -> Solved:
    """Meet as many targets as possible in fractions, rounded down: most types are whole in it.

    Returns
    -------
    Solved
        Its `x` lies within the bounds and adds up to no more than the totals; 'none' proves that
        there is no solution, not even in fractions.
    """
    left = np.inf if context.deadline is None else context.deadline - now()
    if left < _LEAST or context.cancel.is_set():
        return Solved(state="unknown")
    arguments = _program(part, targets, must=False)
    cost = arguments["c"]
    # Of the many best solutions a random one, so that repeated calls differ.
    cost[: part.variables] += _TIE * generator.random(part.variables)
    arguments["integrality"] = np.zeros(len(cost))
    result = _answer(part, arguments, left, context)
    if result is None or result.x is None:
        proven = result is not None and result.status == 2
        return Solved(state="none" if proven else "unknown")
    x = np.clip(
        np.floor(result.x[: part.variables] + 1e-6).astype(np.int64), part.lower, part.upper
    )
    return Solved(state="found" if np.all(part.sums(x) <= part.total) else "unknown", x=x)


def _answer(part: System, arguments: dict[str, Any], left: float, context: Context) -> Any:
    """Run the solver; return its answer, or None where it was left behind."""
    options: Any = {"mip_rel_gap": _GAP}
    if np.isfinite(left):
        options["time_limit"] = float(left)
    if part.variables < _LARGE:
        return scipy.optimize.milp(**arguments, options=options)
    box: list[Any] = []
    # The solver cannot be interrupted, but it lets other threads run.
    thread = threading.Thread(
        target=lambda: box.append(scipy.optimize.milp(**arguments, options=options)), daemon=True
    )
    thread.start()
    while thread.is_alive():
        thread.join(_LOOK)
        if context.cancel.is_set():
            break
        if context.deadline is not None and now() > context.deadline + _GRACE:
            break
    return box[0] if box else None


def _program(part: System, targets: Targets, must: bool) -> dict[str, Any]:
    """Return the arguments of the solver: x, then a switch per target that is no single step."""
    n, size = part.variables, len(part.total)
    lower, upper = part.lower, part.upper
    at, up, bound = targets.variable, targets.up, targets.bound
    step = (upper[at] - lower[at] == 1) & np.where(up, bound == upper[at], bound == lower[at])
    wide = np.flatnonzero(~step)
    switch = n + np.arange(len(wide))
    # Number of targets met: Σ (x − lower) and Σ (upper − x) over steps, Σ switches.
    gain = np.zeros(n + len(wide))
    np.add.at(gain, at[step], np.where(up[step], 1.0, -1.0))
    gain[switch] = 1.0
    free = float(np.where(up[step], -lower[at[step]], upper[at[step]]).sum())
    inside = part.rows >= 0
    variable, _ = np.nonzero(inside)
    row = [part.rows[inside].astype(np.int64)]
    column, value = [variable.astype(np.int64)], [np.ones(len(variable))]
    least, most = [part.total.astype(np.float64)], [part.total.astype(np.float64)]
    # Up: x − (bound − lower)·z ≥ lower; down: −x − (upper − bound)·z ≥ −upper.
    sign = np.where(up[wide], 1.0, -1.0)
    near = np.where(up[wide], lower[at[wide]], upper[at[wide]])
    place = size + np.arange(len(wide))
    row += [place, place]
    column += [at[wide], switch]
    value += [sign, -np.abs(bound[wide] - near).astype(np.float64)]
    least.append(sign * near)
    most.append(np.full(len(wide), np.inf))
    rows = size + len(wide)
    if must:
        used = np.flatnonzero(gain)
        row.append(np.full(len(used), rows))
        column.append(used)
        value.append(gain[used])
        least.append(np.array([1.0 - free]))
        most.append(np.array([np.inf]))
        rows += 1
    matrix = scipy.sparse.csc_array(
        (np.concatenate(value), (np.concatenate(row), np.concatenate(column))),
        shape=(rows, n + len(wide)),
    )
    ones = np.ones(len(wide))
    return {
        "c": -gain,
        "integrality": np.ones(n + len(wide)),
        "bounds": scipy.optimize.Bounds(
            np.concatenate([lower, 0 * ones]), np.concatenate([upper, ones])
        ),
        "constraints": scipy.optimize.LinearConstraint(
            matrix,  # pyright: ignore[reportArgumentType]
            np.concatenate(least),
            np.concatenate(most),
        ),
    }
