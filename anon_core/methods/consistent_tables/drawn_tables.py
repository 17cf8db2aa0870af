"""Tables drawn at random that lead to a release: proof that its classes can be filled in many ways.

Where a program over all base cells would be too large, a few tables are drawn that show the same
classes, and the search is carried out on each: what leads elsewhere is thrown away.
"""

from __future__ import annotations

from math import comb

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import I64
from anon_core.base.context import Context
from anon_core.data.frequency import dense_rank
from anon_core.methods.consistent_tables.base_cells import Boxes
from anon_core.release.minimality_rule import CheapestLevels, RaisedLevels

#: Tables that are drawn for each one that is needed.
_TRIES = 3


def drawn_worlds(rule: RaisedLevels, boxes: Boxes, most: int, context: Context) -> I64:
    """Return how many ways there are at least to fill each class, up to `most` + 1.

    Returns
    -------
    int64 array of shape (classes,)
        1 where no two tables that lead to the release differ in the class.
    """
    fills: list[list[bytes]] = [[] for _ in boxes.size]
    drawn = 0
    for _ in range(_TRIES * (most + 1)):
        if drawn > most or context.out_of_time():
            break
        rows, member = _draw(rule, boxes, context)
        if rows is None or not _leads_here(rule, boxes, rows, context):
            continue
        drawn += 1
        context.check()
        order = np.lexsort([*rows.T[::-1], member])
        ends = np.searchsorted(member[order], np.arange(len(boxes.size) + 1))
        for number, known in enumerate(fills):
            known.append(rows[order[ends[number] : ends[number + 1]]].tobytes())
    return np.array([max(len(set(known)), 1) for known in fills], dtype=np.int64)


def _draw(
    rule: RaisedLevels, boxes: Boxes, context: Context
) -> tuple[npt.NDArray[np.int32] | None, I64]:
    """Draw a table with the published classes, and removed rows that are in none of them.

    Returns rows as leaves, (rows, quasi), and their class, of removed rows that after the last;
    None where no place is found for removed rows.
    """
    context.check()
    generator = context.generator
    member = np.repeat(np.arange(len(boxes.size)), boxes.size)
    lo, hi = boxes.lo[member], boxes.hi[member]
    rows = generator.integers(lo, hi + 1, dtype=np.int32)
    removed = rule.rows - len(rows)
    if not removed:
        return rows, member
    shown = {tuple(box) for box in boxes.lo.tolist()}
    leaves = [len(h.leaves) for h in boxes.hierarchies]
    many: dict[tuple[int, ...], int] = {}
    gone: list[list[int]] = []
    for row in generator.integers(0, leaves, (50 * removed, len(leaves))).tolist():
        cell = tuple(
            int(h.first_leaf[level][leaf])
            for h, level, leaf in zip(boxes.hierarchies, rule.levels, row, strict=True)
        )
        if cell not in shown and many.get(cell, 0) < rule.least - 1:
            many[cell] = many.get(cell, 0) + 1
            gone.append(row)
            if len(gone) == removed:
                outside = np.full(removed, len(boxes.size))
                return (
                    np.concatenate([rows, np.array(gone, dtype=np.int32)]),
                    np.concatenate([member, outside]),
                )
    return None, member


def _leads_here(
    rule: RaisedLevels, boxes: Boxes, rows: npt.NDArray[np.int32], context: Context
) -> bool:
    """Say whether levels of a table are raised to the published ones, and no further."""
    bounds = rule.bounds_of([h.height for h in boxes.hierarchies])
    at = [low for low, _ in bounds]
    while _left_over(rule, boxes, at, rows) > rule.budget:
        context.check()
        distinct = [
            len(np.unique(h.node(level)[rows[:, d]]))
            for d, (h, level) in enumerate(zip(boxes.hierarchies, at, strict=True))
        ]
        free = [d for d, (_, high) in enumerate(bounds) if at[d] < high]
        if not free:
            return False
        at[max(free, key=lambda d: (distinct[d], -d))] += 1
        if any(a > b for a, b in zip(at, rule.levels, strict=True)):
            return False
    return tuple(at) == rule.levels


def _left_over(rule: RaisedLevels, boxes: Boxes, at: list[int], rows: npt.NDArray[np.int32]) -> int:
    """Return the rows in classes of fewer than k at some levels."""
    nodes = [
        h.node(n)[rows[:, d]] for d, (h, n) in enumerate(zip(boxes.hierarchies, at, strict=True))
    ]
    rank, first = dense_rank(
        nodes, [len(h.starts[n]) for h, n in zip(boxes.hierarchies, at, strict=True)]
    )
    count = np.bincount(rank, minlength=len(first))
    return int(count[count < rule.least].sum())


# Worlds in which one lonely row breaks every earlier choice of levels: proof that much stays open.
#
# Where a program over all base cells would be too large, two tables are written down for a class
# that both lead to the release, and hold different rows in it.


def least_worlds(
    rule: CheapestLevels, boxes: Boxes, most: int, context: Context
) -> tuple[I64, npt.NDArray[np.bool_]]:
    """Return how many ways there are at least to fill each class, and whether 1 is all there is.

    Returns
    -------
    least : int64 array of shape (classes,)
        At most `most` + 1.
    decided : bool array of shape (classes,)
        Whether it is known if a class can be filled in one way only.

    Notes
    -----
    Let a class have at least two children in every cell that was raised, and one of its rows r
    are under a second child everywhere, while all other rows of the table are under the first
    children of their cells. At any levels that are not above the published ones, one column is
    lower, and there no one shares r's value: r is alone, and the choice breaks the privacy model.
    So all other rows may have any values under their first children; and r may be a row of any such
    class.
    """
    lower = [max(level - 1, 0) for level in rule.levels]
    children = np.ones(boxes.lo.shape, dtype=np.int64)
    first = np.ones(boxes.lo.shape, dtype=np.int64)  # leaves of the first child
    for d, (hierarchy, level) in enumerate(zip(boxes.hierarchies, lower, strict=True)):
        node = hierarchy.node(level)
        lo, hi = boxes.lo[:, d], boxes.hi[:, d]
        children[:, d] = node[hi] - node[lo] + 1
        first[:, d] = np.minimum(hierarchy.last_leaf[level][lo], hi) - lo + 1
    raised = np.array(rule.levels) > 0
    lonely = np.flatnonzero((children[:, raised] > 1).all(axis=1))
    exact = (boxes.lo == boxes.hi).all(axis=1)
    least = np.ones(len(boxes.size), dtype=np.int64)
    decided = exact.copy()
    if not len(lonely):
        return least, decided
    below = first.astype(np.float64).prod(axis=1)
    alone = len(lonely) == 1
    for number in np.flatnonzero(~exact).tolist():
        context.check()
        size, cells = int(boxes.size[number]), int(min(below[number], 1e6))
        own = alone and number == lonely[0]
        if cells > 1:  # one of the rows is alone where no other class could spare it
            least[number] = min(comb(size - own + cells - 1, cells - 1), most + 1)
        other = not own and _second_child(rule, boxes, children, lonely, number)
        if other or (number in lonely and not alone):
            least[number] = max(least[number], 2)
        decided[number] = least[number] > 1
    return least, decided


def _second_child(
    rule: CheapestLevels, boxes: Boxes, children: I64, lonely: I64, number: int
) -> bool:
    """Say whether a row of a class may be under a second child too, next to the lonely one."""
    for d in np.flatnonzero(children[number] > 1).tolist():
        others = lonely[lonely != number]
        apart = boxes.lo[others, d] != boxes.lo[number, d]
        if len(others) and (rule.least > 2 or apart.any()):
            return True
    return False
