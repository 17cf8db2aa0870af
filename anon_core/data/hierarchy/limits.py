"""What the builder takes: the limits that everything proposed is held to."""

from __future__ import annotations

from anon_core.base.errors import BadHierarchy
from anon_core.data.column import Column
from anon_core.data.hierarchy.edit.cutting import cut_points
from anon_core.data.hierarchy.edit.draft import draft_of_rows, unplaced
from anon_core.data.hierarchy.edit.operations import MOST_LEVELS
from anon_core.data.hierarchy.intervals import MOST_CUTS
from anon_core.data.hierarchy.normalize_levels import Rows, tidied
from anon_core.data.values.kinds import KINDS


def few_cuts(column: Column, rows: Rows) -> tuple[Rows, int]:
    """Return a level table without the levels that have too many cuts, and how many these are.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.data.column import encode
    >>> even = [str(2 * i) for i in range(1200)]
    >>> own = encode("x", np.arange(1200, dtype=np.int32), even)
    >>> rows = tuple((v, v, "low" if int(v) < 600 else "high", "*") for v in even)
    >>> few, gone = few_cuts(own, rows)
    >>> few[0], gone
    (('0', 'low', '*'), 1)
    """
    if not KINDS[column.kind].measured or not rows:
        return rows, 0
    # A level has the cuts of all levels above it, too, so that the finest ones have most.
    gone = sum(len(points) > MOST_CUTS for points in cut_points(column, rows))
    if not gone:
        return rows, 0
    return tidied([(row[0], *row[1 + gone : -1]) for row in rows]), gone


def accept(column: Column, rows: Rows) -> None:
    """Refuse a level table that the builder would refuse, or could not draw.

    Raises
    ------
    BadHierarchy
        If it is no hierarchy of the column, lacks values, or has more levels than can be edited.
    """
    draft = draft_of_rows(column, rows)
    if unplaced(draft, column):
        raise BadHierarchy("It has no place for some values.", remedy="Place them by hand.")
    if draft.height > MOST_LEVELS:
        raise BadHierarchy(
            f"It has {draft.height} levels; at most {MOST_LEVELS} can be edited.",
            remedy="Leave levels out.",
        )
