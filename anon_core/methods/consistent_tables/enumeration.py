"""Tables small enough to be tried one by one: the technique itself says which lead to a release."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, combinations_with_replacement, product
from math import comb, prod

import numpy as np

from anon_core.base.arrays import I64
from anon_core.base.context import Context
from anon_core.methods.consistent_tables.base_cells import Boxes
from anon_core.release.minimality_rule import StopRule

#: Tables that are tried; each is one run of the technique on a few rows.
MOST_TABLES = 5_000

#: Rows in each base cell of a class.
Filled = tuple[int, ...]


def tables(boxes: Boxes, removed: int) -> int:
    """Return how many tables a release could have come from, whatever made it.

    Parameters
    ----------
    boxes : Boxes
    removed : int
        Rows that are not published.
    """
    sides = [*zip(boxes.size.tolist(), map(boxes.cells, range(len(boxes.size))), strict=True)]
    if removed:
        sides.append((removed, boxes.domain))
    if any(cells > MOST_TABLES for _, cells in sides):
        return MOST_TABLES + 1
    return prod(comb(rows + int(cells) - 1, rows) for rows, cells in sides)


def replayed(rule: StopRule, boxes: Boxes, context: Context) -> list[set[Filled]] | None:
    """Return the ways to fill each class that some table has which leads to the release.

    None where there are too many tables, the technique cannot be run again, or time runs out.
    """
    removed = rule.rows - int(boxes.size.sum())
    if rule.again is None or boxes.shown is None or tables(boxes, removed) > MOST_TABLES:
        return None
    published = boxes.shown()
    bases = [boxes.base(number) for number in range(len(boxes.size))]
    parts: list[tuple[I64, int]] = list(zip(bases, boxes.size.tolist(), strict=True))
    if removed:
        parts.append((boxes.everywhere(), removed))
    ways = [list(combinations_with_replacement(range(len(base)), rows)) for base, rows in parts]
    total, found = prod(map(len, ways)), [set[Filled]() for _ in bases]
    for number, chosen in enumerate(product(*ways)):
        context.report(number / total, "Trying tables")
        if context.out_of_time():
            return None
        codes = np.concatenate(
            [base[list(own)] for (base, _), own in zip(parts, chosen, strict=True)]
        )
        if rule.again(codes.astype(np.int32)) == published:
            for own, base, filled in zip(found, bases, chosen, strict=False):
                own.add(_counted(filled, len(base)))
    return found


def _counted(filled: Sequence[int], cells: int) -> Filled:
    """Return the rows in each of the base cells."""
    return tuple(np.bincount(np.fromiter(chain(filled), np.int64), minlength=cells).tolist())
