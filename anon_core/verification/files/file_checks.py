"""Checks of one published file that do not depend on how it was made."""

from __future__ import annotations

import numpy as np

from anon_core.verification.files.published import PublishedTable
from anon_core.verification.findings import Check, Rows, many, named
from anon_core.verification.text.texts import is_formula, may_be_guarded


def check_formulas(release: PublishedTable) -> Check:
    """Check that no cell is one a spreadsheet would execute."""
    odd = [
        [i for i, text in enumerate(texts) if is_formula(text)] if may_be_guarded(texts) else []
        for texts in release.texts
    ]
    rows = release.rows_showing(odd)
    return Check(
        name="formulas",
        holds=not rows,
        rows=rows.first,
        sentence=f"{many(len(rows), 'row', 'has', 'have')} a cell that a spreadsheet could "
        f"execute {named(rows)}."
        if rows
        else "No cell starts like a formula, and no part of one that may become a cell.",
    )


def check_readable(release: PublishedTable) -> Check | None:
    """Return a broken check where rows differ in length from the header, else nothing."""
    if not release.ragged:
        return None
    rows = Rows.of(np.array(release.ragged, dtype=np.int64) - 1)
    what = many(len(rows), "published row", "differs", "differ")
    return Check(
        name="readable",
        holds=False,
        rows=rows.first,
        sentence=f"{what} in length from the header {named(rows)}.",
    )
