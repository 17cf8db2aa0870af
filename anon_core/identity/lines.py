"""The lines of a view that people are told apart by: its classes, or whole rows."""

from __future__ import annotations

import numpy as np

from ..overlap.fitting_people import matched
from ..release.release import View
from ..release.truth import Truth
from .rows_alike import RowsAlike, rows_alike


def quasi_lines(view: View, truth: Truth) -> RowsAlike:
    """Return the view's classes by all quasi-identifiers, in the order of `View.persons`.

    The view is that behind the truth, or that of the table as it is, `Truth.raw`.

    Raises
    ------
    AnonError
        If the quasi-identifiers stand in several link blocks.
    """
    persons = matched(view)
    place = [truth.frequency.columns.index(name) for name in persons.columns]
    people = truth.frequency.run_codes[:, place]
    crowd = truth.raw_crowd if view is truth.raw else truth.crowd
    who = None if crowd is None else crowd.pairs
    return rows_alike(view, persons.columns, persons.codes, persons.sizes, people, who)


def whole_lines(view: View, truth: Truth) -> RowsAlike | None:
    """Return the lines of the block of the quasi-identifiers with every published column in it.

    None where it is drawn when the release is written which of equal rows say what.
    """
    block = next((b for b in view.linked or () if set(view.quasi) <= set(b.columns)), None)
    raw = truth.raw.linked
    if block is None or raw is None:
        return None
    everyone = raw[0]
    people = everyone.codes
    if block.columns != everyone.columns:
        place = [everyone.columns.index(name) for name in block.columns]
        people = np.ascontiguousarray(people[:, place])
    who = truth.raw_line_people if view is truth.raw else truth.line_people
    # Lines differ in what they say, or in their group where that is published.
    return rows_alike(
        view,
        block.columns,
        block.codes,
        block.count,
        people,
        who,
        unlike=not view.published,
        strangers=not truth.raw.published and len(block.columns) == len(everyone.columns),
    )
