"""What someone confirmed: columns that are published as they are, and labels that are names.

A confirmation says what was found then: where more is found now, it has to be given again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast, get_args

from anon_core.base.errors import BadHierarchy, BadPlan, brief, listing, nearest
from anon_core.data.hierarchy.label_truth import with_true_labels
from anon_core.data.hierarchy.model import LevelTable
from anon_core.data.roles.findings import Finding, What, findings
from anon_core.data.values.kinds import KINDS, ColumnKind

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
    sentences = " ".join(finding.sentence for finding in missing)
    helped = " ".join(
        f"'{finding.column}': {finding.remedy[0].lower()}{finding.remedy[1:]}"
        for finding in missing
    )
    lines = "; ".join(f'column = "{f.column}", what = "{f.what}", rows = {f.rows}' for f in missing)
    raise BadPlan(
        f"Findings about the table are not confirmed: {sentences}",
        remedy=f"{helped} Or confirm it on Roles, or in the recipe under [[confirmed]]: {lines}.",
    )


RENAME, NAMES = "rename", "names"


@dataclass(frozen=True, kw_only=True)
class Labels:
    """What a recipe says of the labels of hierarchies, under ``[labels]``.

    Attributes
    ----------
    renamed : tuple of str
        Columns of numbers, dates or times whose false labels become the range of their values.
    names : mapping of str to str
        Columns whose labels are names and claim nothing, each with the reason.
    """

    renamed: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> Labels:
        """Read the recipe's ``[labels]``.

        Raises
        ------
        BadPlan
        """
        renamed: list[str] = []
        names: dict[str, str] = {}
        for column, labels in given.items():
            reason = (
                cast(Mapping[str, Any], labels).get(NAMES) if isinstance(labels, Mapping) else None
            )
            if labels == RENAME:
                renamed.append(column)
            elif isinstance(reason, str) and reason.strip() and len(cast(Any, labels)) == 1:
                names[column] = reason
            else:
                raise BadPlan(
                    f"[labels] '{column}' is {brief(labels)}.",
                    remedy=f'Write "{RENAME}", or {{ {NAMES} = "the reason why" }}.',
                )
        return cls(renamed=tuple(renamed), names=names)

    def as_mapping(self) -> dict[str, Any]:
        """Return the recipe's table; empty where it says nothing."""
        named = {column: {NAMES: reason} for column, reason in self.names.items()}
        return {**dict.fromkeys(self.renamed, RENAME), **named}

    def applied(
        self, dataset: Dataset, hierarchies: Mapping[str, LevelTable]
    ) -> Mapping[str, LevelTable]:
        """Return the level tables with labels renamed as asked; those that are true stay.

        Raises
        ------
        BadPlan
            If a column has no hierarchy, or its values have no range to be named after.
        BadHierarchy
            If a group has no range of its own.
        """
        if not self.renamed and not self.names:
            return hierarchies
        self.refuse_lacking(hierarchies)
        found = dict(hierarchies)
        kinds = {name: dataset.column(name).kind for name in self.renamed}
        self.refuse_texts(kinds)
        for name, kind in kinds.items():
            found[name] = _renamed(name, hierarchies[name], kind)
        return found

    def refuse_texts(self, kinds: Mapping[str, ColumnKind]) -> None:
        """Refuse to rename groups of values that have no range, of these kinds by column.

        Raises
        ------
        BadPlan
        """
        for name in self.renamed:
            kind = KINDS[kinds[name]] if name in kinds else None
            if kind is not None and kind.read is None:
                raise BadPlan(
                    f"[labels] asks to rename groups of '{name}' to their range, and a column of "
                    f"{kind.several} has none.",
                    remedy="Rename the groups in the file, or say that they are names: "
                    f'{name} = {{ {NAMES} = "the reason why" }}.',
                )

    def refuse_lacking(self, hierarchies: Iterable[str]) -> None:
        """Refuse columns that no hierarchy is given for.

        Raises
        ------
        BadPlan
        """
        known = list(hierarchies)
        lacking = [n for n in (*self.renamed, *self.names) if n not in known]
        if lacking:
            raise BadPlan(
                f"[labels] names {listing(lacking)}, and the recipe gives no hierarchy for it.",
                remedy=f"Name a column under [hierarchies].{nearest(lacking[0], known)}",
            )


def _renamed(name: str, rows: Sequence[Sequence[str]], kind: ColumnKind) -> LevelTable:
    found = with_true_labels(rows, kind)
    old = {cell.strip() for row in rows for cell in row}
    if any(cell.startswith("Group ") and cell not in old for row in found for cell in row):
        raise BadHierarchy(
            f"Hierarchy of '{name}': a group shares its range with another one, so that it cannot "
            "be renamed to it.",
            remedy="Rename the group in the file.",
        )
    return found
