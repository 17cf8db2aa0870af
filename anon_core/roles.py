"""What each column is to an attacker: identifier, quasi-identifier, sensitive, or none of these."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from .errors import BadPlan, listing
from .table import Dataset

Role = Literal["identifier", "quasi", "sensitive", "insensitive"]


@dataclass(frozen=True, kw_only=True)
class Roles:
    """Column names by role; columns not named are insensitive and published as they are.

    A column may be quasi-identifier and sensitive at once; an identifier is nothing else.

    Raises
    ------
    BadPlan
        If a column is named twice within a role, or is an identifier and something else.
    """

    identifier: tuple[str, ...] = ()
    quasi: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse contradictions that need no data to see."""
        for role, names in (
            ("identifier", self.identifier),
            ("quasi", self.quasi),
            ("sensitive", self.sensitive),
        ):
            twice = sorted({n for n in names if names.count(n) > 1})
            if twice:
                raise BadPlan(
                    f"Role {role} names {listing(twice)} more than once.",
                    remedy="Name every column once per role.",
                )
        for role, names in (("quasi-identifier", self.quasi), ("sensitive", self.sensitive)):
            both = [n for n in self.identifier if n in names]
            if both:
                raise BadPlan(
                    f"Column {listing(both)} is an identifier and also {role}.",
                    remedy="An identifier is removed from the release; give the column one of the "
                    "two roles.",
                )

    def check(self, dataset: Dataset) -> None:
        """Refuse roles that do not fit the table.

        Raises
        ------
        BadInput
            If a named column is not in the table.
        BadPlan
            If there is no quasi-identifier.
        """
        for name in (*self.identifier, *self.quasi, *self.sensitive):
            dataset.column(name)
        if not self.quasi:
            raise BadPlan(
                "No column is marked as quasi-identifier, so there is nothing to protect.",
                remedy="Mark at least one column that an attacker could know, such as age or ZIP.",
            )

    def of(self, name: str) -> tuple[Role, ...]:
        """Return the roles of one column; ``('insensitive',)`` if it is not named."""
        named: list[Role] = []
        if name in self.identifier:
            named.append("identifier")
        if name in self.quasi:
            named.append("quasi")
        if name in self.sensitive:
            named.append("sensitive")
        return tuple(named) or ("insensitive",)

    def insensitive(self, dataset: Dataset) -> tuple[str, ...]:
        """Return the table's columns that have no role, in the table's order."""
        return tuple(n for n in dataset.names if self.of(n) == ("insensitive",))

    def published(self, dataset: Dataset) -> tuple[str, ...]:
        """Return the columns of a release in the table's order: all but the identifiers."""
        return tuple(n for n in dataset.names if n not in self.identifier)
