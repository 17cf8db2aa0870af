"""The lines of a view that people are distinguished by: its classes, or whole rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anon_core.base.arrays import B1
from anon_core.base.context import Context
from anon_core.methods.matching.fitting_people import matched
from anon_core.methods.reidentification.equivalence_counts import RowsAlike, rows_alike
from anon_core.release.ground_truth import Truth
from anon_core.release.release import BlockTable, View


def quasi_lines(view: View, truth: Truth) -> RowsAlike:
    """Return the view's classes by all quasi-identifiers, in the order of `View.persons`.

    The view is that behind the truth, or that of the table as it is, `Truth.raw`.

    Raises
    ------
    AnonError
        If the quasi-identifiers are in several link blocks.
    """
    persons = matched(view)
    place = [truth.frequency.columns.index(name) for name in persons.columns]
    people = truth.frequency.run_codes[:, place]
    crowd = truth.raw_crowd if view is truth.raw else truth.crowd
    who = None if crowd is None else crowd.pairs
    return rows_alike(view, persons.columns, persons.codes, persons.sizes, people, who)


def alone_over_all(view: View, truth: Truth, context: Context) -> tuple[int, int] | None:
    """Return how many rows, or people, are alone over all published columns.

    A line is alone that says what no other person's line says. It need not be found by anyone who
    knows its person's values, since texts may overlap: this is the figure that every page and
    report names, and that the second computation counts in the published file.

    Returns
    -------
    tuple of int, or None
        Of the view, which is that behind the truth, and of the table as it is. None where it is
        drawn when the release is written which of equal rows say what.
    """
    among, alone = None, (0, 0)
    if truth.key_person is None:  # of most rows what they alone say tells it already
        sure, shown = truth.alone
        among, alone = ~sure, (shown, int(np.count_nonzero(sure)))
    everyone = lines_of(truth.raw, view.quasi, among)
    own = lines_of(view, view.quasi, among)
    if everyone is None or own is None:
        return None
    found: list[int] = []
    for one, table in ((view, own), (truth.raw, everyone)):
        lines = whole_lines(one, truth, table, everyone)
        every = range(len(lines.columns))
        alike = lines.alike(every, context) if one.published else lines.own
        found.append(lines.singled_out(alike == 1))
    return found[0] + alone[0], found[1] + alone[1]


def lines_of(view: View, quasi: Sequence[str], among: B1 | None = None) -> BlockTable | None:
    """Return the lines of the block of the quasi-identifiers, with every published column.

    None where there is no such block, or it is drawn when the release is written which of equal
    rows say what. What they are made of is as of `View.linked`.
    """
    blocks = view.linked(among) or ()
    return next((block for block in blocks if set(quasi) <= set(block.columns)), None)


def whole_lines(view: View, truth: Truth, own: BlockTable, everyone: BlockTable) -> RowsAlike:
    """Return whole lines of a view, ready to be compared.

    Parameters
    ----------
    view : View
        That behind the truth, or that of the table as it is.
    own, everyone : BlockTable
        Lines of the view and of the table as it is; see `lines_of`.
    """
    people = everyone.codes
    if own.columns != everyone.columns:
        place = [everyone.columns.index(name) for name in own.columns]
        people = np.ascontiguousarray(people[:, place])
    who = truth.raw_line_people if view is truth.raw else truth.line_people
    # Lines differ in what they say, or in their group where that is published.
    return rows_alike(
        view,
        own.columns,
        own.codes,
        own.count,
        people,
        who,
        unlike=not view.published,
        strangers=not truth.raw.published and len(own.columns) == len(everyone.columns),
    )
