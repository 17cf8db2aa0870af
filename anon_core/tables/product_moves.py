"""Product moves: for each sensitive cell a few others that hide it, and the change that proves it.

The hypercube of Repsilber, used as a witness. In each column a category of the cell and one outside
of it are chosen, with all that is above them up to where they meet. What is added on one side is
taken away on the other, so every sum of the whole table is kept: a reader who sees none of these
cells cannot rule the change out. It is checked in whole numbers against every sum it touches.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np
import numpy.typing as npt

from anon_core.base.context import Context
from anon_core.tables.axis import Axis
from anon_core.tables.system import Level, System

_I64 = npt.NDArray[np.int64]
_F64 = npt.NDArray[np.float64]
#: Categories of the cell, and outside of it, that are tried in each column, by number of columns.
INSIDE, OUTSIDE = 4, {1: 400, 2: 40, 3: 12, 4: 6}
#: Moves that a cell is hidden by, each a part of its level.
_PARTS = (1, 2, 4, 8)
#: Pairs of them in each column, at most: those of all columns multiply.
PAIRS = {1: 4_000, 2: 640, 3: 48, 4: 10}


@dataclass(frozen=True, kw_only=True)
class Witness:
    """A change that a reader cannot rule out where its cells are suppressed.

    Attributes
    ----------
    change : mapping of int to int
        By cell, above 0 for the sensitive one: the number of moves that it is the sum of.
    up, down : int
        How many times it holds, and the other way round.
    """

    change: Mapping[int, int]
    up: int
    down: int


@dataclass(frozen=True, kw_only=True)
class Moves:
    """What product moves found: suppressed cells, a witness for each served cell, the others."""

    hidden: frozenset[int]
    witnesses: Mapping[int, Witness]
    unserved: tuple[int, ...]


def product_moves(
    axes: Sequence[Axis],
    system: System,
    needs: Mapping[int, Level],
    costs: Sequence[int] | _I64,
    slack: Sequence[int] | _I64,
    *,
    apart: Collection[int] | npt.NDArray[np.bool_] = (),
    context: Context | None = None,
    sides: Sequence[Sides] | None = None,
) -> Moves:
    """Hide each sensitive cell by the cheapest product move that is tried.

    Parameters
    ----------
    costs : sequence of int
        Of suppressing each cell; what is suppressed already costs nothing, as -1 says.
    slack : sequence of int
        How far any reader lets each cell fall; below 0 where it is never suppressed.
    apart : collection of int, or bool array of one entry a cell
        Cells that hide no others: published ones, or those whose only respondent may read.
    sides : sequence of Sides, optional
        Those of these columns, where there are some already: see `sides_of`.
    """
    own = context or Context()
    shape = [len(axis.labels) for axis in axes]
    strides = [prod(shape[at + 1 :]) for at in range(len(shape))]
    room = np.array(slack, dtype=np.int64)
    fixed = apart if isinstance(apart, np.ndarray) else np.array(list(apart), dtype=np.int64)
    room[fixed] = -1
    price = np.array(costs, dtype=np.int64) + 1  # of equal costs, fewer cells
    price[list(needs)] = 0
    hidden = set(needs)
    same = system.same
    witnesses: dict[int, Witness] = {}
    unserved: list[int] = []
    sides = sides_of(axes) if sides is None else sides
    for number, cell in enumerate(sorted(needs, key=lambda c: -_size(needs[c]))):
        if number % 50 == 0:
            own.report(number / len(needs), "Hiding cells")
        level = needs[cell]
        up, down = int(-(-level.upper // 1)), int(-(-level.lower // 1))
        up = max(up, int(-(-level.sliding // 1)) - down)  # a width is reached upwards
        nodes = [cell // stride % size for stride, size in zip(strides, shape, strict=True)]
        usual, room[cell] = room[cell], slack[cell]
        change: dict[int, int] | None = None
        by = (up, down)
        for parts in _PARTS:  # seldom no single move bears all of a level
            by = -(-up // parts), -(-down // parts)
            change = {}
            left = room if parts == 1 else room.copy()
            for _ in range(parts):
                found = cheapest(cell, nodes, strides, sides, price, left, by)
                own_part = None if found is None else _kept(system, same, found)
                if own_part is None:
                    change = None
                    break
                for one, sign in own_part.items():
                    change[one] = change.get(one, 0) + sign
                    left[one] -= max(by) if parts > 1 and one != same[cell] else 0
            if change is not None and _borne(change, by, slack):
                break
            change = None
        room[cell] = usual
        if change is None:
            unserved.append(cell)
            continue
        witnesses[cell] = Witness(change=change, up=by[0], down=by[1])
        price[list(change)] = 0
        hidden |= set(change)
    return Moves(
        hidden=system.closed(hidden), witnesses=witnesses, unserved=tuple(sorted(unserved))
    )


def sides_of(axes: Sequence[Axis]) -> tuple[Sides, ...]:
    """Return what is looked up of each column again and again."""
    return tuple(map(Sides, axes))


def _borne(change: Mapping[int, int], by: tuple[int, int], slack: Sequence[int] | _I64) -> bool:
    """Return whether no cell falls further than it may, either way."""
    up, down = by
    return all(
        (n > 0 and n * down <= slack[cell]) or (n <= 0 and -n * up <= slack[cell])
        for cell, n in change.items()
    )


def _size(level: Level) -> float:
    return float(max(level.lower, level.upper, level.sliding))


class Sides:
    """For each node of a column, leaves below it, and outside of it."""

    def __init__(self, axis: Axis) -> None:
        many = len(axis.labels)
        self.leaves = np.array(axis.leaves, dtype=np.int64)
        self._above = axis.chains[:, self.leaves]
        self._splits: dict[int, tuple[_I64, _I64]] = {}
        #: Nodes above each node, itself with them, as 1.
        self.paths = np.zeros((many, many))
        for depth in axis.chains:
            on = np.flatnonzero(depth >= 0)
            self.paths[on, depth[on]] = 1

    def split(self, node: int) -> tuple[_I64, _I64]:
        """Return the leaves below a node, and the others."""
        if node not in self._splits:
            inside = (self._above == node).any(axis=0)
            self._splits[node] = self.leaves[inside], self.leaves[~inside]
        return self._splits[node]


def cheapest(
    cell: int,
    nodes: Sequence[int],
    strides: Sequence[int],
    sides: Sequence[Sides],
    price: _I64,
    room: _I64,
    by: tuple[int, int],
) -> tuple[_I64, _I64] | None:
    """Return the cells of the cheapest move and their signs, or None.

    Parameters
    ----------
    by : (int, int)
        How far the cell is to go up and down: what falls with it has to bear the second, the rest
        the first.
    """
    up, down = by
    if room[cell] < down:
        return None
    most = OUTSIDE[len(nodes)]
    signs: list[_F64] = []
    used: list[_I64] = []
    for side, node, stride in zip(sides, nodes, strides, strict=True):
        inside, outside = side.split(node)
        base = cell - node * stride
        own = inside
        if len(inside) > 1:
            own = inside[np.argsort(-room[base + inside * stride], kind="stable")][:INSIDE]
        sign = side.paths[own]
        if node:
            cells = base + outside * stride
            able = outside[room[cells] >= up]
            cells = base + able * stride
            chosen = able[np.lexsort((-room[cells], price[cells]))][:most]
            if not len(chosen):
                return None
            # Above where two paths meet nothing changes.
            sign = (sign[None] - side.paths[chosen][:, None]).reshape(-1, sign.shape[1])
            sign = sign[: PAIRS[len(nodes)]]
        on = np.flatnonzero(sign.any(axis=0))
        signs.append(sign[:, on])
        used.append(on)
    cells = used[0] * strides[0]
    for on, stride in zip(used[1:], strides[1:], strict=True):
        cells = cells[..., None] + on * stride
    # Of each candidate the cells are all combinations of nodes, and so are their prices added up:
    # axis by axis, as the product of the nodes' signs.
    sizes = list(map(np.abs, signs))
    there = room[cells]
    falls, rises = there < max(down, 0), there < max(up, 0)
    unfit = _added(sizes, (falls | rises).astype(float))
    if up != down:  # which of the two a cell has to bear depends on its sign
        falling, rising = falls.astype(float), rises.astype(float)
        unfit = _added(sizes, falling + rising) + _added(signs, falling - rising)
    fits = unfit < 0.5
    if not fits.any():
        return None
    total = np.where(fits, _added(sizes, price[cells].astype(float)), np.inf)
    best = np.unravel_index(int(total.argmin()), total.shape)
    sign = signs[0][best[0]]
    for at, more in zip(best[1:], signs[1:], strict=True):
        sign = sign[..., None] * more[at]
    moved = sign != 0
    return cells[moved], sign[moved].astype(np.int64)


def _added(signs: Sequence[_F64], block: _F64) -> _F64:
    """Return the sum of a block's numbers by candidate, each with the product of its signs."""
    for one in signs:  # the first axis goes, and that of its candidates comes last
        block = np.tensordot(block, one, axes=(0, 1))
    return block


def _kept(system: System, same: Sequence[int], move: tuple[_I64, _I64]) -> dict[int, int] | None:
    """Return a move as changes by cell, if it keeps every sum; cells that are the same are one."""
    change: dict[int, int] = {}
    for cell, sign in zip(move[0].tolist(), move[1].tolist(), strict=True):
        first = same[cell]
        if change.setdefault(first, sign) != sign:
            return None
    net: dict[int, int] = {}
    for cell, sign in change.items():
        for number in system.relations_of[cell]:
            part = -sign if system.distinct[number].parent == cell else sign
            net[number] = net.get(number, 0) + part
    return change if not any(net.values()) else None
