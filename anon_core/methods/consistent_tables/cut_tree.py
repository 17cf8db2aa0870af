"""Tables that median cuts would have cut into the published classes, as integer programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from anon_core.base.arrays import I64
from anon_core.base.context import Context
from anon_core.methods.consistent_tables.base_cells import Boxes
from anon_core.methods.consistent_tables.level_programs import MOST_CELLS, Worlds, release_alone
from anon_core.methods.consistent_tables.program import Program
from anon_core.methods.consistent_tables.uncut_classes import Side, conditions
from anon_core.release.minimality_rule import UncutClasses

#: Ways to order the cuts beyond which they are not followed.
_MOST_TREES = 200
# As the cuts compare widths: such ties go to the attribute named first.
_SAME_WIDTH = 1e-9

Part = tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Fact:
    """What happened to a part of the table: a column did not cut it, or cut it at a value.

    Attributes
    ----------
    part : tuple of int
        Its classes.
    median : int
        The leaf at which it was cut; -1 where the column did not cut it.
    above : bool
        Whether rows at the median went up, since too few are above it.
    """

    part: Part
    column: int
    median: int = -1
    above: bool = False


def cut_trees(rule: UncutClasses, boxes: Boxes, context: Context) -> Worlds | None:
    """Return the tables that would have been cut into the published classes, by all orders of cuts.

    None where the base cells or the orders are too many, where a column has missing values, or
    where more decided than each column by itself.
    """
    size = len(boxes.size)
    if not rule.marginal or any(h.has_missing for h in boxes.hierarchies):
        return None
    if sum(boxes.cells(n) for n in range(size)) > MOST_CELLS:
        return None
    cuts = _Cuts(rule, boxes)
    trees: list[list[Fact]] = []
    for tree in cuts.trees(tuple(range(size))):
        context.check()
        trees.append(tree)
        if len(trees) > _MOST_TREES:
            return None
    program, classes, base = release_alone(boxes)
    for number in range(size):
        for d in range(len(rule.cut)):
            cuts.stay(program, (number,), d, base, classes, 0)
    programs: list[Program] = []
    for tree in trees:
        own = program.copy()
        for fact in tree:
            context.check()
            if fact.median < 0:
                cuts.stay(own, fact.part, fact.column, base, classes, rule.least)
            else:
                cuts.cut(own, fact, base, classes)
        programs.append(own)
    return Worlds(programs=tuple(programs), classes=classes)


class _Cuts:
    """What follows of the table from each cut, and from columns that did not cut."""

    def __init__(self, rule: UncutClasses, boxes: Boxes) -> None:
        self.rule = rule
        self.boxes = boxes

    def side(self, part: Part, d: int) -> Side:
        """Return a column of a part: its rows lie between these leaves."""
        own = list(part)
        return Side(
            cut=self.rule.cut[d],
            by_node=self.rule.by_node[d],
            hierarchy=self.boxes.hierarchies[d],
            low=int(self.boxes.lo[own, d].min()),
            high=int(self.boxes.hi[own, d].max()),
        )

    def rows(self, part: Part) -> int:
        """Return the rows of a part."""
        return int(self.boxes.size[list(part)].sum())

    def order(self, part: Part) -> list[int]:
        """Return the columns in the order in which they are tried, the widest first."""
        width = np.full(len(self.rule.cut), -1.0)
        for d in range(len(width)):
            side = self.side(part, d)
            if side.low < side.high:
                width[d] = self._width(side, d)
        found: list[int] = []
        while (width >= 0).any():
            widest = 0
            for d in range(1, len(width)):
                if width[d] > width[widest] + _SAME_WIDTH:
                    widest = d
            found.append(widest)
            width[widest] = -1.0
        return found

    def _width(self, side: Side, d: int) -> float:
        if side.cut == "children":
            level = side.covering
            first, last = side.hierarchy.bounds(level)
            node = side.hierarchy.node(level)[side.low]
            inside = float(last[node] - first[node]) / max(len(side.hierarchy.leaves) - 1, 1)
        else:
            inside = float(self.rule.positions[d][side.high] - self.rule.positions[d][side.low])
        return float(self.rule.weights[d]) * inside

    def trees(self, part: Part) -> Iterator[list[Fact]]:
        """Yield the ways to come from a part to its classes: all facts of each."""
        before: list[Fact] = []
        for d in self.order(part):
            if len(part) > 1:
                for fact, pieces in self._pieces(part, d):
                    for below in self._all(pieces):
                        yield [*before, *([fact] if fact else []), *below]
            before.append(Fact(part=part, column=d))
        if len(part) == 1:
            yield before

    def _all(self, pieces: Sequence[Part]) -> Iterator[list[Fact]]:
        if not pieces:
            yield []
            return
        for first in self.trees(pieces[0]):
            for rest in self._all(pieces[1:]):
                yield [*first, *rest]

    def _pieces(self, part: Part, d: int) -> Iterator[tuple[Fact | None, list[Part]]]:
        """Yield the ways in which a column may have cut a part."""
        side, least = self.side(part, d), self.rule.least
        lo, hi = self.boxes.lo[:, d], self.boxes.hi[:, d]
        if side.cut == "children":
            node = side.hierarchy.node(side.covering - 1)
            if any(node[lo[n]] != node[hi[n]] for n in part):
                return
            children = sorted({int(node[lo[n]]) for n in part})
            pieces = [tuple(n for n in part if node[lo[n]] == child) for child in children]
            if all(self.rows(piece) >= least for piece in pieces) and len(pieces) > 1:
                yield None, pieces
            return
        half = (self.rows(part) + 1) // 2
        for bar in sorted({int(hi[n]) for n in part})[:-1]:
            left = tuple(n for n in part if hi[n] <= bar)
            right = tuple(n for n in part if lo[n] > bar)
            if len(left) + len(right) < len(part):
                continue
            if self.rows(left) < least or self.rows(right) < least:
                continue
            above = self.rows(left) < half
            median = int(lo[list(right)].min()) if above else bar
            yield Fact(part=part, column=d, median=median, above=above), [left, right]

    def stay(
        self,
        program: Program,
        part: Part,
        d: int,
        base: I64,
        classes: Sequence[Sequence[int]],
        least: int,
    ) -> None:
        """Add that a column did not cut a part; of no k only that its cell is tight."""
        side = self.side(part, d)
        own = np.array([v for n in part for v in classes[n]])
        of_leaf = [own[base[own, d] == leaf].tolist() for leaf in range(side.low, side.high + 1)]
        conditions(program, side, of_leaf, self.rows(part), least)

    def cut(
        self, program: Program, fact: Fact, base: I64, classes: Sequence[Sequence[int]]
    ) -> None:
        """Add that a part was cut at its median, or below it since too few are above."""
        own = np.array([v for n in fact.part for v in classes[n]])
        value, rows = base[own, fact.column], self.rows(fact.part)
        half = (rows + 1) // 2
        below = own[value < fact.median].tolist()
        above = own[value > fact.median].tolist()
        program.add(dict.fromkeys(below, 1.0), high=half - 1)
        program.add(dict.fromkeys(above, 1.0), high=rows - half)
        if fact.above:
            program.add(dict.fromkeys(above, 1.0), high=self.rule.least - 1)
