"""What each column is to an attacker, and with that what is published of it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np

from anon_core.base.errors import BadInput, BadPlan, listing
from anon_core.data.table import Dataset
from anon_core.data.values.kinds import as_number

Role = Literal["identifier", "person", "household", "weight", "quasi", "sensitive", "insensitive"]

#: What a weight is, where one is refused.
_WEIGHT = "A weight is the number of people that a row represents: a number of at least 1."


class ByRole(Protocol):
    """Whatever shows which columns are quasi-identifiers and which are sensitive."""

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

    Nothing is published because no one thought of it: a column is published as it is only where
    `insensitive` names it. A column may be quasi-identifier and sensitive at once; an identifier
    and an insensitive column are nothing else. The person column says who a row is about, where one
    person may have several; it is never published and is nothing else either. Without one a row is
    a person. The household column says who lives together, and is treated alike: where there is
    one, people of one household count as one, since anyone who finds one of them finds all. The
    weight column is how many people of the population a row of a survey represents; it shows from
    which stratum someone is, and is never published either.

    Columns of `shown` are hidden by their role and published all the same: changed, so that no cell
    says what the table does.

    Raises
    ------
    BadPlan
        If a column is named twice within a role, or is an identifier, the person column, the
        household column, the weight or insensitive and something else.
    """

    identifier: tuple[str, ...] = ()
    quasi: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    insensitive: tuple[str, ...] = ()
    person: str = field(default="", repr=False)  # fingerprints of tables without one stay
    household: str = field(default="", repr=False)
    weight: str = field(default="", repr=False)
    shown: tuple[str, ...] = field(default=(), repr=False)

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
            for column, what in ((self.person, "person"), (self.household, "household")):
                if column in names:
                    raise BadPlan(
                        f"Column {listing([column])} identifies {what}s and is also {role}.",
                        remedy=f"The {what} column is counted and never published; give it that "
                        "role alone.",
                    )
            if self.weight in names:
                raise BadPlan(
                    f"Column {listing([self.weight])} is the weight of rows and also {role}.",
                    remedy="The weight is used and never published; give it that role alone.",
                )
        if self.person and self.person == self.household:
            raise BadPlan(
                f"Column {listing([self.person])} identifies both persons and households.",
                remedy="Give it one of the two roles.",
            )
        if self.weight and self.weight in (self.person, self.household):
            raise BadPlan(
                f"Column {listing([self.weight])} is the weight of rows and also says whose they "
                "are.",
                remedy="Give it one of the two roles.",
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
            If a named column is not in the table, a row does not say whose it is, or a weight is
            no number of at least 1, or not the same in all rows of a person.
        BadPlan
            If there is no quasi-identifier.
        """
        for name in self.named:
            dataset.column(name)
        for column, what in ((self.person, "person"), (self.household, "household")):
            if column and (missing := dataset.column(column).missing):
                raise BadInput(
                    f"{missing:,} of {dataset.rows:,} rows have no value in '{column}', which "
                    f"identifies {what}s, so whose they are is not known.",
                    remedy="Fill in the column, leave these rows out of the table, or take the "
                    f"role away: then every row counts as a {what}.",
                )
        if self.person and self.household:
            self._refuse_several_households(dataset)
        if self.weight:
            self._refuse_no_weights(dataset)
        if not self.quasi:
            raise BadPlan(
                "No column is marked as quasi-identifier, so there is nothing to protect.",
                remedy="Mark at least one column that an attacker could know, such as age or ZIP.",
            )

    def _refuse_several_households(self, dataset: Dataset) -> None:
        """Refuse persons who live in several households: k households might be fewer persons."""
        person, home = dataset.column(self.person), dataset.column(self.household)
        pairs = np.unique(person.codes.astype(np.int64) * len(home.values) + home.codes)
        several = int(np.count_nonzero(np.bincount(pairs // len(home.values)) > 1))
        if several:
            raise BadInput(
                f"{several:,} {'person of' if several == 1 else 'persons of'} '{self.person}' "
                f"{'has' if several == 1 else 'have'} several households in '{self.household}', so "
                "households do not show how many persons there are.",
                remedy="Give every person one household, or take one of the two roles away.",
            )

    def _refuse_no_weights(self, dataset: Dataset) -> None:
        """Refuse weights that are none, with the first row, and persons with several weights."""
        column = dataset.column(self.weight)
        leave = f"leave such rows out of the table, or take the role of '{self.weight}' away"
        if column.missing:
            row = int(np.flatnonzero(column.codes < 0)[0])
            raise BadInput(
                f"{column.missing:,} of {dataset.rows:,} rows have no value in '{self.weight}', "
                f"which is their weight (first in row {column.row_number(row):,}). {_WEIGHT}",
                remedy=f"Fill in the weights, {leave}.",
            )
        if column.kind != "number" or column.measure is None:
            bad = np.array([math.isnan(as_number(v)) for v in column.values], dtype=np.bool_)
            row = int(np.argmax(bad[column.codes]))
            first = f" (first in row {column.row_number(row):,})" if bad.any() else ""
            raise BadInput(
                f"The weight '{self.weight}' is read as {column.kind}, not as number{first}. "
                f"{_WEIGHT}",
                remedy=f"Correct it and declare the column as number; {leave}.",
                values=[column.values[int(column.codes[row])]],
            )
        low = ~(np.isfinite(column.measure) & (column.measure >= 1))
        if low.any():
            rows = np.flatnonzero(low[column.codes])
            raise BadInput(
                f"{len(rows):,} of {dataset.rows:,} rows have a weight below 1 or without end in "
                f"'{self.weight}' (first in row {column.row_number(int(rows[0])):,}). {_WEIGHT}",
                remedy=f"Correct the weights (those that add up to the number of rows have to be "
                f"multiplied by the population's size / the rows), {leave}.",
                values=[column.values[int(column.codes[rows[0]])]],
            )
        if not self.person:
            return
        person = dataset.column(self.person)
        weight = column.measure[column.codes]
        least = np.full(len(person.values), np.inf)
        np.minimum.at(least, person.codes, weight)
        other = np.flatnonzero(weight != least[person.codes])
        if len(other):
            several = len(np.unique(person.codes[other]))
            raise BadInput(
                f"{several:,} {'person of' if several == 1 else 'persons of'} '{self.person}' "
                f"{'has' if several == 1 else 'have'} several weights in '{self.weight}' (first "
                f"in row {column.row_number(int(other[0])):,}), so how many people they represent "
                "is not known.",
                remedy="Give every person one weight, or take one of the two roles away.",
            )

    @property
    def unit(self) -> str:
        """The column of which distinct values are counted; empty where a row is a person."""
        return self.household or self.person

    @property
    def hidden(self) -> tuple[str, ...]:
        """The columns that are used and never published."""
        alone = (self.person, self.household, self.weight)
        return (*self.identifier, *(name for name in alone if name))

    @property
    def named(self) -> tuple[str, ...]:
        """Every column that has a role, once."""
        return tuple(dict.fromkeys((*self.hidden, *self.quasi, *self.sensitive, *self.insensitive)))

    def of(self, name: str) -> tuple[Role, ...]:
        """Return the roles of one column; none if no role names it."""
        by_role: tuple[tuple[Role, tuple[str, ...]], ...] = (
            ("identifier", self.identifier),
            ("person", (self.person,)),
            ("household", (self.household,)),
            ("weight", (self.weight,)),
            ("quasi", self.quasi),
            ("sensitive", self.sensitive),
            ("insensitive", self.insensitive),
        )
        return tuple(role for role, names in by_role if name in names)

    def published(self, dataset: Dataset) -> tuple[str, ...]:
        """Return the columns of a release in the table's order: all named but who a row is of."""
        unseen = [n for n in self.hidden if n not in self.shown]
        return tuple(n for n in dataset.names if n in self.named and n not in unseen)

    def exact(self, dataset: Dataset) -> tuple[str, ...]:
        """Return the columns published as they are, in the table's order."""
        return tuple(n for n in dataset.names if n in (*self.insensitive, *self.shown))

    def left_out(self, dataset: Dataset) -> tuple[str, ...]:
        """Return the columns that no role names, in the table's order: they are not published."""
        return tuple(n for n in dataset.names if n not in self.named)
