"""Columns of which nobody has said how they write dates or numbers: nothing is released before."""

from __future__ import annotations

from collections.abc import Sequence

from anon_core.base.errors import BadInput, BadPlan, listing, nearest
from anon_core.data.column import Column
from anon_core.data.table import Dataset
from anon_core.recipe.plan import Plan

#: By what is undecided: the question, and what a recipe says of it.
_QUESTIONS = {
    "dates": (
        "writes dates that may be day/month/year or month/day/year",
        '[data.dates] "{}" = "dmy" or "mdy"',
    ),
    "decimals": (
        "writes numbers with marks that may separate decimals or thousands",
        '[data.decimals] "{}" = "," or "."',
    ),
}


def undecided_columns(plan: Plan, dataset: Dataset) -> Sequence[Column]:
    """Return the columns of a release that may be read in two ways."""
    named = dict.fromkeys((*plan.roles.quasi, *plan.roles.sensitive, *plan.roles.insensitive))
    columns = [dataset.column(name) for name in named]
    return [c for c in columns if c.undecided and c.name not in plan.types]


def refuse_undecided(plan: Plan, dataset: Dataset) -> None:
    """Refuse a table whose columns may be read in two ways, or settings of columns it lacks.

    Raises
    ------
    BadPlan
        If dates or decimals are settled of a column that the table lacks.
    BadInput
        Naming the columns and what to write into the recipe.
    """
    settled = (*plan.data.dates, *plan.data.decimals)
    gone = [name for name in settled if name not in dataset.names]
    if gone:
        raise BadPlan(
            f"[data] says how {listing(gone)} is written, but the table has "
            f"{listing(dataset.names)}.",
            remedy=f"Use one of the table's column names.{nearest(gone[0], dataset.names)}",
        )
    found = undecided_columns(plan, dataset)
    if found:
        what = [f"'{c.name}' {_QUESTIONS[c.undecided][0]}" for c in found[:5]]
        more = f", and {len(found) - 5} more columns do" if len(found) > 5 else ""
        asked = "; ".join(_QUESTIONS[c.undecided][1].format(c.name) for c in found[:5])
        raise BadInput(
            f"Column {'; column '.join(what)}{more}, and no value decides it.",
            remedy=f"Say which on Data, or in the recipe: {asked}.",
        )
