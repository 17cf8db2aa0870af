"""Suppression of the cheapest further cells, so that sensitive ones cannot be worked out.

Cutting planes after Fischetti and Salazar 2000 (doi 10.1080/01621459.2000.10474282): a set of
suppressed cells that fails gives an inequality that every good set keeps, and the master problem is
solved again until a set passes. Coefficients are cut off at the level, so that a large bound cannot
protect a cell by a millionth of a suppression. What is returned passed the exact audit; the cost
bound is a claim of the solver.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt
from scipy.optimize import Bounds as Box
from scipy.optimize import LinearConstraint
from scipy.sparse import csr_array, hstack

from anon_core.base.concurrency import only_stopped, solved
from anon_core.base.context import Context
from anon_core.base.errors import Infeasible, NotFound, clipped
from anon_core.tables.audit import Everyone, Insider
from anon_core.tables.product_moves import Moves
from anon_core.tables.reader import SMALL, Reader, Side, as_fraction
from anon_core.tables.system import Bounds, Level, Number, Relation, System

Cost = Literal["value", "cells", "log", "respondents"]
#: Seconds that the heuristic looks for superfluous cells, at most.
_SECONDS_OF_REDUCTION = 10
#: Tables found for some tasks that are tried for the next.
_SEEN = 100


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """Which cells are suppressed, and how good that is.

    Attributes
    ----------
    primary, secondary : frozenset of int
        Sensitive cells, and those that hide them; published as one symbol.
    cost : int
        Of the secondary ones.
    bound : int or None
        No pattern costs less, as far as the solver knows; None for a heuristic.
    rounds : int
        Times the master problem was solved.
    """

    primary: frozenset[int]
    secondary: frozenset[int]
    cost: int
    bound: int | None = None
    rounds: int = 0

    @cached_property
    def cells(self) -> frozenset[int]:
        """All suppressed cells."""
        return self.primary | self.secondary

    @property
    def optimal(self) -> bool:
        """Whether no pattern costs less."""
        return self.bound is not None and self.bound >= self.cost

    @property
    def gap(self) -> Fraction | None:
        """How much of the cost may be too much; None where no bound is known."""
        if self.bound is None:
            return None
        return Fraction(self.cost - self.bound, self.cost) if self.cost else Fraction(0)


def costs_of(system: System, by: Cost, respondents: Sequence[int] = ()) -> tuple[int, ...]:
    """Return what the suppression of each cell costs, in whole numbers."""
    if by == "cells":
        return (1,) * len(system.names)
    if by == "log":
        return tuple(round(1000 * math.log1p(abs(float(v)))) for v in system.values)
    if by == "respondents" and respondents:
        return tuple(respondents)
    return tuple(abs(math.ceil(v)) for v in system.values)


@dataclass(frozen=True, kw_only=True)
class _Task:
    """One reader who must be kept from one cell: up, down, or by a width."""

    reader: int
    cell: int
    sign: int  # 0: the width
    need: Number


class _Search:
    """The cells of a system, each once, with what each reader allows them."""

    def __init__(
        self,
        system: System,
        needs: Mapping[int, Level],
        bounds: Bounds,
        costs: Sequence[int],
        published: Iterable[int],
        insiders: Sequence[Insider],
        context: Context,
        changes: Mapping[int, Mapping[int, int]] | None = None,
        *,
        everyone: Everyone | None = None,
        cutting: bool = True,
    ) -> None:
        self.system, self.context, self.cutting = system, context, cutting
        #: By sensitive cell, a change of cells that keeps every sum.
        self.changes = changes or {}
        self.firsts = sorted(set(system.same))
        self.at = {cell: n for n, cell in enumerate(self.firsts)}
        known = [bounds, *(bounds.with_known(one.known) for one in insiders)]
        self.readers, self.names = known, ("", *(one.name for one in insiders))
        self.primary = frozenset(system.same[cell] for cell in needs)
        fixed = {system.same[cell] for cell in published}
        alone = {system.same[cell] for cell in everyone.alone} if everyone is not None else set()
        #: By sensitive cell whose only respondent may read, what the others allow it.
        self.own = {
            first: known_by_others
            for first in self.primary & alone
            if everyone is not None and (known_by_others := everyone.own(system, first)) is not None
        }
        self.free = np.ones(len(self.firsts), dtype=np.bool_)
        for cell, value in enumerate(system.values):
            low, high = bounds.lower[cell], bounds.upper[cell]
            if (low is not None and value < low) or (high is not None and value > high):
                fixed.add(system.same[cell])  # a reader knows better: never suppressed
            elif low is not None and low == high and system.same[cell] not in self.own:
                fixed.add(system.same[cell])  # suppressing it hides nothing
        for cell in sorted(fixed & self.primary):
            raise Infeasible(
                f"'{clipped(system.names[cell])}' is sensitive and has to be published.",
                remedy="Let it be suppressed, change the rule, or use coarser categories.",
            )
        for cell in (*fixed, *self.own):
            self.free[self.at[cell]] = False
        self.cost = np.array([costs[cell] for cell in self.firsts], dtype=np.int64)
        # What one cell more costs: less than the least difference of costs.
        self.weight = self.cost.astype(float) * (len(self.firsts) + 1) + 1
        rows, columns, signs = [], [], []
        for number, relation in enumerate(system.distinct):
            for cell, sign in [(relation.parent, -1), *((c, 1) for c in relation.children)]:
                rows.append(number)
                columns.append(self.at[cell])
                signs.append(sign)
        shape = (len(system.distinct), len(self.firsts))
        self.matrix = csr_array((np.array(signs, dtype=float), (rows, columns)), shape=shape)
        self.down: list[list[Number | None]] = []
        self.up: list[list[Number | None]] = []
        for one in known:
            down: list[Number | None] = [None] * len(self.firsts)
            up: list[Number | None] = [None] * len(self.firsts)
            for cell, first in enumerate(system.same):
                n, value = self.at[first], system.values[cell]
                low, high = one.lower[cell], one.upper[cell]
                if low is not None:
                    down[n] = (
                        max(0, value - low)
                        if down[n] is None
                        else min(cast(Number, down[n]), max(0, value - low))
                    )
                if high is not None:
                    up[n] = (
                        max(0, high - value)
                        if up[n] is None
                        else min(cast(Number, up[n]), max(0, high - value))
                    )
            self.down.append(down)
            self.up.append(up)
        #: How far the cell of a task goes, down and up, where it is other than the reader's limits.
        self.far = {
            first: (
                None if low is None else max(0, -low),
                None if high is None else max(0, high),
            )
            for first, (low, high) in self.own.items()
        }
        self.tasks: list[_Task] = []
        for reader, _ in enumerate(known):
            own: set[int] = set()
            if reader:
                own = {
                    c
                    for c, (lo, hi) in insiders[reader - 1].known.items()
                    if lo is not None and lo == hi
                }
            for cell, level in sorted(needs.items()):
                if cell in own:
                    continue
                first = system.same[cell]
                for sign, need in ((1, level.upper), (-1, level.lower), (0, level.sliding)):
                    if need > 0 and (sign or need > level.upper + level.lower):
                        self.tasks.append(_Task(reader=reader, cell=first, sign=sign, need=need))
        self.cuts: dict[tuple[tuple[int, float], ...], None] = {}

    def add(self, task: _Task, coefficients: Sequence[Number | None]) -> bool:
        """Add Σ c·x ≥ need, cut off at the need; return whether it is new and says something."""
        k = self.at[task.cell]
        own = coefficients[k]
        row: list[tuple[int, float]] = []
        if own is None or own >= task.need:
            return False
        left = task.need - own
        for n, c in enumerate(coefficients):
            if n == k or c == 0 or not self.free[n]:
                continue
            row.append((n, 1.0 if c is None or c >= left else float(Fraction(c) / Fraction(left))))
        key = tuple(row)
        if key in self.cuts:
            return False
        if not row:
            names = [
                self.system.names[r.parent]
                for r in self.system.distinct
                if task.cell in (r.parent, *r.children)
            ]
            raise Infeasible(
                f"'{clipped(self.system.names[task.cell])}' cannot be hidden: every cell it adds "
                f"up with has to be published, in '{clipped(names[0]) if names else 'the table'}'.",
                remedy="Let more cells be suppressed, let the reader know less, or use coarser "
                "categories.",
            )
        self.cuts[key] = None
        return True

    def coefficients(
        self, task: _Task, sign: int, multipliers: Mapping[int, Number]
    ) -> list[Number | None]:
        """Return how much each cell lets the task's cell move, by these sums."""
        left: dict[int, Number] = {self.at[task.cell]: sign}
        for number, t in multipliers.items():
            if t:
                relation = self.system.distinct[number]
                for cell, s in [(relation.parent, -1), *((c, 1) for c in relation.children)]:
                    n = self.at[cell]
                    left[n] = left.get(n, 0) - t * s
        found: list[Number | None] = [0] * len(self.firsts)
        up, down = self.up[task.reader], self.down[task.reader]
        for n, g in left.items():
            if g:
                end = up[n] if g > 0 else down[n]
                found[n] = None if end is None else abs(g) * end
        return found

    def start(self) -> None:
        """Add what each sum asks for: where one of its cells moves, another must."""
        for task in self.tasks:
            for number in self.system.relations_of[task.cell]:
                relation = self.system.distinct[number]
                own = -1 if relation.parent == task.cell else 1
                if task.sign:
                    self.add(task, self.coefficients(task, task.sign, {number: task.sign * own}))
                else:
                    self.add(task, self._both(task, {number: own}, {number: -own}))

    def _both(
        self, task: _Task, up: Mapping[int, Number], down: Mapping[int, Number]
    ) -> list[Number | None]:
        one, other = self.coefficients(task, 1, up), self.coefficients(task, -1, down)
        return [None if a is None or b is None else a + b for a, b in zip(one, other, strict=True)]

    def separated(self, x: npt.NDArray[np.float64]) -> int:
        """Cut off a solution of the relaxed master; return how many cuts are new."""
        new, limit = 0, float(max(map(abs, self.system.values), default=1)) + 1
        support = np.flatnonzero(x > 1e-7)
        part = _quick(self.matrix[:, support])
        place = {int(n): at for at, n in enumerate(support)}
        for task in self.tasks:
            self.context.check()
            if self.context.enough():
                return 0
            k = place.get(self.at[task.cell])
            if k is None:
                continue
            up, down = self.up[task.reader], self.down[task.reader]
            box = [
                (
                    -x[n] * float(limit if down[n] is None else cast(Number, down[n])),
                    x[n] * float(limit if up[n] is None else cast(Number, up[n])),
                )
                for n in support.tolist()
            ]
            reached, found = 0.0, list[dict[int, Number]]()
            for sign in (task.sign,) if task.sign else (1, -1):
                goal = np.zeros(len(support))
                goal[k] = -sign
                done = solved(
                    "linprog",
                    self.context,
                    c=goal,
                    A_eq=part,
                    b_eq=np.zeros(part.shape[0]),
                    bounds=box,
                )
                if done is None:
                    return 0
                if done.status != 0:
                    reached = math.inf
                    break
                reached -= float(cast(float, done.fun))
                marginals = -np.asarray(done.eqlin.marginals)
                found.append(
                    {
                        int(n): as_fraction(float(marginals[n]), 12)
                        for n in np.flatnonzero(np.abs(marginals) > 1e-9)
                    }
                )
            if reached < float(task.need) * (1 - 1e-6):
                row = (
                    self.coefficients(task, task.sign, found[0])
                    if task.sign
                    else self._both(task, found[0], found[1])
                )
                new += self.add(task, row)
        return new

    def witnessed(self, task: _Task, hidden: frozenset[int]) -> bool:
        """Return whether a known change of hidden cells keeps the task's reader from its cell."""
        change = self.changes.get(task.cell)
        if not change or change.get(task.cell, 0) < 1 or not change.keys() <= hidden:
            return False
        up, down = self.up[task.reader], self.down[task.reader]
        most, per = (Fraction(task.need) / change[task.cell]).as_integer_ratio()

        def holds(sign: int) -> bool:
            for cell, by in change.items():
                n, rises = self.at[cell], by * sign > 0
                end = up[n] if rises else down[n]
                if cell == task.cell and cell in self.far:
                    end = self.far[cell][rises]
                if end is not None and end * per < abs(by) * most:
                    return False
            return True

        return holds(task.sign) if task.sign else holds(1) or holds(-1)

    def failed(self, chosen: frozenset[int]) -> tuple[list[_Task], int]:
        """Return which tasks a set fails, decided exactly, and how many cuts are new by that."""
        hidden = self.system.closed(chosen)
        readers: dict[int, Reader] = {}
        seen: deque[Side] = deque(maxlen=_SEEN)
        broken: list[_Task] = []
        new = 0
        for task in self.tasks:
            self.context.check()
            if self.witnessed(task, hidden):
                continue
            if task.reader not in readers:
                readers[task.reader] = Reader(
                    self.system,
                    hidden,
                    self.readers[task.reader],
                    context=only_stopped(self.context),
                )
            reader, own = readers[task.reader], self.own.get(task.cell)
            if own is None and _seen(task, reader, seen):
                continue
            if not task.sign:
                up, down = (reader.side(task.cell, sign, own=own) for sign in (1, -1))
                seen += (up, down)
                if up.endless or down.endless or up.reached + down.reached >= task.need:
                    continue
                broken.append(task)
                if not self.cutting:
                    continue
                sums = [reader.multipliers(task.cell, sign) for sign in (1, -1)]
                new += self.add(task, self._both(task, sums[0], sums[1]))
                continue
            side = reader.side(task.cell, task.sign, own=own)
            seen.append(side)
            if side.endless or side.reached >= task.need:
                continue
            broken.append(task)
            if not self.cutting:
                continue
            sums_of = reader.multipliers(task.cell, task.sign)
            new += self.add(task, self.coefficients(task, task.sign, sums_of))
        return broken, new

    def solved(
        self, seconds: float, *, whole: bool
    ) -> tuple[npt.NDArray[np.float64] | None, float]:
        """Return a solution of the master problem and its lower bound."""
        rows = list(self.cuts)
        matrix = csr_array(
            (
                [c for row in rows for _, c in row],
                (
                    [at for at, row in enumerate(rows) for _ in row],
                    [n for row in rows for n, _ in row],
                ),
            ),
            shape=(len(rows), len(self.firsts)),
        )
        low = np.zeros(len(self.firsts))
        for cell in self.primary:
            low[self.at[cell]] = 1

        found = solved(
            "milp",
            self.context,
            seconds=max(seconds, 0.1),
            c=self.weight,
            constraints=[LinearConstraint(cast(Any, matrix), lb=1.0)] if rows else [],
            bounds=Box(low, np.where(self.free, 1.0, 0.0)),
            integrality=np.full(len(self.firsts), int(whole)),
            options={"mip_rel_gap": 0.0},
        )
        if found is None:
            return None, 0.0
        if found.status == 2:
            self.completed(self.primary)  # names the cell
            raise Infeasible(
                "No pattern hides every sensitive cell.",
                remedy="Let more cells be suppressed, let the reader know less, or use coarser "
                "categories.",
            )
        bound = getattr(found, "mip_dual_bound", None)
        return found.x, float(found.fun if bound is None else bound) if found.x is not None else 0.0

    def cost_within(self, value: float) -> int:
        """Return the least cost of a pattern whose weight is no less than a value of the master."""
        base = sum(self.weight[self.at[cell]] for cell in self.primary)
        return max(0, math.ceil(value - base - 1e-3) // (len(self.firsts) + 1))

    def price(self, chosen: Iterable[int]) -> int:
        """Return what the secondary cells of a set cost."""
        return sum(int(self.cost[self.at[c]]) for c in set(chosen) - self.primary)

    def completed(self, chosen: frozenset[int], until: float = math.inf) -> frozenset[int]:
        """Add cells until none fails: for each, the cheapest moves by network flow.

        Kelly, Golden and Assad 1992 (doi 10.1002/net.3230220407), over any sums.

        Raises
        ------
        NotFound
            If it is later than `until`, on the clock of `time.monotonic`.
        """
        hidden = set(chosen) | self.primary
        double = _quick(hstack([self.matrix, -self.matrix]))
        limit = float(max(map(abs, self.system.values), default=1)) * 2 + 2
        for _ in range(3):
            broken, _new = self.failed(frozenset(hidden))
            if not broken:
                return frozenset(hidden)
            for number, task in enumerate(broken):
                self.context.report(number / len(broken), "Hiding what no simple move hides")
                if time.monotonic() > until:
                    left = {task.cell for task in broken[number:]}
                    raise NotFound(
                        f"No pattern was found in time: {len(left):,} sensitive cells are left, "
                        f"such as '{clipped(self.system.names[task.cell])}'.",
                        remedy="Give the search more seconds, or use coarser categories.",
                    )
                move = self._move(task, hidden, double, limit)
                if move is None:
                    alone = self.names[task.reader]
                    reader = f" from {alone}, who is alone in another cell," if alone else ""
                    raise Infeasible(
                        f"'{clipped(self.system.names[task.cell])}' cannot be hidden{reader} by "
                        "other cells of the table.",
                        remedy="Let more cells be suppressed, let the reader know less, or use "
                        "coarser categories.",
                    )
                hidden |= move
        return self.primary | {cell for cell in self.firsts if self.free[self.at[cell]]}

    def _move(self, task: _Task, hidden: set[int], double: Any, limit: float) -> set[int] | None:
        many = len(self.firsts)
        up = [limit if u is None else float(u) for u in self.up[task.reader]]
        down = [limit if d is None else float(d) for d in self.down[task.reader]]
        k, need = self.at[task.cell], float(task.need)
        if task.cell in self.far:
            below, above = self.far[task.cell]
            down[k] = limit if below is None else float(below)
            up[k] = limit if above is None else float(above)
        price = np.array(
            [
                0.0 if cell in hidden else float(w)
                for cell, w in zip(self.firsts, self.weight, strict=True)
            ]
        )
        caps = np.array([up, down]).clip(max=need)
        costs = np.concatenate(
            [price / np.maximum(caps[0], 1e-9), price / np.maximum(caps[1], 1e-9)]
        )
        free = self.free
        # Taking the best so far needs a pattern: only a stop ends its search.
        patient = only_stopped(self.context)
        tried: list[tuple[float, set[int]]] = []
        for sign in (task.sign,) if task.sign else (1, -1):
            box = [(0.0, u if f else 0.0) for u, f in zip(up, free, strict=True)]
            box += [(0.0, d if f else 0.0) for d, f in zip(down, free, strict=True)]
            if (up[k] if sign > 0 else down[k]) < need:
                continue
            box[k] = (need, need) if sign > 0 else (0.0, 0.0)
            box[many + k] = (0.0, 0.0) if sign > 0 else (need, need)
            done = solved(
                "linprog",
                patient,
                c=costs,
                A_eq=double,
                b_eq=np.zeros(double.shape[0]),
                bounds=box,
            )
            if done.status == 0:
                x = np.asarray(done.x)
                moved = np.abs(x[:many] - x[many:]) > 1e-7
                cells = {self.firsts[n] for n in np.flatnonzero(moved)}
                tried.append((float(price[moved].sum()), cells))
        return min(tried, key=lambda one: one[0])[1] if tried else None

    def reduced(self, chosen: frozenset[int], until: float) -> frozenset[int]:
        """Take out what is superfluous, the dearest first."""
        kept = set(chosen)
        for cell in sorted(chosen - self.primary, key=lambda c: (-self.cost[self.at[c]], c)):
            if time.monotonic() > until:
                break
            if not self.failed(frozenset(kept - {cell}))[0]:
                kept.discard(cell)
        return frozenset(kept)


def suppress(
    system: System,
    needs: Mapping[int, Level],
    bounds: Bounds,
    costs: Sequence[int],
    *,
    published: Iterable[int] = (),
    insiders: Sequence[Insider] = (),
    optimal: bool = True,
    seconds: float = 60,
    context: Context | None = None,
    start: Moves | None = None,
    changes: Mapping[int, Mapping[int, int]] | None = None,
    everyone: Everyone | None = None,
) -> Pattern:
    """Return the cheapest pattern that protects every sensitive cell, or a good one in time.

    Parameters
    ----------
    needs : mapping of int to Level
        Sensitive cells.
    costs : sequence of int
        Of the suppression of each cell; see `costs_of`.
    published : iterable of int
        Cells that have to be published.
    insiders : sequence of Insider
        Further readers that the cells are protected from.
    optimal : bool
        Whether to search on for the cheapest pattern after the heuristic.
    seconds : float
        When to stop; the best pattern so far is returned with its bound.
    start : Moves, optional
        A pattern to begin with, and changes that prove some of it without a linear program.
    changes : mapping of int to mapping of int to int, optional
        These changes, where they are known already: see `changes_of`.
    everyone : Everyone, optional
        All readers at once, from whom the heuristic hides cells; its bounds are used, and
        there are no further insiders.

    Raises
    ------
    Infeasible
        If no pattern protects some cell; names it and what forbids it.
    """
    begun, own = time.monotonic(), context or Context()
    if everyone is not None:
        bounds = everyone.bounds
    search = _Search(
        system,
        needs,
        bounds,
        costs,
        published,
        insiders,
        own,
        changes_of(system, start) if changes is None else changes,
        everyone=everyone,
        cutting=optimal,
    )
    whole = system.closed(search.primary)
    first = search.primary
    if start is not None:
        first |= {system.same[cell] for cell in start.hidden}

    def pattern(best: frozenset[int], bound: int | None, rounds: int) -> Pattern:
        return Pattern(
            primary=whole,
            secondary=system.closed(best) - whole,
            cost=search.price(best),
            bound=bound,
            rounds=rounds,
        )

    if not search.tasks:
        return pattern(search.primary, 0, 0)
    until = begun + seconds
    if not optimal:
        best = search.completed(first, until)
        if everyone is None:  # of a large table each answer takes too long
            best = search.reduced(best, min(until, time.monotonic() + _SECONDS_OF_REDUCTION))
        return pattern(best, None, 0)
    search.start()
    rounds, bound = 0, 0
    best: frozenset[int] | None = None

    def standing() -> None:
        if best is not None:
            cost = search.price(best)
            own.found(float(cost), float(min(bound, cost)), "Cost of suppression")
        own.report(min(1.0, (time.monotonic() - begun) / seconds), "Searching")

    while time.monotonic() < begun + seconds / 2:  # the relaxed master, until nothing is cut off
        x, value = search.solved(seconds, whole=False)
        rounds, bound = rounds + 1, max(bound, search.cost_within(value))
        if best is None:  # something to take, while the search goes on
            best = search.completed(first)
        standing()
        if x is None or not search.separated(x):
            break
    while not own.enough():
        standing()
        x, value = search.solved(max(until - time.monotonic(), 0.5), whole=True)
        rounds, bound = rounds + 1, max(bound, search.cost_within(value))
        if x is None:
            break
        chosen = frozenset(c for c, v in zip(search.firsts, x, strict=True) if v > 0.5)
        broken, new = search.failed(chosen)
        if not broken and (best is None or search.price(chosen) <= search.price(best)):
            best = chosen
        late = time.monotonic() > until
        if broken and late:  # what the last master lacks, it gets
            repaired = search.completed(chosen)
            best = min((best or repaired, repaired), key=search.price)
        if not broken or not new or late or bound >= search.price(best or chosen):
            break
    if best is None:
        best = search.completed(first)
    if search.price(best) > bound and not own.enough():
        best = search.reduced(best, until)
    return pattern(best, min(bound, search.price(best)), rounds)


def _quick(matrix: Any) -> Any:
    """Return a matrix as the solver takes it soonest: of few columns, it is not sparse."""
    return matrix.toarray() if matrix.shape[1] <= SMALL else matrix.tocsc()


def _seen(task: _Task, reader: Reader, seen: Iterable[Side]) -> bool:
    """Return whether tables that were found for other tasks keep a task's reader off as well."""
    reached: Number = 0
    for sign in (task.sign,) if task.sign else (1, -1):
        best: Number = 0
        for side in seen:
            by = sign * side.witness.get(task.cell, 0)
            if side.endless and by > 0 and reader.allows_without_end(side.witness):
                return True
            if by > best and not side.endless and reader.allows(side.witness):
                best = by
        reached += best
    return reached >= task.need


def changes_of(system: System, moves: Moves | None) -> dict[int, dict[int, int]]:
    """Return by sensitive cell how cells move with it; empty where that keeps not every sum."""
    witnesses = moves.witnesses if moves is not None else {}
    return {system.same[cell]: with_sums(system, one.change) for cell, one in witnesses.items()}


def with_sums(system: System, change: Mapping[int, int]) -> dict[int, int]:
    """Return a change of a table's cells with that of sums that were added as cells.

    Every sum it touches is checked; a change that does not keep them all is none, and empty.
    """
    found = dict(change)

    def touched() -> list[Relation]:
        numbers = dict.fromkeys(n for cell in found for n in system.relations_of[cell])
        return [system.distinct[n] for n in numbers]

    def parts(relation: Relation) -> int:
        return sum(found.get(cell, 0) for cell in relation.children)

    for relation in touched():
        if relation.parent not in change and (by := parts(relation)):
            found[relation.parent] = by
    kept = all(parts(one) == found.get(one.parent, 0) for one in touched())
    return found if kept else {}
