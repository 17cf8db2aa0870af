"""What the second computation of a promise is given, and how its finding becomes a check."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import AnonError, listing
from anon_core.verification.findings import Check, many, named
from anon_core.verification.rows.candidate_rows import Behind, behind
from anon_core.verification.rows.groups import Grouped, blocks
from anon_core.verification.rows.histogram import Histogram
from anon_core.verification.rows.public_people import PublicPeople, covered_people
from anon_core.verification.rows.tables import PrivateTable, Promise, joined
from anon_core.verification.text.texts import Codes, PrivateColumn

Levels = Mapping[str, Sequence[Sequence[str]]]


#: What a release looks like: whole rows whose cells cover values; whole rows whose numbers are
#: averages; columns permuted separately within published groups.
Form = Literal["whole", "averaged", "permuted"]


class CannotTell(AnonError):
    """A promise cannot be recomputed from what is there; the message says why, without a stop."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Evidence:
    """One promise, and all that may be known to judge it.

    Whatever is asked for and is not there raises `CannotTell`; the promise is then undecided, which
    never counts as holding. The private and the public table are read at the first question.

    Attributes
    ----------
    name : str
        The model's name in the recipe.
    model : mapping
        Its table in the recipe: the parameters.
    promise : Promise
        The rest of what the recipe says: roles, kinds of columns, shape of the release.
    parts : mapping of str to Grouped
        The published tables in classes: one; or two, which have the same numbered groups.
    private : PrivateTable
        The private table before any suppression, after what the recipe drops and samples.
    levels : mapping of str to level table
        The hierarchies by column: value first, then one label a level.
    """

    name: str
    model: Mapping[str, Any]
    promise: Promise
    parts: Mapping[str, Grouped]
    private: PrivateTable
    levels: Levels
    people: Callable[[], PublicPeople | None]
    behind_of: dict[tuple[str, ...], Behind] = field(default_factory=dict[tuple[str, ...], Behind])
    parted: dict[str, Grouped] = field(default_factory=dict[str, Grouped], init=False)

    # ---- parameters ----------------------------------------------------------------------------

    def number(
        self,
        key: str,
        *,
        least: float = -math.inf,
        above: float = -math.inf,
        most: float = math.inf,
    ) -> Fraction:
        """Return a parameter exactly as its decimal is written.

        Parameters
        ----------
        least, most : number
            Smallest and largest allowed value.
        above : number
            Where the value must be larger than that.
        """
        given = self.model.get(key)
        if isinstance(given, bool) or not isinstance(given, int | float):
            raise CannotTell(f"{key} is no number")
        if not math.isfinite(given):
            raise CannotTell(f"{key} is no number")
        if not least <= given <= most or given <= above:
            raise CannotTell(f"{key} is no number that is allowed")
        return Fraction(str(given))  # the decimal as it was written, not its float

    def integer(self, key: str, *, least: int = 1) -> int:
        """Return a parameter that is a whole number."""
        given = self.model.get(key)
        if isinstance(given, bool) or not isinstance(given, int) or given < least:
            raise CannotTell(f"{key} is no whole number from {least} up")
        return given

    def text(self, key: str) -> str:
        """Return a parameter that is a text; empty where the recipe leaves it out."""
        given = self.model.get(key, "")
        if not isinstance(given, str):
            raise CannotTell(f"{key} is no text")
        return given

    # ---- what is published -----------------------------------------------------------------------

    @property
    def form(self) -> Form:
        """What the release looks like."""
        if self.promise.permuted:
            return "permuted"
        return "averaged" if self.promise.averaged else "whole"

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The sensitive columns the promise is about: the one its `column` names, or all."""
        column = self.text("column")
        found = self.promise.protected(column)
        if not found or not all(any(p.table.has((n,)) for p in self.parts.values()) for n in found):
            named_one = f"column '{column}'"
            raise CannotTell(f"it needs {named_one if column else 'a sensitive column'}")
        return found

    @property
    def grouped(self) -> Grouped:
        """The published table in its classes; of two that of the quasi-identifiers."""
        for part in self.parts.values():
            return part
        raise CannotTell("quasi-identifiers are missing")

    @property
    def sizes(self) -> Codes:
        """Rows of each class, or of each published group, shape (classes,)."""
        return self.grouped.sizes

    def part_of(self, column: str) -> Grouped:
        """Return the published table that shows a column, in the classes the promise looks at.

        Where other sensitive values are known, lines of a class that differ in them are apart.
        """
        for part in self.parts.values():
            if column in part.columns:
                return self._parted(part, column) if self.others_known else part
        self.grouped  # noqa: B018 - says what is missing where nothing is there
        raise CannotTell(f"it needs column '{column}'")

    @cached_property
    def others_known(self) -> bool:
        """Whether the promise is kept against who knows the other sensitive values."""
        given = self.model.get("others_known", False)
        if not isinstance(given, bool):
            raise CannotTell("others_known is neither true nor false")
        if given and self.promise.person:
            raise CannotTell("knowledge about a person with several rows is not defined")
        return given

    def _parted(self, part: Grouped, column: str) -> Grouped:
        """Return a table with its classes parted by all other sensitive columns beside one.

        Where columns are permuted apart, only those that stay linked to it say something of it.
        """
        if column not in self.parted:
            beside = next((b for b in blocks(self.promise) if column in b), ())
            secret = [n for n in beside if n in self.promise.sensitive and n != column]
            known = [n for n in secret if n not in self.promise.quasi and n in part.columns]
            told = [part.table.keyed(name)[0] for name in known]
            group, _ = joined([part.group, *told], len(part.group))
            self.parted[column] = Grouped(table=part.table, columns=part.columns, group=group)
        return self.parted[column]

    def histogram(self, column: str) -> Histogram:
        """Return how often each class shows each value of a sensitive column.

        Where columns are permuted apart, a class is a published group; that says nothing of a
        column that stays linked to quasi-identifiers.
        """
        part = self.part_of(column)
        if self.form == "permuted":
            self.refuse_not_sensitive(column)
            linked = next((b for b in blocks(self.promise) if column in b), ())
            known = [n for n in linked if n in self.promise.quasi]
            if known:
                raise CannotTell(
                    f"groups say nothing of it, since '{column}' stays linked to {listing(known)}"
                )
        return part.histogram(column)

    def numbers(self, column: str) -> Histogram:
        """Return the same of a column of numbers; a missing value is none, but may be there."""
        if self.promise.kinds.get(column) not in (None, "number") or not self.measured(column):
            raise CannotTell(f"'{column}' is no column of numbers")
        return self.histogram(column)

    def refuse_not_sensitive(self, column: str) -> None:
        """Refuse a column that has another role, too."""
        if column not in self.promise.sensitive or column in self.promise.quasi:
            raise CannotTell(f"'{column}' is not sensitive only")

    # ---- what is not published -------------------------------------------------------------------

    def original(self, column: str) -> Mapping[Hashable, int]:
        """Return how often the private table shows each value, before anything was hidden.

        Values are those of `Histogram.values`; the total is the table's rows.
        """
        found = self._private(column)
        keys = (*found.keys, None)
        rows = self.private.codes_of_rows(found)
        count = np.bincount(rows, minlength=len(keys)).tolist()
        return {key: n for key, n in zip(keys, count, strict=True) if n}

    def lines(self, column: str) -> list[tuple[Hashable, list[str]]]:
        """Return a column's level table, line by line: the value, then its text and its labels.

        Values are those of `Histogram.values`; of lines that the table has no row of it is None.
        """
        found, levels = self._private(column), self.levels.get(column)
        if levels is None:
            raise CannotTell(f"'{column}' has no level table")
        keys: dict[int, Hashable] = dict(enumerate(found.keys))
        every = [[cell.strip() for cell in line] for line in levels if line]
        lines = [(keys.pop(found.code_of_text(line[0]), None), line) for line in every]
        if keys:
            raise CannotTell(f"the level table of '{column}' lacks values of the table")
        return lines

    def measured(self, column: str) -> bool:
        """Return whether the values of a column are all numbers or all days."""
        return self._private(column).spelling.measured

    def _private(self, name: str) -> PrivateColumn:
        found = self.private.column(name)
        if found is None:
            raise CannotTell(f"it needs column '{name}' of the table")
        return found

    def behind(self, *columns: str) -> Behind:
        """Return which rows of the private table can stand behind each class.

        Parameters
        ----------
        columns : str
            Columns of the private table, published or not, whose values are counted.
        """
        if self.form != "whole":
            raise CannotTell("which rows form a group cannot be read from the publication")
        if columns not in self.behind_of:
            if not self.grouped.table.has(self.promise.published):
                raise CannotTell("columns are missing")
            asked = [self._private(name) for name in columns]
            found = behind(self.promise, self.grouped, self.private, asked)
            if found is None:
                raise CannotTell("a text has no clear meaning")
            self.behind_of[columns] = found
        return self.behind_of[columns]

    @property
    def public(self) -> PublicPeople:
        """The people of the public table; of a promise that `needs_public`."""
        self.grouped  # noqa: B018
        found = self.people()
        if found is None:
            raise CannotTell("no public table with all quasi-identifiers was given")
        if found.unplaced:
            raise CannotTell(
                f"it is unclear which groups of {listing(found.unplaced)} contain values of the "
                "public table"
            )
        if found.strangers:
            few = "row of the table has" if found.strangers == 1 else "rows of the table have"
            raise CannotTell(
                f"{found.strangers} {few} no person of their own among the public people; the "
                "table is not a part of them"
            )
        if any(c.unknown or c.ambiguous for c in found.covers):
            raise CannotTell("a text has no clear meaning")
        return found

    def people_inside(self) -> Codes:
        """Return the people of the public table whom each class of whole rows covers.

        Returns
        -------
        int64 array of shape (classes,)
        """
        if self.form != "whole":
            raise CannotTell("the people of a class are defined for whole rows only")
        return covered_people(self.promise, self.grouped, self.public)[0]


# ---- findings ------------------------------------------------------------------------------------


def class_check(
    evidence: Evidence,
    what: str,
    broken: npt.NDArray[np.bool_],
    reached: npt.NDArray[Any],
    *,
    bound: float,
    measured: str,
    worst: Literal["least", "most"] = "least",
    column: str = "",
) -> Check:
    """Return the check of a promise that every class has to keep by itself.

    Parameters
    ----------
    what : str
        The promise in words: ``t = 0.2 for 'illness'``.
    broken : bool array of shape (classes,)
        Decided in whole numbers or fractions.
    reached : array of shape (classes,)
        What each class reaches, to be told.
    bound : float
        What was promised.
    measured : str
        What `reached` is, of the worst class: ``largest distance``.
    worst : {'least', 'most'}
        Whether the worst class is the one that reaches least.
    column : str
        The column concerned, if any.
    """
    if not len(reached):
        return Check(
            name=evidence.name,
            holds=True,
            bound=bound,
            column=column,
            sentence=f"No row is published, so {what} holds for no one: there is nothing to find.",
        )
    part = evidence.part_of(column) if column else evidence.grouped
    extreme = float(reached.min() if worst == "least" else reached.max())
    rows = part.table.rows_of(broken[part.group])
    permuted = evidence.form == "permuted" and not evidence.others_known
    where = f", first group {int(np.argmax(broken)) + 1}" if permuted else f" {named(rows)}"
    few = many(int(np.count_nonzero(broken)), "group" if permuted else "class")
    return Check(
        name=evidence.name,
        holds=not rows,
        bound=bound,
        reached=extreme,
        column=column,
        rows=rows.first,
        sentence=f"{what} is broken in {few}, {measured} {extreme:.4g}{where}."
        if rows
        else f"Recomputed from the published file: {what} holds ({measured} {extreme:.4g}).",
    )
