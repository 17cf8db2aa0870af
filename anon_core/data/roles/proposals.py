"""Roles suggested for a table: by names and values, and by the lists of values that are shipped."""

from __future__ import annotations

from dataclasses import replace

from anon_core.data.column import Column
from anon_core.data.hierarchy.propose.library import matches
from anon_core.data.roles.suggestions import Suggestion, suggest_roles
from anon_core.data.table import Dataset
from anon_core.data.values.kinds import KINDS

#: Share of distinct values that a shipped list must know, and most of them that are looked up.
_KNOWN, _MOST = 0.8, 2000


def suggested(dataset: Dataset) -> tuple[Suggestion, ...]:
    """Suggest a role for every column, in the table's order, each with its reason.

    What neither name nor values tell is looked up in the shipped hierarchies: countries, levels of
    education, occupations and the like are known to others.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = ["Peru", "Chile", "Mali", "Peru", "Cuba"] * 5
    >>> suggested(Dataset.from_frame(pd.DataFrame({"v17": rows})))[0].role
    'quasi'
    """
    return tuple(
        _looked_up(one, dataset.column(one.name)) if one.role == "undecided" else one
        for one in suggest_roles(dataset)
    )


def _looked_up(one: Suggestion, column: Column) -> Suggestion:
    if KINDS[column.kind].measured or not 0 < len(column.values) <= _MOST:
        return one
    found = matches(column, least=_KNOWN)
    if not found:
        return one
    best = found[0]
    return replace(
        one,
        role="quasi",
        reason=f"{best.known:,} of its {len(column.values):,} values are in the shipped list "
        f"“{best.title}”: others may know them.",
    )
