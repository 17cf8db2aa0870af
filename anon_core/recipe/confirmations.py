"""What someone confirmed of columns that are published as they are; nothing is released before.

A confirmation says what was found then: where more is found now, it has to be given again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast, get_args

from anon_core.base.errors import BadPlan, brief, listing
from anon_core.data.roles.findings import Finding, What, findings

if TYPE_CHECKING:
    from anon_core.data.roles.roles import Roles
    from anon_core.data.table import Dataset

_KEYS = ("column", "what", "rows", "found")


@dataclass(frozen=True, kw_only=True)
class Confirmed:
    """A finding that someone has seen, and publishes the column all the same.

    Attributes
    ----------
    what : str
        See `Finding`.
    rows : int
        Rows that it was about; it does not represent more.
    found : str
        What was found, in words, for anyone who reads the recipe.
    """

    column: str
    what: What
    rows: int
    found: str = ""

    def covers(self, finding: Finding) -> bool:
        """Return whether this is the finding that was confirmed, or more was."""
        return (self.column, self.what) == (finding.column, finding.what) and (
            finding.rows <= self.rows
        )

    def as_mapping(self) -> dict[str, Any]:
        """Return the recipe's table."""
        return {key: getattr(self, key) for key in _KEYS}


def confirm(finding: Finding) -> Confirmed:
    """Return what is written into a recipe when a finding is confirmed."""
    return Confirmed(
        column=finding.column, what=finding.what, rows=finding.rows, found=finding.sentence
    )


def confirmed_of(given: Sequence[object]) -> tuple[Confirmed, ...]:
    """Read the recipe's ``[[confirmed]]``.

    Raises
    ------
    BadPlan
    """
    return tuple(_read(one) for one in given)


def _read(given: object) -> Confirmed:
    table = dict(cast(Mapping[str, Any], given)) if isinstance(given, Mapping) else {}
    column, what, rows, found = (table.pop(key, "") for key in _KEYS)
    whole = isinstance(rows, int) and not isinstance(rows, bool) and rows >= 0
    texts = isinstance(column, str) and isinstance(found, str)
    if table or not texts or not column or not whole or what not in get_args(What):
        raise BadPlan(
            f"[[confirmed]] holds {brief(given)}.",
            remedy='Write column = "...", what = one of '
            f"{listing(get_args(What))}, and rows = the number of rows it is about.",
        )
    return Confirmed(column=column, what=cast(What, what), rows=rows, found=found)


def unconfirmed(found: Sequence[Finding], confirmed: Sequence[Confirmed]) -> tuple[Finding, ...]:
    """Return the findings that no one confirmed as they are now."""
    return tuple(f for f in found if not any(one.covers(f) for one in confirmed))


def refuse_unconfirmed(
    confirmed: Sequence[Confirmed],
    table: Dataset,
    roles: Roles,
    *,
    coarsened: Sequence[str] = (),
    asked: Collection[str] = (),
) -> None:
    """Refuse to publish a column as it is as long as no one confirmed what was found of it.

    Parameters
    ----------
    confirmed : sequence of Confirmed
    table : Dataset
        With the kinds of its columns, and without the names that the plan redacts.
    coarsened : sequence of str
        Sensitive columns that are published at a level of their hierarchy.
    asked : collection of str
        Columns that hold what people ask for themselves: they name no one, and are the same for
        many.

    Raises
    ------
    BadPlan
        Naming each column, what was found, and the remedy.
    """
    found = [
        finding
        for finding in findings(table, roles, tuple(coarsened))
        if finding.what != "repeats" or finding.column not in asked
    ]
    missing = unconfirmed(found, confirmed)
    if not missing:
        return
    told = " ".join(finding.sentence for finding in missing)
    helped = " ".join(
        f"'{finding.column}': {finding.remedy[0].lower()}{finding.remedy[1:]}"
        for finding in missing
    )
    lines = "; ".join(f'column = "{f.column}", what = "{f.what}", rows = {f.rows}' for f in missing)
    raise BadPlan(
        f"Findings about the table are not confirmed: {told}",
        remedy=f"{helped} Or confirm it on Roles, or in the recipe under [[confirmed]]: {lines}.",
    )
