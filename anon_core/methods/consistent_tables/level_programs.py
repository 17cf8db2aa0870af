"""Tables for which a search of levels would have stopped where it did, as integer programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import factorial, prod

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import I64
from anon_core.base.context import Context
from anon_core.methods.consistent_tables.base_cells import Boxes
from anon_core.methods.consistent_tables.program import Program
from anon_core.release.minimality_rule import CheapestLevels, RaisedLevels

Node = tuple[int, ...]

#: Base cells of all classes together, beyond which programs are not written down.
MOST_CELLS = 2_000
_MOST_NODES = 5_000
_MOST_PATHS = 500
_TIE = 1e-9


@dataclass(frozen=True, kw_only=True, eq=False)
class Worlds:
    """Integer programs whose solutions are the tables that a release could have come from.

    Attributes
    ----------
    programs : tuple of Program
        A table is possible where one of them has it for a solution.
    classes : tuple of tuples of int
        Per class, the variables that count its rows in each of its base cells, in their order.
    """

    programs: tuple[Program, ...]
    classes: tuple[tuple[int, ...], ...]


def release_alone(boxes: Boxes) -> tuple[Program, tuple[tuple[int, ...], ...], I64]:
    """Return the program of class sizes alone, the variables of each class, and their base cells.

    Returns
    -------
    program : Program
    classes : tuple of tuples of int
    cells : int64 array of shape (variables, quasi)
    """
    program = Program()
    classes: list[tuple[int, ...]] = []
    cells: list[I64] = []
    for number, size in enumerate(boxes.size.tolist()):
        base = boxes.base(number)
        own = tuple(program.variable(0, size) for _ in range(len(base)))
        program.add(dict.fromkeys(own, 1.0), low=size, high=size)
        classes.append(own)
        cells.append(base)
    return program, tuple(classes), np.concatenate(cells)


def first_levels(rule: CheapestLevels, boxes: Boxes, context: Context) -> Worlds | None:
    """Return the tables of which every choice of levels before the published one breaks k.

    None where the base cells or the choices of levels are too many.

    Notes
    -----
    What is left out as implied: a choice below one that has to break the privacy model breaks it
    too. A choice of which it depends on the table whether it comes first either breaks it or costs
    more.
    """
    heights = [h.height for h in boxes.hierarchies]
    cells = sum(boxes.cells(n) for n in range(len(boxes.size)))
    if cells > MOST_CELLS or prod(h + 1 for h in heights) > _MOST_NODES:
        return None
    program, classes, base = release_alone(boxes)
    before, open_ = _order(rule, boxes, base, classes)
    for node in maximal(before):
        context.check()
        program.add(_breaks(program, rule, boxes, node, base), low=1)
    for node, dearer, least in open_:
        context.check()
        costs_more = program.switch()
        low = sum(boxes.size[n] * min(dearer[list(own)]) for n, own in enumerate(classes))
        # Where the switch is 0 the sum is no smaller than its least.
        terms = {v: float(a) for v, a in enumerate(dearer.tolist()) if a}
        program.add({**terms, costs_more: float(low - least)}, low=float(low))
        program.add({**_breaks(program, rule, boxes, node, base), costs_more: 1.0}, low=1)
    return Worlds(programs=(program,), classes=classes)


def _order(
    rule: CheapestLevels, boxes: Boxes, base: I64, classes: Sequence[Sequence[int]]
) -> tuple[list[Node], list[tuple[Node, npt.NDArray[np.float64], float]]]:
    """Return the choices of levels that come first for sure, and those that may.

    Of the latter: what each row in a base cell makes them dearer, and by how much they have to be
    dearer at least to come after.
    """
    nodes = rule.choices([h.height for h in boxes.hierarchies])
    at = rule.levels
    if rule.prices is None:
        below = (u for u in nodes if u != at and all(a <= b for a, b in zip(u, at, strict=True)))
        return list(below), []
    prices = rule.prices
    price = {
        (d, level): own[level][base[:, d]]
        for d, own in enumerate(prices)
        for level in range(len(own))
    }
    known = sum(price[d, level] for d, level in enumerate(at))
    starts = np.array([own[0] for own in classes])
    sizes = boxes.size
    before: list[Node] = []
    open_: list[tuple[Node, npt.NDArray[np.float64], float]] = []
    for node in nodes:
        if node == at:
            continue
        dearer = np.asarray(sum(price[d, level] for d, level in enumerate(node)) - known)
        low = float(np.minimum.reduceat(dearer, starts) @ sizes)
        high = float(np.maximum.reduceat(dearer, starts) @ sizes)
        earlier = (sum(node), node) < (sum(at), at)
        if high < -_TIE or (earlier and high <= _TIE):
            before.append(node)
        elif not (low > _TIE or (not earlier and low >= -_TIE)):
            open_.append((node, dearer, 1e-5 if earlier else 0.0))
    return before, open_


def maximal(nodes: Sequence[Node]) -> list[Node]:
    """Return the nodes with no other node above them."""
    if not nodes:
        return []
    found = np.array(nodes)
    above = [int((found >= node).all(axis=1).sum()) for node in found]
    return [node for node, many in zip(nodes, above, strict=True) if many == 1]


def _breaks(
    program: Program, rule: CheapestLevels, boxes: Boxes, node: Node, base: I64
) -> dict[int, float]:
    """Add a switch for each class at some levels, 1 only where it has 1 to k − 1 rows."""
    switches: dict[int, float] = {}
    for own in cells_at(boxes, node, base):
        few = program.switch()
        program.at_least_if(few, own, 1)
        program.at_most_if(few, own, rule.least - 1, int(boxes.size.sum()))
        switches[few] = 1.0
    return switches


def cells_at(boxes: Boxes, node: Node, base: I64) -> list[list[int]]:
    """Return the places of the base cells that are one class at some levels, class by class."""
    pairs = zip(boxes.hierarchies, node, strict=True)
    columns = [h.node(level)[base[:, d]] for d, (h, level) in enumerate(pairs)]
    _, member = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    order = np.argsort(member.ravel(), kind="stable")
    bounds = np.flatnonzero(np.diff(member.ravel()[order])) + 1
    return [part.tolist() for part in np.split(order, bounds)]


def raised_levels(rule: RaisedLevels, boxes: Boxes, context: Context) -> Worlds | None:
    """Return the tables for which levels would have been raised to where they are.

    One program for each order in which columns can have been raised. None where the base cells or
    these orders are too many.
    """
    at, removed = rule.levels, rule.rows - int(boxes.size.sum())
    lowest = tuple(low for low, _ in rule.bounds_of([h.height for h in boxes.hierarchies]))
    steps = tuple(n - low for n, low in zip(at, lowest, strict=True))
    orders = factorial(sum(steps)) // prod(factorial(n) for n in steps)
    cells = sum(boxes.cells(n) for n in range(len(boxes.size)))
    if orders > _MOST_PATHS or cells > MOST_CELLS or boxes.domain > MOST_CELLS:
        return None
    program, classes, base = release_alone(boxes)
    if removed:
        everywhere = boxes.everywhere()
        gone = [program.variable(0, removed) for _ in range(len(everywhere))]
        program.add(dict.fromkeys(gone, 1.0), low=removed, high=removed)
        shown = {tuple(box) for box in boxes.lo.tolist()}
        for own in cells_at(boxes, at, everywhere):
            first = everywhere[own].min(axis=0)
            most = 0 if tuple(first.tolist()) in shown else rule.least - 1
            program.add({gone[place]: 1.0 for place in own}, high=most)
        base = np.concatenate([base, everywhere])
    programs: list[Program] = []
    for path in _paths(steps):
        context.check()
        own = program.copy()
        node = lowest
        for raised in path:
            _too_many_left(own, rule, boxes, node, base)
            _most_distinct(own, rule, boxes, node, raised, base)
            node = (*node[:raised], node[raised] + 1, *node[raised + 1 :])
        programs.append(own)
    return Worlds(programs=tuple(programs), classes=classes)


def _paths(at: Node) -> Iterator[tuple[int, ...]]:
    """Yield the orders in which levels can be raised to a node: the column of each step."""
    if not any(at):
        yield ()
    for d, level in enumerate(at):
        if level:
            for path in _paths((*at[:d], level - 1, *at[d + 1 :])):
                yield (*path, d)


def _too_many_left(
    program: Program, rule: RaisedLevels, boxes: Boxes, node: Node, base: I64
) -> None:
    """Ask for more rows in classes of fewer than k than may be removed."""
    left: dict[int, float] = {}
    for own in cells_at(boxes, node, base):
        few, rows = program.switch(), program.variable(0, rule.least - 1)
        program.add({rows: 1.0, **dict.fromkeys(own, -1.0)}, high=0)
        program.add({rows: 1.0, few: -float(rule.least - 1)}, high=0)
        program.at_most_if(few, own, rule.least - 1, rule.rows)
        left[rows] = 1.0
    program.add(left, low=rule.budget + 1)


def _most_distinct(
    program: Program, rule: RaisedLevels, boxes: Boxes, node: Node, raised: int, base: I64
) -> None:
    """Ask that a column has most distinct values of those that can be raised, the first of such."""
    present: list[list[int]] = []
    bounds = rule.bounds_of([h.height for h in boxes.hierarchies])
    for d, hierarchy in enumerate(boxes.hierarchies):
        level, (_, high) = node[d], bounds[d]
        number = hierarchy.node(level)[base[:, d]]
        seen: list[int] = []
        for value in np.unique(number).tolist() if level < high else ():
            own = np.flatnonzero(number == value).tolist()
            there = program.switch()
            program.at_least_if(there, own, 1)
            program.add({there: -float(rule.rows), **dict.fromkeys(own, 1.0)}, high=0)
            seen.append(there)
        present.append(seen)
    for d, seen in enumerate(present):
        if seen and d != raised:
            terms = {**dict.fromkeys(present[raised], 1.0), **dict.fromkeys(seen, -1.0)}
            program.add(terms, low=1 if d < raised else 0)
