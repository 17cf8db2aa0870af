"""What each column is to an attacker, and with that what is published of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, Protocol

from ..base.errors import BadInput, BadPlan, listing
from .table import Dataset

Role = Literal["identifier", "person", "quasi", "sensitive", "insensitive"]


class ByRole(Protocol):
    """Whatever tells which columns are quasi-identifiers and which are sensitive."""

    @property
    def quasi(self) -> tuple[str, ...]:
        """Quasi-identifiers in the order of the roles."""
        ...

    @property
    def sensitive(self) -> tuple[str, ...]:
        """Sensitive columns in the order of the roles."""
        ...


@dataclass(frozen=True, kw_only=True)
class Roles:
    """Column names by role; a column that no role names is left out of the release.

    Nothing is published because nobody thought of it: a column is published as it is only where
    `insensitive` names it. A column may be quasi-identifier and sensitive at once; an identifier
    and an insensitive column are nothing else. The person column says who a row is about, where one
    person may have several; it is never published and is nothing else either. Without one a row is
    a person.

    Raises
    ------
    BadPlan
        If a column is named twice within a role, or is an identifier, the person column or
        insensitive and something else.
    """

    identifier: tuple[str, ...] = ()
    quasi: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    insensitive: tuple[str, ...] = ()
    person: str = field(default="", repr=False)  # fingerprints of tables without one stay

    def __post_init__(self) -> None:
        """Refuse contradictions that need no data to see."""
        for role, names in (
            ("identifier", self.identifier),
            ("quasi", self.quasi),
            ("sensitive", self.sensitive),
            ("insensitive", self.insensitive),
        ):
            twice = sorted({n for n in names if names.count(n) > 1})
            if twice:
                raise BadPlan(
                    f"Role {role} names {listing(twice)} more than once.",
                    remedy="Name every column once per role.",
                )
        for role, names in (
            ("identifier", self.identifier),
            ("quasi-identifier", self.quasi),
            ("sensitive", self.sensitive),
            ("insensitive", self.insensitive),
        ):
            if self.person in names:
                raise BadPlan(
                    f"Column {listing([self.person])} tells persons apart and is also {role}.",
                    remedy="The person column is counted and never published; give it that role "
                    "alone.",
                )
        for role, names in (
            ("quasi-identifier", self.quasi),
            ("sensitive", self.sensitive),
            ("insensitive", self.insensitive),
        ):
            both = [n for n in self.identifier if n in names]
            if both:
                raise BadPlan(
                    f"Column {listing(both)} is an identifier and also {role}.",
                    remedy="An identifier is removed from the release; give the column one of the "
                    "two roles.",
                )
            exact = [n for n in self.insensitive if n in names and role != "insensitive"]
            if exact:
                raise BadPlan(
                    f"Column {listing(exact)} is insensitive and also {role}.",
                    remedy="An insensitive column is published as it is; give the column one of "
                    "the two roles.",
                )

    def check(self, dataset: Dataset) -> None:
        """Refuse roles that do not fit the table.

        Raises
        ------
        BadInput
            If a named column is not in the table, or a row does not say whose it is.
        BadPlan
            If there is no quasi-identifier.
        """
        for name in self.named:
            dataset.column(name)
        if self.person and (missing := dataset.column(self.person).missing):
            raise BadInput(
                f"{missing:,} of {dataset.rows:,} rows have no value in '{self.person}', which "
                "tells persons apart, so whose they are is not known.",
                remedy="Fill in the column, leave these rows out of the table, or take the role "
                "away: then every row counts as a person.",
            )
        if not self.quasi:
            raise BadPlan(
                "No column is marked as quasi-identifier, so there is nothing to protect.",
                remedy="Mark at least one column that an attacker could know, such as age or ZIP.",
            )

    @property
    def named(self) -> tuple[str, ...]:
        """Every column that has a role, once."""
        person = (self.person,) if self.person else ()
        return tuple(
            dict.fromkeys(
                (*self.identifier, *person, *self.quasi, *self.sensitive, *self.insensitive)
            )
        )

    def of(self, name: str) -> tuple[Role, ...]:
        """Return the roles of one column; none if no role names it."""
        by_role: tuple[tuple[Role, tuple[str, ...]], ...] = (
            ("identifier", self.identifier),
            ("person", (self.person,)),
            ("quasi", self.quasi),
            ("sensitive", self.sensitive),
            ("insensitive", self.insensitive),
        )
        return tuple(role for role, names in by_role if name in names)

    def published(self, dataset: Dataset) -> tuple[str, ...]:
        """Return the columns of a release in the table's order: all named but who a row is of."""
        hidden = (*self.identifier, self.person)
        return tuple(n for n in dataset.names if n in self.named and n not in hidden)

    def exact(self, dataset: Dataset) -> tuple[str, ...]:
        """Return the columns published as they are, in the table's order."""
        return tuple(n for n in dataset.names if n in self.insensitive)

    def left_out(self, dataset: Dataset) -> tuple[str, ...]:
        """Return the columns that no role names, in the table's order: they are not published."""
        return tuple(n for n in dataset.names if n not in self.named)
