"""An integer program over counts: which whole numbers keep all of some linear conditions."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from anon_core.base.arrays import F64, I64
from anon_core.base.context import Context, now

_LOOK = 0.05  # seconds between two looks at the cancel button
_GRACE = 0.2  # seconds the solver may need to notice that its time is up
_EXACT = 1e-6

State = Literal["found", "none", "unknown"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Answer:
    """What a solve found.

    Attributes
    ----------
    state : {'found', 'none', 'unknown'}
        A solution, the proof that there is none, or neither in time.
    x : int64 array of shape (variables,), or None
        Checked in whole numbers.
    """

    state: State
    x: I64 | None = None


class Program:
    """Whole numbers between bounds, and conditions low ≤ Σ a·x ≤ high with whole-number a.

    The solver is HiGHS through `scipy.optimize.milp`. What it finds is rounded, and checked in
    whole numbers before it counts.
    """

    def __init__(self) -> None:
        self.lower: list[int] = []
        self.upper: list[int] = []
        self._terms: list[tuple[I64, F64]] = []
        self._low: list[float] = []
        self._high: list[float] = []

    def __len__(self) -> int:
        """Return the number of variables."""
        return len(self.lower)

    def copy(self) -> Program:
        """Return a program that can be added to without changing this one."""
        found = Program()
        found.lower, found.upper = list(self.lower), list(self.upper)
        found._terms, found._low, found._high = list(self._terms), list(self._low), list(self._high)
        return found

    def variable(self, lower: int, upper: int) -> int:
        """Add a variable; return its number."""
        self.lower.append(lower)
        self.upper.append(upper)
        return len(self.lower) - 1

    def switch(self) -> int:
        """Add a variable that is 0 or 1; return its number."""
        return self.variable(0, 1)

    def add(self, terms: Mapping[int, float], low: float = -np.inf, high: float = np.inf) -> None:
        """Ask for low ≤ Σ a·x ≤ high; `terms` is variable → a."""
        variables = np.fromiter(terms, dtype=np.int64, count=len(terms))
        values = np.fromiter(terms.values(), dtype=np.float64, count=len(terms))
        self._terms.append((variables, values))
        self._low.append(low)
        self._high.append(high)

    def at_most_if(self, switch: int, variables: Sequence[int], most: int, bound: int) -> None:
        """Ask for Σ x ≤ most where the switch is 1; it is `bound` at most anyway."""
        if bound > most:
            self.add({**dict.fromkeys(variables, 1.0), switch: float(bound - most)}, high=bound)

    def at_least_if(self, switch: int, variables: Sequence[int], least: int) -> None:
        """Ask for Σ x ≥ least where the switch is 1."""
        self.add({**dict.fromkeys(variables, 1.0), switch: -float(least)}, low=0)

    def solve(self, context: Context) -> Answer:
        """Find one solution, or prove that there is none; the context's deadline bounds it."""
        context.check()
        left = np.inf if context.deadline is None else context.deadline - now()
        if left <= 0:
            return Answer(state="unknown")
        if not len(self):
            fits = all(a <= 0 <= b for a, b in zip(self._low, self._high, strict=True))
            return Answer(state="found" if fits else "none", x=np.zeros(0, dtype=np.int64))
        result = self._run(left, context)
        context.check()
        if result is None:
            return Answer(state="unknown")
        if result.x is None:
            return Answer(state="none" if result.status == 2 else "unknown")
        x = np.rint(result.x).astype(np.int64)
        return Answer(state="found", x=x) if self.holds(x) else Answer(state="unknown")

    def holds(self, x: I64) -> bool:
        """Say whether whole numbers keep all conditions."""
        if np.any(x < self.lower) or np.any(x > self.upper):
            return False
        for (variables, values), low, high in zip(self._terms, self._low, self._high, strict=True):
            total = float(np.dot(x[variables], values))
            if not low - _EXACT <= total <= high + _EXACT:
                return False
        return True

    def _run(self, left: float, context: Context) -> Any:
        """Run the solver; return its answer, or None where it was left behind."""
        arguments = self._arguments()
        if np.isfinite(left):
            arguments["options"] = {"time_limit": float(left)}
        from scipy.optimize import milp

        box: list[Any] = []
        # The solver cannot be interrupted, but it lets other threads run.
        thread = threading.Thread(target=lambda: box.append(milp(**arguments)), daemon=True)
        thread.start()
        while thread.is_alive() and not context.cancel.is_set():
            thread.join(_LOOK)
            if context.deadline is not None and now() > context.deadline + _GRACE:
                break
        return box[0] if box else None

    def _arguments(self) -> dict[str, Any]:
        from scipy.optimize import Bounds, LinearConstraint
        from scipy.sparse import csc_array

        size = len(self)
        found: dict[str, Any] = {
            "c": np.zeros(size),
            "integrality": np.ones(size),
            "bounds": Bounds(np.array(self.lower, float), np.array(self.upper, float)),
        }
        if self._terms:
            row = np.repeat(np.arange(len(self._terms)), [len(v) for v, _ in self._terms])
            column = np.concatenate([v for v, _ in self._terms])
            value = np.concatenate([a for _, a in self._terms])
            matrix = csc_array((value, (row, column)), shape=(len(self._terms), size))
            found["constraints"] = LinearConstraint(
                matrix,  # pyright: ignore[reportArgumentType]
                np.array(self._low),
                np.array(self._high),
            )
        return found


@dataclass(frozen=True, kw_only=True)
class Solutions:
    """The solutions of some variables.

    Attributes
    ----------
    found : tuple of tuples of int
        Distinct, in the order in which they were found.
    complete : bool
        Whether these are all; else there are more, or it was not decided in time.
    timely : bool
        False where time ended before it was known.
    """

    found: tuple[tuple[int, ...], ...]
    complete: bool
    timely: bool = True


def solutions(
    programs: Sequence[Program], variables: Sequence[int], most: int, context: Context
) -> Solutions:
    """Return the values that some variables can take together in any of several programs.

    Parameters
    ----------
    programs : sequence of Program
        With the same variables at the same numbers; what holds of one of them is possible.
    variables : sequence of int
        Adding up to the same in every solution.
    most : int
        Solutions after which it ends.
    """
    found: list[tuple[int, ...]] = []
    for program in programs:
        own = program.copy()
        for known in found:
            _other_than(own, variables, known)
        while True:
            answer = own.solve(context)
            if answer.state == "unknown":
                return Solutions(found=tuple(found), complete=False, timely=False)
            if answer.x is None:
                break
            if len(found) == most:
                return Solutions(found=tuple(found), complete=False)
            known = tuple(answer.x[list(variables)].tolist())
            found.append(known)
            _other_than(own, variables, known)
    return Solutions(found=tuple(found), complete=True)


def _other_than(program: Program, variables: Sequence[int], known: Sequence[int]) -> None:
    """Ask for another solution: one of the variables that are not 0 is smaller than it was."""
    switches: dict[int, float] = {}
    for variable, value in zip(variables, known, strict=True):
        if value > program.lower[variable]:
            smaller = program.switch()
            program.at_most_if(smaller, [variable], value - 1, program.upper[variable])
            switches[smaller] = 1.0
    program.add(switches, low=1)
