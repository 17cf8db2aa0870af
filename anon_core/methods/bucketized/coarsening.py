"""Coarsening single groups: the lattice at and below a group's own node, from fine to coarse.

A group's node is where every column says one thing of the whole group: its box. Below it a column
is at a level of its hierarchy, clipped to the box, so that groups that do not overlap stay
apart whatever level each of them takes.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import I32, I64
from anon_core.base.context import Context
from anon_core.data.hierarchy import Hierarchy
from anon_core.methods.matching.fitting_people import PublicPeople
from anon_core.methods.membership.bucket import BucketProblem, from_types
from anon_core.methods.membership.equations_from_view import PeopleByLeaf
from anon_core.methods.membership.presence import Bounds, judge
from anon_core.methods.partition.mondrian_cuts import cut_by_tree
from anon_core.release.problem import Problem

Cell = tuple[int, int, int]  # first leaf, last leaf, level of the label or -1


def ascending(
    levels: Sequence[Sequence[int]], start: Sequence[int] = ()
) -> Iterator[tuple[int, ...]]:
    """Yield every choice of one level per column from `start` up, by ascending sum of levels.

    Parameters
    ----------
    levels : sequence of sequences of int
        Per column, the levels it can take, ascending.
    start : sequence of int
        Place of the lowest choice; the first of every column where it is not given.

    Yields
    ------
    tuple of int
        Places of the levels chosen; equal sums in order.

    Examples
    --------
    >>> list(ascending(((0, 1), (0, 2))))
    [(0, 0), (1, 0), (0, 1), (1, 1)]
    """
    first = tuple(start) or (0,) * len(levels)

    def entry(node: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
        return sum(column[i] for column, i in zip(levels, node, strict=True)), node

    heap = [entry(first)]
    seen = {first}
    while heap:
        _, node = heapq.heappop(heap)
        yield node
        for d, column in enumerate(levels):
            if node[d] + 1 < len(column):
                above = (*node[:d], node[d] + 1, *node[d + 1 :])
                if above not in seen:
                    seen.add(above)
                    heapq.heappush(heap, entry(above))


@dataclass(frozen=True, kw_only=True, eq=False)
class Option:
    """One column of a group at one level.

    Attributes
    ----------
    level : int
        Of the hierarchy; the box counts as the level of the smallest node that holds it.
    cells : tuple of (int, int, int)
        Distinct cells the group's rows show.
    of_value : int64 array of shape (values of the group,)
        Which of them each of the group's values shows.
    of_leaf : int64 array of shape (leaves of the public's hierarchy,)
        Which of them covers each leaf, -1 for none.
    """

    level: int
    cells: tuple[Cell, ...]
    of_value: I64
    of_leaf: I64


class Shelf:
    """What groups of one problem share: people by leaf, and columns' options by values and box."""

    def __init__(self, public: PublicPeople) -> None:
        self.options: dict[tuple[int, bytes, Cell | None], tuple[Option, ...]] = {}
        self.people = PeopleByLeaf(public.codes, [len(h.leaves) for h in public.hierarchies])


class Group:
    """One group of rows with the public people of its box.

    Parameters
    ----------
    runs, counts : int64 arrays of shape (tuples of the group,)
        Quasi tuples of the table in the group, with their rows.
    top : sequence of (int, int, int), optional
        The group's box; else that of its rows, as nodes of hierarchies that text is cut along.
    shelf : Shelf, optional
        What groups of one problem share: it saves time and changes nothing.

    Attributes
    ----------
    values : list of int32 arrays
        Per column, the distinct leaves of the group's rows.
    options : list of tuples of Option
        Per column, from exact to the box.
    people : int64 array
        Public tuples within the box.
    """

    def __init__(
        self,
        problem: Problem,
        public: PublicPeople,
        runs: I64,
        counts: I64,
        top: Sequence[Cell] | None = None,
        shelf: Shelf | None = None,
    ) -> None:
        self.runs, self.counts, self.public = runs, counts, public
        shelf = shelf or Shelf(public)
        codes = problem.frequency.run_codes[runs]
        self.values: list[I32] = []
        self.of_run: list[I64] = []
        self.options: list[tuple[Option, ...]] = []
        for d, hierarchy in enumerate(problem.quasi_hierarchies):
            values, of_run = np.unique(codes[:, d], return_inverse=True)
            self.values.append(values.astype(np.int32))
            self.of_run.append(of_run.astype(np.int64))
            key = (d, values.tobytes(), None if top is None else top[d])
            if key not in shelf.options:
                column = _Column(hierarchy, public.hierarchies[d], public.place[d], values)
                box = column.box(tree=cut_by_tree(problem, hierarchy)) if top is None else top[d]
                shelf.options[key] = column.options(box)
            self.options.append(shelf.options[key])
        boxes = [np.append(False, options[-1].of_leaf >= 0) for options in self.options]
        self.people = shelf.people.within(boxes)
        self.count = public.count[self.people]

    @property
    def size(self) -> int:
        """Rows of the group."""
        return int(self.counts.sum())

    @property
    def covered(self) -> int:
        """Public people in its box."""
        return int(self.count.sum())

    def shown(self, d: int, option: int) -> I64:
        """Return how many rows show each cell of a column at an option."""
        at = self.options[d][option]
        cell = at.of_value[self.of_run[d]]
        return np.bincount(cell, weights=self.counts, minlength=len(at.cells)).astype(np.int64)

    def least(self, bounds: Bounds) -> tuple[int, ...] | None:
        """Return, per column, the first option that δ_max can allow; None if there is none.

        A value shown by too many rows for the people who have it, all other columns at the box,
        stays so where columns are finer: fewer people fit then, and no fewer rows.
        """
        most = Bounds(low=bounds.low * 0, high=bounds.high)
        start: list[int] = []
        for d, options in enumerate(self.options):
            codes = self.public.codes[self.people, d]
            for i, option in enumerate(options):
                cell = option.of_leaf[codes]
                fits = cell >= 0
                people = np.bincount(
                    cell[fits], weights=self.count[fits], minlength=len(option.cells)
                ).astype(np.int64)
                if most.hold(self.shown(d, i), people).all():
                    start.append(i)
                    break
            else:
                return None
        return tuple(start)

    def at(self, node: Sequence[int]) -> tuple[BucketProblem, bool]:
        """Return the group's equations at a node, and whether everyone in its box fits."""
        fits = np.ones(len(self.people), dtype=np.bool_)
        cells: list[I64] = []
        for d, option in enumerate(node):
            cell = self.options[d][option].of_leaf[self.public.codes[self.people, d]]
            fits &= cell >= 0
            cells.append(cell)
        codes = np.stack([c[fits] for c in cells], axis=1).astype(np.int32)
        margins = [self.shown(d, option) for d, option in enumerate(node)]
        problem, _ = from_types(codes, self.count[fits], margins)
        return problem, bool(fits.all())

    def facts_at(
        self, node: Sequence[int], bounds: Bounds, context: Context, max_states: int
    ) -> dict[str, object]:
        """Return what a node is, for those who listen: levels, people who fit, and their δ."""
        fits = np.ones(len(self.people), dtype=np.bool_)
        cells: list[I64] = []
        for d, option in enumerate(node):
            cells.append(self.options[d][option].of_leaf[self.public.codes[self.people, d]])
            fits &= cells[-1] >= 0
        codes = np.stack([c[fits] for c in cells], axis=1).astype(np.int32)
        margins = [self.shown(d, option) for d, option in enumerate(node)]
        problem, type_of = from_types(codes, self.count[fits], margins)
        found = judge(problem, bounds, context, max_states=max_states)
        chance = np.zeros(len(self.people))
        chance[fits] = found.chance[problem.variable[type_of]]
        hold = found.state if bounds.low <= 0 or fits.all() else "broken"
        leaves = [h.leaves for h in self.public.hierarchies]
        return {
            "levels": tuple(self.options[d][option].level for d, option in enumerate(node)),
            "state": hold,
            "chances": [
                (tuple(names[c] for names, c in zip(leaves, own, strict=True)), p)
                for own, p in zip(
                    self.public.codes[self.people].tolist(), chance.tolist(), strict=True
                )
            ],
        }

    def cells_of_runs(self, node: Sequence[int]) -> npt.NDArray[np.int64]:
        """Return what the group's tuples publish at a node, shape (tuples, quasi, 3)."""
        found = np.empty((len(self.runs), len(node), 3), dtype=np.int64)
        for d, number in enumerate(node):
            option = self.options[d][number]
            found[:, d] = np.array(option.cells)[option.of_value[self.of_run[d]]]
        return found


class _Column:
    """One column of one group."""

    def __init__(self, own: Hierarchy, wide: Hierarchy, place: I32, values: I32) -> None:
        self.own, self.wide, self.place, self.values = own, wide, place, values
        self.last = len(own.leaves) - 1

    def box(self, *, tree: bool) -> Cell:
        """Return the box of the values; a missing value among others has no box with them."""
        values = self.values
        if self.own.has_missing and len(values) > 1:
            values = values[values < self.last]
        first, final = int(values[0]), int(values[-1])
        ends = np.array([first], np.int32), np.array([final], np.int32)
        node = self.node(first, int(self.own.smallest_node(*ends)[0]))
        cell = self.cell(first, final)
        return node if tree or self.cover(node) == self.cover(cell) else cell

    def node(self, leaf: int, level: int) -> Cell:
        """Return the node that holds a leaf."""
        number = int(self.own.node(level)[leaf])
        low, high = self.own.bounds(level)
        return int(low[number]), int(high[number]), level

    def cell(self, first: int, final: int) -> Cell:
        """Return a range or set; of one leaf it is the leaf, of all categories the top."""
        if first == final:
            return first, final, 0
        everything = self.own.measure is None and first == 0 and final == self.last
        return first, final, self.own.height if everything else -1

    def cover(self, cell: Cell) -> tuple[int, int]:
        """Return the first and last of the public's leaves that a cell covers."""
        low, high = int(self.place[cell[0]]), int(self.place[cell[1]])
        if cell[2] < 0:
            return low, high
        number = int(self.wide.node(cell[2])[low])
        first, final = self.wide.bounds(cell[2])
        return int(first[number]), int(final[number])

    def options(self, box: Cell) -> tuple[Option, ...]:
        """Return the column's levels within a box, the same cells only once."""
        found: list[Option] = []
        seen: set[tuple[Cell, ...]] = set()
        for level in range(self.own.height + 1):
            option = self.option(level, [self.clipped(int(v), level, box) for v in self.values])
            key = option.cells
            if key not in seen:
                seen.add(key)
                found.append(option)
        top = self.own.height
        last = self.option(top, [self.clipped(int(v), None, box) for v in self.values])
        if last.cells not in seen:
            found.append(last)
        return tuple(found)

    def clipped(self, value: int, level: int | None, box: Cell) -> Cell:
        """Return the cell of a value at a level, or at the box, within the box."""
        if not box[0] <= value <= box[1]:  # a missing value next to the box
            return value, value, 0
        if level is None:
            return box
        inside, limits = self.node(value, level), self.cover(box)
        reach = self.cover(inside)
        if reach[0] <= limits[0] and limits[1] <= reach[1]:
            return box
        if limits[0] <= reach[0] and reach[1] <= limits[1]:
            return inside
        return self.cell(max(inside[0], box[0]), min(inside[1], box[1]))

    def option(self, level: int, cells: Sequence[Cell]) -> Option:
        """Return the option in which the column's values show `cells`."""
        distinct = sorted(set(cells))
        number = {cell: i for i, cell in enumerate(distinct)}
        of_leaf = np.full(len(self.wide.leaves), -1, dtype=np.int64)
        for i, cell in enumerate(distinct):
            low, high = self.cover(cell)
            of_leaf[low : high + 1] = i
        return Option(
            level=level,
            cells=tuple(distinct),
            of_value=np.array([number[cell] for cell in cells], dtype=np.int64),
            of_leaf=of_leaf,
        )
