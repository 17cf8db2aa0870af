"""Worlds in which one lonely row breaks every earlier choice of levels: proof that much stays open.

Where a program over all base cells would be too large, two tables are written down for a class that
both lead to the release, and hold different rows in it.
"""

from __future__ import annotations

from math import comb

import numpy as np
import numpy.typing as npt

from anon_core.base.arrays import I64
from anon_core.base.context import Context
from anon_core.methods.consistent_tables.base_cells import Boxes
from anon_core.release.minimality_rule import CheapestLevels


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
    stand under a second child everywhere, while all other rows of the table stand under the first
    children of their cells. At any levels that are not above the published ones, one column is
    lower, and there nobody shares r's value: r is alone, and the choice breaks the promise. So all
    other rows may have any values under their first children; and r may be a row of any such class.
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
        if cells > 1:  # one of the rows stands apart where no other class could spare it
            least[number] = min(comb(size - own + cells - 1, cells - 1), most + 1)
        other = not own and _second_child(rule, boxes, children, lonely, number)
        if other or (number in lonely and not alone):
            least[number] = max(least[number], 2)
        decided[number] = least[number] > 1
    return least, decided


def _second_child(
    rule: CheapestLevels, boxes: Boxes, children: I64, lonely: I64, number: int
) -> bool:
    """Say whether a row of a class may stand under a second child too, beside the lonely one."""
    for d in np.flatnonzero(children[number] > 1).tolist():
        others = lonely[lonely != number]
        apart = boxes.lo[others, d] != boxes.lo[number, d]
        if len(others) and (rule.least > 2 or apart.any()):
            return True
    return False
