"""Promises of a least number in every class, and of a greatest share: what is found, in words."""

from __future__ import annotations

import numpy as np

from anon_core.verification.evidence import Evidence
from anon_core.verification.findings import Check, many, named
from anon_core.verification.rows.histogram import Histogram
from anon_core.verification.text.texts import Codes


def at_least(
    evidence: Evidence, what: str, reached: Codes, bound: int, *, unit: str, column: str = ""
) -> Check:
    """Compare a number of each class with the least that was promised.

    Parameters
    ----------
    what : str
        The promise in words: ``k = 5``.
    reached : int64 array of shape (classes,)
    unit : str
        What is counted: ``rows`` or ``values``.
    column : str
        The column concerned, if any.
    """
    permuted = evidence.form == "permuted" and not evidence.others_known
    if not len(reached) and not permuted:
        return Check(
            name=evidence.name,
            holds=True,
            bound=float(bound),
            column=column,
            sentence=f"No row is published, so {what} holds for no one: there is nothing to find.",
        )
    small, least = reached < bound, int(reached.min()) if len(reached) else bound
    broken = bool(small.any())
    part = evidence.part_of(column) if column else evidence.grouped
    rows = part.table.rows_of(small[part.group])
    few = many(int(np.count_nonzero(small)), "group" if permuted else "class", "has", "have")
    worst = (
        f"first group {int(np.argmax(small)) + 1} with {int(reached[np.argmax(small)])}"
        if permuted and broken
        else f"the {'smallest' if unit == 'rows' else 'fewest'} {least} {named(rows)}"
    )
    best = (
        "fewest in a group"
        if permuted
        else "smallest class"
        if unit == "rows"
        else "fewest in a class"
    )
    return Check(
        name=evidence.name,
        holds=not broken,
        bound=float(bound),
        reached=float(least),
        column=column,
        rows=rows.first,
        sentence=f"{what} is broken: {few} fewer than {bound} {unit}, {worst}."
        if broken
        else f"Recomputed from the published file: {what} holds ({best} {least}).",
    )


def at_most_shares(evidence: Evidence, counted: Histogram, least: int, column: str) -> Check:
    """Check that no value fills more than 1/l of the rows of a class that have one.

    Rows without a value count on neither side; a class in which no row has one fails.

    Parameters
    ----------
    least : int
        l.
    """
    sizes, most = counted.known.sizes, np.maximum(counted.known.most, 1)
    broken = most * least > sizes  # whole numbers: no quotient decides
    worst = float((sizes / most).min()) if len(sizes) else float(least)
    part = evidence.part_of(column)
    rows = part.table.rows_of(broken[part.group])
    return Check(
        name=evidence.name,
        holds=not rows,
        bound=float(least),
        reached=worst,
        column=column,
        rows=rows.first,
        sentence=f"l = {least} for '{column}' is broken: in "
        f"{many(int(broken.sum()), 'group')} a value fills more than 1/{least} of the rows that "
        f"have one, or none has one {named(rows)}."
        if rows
        else f"Recomputed from the published file: no value of '{column}' fills more than "
        f"1/{least} of a group (1/{worst:.3g} at most).",
    )
