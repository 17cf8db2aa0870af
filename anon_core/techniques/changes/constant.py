"""One constant: every cell of a column says the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from anon_core.base.errors import BadPlan
from anon_core.base.params import text
from anon_core.base.registry import register
from anon_core.contracts.change import Chance, Change, Effect
from anon_core.data.column import Column
from anon_core.data.roles.roles import Role, Roles
from anon_core.data.table import Dataset
from anon_core.methods.changes.numbers import by_row


@register("change")
@dataclass(frozen=True, kw_only=True)
class Constant(Change):
    """Nothing of the column is left but its name."""

    name: ClassVar[str] = "constant"
    title: ClassVar[str] = "One constant"
    summary: ClassVar[str] = (
        "Gives every cell of the column the same value, so the column reveals no more than if you"
        " left it out."
    )
    when: ClassVar[str] = (
        "Use it where a program needs the column to be there; never to keep anything of it, since "
        "leaving it out says the same."
    )
    formula: ClassVar[str] = "x ← c, missing values too"
    source: ClassVar[str] = "Hundepool et al. 2012, Statistical Disclosure Control"
    leaves: ClassVar[str] = "It leaves nothing of the column."
    of_roles: ClassVar[tuple[Role, ...]] = ("identifier", "insensitive")
    effect: ClassVar[Effect] = Effect(replaces=False)

    value: str = text(default="*", help="What every cell says.", label="Every cell says")

    def run(
        self, table: Dataset, columns: Sequence[str], roles: Roles, chance: Chance
    ) -> Mapping[str, Column]:
        """Return columns of one value; a missing one is no exception, or it would tell."""
        text = self.value.strip()
        if not text:
            raise BadPlan(
                "The constant is empty, which reads as a missing value.",
                remedy="Give a text such as *, or leave the column out of the release.",
            )
        return {n: by_row(table.column(n), [text] * table.rows, kind="text") for n in columns}
