"""Classes that could not be cut any further: what that shows of the rows in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import comb

import numpy as np

from anon_core.base.context import Context
from anon_core.data.hierarchy import Hierarchy
from anon_core.methods.consistent_tables.base_cells import Boxes
from anon_core.methods.consistent_tables.program import Program, Solutions, solutions
from anon_core.release.minimality_rule import UncutClasses

#: Base cells of a class up to which its worlds are counted cell by cell.
_MOST_CELLS = 2_000


@dataclass(frozen=True, kw_only=True)
class Side:
    """A column of a class: how it could have been cut, and the leaves from its first to its last.

    Attributes
    ----------
    cut : {'median', 'children', 'apart', 'anywhere'}
        As `UncutClasses.cut`.
    """

    cut: str
    by_node: bool
    hierarchy: Hierarchy
    low: int
    high: int

    @property
    def key(self) -> tuple[object, ...]:
        """What its conditions depend on, whichever leaves these are."""
        if self.by_node or self.cut in ("children", "apart"):
            return (self.cut, self.by_node, self.hierarchy.column, self.low, self.high)
        return (self.cut, self.by_node, self.high - self.low)

    @property
    def open(self) -> bool:
        """Whether nothing follows for it: missing values are next to others."""
        return self.hierarchy.has_missing and self.high == len(self.hierarchy.leaves) - 1

    def groups(self, level: int) -> list[list[int]]:
        """Return the places, from 0 for `low`, of the leaves of each node at a level."""
        node = self.hierarchy.node(level)[self.low : self.high + 1]
        bounds = np.flatnonzero(np.diff(node)) + 1
        return [part.tolist() for part in np.split(np.arange(len(node)), bounds)]

    @property
    def covering(self) -> int:
        """The level of the smallest group that holds all of its leaves."""
        ends = np.array([self.low], dtype=np.int32), np.array([self.high], dtype=np.int32)
        return int(self.hierarchy.smallest_node(*ends)[0])


@dataclass(kw_only=True, eq=False)
class UncutWorlds:
    """Counts what classes that were not cut can hold; classes of one shape are counted once.

    Attributes
    ----------
    most : int
        Worlds after which it does not count further.
    """

    rule: UncutClasses
    boxes: Boxes
    most: int
    _counted: dict[tuple[object, ...], Solutions] = field(
        default_factory=dict[tuple[object, ...], Solutions]
    )

    def sides(self, number: int) -> list[Side]:
        """Return the columns in which rows of a class may differ."""
        lo, hi = self.boxes.lo[number].tolist(), self.boxes.hi[number].tolist()
        columns = zip(self.rule.cut, self.rule.by_node, self.boxes.hierarchies, lo, hi, strict=True)
        return [
            Side(cut=cut, by_node=node, hierarchy=h, low=a, high=b)
            for cut, node, h, a, b in columns
            if a < b
        ]

    def worlds(self, number: int, context: Context, *, stop: bool = True) -> tuple[int, bool]:
        """Return how many ways there are to fill a class, and whether that is known.

        Where there are more than `most`, it is `most` + 1. Without `stop` only what the cells say
        is asked for, not that the class was not cut.
        """
        sides, rows = self.sides(number), int(self.boxes.size[number])
        stop &= rows >= 2 * self.rule.least  # smaller classes could not have been cut anyway
        ways = 1
        for side in sides:  # each way of one column goes with each way of another
            if not stop:
                ways = min(ways * free_ways(side, rows), self.most + 1)
                continue
            found = self._count([side], rows, stop, context)
            if not found.timely:
                return self.most + 1, False
            ways *= len(found.found) + (not found.complete)
            if ways > self.most:
                return self.most + 1, True
        if len(sides) < 2 or ways > self.most:
            return ways, True
        if self.boxes.cells(number) > _MOST_CELLS:
            return self.most + 1, False
        found = self._count(sides, rows, stop, context)
        return len(found.found) + (not found.complete), found.timely

    def filled(self, number: int, context: Context) -> tuple[int, ...]:
        """Return the one way to fill a class of which there is only one, by its base cells."""
        sides = self.sides(number)
        if not sides:
            return (int(self.boxes.size[number]),)
        rows = int(self.boxes.size[number])
        return self._count(sides, rows, rows >= 2 * self.rule.least, context).found[0]

    def _count(self, sides: Sequence[Side], rows: int, stop: bool, context: Context) -> Solutions:
        key = (rows, stop, *(side.key for side in sides))
        known = self._counted.get(key)
        if known is None:
            program, cells = _filled(self.rule, sides, rows, stop)
            known = solutions([program], cells, self.most, context)
            if known.timely:
                self._counted[key] = known
        return known


def _filled(
    rule: UncutClasses, sides: Sequence[Side], rows: int, stop: bool
) -> tuple[Program, list[int]]:
    """Return the program of the ways to fill a class, and the variables of its base cells."""
    program = Program()
    lengths = [side.high - side.low + 1 for side in sides]
    place = np.indices(lengths).reshape(len(lengths), -1)
    cells = [program.variable(0, rows) for _ in range(place.shape[1])]
    program.add(dict.fromkeys(cells, 1.0), low=rows, high=rows)
    for side, own in zip(sides, place, strict=True):
        of_leaf = [np.flatnonzero(own == leaf).tolist() for leaf in range(side.high - side.low + 1)]
        conditions(program, side, of_leaf, rows, rule.least if stop else 0)
    return program, cells


def free_ways(side: Side, rows: int) -> int:
    """Return the ways to fill one column of a class so that its cell is tight.

    Examples
    --------
    The ends of a range are someone's, so that of eight rows six may be any of six values.

    >>> from anon_core.data.hierarchy import flat
    >>> from anon_core.data.table import Dataset
    >>> import pandas as pd
    >>> ages = Dataset.from_frame(pd.DataFrame({"age": range(1, 7)}), kinds={"age": "number"})
    >>> age = flat(ages.column("age"))
    >>> free_ways(Side(cut="median", by_node=False, hierarchy=age, low=0, high=5), 8)
    462
    """
    size = side.high - side.low + 1
    if side.open:
        return comb(rows + size - 1, rows)
    if not side.by_node:
        return comb(rows - 2 + size - 1, size - 1) if rows > 1 else 0
    children = (len(group) for group in side.groups(side.covering - 1))
    return comb(rows + size - 1, rows) - sum(comb(rows + own - 1, rows) for own in children)


def conditions(
    program: Program, side: Side, of_leaf: Sequence[Sequence[int]], rows: int, least: int
) -> None:
    """Add what a class says of its rows in one column: its cell is tight, and it was not cut.

    Parameters
    ----------
    of_leaf : sequence of sequences of int
        Variables that count the rows at each leaf from the first to the last.
    rows : int
        Rows of the class.
    least : int
        k; 0 where nothing is asked of cuts.
    """
    if side.open or len(of_leaf) < 2:
        return
    tight(program, side, of_leaf)
    if rows < 2 * least or not least:
        return  # no cut leaves both sides k rows, whatever the rows are
    if side.cut == "children":
        parts = [_all(of_leaf, g) for g in side.groups(side.covering - 1)]
        few: dict[int, float] = {}
        for own in parts:
            switch = program.switch()
            program.at_least_if(switch, own, 1)
            program.at_most_if(switch, own, least - 1, rows)
            few[switch] = 1.0
        program.add(few, low=1)
    elif side.cut == "median":
        one_value_rules(program, of_leaf, rows, least)
    else:
        levels = range(side.covering) if side.cut == "apart" else ()
        groups = [g for level in levels for g in side.groups(level)]
        if side.cut == "anywhere":
            groups = [list(range(n)) for n in range(1, len(of_leaf))]
        for group in groups:
            own, many = _all(of_leaf, group), program.switch()
            # Fewer than k rows in the group, or fewer than k next to it.
            program.add({**dict.fromkeys(own, 1.0), many: -float(rows)}, high=least - 1)
            program.at_least_if(many, own, rows - least + 1)


def tight(program: Program, side: Side, of_leaf: Sequence[Sequence[int]]) -> None:
    """Ask for rows at both ends of a range, or under two children of a group."""
    if not side.by_node:
        program.add(dict.fromkeys(of_leaf[0], 1.0), low=1)
        program.add(dict.fromkeys(of_leaf[-1], 1.0), low=1)
        return
    filled: dict[int, float] = {}
    for group in side.groups(side.covering - 1):
        there = program.switch()
        program.at_least_if(there, _all(of_leaf, group), 1)
        filled[there] = 1.0
    program.add(filled, low=2)


def one_value_rules(
    program: Program, of_leaf: Sequence[Sequence[int]], rows: int, least: int
) -> None:
    """Ask that no cut at the lower median leaves both sides k rows: most rows share its value.

    For 2k rows and more: fewer than half and fewer than k are below the median, and fewer than k
    above it.
    """
    below = min((rows + 1) // 2 - 1, least - 1)
    chosen: dict[int, float] = {}
    for leaf in range(len(of_leaf)):
        switch = program.switch()
        program.at_most_if(switch, _all(of_leaf, range(leaf)), below, rows)
        program.at_most_if(switch, _all(of_leaf, range(leaf + 1, len(of_leaf))), least - 1, rows)
        chosen[switch] = 1.0
    program.add(chosen, low=1, high=1)


def _all(of_leaf: Sequence[Sequence[int]], places: Sequence[int]) -> list[int]:
    """Return the variables of several leaves."""
    return [variable for place in places for variable in of_leaf[place]]
