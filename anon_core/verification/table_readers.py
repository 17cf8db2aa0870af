"""What keeps readers of a protected table from suppressed cells: two tables for each, found again.

A linear program only proposes tables that a reader cannot rule out; each is checked here in whole
numbers.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import prod
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog
from scipy.sparse import csr_array

from anon_core.verification.findings import Check, tallied
from anon_core.verification.table_cells import Ints, Key, TableCells

#: Seconds that linear programs look for tables no reader can rule out.
_SECONDS = 300
#: Readers times sensitive cells from which on all readers are asked at once first.
_MANY = 1_000
#: Seconds of a linear program's first try: a stop has its processor back by then.
_TRY = 2


#: How far a cell has to be hidden up and down, and how wide, in units.
Need = tuple[Fraction, Fraction, Fraction]


@dataclass(frozen=True, kw_only=True, eq=False)
class Readers:
    """What readers know of suppressed cells beforehand, in units.

    Attributes
    ----------
    cells : TableCells
    hidden : bool array of shape (cells,)
        Those that are suppressed.
    step : int
        Units of the last published digit.
    least : int or None
        What any cell is at least.
    alone : frozenset of int
        Respondents who are alone in a suppressed cell, and may read.
    known : array of shape (cells,)
        The least that the best informed of them knows of each cell; where there is no least,
        it is not used.
    sole : bool array of shape (cells,)
        Cells that one of them fills alone.
    """

    cells: TableCells
    hidden: npt.NDArray[np.bool_]
    step: int
    least: int | None
    alone: frozenset[int]
    known: Ints
    sole: npt.NDArray[np.bool_]


def _readers(
    cells: TableCells, hidden: npt.NDArray[np.bool_], reader: Mapping[str, Any], step: int
) -> Readers:
    held = cells.held
    least = None if reader.get("signed", False) else 0
    if least is not None and reader.get("zeros_printed", True):
        least = step
    one = held.sizes == 1
    alone = np.zeros(len(cells.people) + 1, dtype=np.bool_)
    if reader.get("single_respondents", True):
        alone[held.who[held.begin[:-1][one & hidden]]] = True
    known = np.full(len(cells.values), least or 0, dtype=cells.values.dtype)
    theirs = np.flatnonzero(alone[held.who])
    np.maximum.at(known, held.group()[theirs], held.own[theirs])
    sole = one.copy()
    sole[one] = alone[held.who[held.begin[:-1][one]]]
    return Readers(
        cells=cells,
        hidden=hidden,
        step=step,
        least=least,
        alone=frozenset(np.flatnonzero(alone).tolist()),
        known=known,
        sole=sole,
    )


def protection(
    cells: TableCells,
    hidden: npt.NDArray[np.bool_],
    sensitive: Mapping[int, tuple[Fraction, int]],
    recipe: Mapping[str, Any],
    changes: Mapping[Key, Mapping[Key, int]],
    digits: int,
    say: Callable[[str], None],
) -> Check:
    """Return whether two tables are found for each sensitive cell, for every reader."""
    step = cells.unit // 10**digits
    readers = _readers(cells, hidden, recipe.get("reader", {}), step)
    cap = recipe.get("protect", {}).get("levels") == "cap"
    needs: dict[int, Need] = {}
    for cell, (each, wide) in sensitive.items():
        need = max(each * cells.unit, Fraction(step)) if each > 0 else Fraction(0)
        down = need
        if cap and readers.least is not None:
            down = min(need, Fraction(int(cells.values[cell]) - readers.least))
        needs[cell] = need, down, Fraction(wide * step)
    exposed = {cell for cell in needs if not hidden[cell]}
    proven = _proven(readers, needs, changes)
    left = {cell: need for cell, need in needs.items() if cell not in exposed | proven}
    late: set[int] = set()
    if left:
        more, late = _tried(readers, left, say)
        exposed |= more
    words = "Two tables that a reader cannot rule out keep each sensitive cell from being known."
    if late and not exposed:
        name = "|".join(cells.labels(min(late)))
        words = f"{words} Undecided in {_SECONDS} s for {len(late)} cells, such as '{name}'."
        return Check(name="protection", holds=False, undecided=True, sentence=words)
    return tallied("protection", len(exposed), words)


def _proven(
    readers: Readers, needs: Mapping[int, Need], changes: Mapping[Key, Mapping[Key, int]]
) -> set[int]:
    """Return the sensitive cells that proposed changes keep from all readers at once.

    A change is one where only suppressed cells move and every total moves as its parts do. No cell
    falls below what any reader knows, and those with one respondent do not move, but the cell
    itself, which that respondent knows anyway.
    """
    found, cells = set[int](), readers.cells
    for key, change in changes.items():
        cell, moved = cells.at(key), {cells.at(other): n for other, n in change.items() if n}
        if cell in needs and moved.get(cell, 0) > 0 and _is_change(cells, moved):
            free = all(c == cell or not readers.sole[c] for c in moved)
            if free and all(readers.hidden[c] for c in moved):
                found |= {cell} if _has_room(readers, needs[cell], cell, moved) else set()
    return found


def _is_change(cells: TableCells, moved: Mapping[int, int]) -> bool:
    """Say whether only cells of the table move, and every total that has to as its parts do."""
    net = Counter[tuple[int, int]]()
    for axis, (tree, size) in enumerate(zip(cells.trees, cells.shape, strict=True)):
        stride = prod(cells.shape[axis + 1 :])
        for cell, by in moved.items():
            node = cell // stride % size
            if tree.children.get(node):
                net[axis, cell] -= by
            for above in tree.above.get(node, ()):
                net[axis, cell + (above - node) * stride] += by
    return min(moved) >= 0 and not any(net.values())


def _has_room(readers: Readers, need: Need, cell: int, moved: Mapping[int, int]) -> bool:
    """Say whether a change can be made as often as a cell needs, up and down, above all limits."""
    (up, down, wide), least = need, readers.least
    rise, fall = (way / moved[cell] for way in (max(up, wide - down), down))

    def fits(c: int, by: int) -> bool:
        floor = least or 0 if c == cell and readers.sole[c] else int(readers.known[c])
        return abs(by) * (fall if by > 0 else rise) <= int(readers.cells.values[c]) - floor

    return least is None or all(fits(c, by) for c, by in moved.items())


def _tried(
    readers: Readers, needs: Mapping[int, Need], say: Callable[[str], None]
) -> tuple[set[int], set[int]]:
    """Return the sensitive cells for which no two tables are found, and those not reached in time.

    Where there are many readers, all of them together are asked first: whom these cannot rule
    out, none of them can.
    """
    until, cells = time.monotonic() + _SECONDS, readers.cells
    order, program = np.flatnonzero(readers.hidden), _Program(readers, say)
    place = program.place
    values = cells.values[order]
    reader = [None if readers.least is None else readers.least - int(v) for v in values]
    exposed, late = set[int](), set[int]()
    left = dict(needs)
    if len(readers.alone) * len(needs) > _MANY:
        for cell, need in needs.items():
            if time.monotonic() > until:
                break
            say("Looking for tables that no reader can rule out")
            low: list[int | None] = list(reader)
            high: list[int | None] = [None] * len(order)
            for at, (c, value) in enumerate(zip(order.tolist(), values.tolist(), strict=True)):
                if readers.sole[c] and c != cell:
                    low[at] = high[at] = 0
                elif readers.least is not None and not readers.sole[c]:
                    low[at] = int(readers.known[c]) - value
            if program.keeps(int(place[cell]), need, low, high, until):
                del left[cell]
    everyone: list[int | None] = [None, *sorted(readers.alone)]
    held = cells.held
    theirs: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for cell in order.tolist() if left else ():
        for one, amount in held.of(cell).items():
            if one in readers.alone:
                theirs[one].append((cell, amount))
    for one in everyone if left else ():
        low, high = list(reader), [None] * len(order)
        knows = set[int]()
        for cell, amount in theirs.get(one, ()) if one is not None else ():
            at = int(place[cell])
            if held.sizes[cell] == 1:
                low[at] = high[at] = 0
                knows.add(cell)
            elif readers.least is not None:
                low[at] = max(cast(int, low[at]), amount - int(cells.values[cell]))
        for cell, need in left.items():
            if cell in exposed or cell in knows:
                continue
            if time.monotonic() > until:
                late.add(cell)
                continue
            say("Looking for tables that a reader cannot rule out")
            if not program.keeps(int(place[cell]), need, low, high, until):
                (late if time.monotonic() > until else exposed).add(cell)
    return exposed, late - exposed


class _Program:
    """The sums of suppressed cells, as a linear program in their changes."""

    def __init__(self, readers: Readers, say: Callable[[str], None]) -> None:
        self.say, self.step, hidden = say, readers.step, readers.hidden
        self.place = np.cumsum(hidden) - 1  # of each suppressed cell among these
        rows: list[Ints] = []
        columns: list[Ints] = []
        signs: list[npt.NDArray[np.float64]] = []
        many = 0
        for total, parts in readers.cells.sums():
            at = np.arange(len(total)) + many
            for cell, sign in [(total, -1.0), *((part, 1.0) for part in parts)]:
                inside = hidden[cell]
                rows.append(at[inside])
                columns.append(self.place[cell[inside]])
                signs.append(np.full(int(inside.sum()), sign))
            many += len(total)
        row, column, sign = map(np.concatenate, (rows, columns, signs))
        _, row = np.unique(row, return_inverse=True)
        self.width = int(hidden.sum())
        self.size = int(np.abs(readers.cells.values).max(initial=0))
        shape = (int(row.max(initial=-1)) + 1, self.width)
        entries: Any = (sign, (row, column))
        self.matrix = csr_array(entries, shape=shape)
        self.sums: list[list[tuple[int, int]]] = [[] for _ in range(shape[0])]
        for at, c, s in zip(row.tolist(), column.tolist(), sign.tolist(), strict=True):
            self.sums[at].append((c, int(s)))

    def keeps(
        self,
        k: int,
        need: Need,
        low: Sequence[int | None],
        high: Sequence[int | None],
        until: float,
    ) -> bool:
        """Return whether two tables keep a cell from a reader who knows these limits."""
        up, down, wide = need
        rise = self.reached(k, 1, low, high, until)
        fall = self.reached(k, -1, low, high, until) if rise >= up else Fraction(0)
        return rise >= up and fall >= down and rise + fall >= wide

    def reached(
        self, k: int, sign: int, low: Sequence[int | None], high: Sequence[int | None], until: float
    ) -> Fraction:
        """Return how far a table takes a cell that a reader cannot rule out; checked exactly."""
        goal = np.zeros(self.width)
        goal[k] = -sign
        far = 1e6 * self.step + 10 * self.size
        box = [
            (-far if lo is None else float(lo), far if hi is None else float(hi))
            for lo, hi in zip(low, high, strict=True)
        ]
        found: Any = None
        for most in (_TRY, until - time.monotonic()):
            found = self._solved(goal, box, max(most, 0.1))
            if found is None or found.status != 1:  # 1: its time was up
                break
        if found is None or found.status != 0:
            return Fraction(0)
        for parts in (1, 12, 1000):
            moved = [
                Fraction(round(float(x) / self.step * parts), parts) * self.step
                for x in np.asarray(found.x)
            ]
            kept = all(
                (lo is None or x >= lo) and (hi is None or x <= hi)
                for x, lo, hi in zip(moved, low, high, strict=True)
            )
            if kept and all(sum(moved[c] * e for c, e in row) == 0 for row in self.sums):
                return sign * moved[k]
        return Fraction(0)

    def _solved(self, goal: Any, box: Any, seconds: float) -> Any:
        """Return what the solver finds; `say` may end the wait, and the solver ends by its time."""
        done: list[Any] = []

        def solve() -> None:
            sums = len(self.sums)
            done.append(
                linprog(
                    goal,
                    A_eq=cast(Any, self.matrix) if sums else None,
                    b_eq=np.zeros(sums) if sums else None,
                    bounds=box,
                    options=cast(Any, {"time_limit": seconds}),
                )
            )

        thread = threading.Thread(target=solve, daemon=True)
        thread.start()
        while thread.is_alive():
            thread.join(0.1)
            self.say("Looking for tables that readers cannot rule out")
        return done[0] if done else None
