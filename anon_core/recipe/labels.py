"""What becomes of labels that say what their values are not: renamed, or confirmed as names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from anon_core.base.errors import BadHierarchy, BadPlan, brief, listing, nearest
from anon_core.data.hierarchy.label_truth import with_true_labels
from anon_core.data.hierarchy.level_table import LevelTable
from anon_core.data.values.kinds import KINDS, ColumnKind

if TYPE_CHECKING:
    from anon_core.data.table import Dataset

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
        for column, told in given.items():
            reason = cast(Mapping[str, Any], told).get(NAMES) if isinstance(told, Mapping) else None
            if told == RENAME:
                renamed.append(column)
            elif isinstance(reason, str) and reason.strip() and len(cast(Any, told)) == 1:
                names[column] = reason
            else:
                raise BadPlan(
                    f"[labels] '{column}' is {brief(told)}.",
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
        self._refuse_lacking(hierarchies)
        found = dict(hierarchies)
        for name in self.renamed:
            kind = dataset.column(name).kind
            if KINDS[kind].read is None:
                raise BadPlan(
                    f"[labels] asks to rename groups of '{name}' to their range, and a column of "
                    f"{KINDS[kind].several} has none.",
                    remedy="Rename the groups in the file, or say that they are names: "
                    f'{name} = {{ {NAMES} = "the reason why" }}.',
                )
            found[name] = _renamed(name, hierarchies[name], kind)
        return found

    def _refuse_lacking(self, hierarchies: Iterable[str]) -> None:
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
