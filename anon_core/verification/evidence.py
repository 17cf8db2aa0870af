"""What the second computation of a privacy model is given, and how its finding becomes a check."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import AnonError, listing
from anon_core.verification.findings import Check, Rows, judged, many, named
from anon_core.verification.recipe import Levels, Terms, is_number, is_whole
from anon_core.verification.rows.groups import Grouped, Histogram, Settled, blocks
from anon_core.verification.rows.people import Behind, PublicPeople, behind, covered_people
from anon_core.verification.rows.tables import PrivateTable, joined
from anon_core.verification.text.texts import EVERYTHING, Codes, PrivateColumn

#: What a release looks like: whole rows whose cells cover values; whole rows whose numbers are
#: averages; columns permuted separately within published groups.
Form = Literal["whole", "averaged", "permuted"]


class CannotTell(AnonError):
    """A model cannot be recomputed from what is there; the message says why, without a stop."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Evidence:
    """One model, and all that may be known to judge it.

    Whatever is asked for and is not there raises `CannotTell`; the model is then undecided, which
    never counts as holding. The private and the public table are read at the first question.

    Attributes
    ----------
    model : mapping
        The model's table in the recipe: the parameters.
    parts : mapping of str to Grouped
        The published tables in classes: one; or two, which have the same numbered groups.
    private : PrivateTable
        The private table before any suppression, after what the recipe drops and samples.
    failing : list of bool arrays of shape (lines,)
        Filled by the model's checks: lines of the classes that break it by themselves.
    settled : list of callables
        Filled where the model is about all classes together.
    """

    model: Mapping[str, Any]
    parts: Mapping[str, Grouped]
    private: PrivateTable
    people: Callable[[], PublicPeople | None]
    behind_of: dict[tuple[str, ...], Behind] = field(default_factory=dict[tuple[str, ...], Behind])
    parted: dict[str, Grouped] = field(default_factory=dict[str, Grouped], init=False)
    failing: list[npt.NDArray[np.bool_]] = field(
        default_factory=list[npt.NDArray[np.bool_]], init=False
    )
    settled: list[Settled] = field(default_factory=list[Settled], init=False)

    @property
    def name(self) -> str:
        """The model's name in the recipe."""
        return str(self.model.get("name", ""))

    @property
    def terms(self) -> Terms:
        """The rest of what the recipe says: roles, kinds of columns, shape of the release."""
        return self.private.terms

    @property
    def levels(self) -> Levels:
        """The hierarchies by column: value first, then one label a level."""
        return self.private.levels

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
        given: Any = self.model.get(key)
        if not is_number(given) or not math.isfinite(given):
            raise CannotTell(f"{key} is not a number")
        if not least <= given <= most or given <= above:
            raise CannotTell(f"{key} is not a number that is allowed")
        return Fraction(str(given))  # the decimal as it was written, not its float

    def integer(self, key: str, *, least: int = 1) -> int:
        """Return a parameter that is a whole number."""
        given: Any = self.model.get(key)
        if not is_whole(given, least):
            raise CannotTell(f"{key} is not a whole number from {least} up")
        return int(given)

    def text(self, key: str) -> str:
        """Return a parameter that is a text; empty where the recipe leaves it out."""
        given = self.model.get(key, "")
        if not isinstance(given, str):
            raise CannotTell(f"{key} is not a text")
        return given

    def flag(self, key: str, default: bool = False) -> bool:
        """Return a parameter that is true or false."""
        given = self.model.get(key, default)
        if not isinstance(given, bool):
            raise CannotTell(f"{key} must be true or false")
        return given

    # ---- what is published -----------------------------------------------------------------------

    @property
    def form(self) -> Form:
        """What the release looks like."""
        if self.terms.permuted:
            return "permuted"
        return "averaged" if self.terms.averaged else "whole"

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The sensitive columns the model is about: the one its `column` names, or all."""
        column = self.text("column")
        found = self.terms.protected(column)
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
        """Return the published table that shows a column, in the classes the model looks at.

        Where other sensitive values are known, lines of a class that differ in them are apart.
        """
        for part in self.parts.values():
            if column in part.columns:
                return self._parted(part, column) if self.others_known else part
        self.grouped  # noqa: B018 - says what is missing where nothing is there
        raise CannotTell(f"it needs column '{column}'")

    @cached_property
    def others_known(self) -> bool:
        """Whether the model is kept against who knows the other sensitive values."""
        given = self.flag("others_known")
        if given and self.terms.person:
            raise CannotTell("knowledge about a person with several rows is not defined")
        return given

    def _parted(self, part: Grouped, column: str) -> Grouped:
        """Return a table with its classes parted by all other sensitive columns next to one.

        Where columns are permuted apart, only those that stay linked to it say something of it.
        """
        if column not in self.parted:
            block = next((b for b in blocks(self.terms) if column in b), ())
            secret = [n for n in block if n in self.terms.sensitive and n != column]
            known = [n for n in secret if n not in self.terms.quasi and n in part.columns]
            keys = [part.table.keyed(name)[0] for name in known]
            group, _ = joined([part.group, *keys], len(part.group))
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
            linked = next((b for b in blocks(self.terms) if column in b), ())
            known = [n for n in linked if n in self.terms.quasi]
            if known:
                raise CannotTell(
                    f"groups say nothing of it, since '{column}' stays linked to {listing(known)}"
                )
        return part.histogram(column)

    def numbers(self, column: str) -> Histogram:
        """Return the same of a column of numbers; a missing value is none, but may be there."""
        if self.terms.kinds.get(column) not in (None, "number") or not self.measured(column):
            raise CannotTell(f"'{column}' is not a column of numbers")
        return self.histogram(column)

    def refuse_not_sensitive(self, column: str) -> None:
        """Refuse a column that has another role, too."""
        if column not in self.terms.sensitive or column in self.terms.quasi:
            raise CannotTell(f"'{column}' is not sensitive only")

    # ---- what is not published -------------------------------------------------------------------

    def original(self, column: str) -> Mapping[Hashable, int]:
        """Return how often the private table shows each value, before anything was hidden.

        Values are those of `Histogram.values`; the total is the table's rows.
        """
        found = self._private(column)
        keys = (*found.keys, None)
        count = np.bincount(self.private.codes_of_rows(found), minlength=len(keys)).tolist()
        return {key: n for key, n in zip(keys, count, strict=True) if n}

    def weighed(self, column: str, weights: str) -> Mapping[Hashable, int]:
        """Return the same by the people whom rows represent, in units of the least decimal."""
        refuse_published(self, weights)
        found, weight_cells = self._private(column), self._private(weights)
        own = self.private.codes_of_rows(found), self.private.codes_of_rows(weight_cells)
        keys, sums = (*found.keys, None), dict[Hashable, Fraction]()
        for (value, weight), rows in Counter(zip(*(c.tolist() for c in own), strict=True)).items():
            number = weight_of((*weight_cells.keys, None)[weight], weights)
            sums[keys[value]] = sums.get(keys[value], Fraction(0)) + rows * number
        unit = math.lcm(1, *(total.denominator for total in sums.values()))
        whole = {value: int(total * unit) for value, total in sums.items()}
        if sum(whole.values()) * self.private.rows >= 1 << 58:
            raise CannotTell(f"the weights in '{weights}' have too many digits")
        return whole

    def cells_of(self, *columns: str) -> list[tuple[Hashable, ...]]:
        """Return the cells of some columns of the private table, row by row; None is missing."""
        found = [self._private(name) for name in columns]
        keys = [(*own.keys, None) for own in found]
        codes = [self.private.codes_of_rows(own).tolist() for own in found]
        parts = ([k[c] for c in own] for k, own in zip(keys, codes, strict=True))
        return list(zip(*parts, strict=True))

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

    def leaves(self, column: str, texts: Sequence[str]) -> tuple[list[int], int]:
        """Return how many leaves of a column's domain each published text represents, and all.

        All texts of a column stand on one level. Leaves are the lines of its level table, or the
        values of the table; a missing value is one more.
        """
        found = self._private(column)
        missing = int(None in self.original(column))
        shown = [text for text in texts if text != ""]
        if self.levels.get(column) is None:
            domain = len(self.original(column))
            counts = [Counter({text: 1 for text in shown if text != EVERYTHING})]
            counts[0][EVERYTHING] = domain
        else:
            lines = [line for _, line in self.lines(column)]
            domain = len(lines) + missing
            keys = {found.spelling.key(line[0]) for line in lines}
            counts = [Counter({t: 1 for t in shown if found.spelling.key(t) in keys})]
            counts += [Counter(labels) for labels in list(zip(*lines, strict=True))[1:]]
            for top in counts[-1] if len(counts[-1]) == 1 and len(counts) > 1 else ():
                counts[-1][top] = domain
            if len(counts) == 1:  # a table of values alone has everything above them
                counts.append(Counter({EVERYTHING: domain}))
        ways = {
            tuple(1 if text == "" else level[text] for text in texts)
            for level in counts
            if all(text in level for text in shown)
        }
        if len(ways) != 1:
            raise CannotTell(f"texts of '{column}' have no clear meaning")
        return list(ways.pop()), domain

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
            if not self.grouped.table.has(self.terms.published):
                raise CannotTell("columns are missing")
            asked = [self._private(name) for name in columns]
            found = behind(self.grouped, self.private, asked)
            if found is None:
                raise CannotTell("a text has no clear meaning")
            self.behind_of[columns] = found
        return self.behind_of[columns]

    @property
    def public(self) -> PublicPeople:
        """The people of the public table; of a model that needs them."""
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
        return covered_people(self.grouped, self.public)[0]

    def people_alike(self) -> Codes:
        """Return the people of the public table whom each class covers; its rows without a table.

        Averages cover nobody for sure: then it is the rows, too.
        """
        if self.form == "averaged" or self.people() is None:
            return self.sizes
        return self.people_inside()

    def lines_of(self, classes: npt.NDArray[np.bool_], column: str = "") -> npt.NDArray[np.bool_]:
        """Return the lines of classes that are marked, of the table that shows a column."""
        part = self.part_of(column) if column else self.grouped
        return classes[part.group]

    def rows_of(self, classes: npt.NDArray[np.bool_], column: str = "") -> Rows:
        """Return the published rows of classes that are marked."""
        part = self.part_of(column) if column else self.grouped
        return part.table.rows_of(classes[part.group])


def refuse_published(evidence: Evidence, weights: str) -> None:
    """Refuse weights that the release shows."""
    if weights in evidence.terms.published:
        raise CannotTell(f"'{weights}' is published, and weights are used only")


def weight_of(number: Hashable, column: str) -> Fraction:
    """Return a weight as it is in the table."""
    if not isinstance(number, Decimal) or not number.is_finite() or number < 1:
        raise CannotTell(f"'{column}' has a value that is not a weight: a number of at least 1")
    return Fraction(number)


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
    """Return the check of a model that every class has to keep by itself.

    Parameters
    ----------
    what : str
        The model in words: ``t = 0.2 for 'illness'``.
    broken : bool array of shape (classes,)
        Decided in whole numbers or fractions.
    reached : array of shape (classes,)
        What each class reaches, to be shown.
    bound : float
        What was asked for.
    measured : str
        What `reached` is, of the worst class: ``largest distance``.
    worst : {'least', 'most'}
        Whether the worst class is the one that reaches least.
    column : str
        The column concerned, if any.
    """
    if not len(reached):
        return _nothing(evidence, what, bound, column)
    evidence.failing.append(evidence.lines_of(broken, column))
    extreme = float(reached.min() if worst == "least" else reached.max())
    rows = evidence.rows_of(broken, column)
    permuted = evidence.form == "permuted" and not evidence.others_known
    where = f", first group {int(np.argmax(broken)) + 1}" if permuted else f" {named(rows)}"
    few = many(int(np.count_nonzero(broken)), "group" if permuted else "class")
    wrong = f"{what} is broken in {few}, {measured} {extreme:.4g}{where}."
    kept = f"Recomputed from the published file: {what} holds ({measured} {extreme:.4g})."
    return judged(evidence.name, rows, wrong, kept, column=column, bound=bound, reached=extreme)


def _nothing(evidence: Evidence, what: str, bound: float, column: str) -> Check:
    """Return the check of a model where no row is published."""
    words = f"No row is published, so {what} holds for no one: there is nothing to find."
    return judged(evidence.name, False, words, column=column, bound=bound)


#: Which classes break a model, and what each class reaches.
Found = tuple[npt.NDArray[np.bool_], npt.NDArray[Any]]


def each_column(
    evidence: Evidence,
    what: str,
    found: Callable[[str], Found],
    *,
    bound: float,
    measured: str,
    worst: Literal["least", "most"] = "least",
) -> list[Check]:
    """Return the check of each sensitive column that the model is about; see `class_check`.

    Parameters
    ----------
    found : callable
        Given a column, it returns which classes break the model and what each reaches.
    """
    return [
        class_check(
            evidence,
            f"{what} for '{column}'",
            *found(column),
            bound=bound,
            measured=measured,
            worst=worst,
            column=column,
        )
        for column in evidence.columns
    ]


# Models of a least number in every class, and of a greatest share: what is found, in words.


def at_least(
    evidence: Evidence, what: str, reached: Codes, bound: int, *, unit: str, column: str = ""
) -> Check:
    """Compare a number of each class with the least that was asked for.

    Parameters
    ----------
    what : str
        The model in words: ``k = 5``.
    reached : int64 array of shape (classes,)
    unit : str
        What is counted: ``rows`` or ``values``.
    column : str
        The column concerned, if any.
    """
    permuted = evidence.form == "permuted" and not evidence.others_known
    if not len(reached) and not permuted:
        return _nothing(evidence, what, float(bound), column)
    small, least = reached < bound, int(reached.min()) if len(reached) else bound
    if not evidence.settled:
        evidence.failing.append(evidence.lines_of(small, column))
    rows = evidence.rows_of(small, column)
    few = many(int(np.count_nonzero(small)), "group" if permuted else "class", "has", "have")
    smallest, best = ("smallest", "smallest class") if unit == "rows" else ("fewest",) * 2
    if best == "fewest" or permuted:
        best = f"fewest in a {'group' if permuted else 'class'}"
    worst = f"the {smallest} {least:,} {named(rows)}"
    if permuted and rows:
        first = int(np.argmax(small))
        worst = f"first group {first + 1} with {int(reached[first])}"
    wrong = f"{what} is broken: {few} fewer than {bound:,} {unit}, {worst}."
    kept = f"Recomputed from the published file: {what} holds ({best} {least:,})."
    return judged(evidence.name, rows, wrong, kept, column=column, bound=bound, reached=least)


def at_most_shares(evidence: Evidence, counted: Histogram, least: int, column: str) -> Check:
    """Check that no value fills more than 1/l of the rows of a class that have one.

    Rows without a value count on neither side; a class in which no row has one fails.

    Parameters
    ----------
    least : int
        l.
    """
    sizes, most = counted.known.sizes, np.maximum(counted.known.most, 1)
    high = most * least > sizes  # whole numbers: no quotient decides
    worst = float((sizes / most).min()) if len(sizes) else float(least)
    evidence.failing.append(evidence.lines_of(high, column))
    rows = evidence.rows_of(high, column)
    return judged(
        evidence.name,
        rows,
        f"l = {least} for '{column}' is broken: in {many(int(high.sum()), 'group')} a value fills "
        f"more than 1/{least} of the rows that have one, or none has one {named(rows)}.",
        f"Recomputed from the published file: no value of '{column}' fills more than 1/{least} of "
        f"a group (1/{worst:.3g} at most).",
        column=column,
        bound=float(least),
        reached=worst,
    )


# Distinct persons behind each class, from the published lines and the private table alone.
#
# The person column is not published. A class of N lines represents N of the private rows that fit
# it. Where as many rows fit and none fits elsewhere, they are its rows, and its persons are known.
# Else some of the rows that fit are hidden or stand in another class; what is said then holds for
# every choice of N of them.


def person_shares(evidence: Evidence, column: str) -> tuple[Codes, Codes, npt.NDArray[np.bool_]]:
    """Return how many persons of each class have a value of a column, and the same one.

    As many persons have a value as lines show it at most, and as many of those who fit.

    Returns
    -------
    least, most : int64 arrays of shape (classes,)
        The fewest persons who have a value, and the most who have the most common one.
    sure : bool array of shape (classes,)
        Whether it is known whose rows these are.

    Raises
    ------
    CannotTell
        If a row of the table does not say whose it is, or rows cannot be matched.
    """
    found = evidence.behind(evidence.terms.person, column)
    counted, shown = found.counted, evidence.histogram(column)
    refuse_nobody(counted.values)
    number_of = {value: number for number, value in enumerate(shown.values)}
    people: dict[object, int] = {}
    pairs = [value for value in counted.values if isinstance(value, tuple)]
    whose = np.array([people.setdefault(pair[0], len(people)) for pair in pairs], dtype=np.int64)
    what = np.array([number_of.get(pair[1], -1) for pair in pairs], dtype=np.int64)
    present = np.array([pair[1] is not None for pair in pairs], dtype=np.bool_)[counted.value]
    owner, rows = counted.owner[present], counted.count[present]
    whose, what = whose[counted.value][present], what[counted.value][present]
    # Everyone who fits with any value, with all rows that have one.
    wide = max(len(people), 1)
    own, entry = np.unique(owner * wide + whose, return_inverse=True)
    all_rows = np.bincount(entry, weights=rows, minlength=len(own)).astype(np.int64)
    least = fewest(own // wide, all_rows, shown.known.sizes)
    # Who fits with one value, but no more than the lines that show it.
    values = len(shown.values) + 1
    pair, fitting = np.unique(owner * values + what + 1, return_counts=True)
    lines = np.zeros(len(pair), dtype=np.int64)
    known = shown.known
    place = np.searchsorted(pair, known.owner * values + known.value + 1)
    there = place < len(pair)
    there[there] = pair[place[there]] == (known.owner * values + known.value + 1)[there]
    lines[place[there]] = known.count[there]
    most = np.zeros(len(found.sure), dtype=np.int64)
    np.maximum.at(most, pair // values, np.minimum(fitting, lines))
    return least, most, found.sure


def refuse_nobody(values: tuple[object, ...]) -> None:
    """Refuse rows that do not say whose they are; values are tuples that begin with the person."""
    if any(isinstance(value, tuple) and value[0] is None for value in values):
        raise CannotTell("rows of the table do not say whose they are")


def refuse_unclear(unsure: npt.NDArray[np.bool_]) -> None:
    """Refuse to decide where a class breaks a model by rows that may not be its own."""
    if unsure.any():
        raise CannotTell("it is unclear which rows belong to which class")


def fewest(owner: Codes, rows: Codes, lines: Codes) -> Codes:
    """Return how many persons each class has at least, shape (classes,).

    N of the rows that fit have the fewest persons where those with most rows are taken first. Where
    just N rows fit, that is all their persons.

    Parameters
    ----------
    owner, rows : int64 arrays of shape (entries,)
        A class, and how many of the rows that fit it one person has; an entry for each person.
    lines : int64 array of shape (classes,)
        N.
    """
    order = np.lexsort([-rows, owner])
    owner, rows = owner[order], rows[order]
    before = np.cumsum(rows) - rows
    before -= np.append(before, 0)[np.searchsorted(owner, np.arange(len(lines)))][owner]
    return np.bincount(owner[before < lines[owner]], minlength=len(lines)).astype(np.int64)


def person_check(
    evidence: Evidence,
    what: str,
    keeps: npt.NDArray[np.bool_],
    sure: npt.NDArray[np.bool_],
    reached: npt.NDArray[np.float64],
    *,
    bound: float,
    measured: str,
    column: str = "",
) -> Check:
    """Return the check of a model about the persons of every class.

    Parameters
    ----------
    what : str
        The model in words.
    keeps : bool array of shape (classes,)
        Whether a class keeps it whichever of the rows that fit are its own.
    sure : bool array of shape (classes,)
        Whether these are known, so that one which does not keep it breaks it.
    reached : float64 array of shape (classes,)
        What a class reaches at least.
    measured : str
        What `reached` is, of the worst class.
    column : str
        The column concerned, if any.
    """
    if sure.all():
        evidence.failing.append(evidence.lines_of(~keeps, column))
    rows = evidence.rows_of(~keeps, column)
    worst = float(reached.min()) if len(reached) else bound
    broken, open_ = int((~keeps & sure).sum()), int((~keeps & ~sure).sum())
    sentence = (
        f"{what} is broken in {many(broken, 'class')}, {measured} {worst:.4g} {named(rows)}."
        if broken
        else f"{what} is not decided: more rows of the table fit than "
        f"{many(open_, 'class', 'has', 'have')}, so it is unclear whose these are; it could be as "
        f"little as {worst:.4g} {named(rows)}. Treated as broken."
    )
    found = judged(
        evidence.name,
        rows,
        sentence,
        f"Recomputed from the published file and the table: {what} holds ({measured} {worst:.4g}).",
        column=column,
        bound=bound,
        reached=worst,
    )
    return replace(found, undecided=bool(rows) and not broken)


def people_at_least(evidence: Evidence, what: str, least: int, *, measured: str) -> Check:
    """Return the check that every class of whole rows has at least so many distinct persons.

    Raises
    ------
    CannotTell
        If a row of the table does not say whose it is, or rows cannot be matched.
    """
    found = evidence.behind(evidence.terms.person)
    counted = found.counted
    refuse_nobody(counted.values)
    reached = fewest(counted.owner, counted.count, evidence.sizes)
    kept, shown = reached >= least, reached.astype(np.float64)
    return person_check(
        evidence, what, kept, found.sure, shown, bound=float(least), measured=measured
    )
