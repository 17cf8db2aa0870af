"""Special uniques as tables: what columns and sets contribute, and the rows at most risk."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from anon_core.base.arrays import F64
from anon_core.methods.reidentification.covering_changes import Change
from anon_core.methods.reidentification.minimal_uniques import Chosen, MinimalUniques
from anon_core.release.attack_result import Details

_SETS = 10  # sets that are listed
_ROWS = 20  # rows that are listed


def column_details(found: MinimalUniques, changes: Sequence[Change]) -> Details:
    """Return the share of the scores that sets with each column have, and whom a change covers."""
    columns, counted = found.lines.columns, found.lines.counted
    share = np.zeros(len(columns))
    for chosen in found.marks:
        share[list(chosen)] += found.weight(chosen) * np.count_nonzero(found.minimal(chosen))
    whole = max(int(found.score.sum()), 1)
    covered = {(c.column, c.suppressed): found.covered(c.covered) for c in changes}
    order = sorted(range(len(columns)), key=lambda d: (-share[d], d))
    return Details(
        title="What each column contributes to special uniques",
        rows=tuple(
            {
                "column": columns[d],
                "share of the scores": float(share[d]) / whole,
                "covered one level up": covered.get((columns[d], False), 0),
                "covered if suppressed": covered.get((columns[d], True), 0),
            }
            for d in order
        ),
        x="column",
        y=("share of the scores",),
        drawn="bars",
        note="Share of all scores from sets that contain the column; a set of two counts for both. "
        f"Next to it, the {counted} that would no longer be special uniques with the whole column "
        "one level up, or without it.",
    )


def set_details(found: MinimalUniques, everyone: int) -> Details:
    """Return the sets that single out most rows, or people."""
    number = {c: found.number(found.minimal(c)) for c in found.marks}
    counted = found.lines.counted
    worst = sorted(number, key=lambda c: (-number[c], len(c), c))[:_SETS]
    return Details(
        title=f"Smallest sets of columns that single {counted} out",
        rows=tuple(
            {
                "columns": _words(found, c),
                counted: number[c],
                f"share of {counted}": number[c] / everyone,
            }
            for c in worst
        ),
        x="columns",
        y=(f"share of {counted}",),
        drawn="bars",
        note=f"{counted.capitalize()} that the set makes unique, and no part of it does.",
    )


def row_details(
    found: MinimalUniques, risk: F64, variant: str, changes: Sequence[Change]
) -> Details:
    """Return the rows with the highest scores, why they are unique, and what would cover them."""
    lines = found.lines
    special = np.flatnonzero(found.special)
    order = special[np.argsort(-found.score[special], kind="stable")][:_ROWS]
    told = []
    for line in order.tolist():
        sets = found.sets_of(line)
        cells = [
            f"{name} = {lines.vocabularies[name].texts[code]}"
            for name, code in zip(lines.columns, lines.codes[line].tolist(), strict=True)
        ]
        cover = next((c.words for c in changes if c.covered[line]), "no single column")
        told.append(
            {
                "row": ", ".join(cells),
                "score": int(found.score[line]),
                "DIS-SUDA": float(risk[line]),
                "unique in": "; ".join(_words(found, c) for c in sets[:5]),
                "covered by": cover,
            }
        )
    return Details(
        title="Special uniques at most risk",
        rows=tuple(told),
        x="row",
        y=("DIS-SUDA",),
        drawn="table",
        note=f"DIS-SUDA by the formula {variant}; the cheapest change of a whole column after "
        f"which the row is unique in no set that was tried.{_several(found)}",
    )


def _several(found: MinimalUniques) -> str:
    """Return what is to be known where one person has several rows, beginning with a blank."""
    if found.lines.who is None:
        return ""
    told = " A row represents all of a person's rows with the same values."
    if found.lines.overlapping:
        told += (
            " Classes overlap, so whom two people share is not counted, and the risk is an upper "
            "bound."
        )
    return told


def _words(found: MinimalUniques, chosen: Chosen) -> str:
    return " + ".join(found.lines.columns[d] for d in chosen)
