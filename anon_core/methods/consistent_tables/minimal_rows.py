"""Rows that could not be published in more detail: how many surely lie in a smaller cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from anon_core.base.arrays import I64
from anon_core.base.context import Context
from anon_core.methods.consistent_tables.base_cells import Boxes
from anon_core.methods.consistent_tables.program import Program
from anon_core.release.minimality_rule import MinimalRows

#: Base cells, or cells above them, of a class beyond which nothing is decided.
_MOST_CELLS = 2_000

Ends = tuple[tuple[int, int], ...]


@dataclass(frozen=True, kw_only=True)
class Lowered:
    """Cells below a class's that no row is in both of, with the rows that surely lie in each.

    Attributes
    ----------
    cells : tuple of tuples of (first, last)
        Leaves of each cell by quasi-identifier.
    decided : bool
        Whether these are the most that can be known.
    """

    cells: tuple[Ends, ...] = ()
    least: tuple[int, ...] = ()
    decided: bool = True

    @property
    def rows(self) -> int:
        """Rows that surely lie in smaller cells."""
        return sum(self.least)


def below(boxes: Boxes, number: int) -> list[list[list[tuple[int, int]]]]:
    """Return the groups inside a class's cell by quasi-identifier and level, the leaves first."""
    found: list[list[list[tuple[int, int]]]] = []
    for d, hierarchy in enumerate(boxes.hierarchies):
        lo, hi = int(boxes.lo[number, d]), int(boxes.hi[number, d])
        levels: list[list[tuple[int, int]]] = []
        for level in range(hierarchy.height + 1):
            first, last = hierarchy.bounds(level)
            inside = (first >= lo) & (last <= hi)
            levels.append(list(zip(first[inside].tolist(), last[inside].tolist(), strict=True)))
            if (lo, hi) in levels[-1]:
                break
        found.append(levels)
    return found


def class_program(
    rule: MinimalRows, boxes: Boxes, number: int
) -> tuple[Program, I64, list[list[list[tuple[int, int]]]]] | None:
    """Return what a class can hold, its base cells, and the groups inside its cell.

    None where these are too many.

    Notes
    -----
    With m rows in the class and j in a cell below it: (i) where that is published and m > k,
    j = 0, since one row could move there; (ii) where it is not and m ≥ 2k, j < k, since k rows
    could; (iii) the class does not dissolve into the children of one column: some row lies in a
    child that is neither published nor holds k rows. For one column of one level these are all
    there is.
    """
    groups = below(boxes, number)
    distinct = [sorted({ends for level in own for ends in level}) for own in groups]
    size, cells = int(boxes.size[number]), float(np.prod([float(len(own)) for own in distinct]))
    if boxes.cells(number) > _MOST_CELLS or cells > _MOST_CELLS:
        return None
    base, program = boxes.base(number), Program()
    for _ in range(len(base)):
        program.variable(0, size)
    program.add(dict.fromkeys(range(len(base)), 1.0), low=size, high=size)
    pairs = zip(boxes.lo.tolist(), boxes.hi.tolist(), strict=True)
    shown = {tuple(zip(lo, hi, strict=True)) for lo, hi in pairs}
    whole = tuple(own[-1][0] for own in groups)
    for ends in product(*distinct):
        if ends == whole:
            continue
        own, published = inside(base, ends), ends in shown
        if published and size > rule.least:
            program.add(dict.fromkeys(own, 1.0), high=0)
        elif not published and size >= 2 * rule.least:
            program.add(dict.fromkeys(own, 1.0), high=rule.least - 1)
    for d, own in enumerate(groups):
        if len(own) > 1:
            few: dict[int, float] = {}
            for child in own[-2]:
                ends = (*whole[:d], child, *whole[d + 1 :])
                if ends not in shown:
                    rows, switch = inside(base, ends), program.switch()
                    program.at_least_if(switch, rows, 1)
                    program.at_most_if(switch, rows, rule.least - 1, size)
                    few[switch] = 1.0
            program.add(few, low=1)
    return program, base, groups


def inside(base: I64, ends: Ends) -> list[int]:
    """Return the places of the base cells that lie in a cell."""
    lo, hi = np.array(ends).T
    return np.flatnonzero(((base >= lo) & (base <= hi)).all(axis=1)).tolist()


def lowered(rule: MinimalRows, boxes: Boxes, number: int, context: Context) -> Lowered:
    """Return the rows of a class that surely lie in smaller cells, of the best set of such."""
    if (boxes.lo[number] == boxes.hi[number]).all():
        return Lowered()
    found = class_program(rule, boxes, number)
    if found is None:
        return Lowered(decided=False)
    program, base, groups = found
    whole = tuple(own[-1][0] for own in groups)
    families = [
        [(*whole[:d], child, *whole[d + 1 :]) for child in level]
        for d, own in enumerate(groups)
        for level in own[:-1]
    ]
    families.append([tuple((leaf, leaf) for leaf in cell) for cell in base.tolist()])
    best, decided = Lowered(), True
    for family in families:
        least = [_least(program, inside(base, ends), context) for ends in family]
        decided &= all(known for _, known in least)
        rows = tuple(many for many, _ in least)
        if sum(rows) > best.rows:
            best = Lowered(cells=tuple(family), least=rows)
    return Lowered(cells=best.cells, least=best.least, decided=decided)


def _least(program: Program, variables: Sequence[int], context: Context) -> tuple[int, bool]:
    """Return the fewest rows that variables add up to, at least, and whether these are it."""
    least = 0
    while True:
        fewer = program.copy()
        fewer.add(dict.fromkeys(variables, 1.0), high=least)
        state = fewer.solve(context).state
        if state != "none" or least > max(program.upper):
            return least, state == "found"
        least += 1
