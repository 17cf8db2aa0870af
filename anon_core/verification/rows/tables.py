"""The two tables of the second computation, and what was promised about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import BadPlan, listing
from anon_core.verification.rows.sampling import drawn, sample_of
from anon_core.verification.rows.shape import Shape, read_shape
from anon_core.verification.text.cells import Narrow, TextTable, narrow
from anon_core.verification.text.kinds import KINDS, refuse_unknown
from anon_core.verification.text.texts import (
    MISSING_TOKENS,
    Codes,
    Cover,
    Key,
    LevelSets,
    PrivateColumn,
    Spelling,
    level_sets,
    read_cover,
    read_private_column,
)

_HASHED_FROM = 1 << 18
#: Versions of recipes that are understood; without one it is the first.
VERSIONS = range(1, 4)


# ---- what was promised -----------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Promise:
    """What a recipe says about its release."""

    identifier: tuple[str, ...]
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    published: tuple[str, ...]
    kinds: Mapping[str, str]
    missing_tokens: tuple[str, ...]
    drops_missing: bool
    neutralised: bool
    max_suppression: Fraction
    models: tuple[Mapping[str, Any], ...]
    algorithm: Mapping[str, Any]
    left_out: tuple[str, ...] = ()
    sample: Fraction = Fraction(1)
    seed: int | None = None
    shape: Shape = field(default_factory=Shape)
    missing_in: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    kept: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    label_names: frozenset[str] = frozenset()  # columns whose labels are names and claim nothing
    drew: bool = False  # whether a change was drawn
    changes: tuple[Mapping[str, Any], ...] = ()
    shown: tuple[str, ...] = ()  # identifiers that are published, changed
    named: tuple[str, ...] = ()  # every column that has a role
    person: str = ""  # tells persons apart, and is one of the identifiers; empty: a row is a person

    def missing_of(self, column: str) -> tuple[str, ...]:
        """Return the texts that stand for a missing value in a column; see `kept`."""
        return self.missing_in.get(column, self.missing_tokens)

    @property
    def permuted(self) -> bool:
        """Whether columns are permuted apart within published groups."""
        return self.shape.permuted

    @property
    def averaged(self) -> bool:
        """Whether numbers are replaced by averages of groups."""
        return self.shape.cells == "averaged"

    @property
    def coarsened(self) -> bool:
        """Whether cells of quasi-identifiers cover values."""
        return self.shape.cells == "coarsened"

    def protected(self, column: str) -> tuple[str, ...]:
        """Return the sensitive columns that a promise is about: the one it names, or all.

        Of several, those that are quasi-identifiers too are left out, as the promises say; the
        published value of such a column is the same for everyone of a class.
        """
        if column:
            return (column,)
        return tuple(n for n in self.sensitive if n not in self.quasi) or self.sensitive

    @property
    def exact(self) -> tuple[str, ...]:
        """The columns that are published as they are."""
        return tuple(name for name in self.published if name not in self.quasi)


def read_promise(
    recipe: Mapping[str, Any],
    names: Sequence[str],
    levels: Mapping[str, Sequence[Sequence[str]]] = MappingProxyType({}),
) -> Promise:
    """Read a recipe for a table with these columns.

    What stands for a missing value where the recipe says nothing of it is a value in a column of
    texts whose level table lists it, or that has none and is declared as text.

    Raises
    ------
    BadPlan
        If the recipe is of another version, not well-formed, promises nothing, or names columns the
        table lacks.
    """
    version = recipe.get("version", VERSIONS[0])
    if isinstance(version, bool) or not isinstance(version, int) or version not in VERSIONS:
        raise BadPlan(
            "The recipe is of a version that is not known here; known are "
            f"{VERSIONS[0]} to {VERSIONS[-1]}.",
            remedy="Use the workbench that wrote it, or a newer one.",
        )
    roles, data, algorithm = (section(recipe, key) for key in ("roles", "data", "algorithm"))
    identifier, quasi, sensitive, insensitive = (
        _names(roles.get(role, []), role)
        for role in ("identifier", "quasi", "sensitive", "insensitive")
    )
    person = ""
    for role in ("person", "household"):  # people of one household count as one
        told = roles.get(role, "")
        if not isinstance(told, str):
            raise BadPlan(f"The recipe's {role} is no name.", remedy=f'Write {role} = "column".')
        person = told or person
        if told and told not in identifier:
            identifier = (*identifier, told)  # it is published no more than they are
    kinds = {name: str(kind) for name, kind in section(recipe, "types").items()}
    refuse_unknown(kinds)
    if len(set(names)) < len(names):
        raise BadPlan("Two columns of the table have one name.", remedy="Rename one of them.")
    changes = _changes(recipe)
    changed = [name for one in changes for name in one["columns"]]
    masked = tuple(name for name in identifier if name in changed)
    named = (*identifier, *quasi, *sensitive, *insensitive)
    identifier = tuple(name for name in identifier if name not in masked)
    shown = {*quasi, *sensitive, *insensitive, *masked}
    gone = [n for n in (*named, *changed, *kinds) if n not in names]
    if gone:
        raise BadPlan(
            f"The table has no column {listing(dict.fromkeys(gone))}, which the recipe names.",
            remedy="Use the table and the recipe the release was made with.",
        )
    both = [n for n in (*identifier, *masked) if n in (*quasi, *sensitive, *insensitive)]
    exact = [n for n in insensitive if n in quasi or n in sensitive]
    if both or exact or not quasi:
        raise BadPlan(
            f"Column {listing(both)} is an identifier and something else."
            if both
            else f"Column {listing(exact)} is insensitive and something else."
            if exact
            else "The recipe names no quasi-identifier.",
            remedy="Correct the recipe's roles.",
        )
    models = recipe.get("models", [])
    if not isinstance(models, list) or not (models or recipe.get("changes")):
        raise BadPlan("The recipe names no privacy model.", remedy="Add one under [[models]].")
    if not all(isinstance(model, Mapping) for model in cast(list[object], models)):
        raise BadPlan("The recipe's models are no tables.", remedy="Write each as [[models]].")
    share = algorithm.get("max_suppression", 0)
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
        raise BadPlan("The recipe's max_suppression is no share.", remedy="Use 0 to 1.")
    sample, seed = sample_of(recipe, data)
    tokens = _names(data.get("missing_values", list(MISSING_TOKENS)), "missing_values")
    found = _names(data.get("kinds_found", []), "kinds_found")
    told = [n for n, kind in kinds.items() if KINDS[kind].read is None and n not in found]
    declared = {name: frozenset(tokens) for name in told}
    listed = {
        name: frozenset(line[0].strip() for line in lines if line).intersection(tokens)
        for name, lines in levels.items()
    }
    missing_in = {n: _names(own, "missing_in") for n, own in section(data, "missing_in").items()}
    return Promise(
        identifier=identifier,
        quasi=quasi,
        sensitive=sensitive,
        published=tuple(n for n in names if n in shown),
        left_out=tuple(n for n in names if n not in shown and n not in identifier),
        kinds=kinds,
        missing_tokens=tokens,
        missing_in=missing_in,
        kept={
            name: own - {""}
            for name, own in (*declared.items(), *listed.items())
            if tokens == MISSING_TOKENS and name not in missing_in
        },
        drops_missing=data.get("missing", "keep") == "drop",
        neutralised=section(recipe, "export").get("formulas", "neutralise") != "keep",
        max_suppression=Fraction(str(share)),  # the decimal as it was written, not its float
        models=tuple(cast(list[Mapping[str, Any]], models)),
        algorithm=algorithm,
        sample=sample,
        seed=seed,
        shape=read_shape(section(recipe, "release")),
        changes=changes,
        shown=masked,
        named=named,
        person=person,
        label_names=label_names(recipe),
    )


def _changes(recipe: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """Return what the recipe lists under [[changes]].

    Raises
    ------
    BadPlan
        If one is no table with columns, or a column is changed twice.
    """
    given = recipe.get("changes", [])
    told = tuple(cast(list[object], given)) if isinstance(given, list) else (given,)
    if not all(isinstance(one, Mapping) for one in told):
        raise BadPlan("The recipe's changes are no tables.", remedy="Write each as [[changes]].")
    found = cast(tuple[Mapping[str, Any], ...], told)
    every = [name for one in found for name in _names(one.get("columns"), "changes' columns")]
    if len(set(every)) < len(every):
        raise BadPlan("The recipe changes a column twice.", remedy="Keep one of the changes.")
    return found


def section(recipe: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """Return one table of the recipe; an empty one where it is not there.

    Raises
    ------
    BadPlan
        If it is no table.
    """
    found = recipe.get(key, {})
    if not isinstance(found, Mapping):
        raise BadPlan(f"The recipe's [{key}] is no table.", remedy=f"Write it as [{key}].")
    return cast(Mapping[str, Any], found)


def label_names(recipe: Mapping[str, Any]) -> frozenset[str]:
    """Return the columns whose labels the recipe confirms as names.

    Raises
    ------
    BadPlan
        If it says anything of labels that is not known here.
    """
    named: set[str] = set()
    for column, told in section(recipe, "labels").items():
        if isinstance(told, Mapping) and set(cast(Mapping[str, Any], told)) == {"names"}:
            named.add(column)
        elif told != "rename":
            raise BadPlan("[labels] says what is not known here.", remedy="Correct [labels].")
    return frozenset(named)


def _names(given: object, key: str) -> tuple[str, ...]:
    if not isinstance(given, list | tuple):
        raise BadPlan(f"The recipe's {key} is no list.", remedy="Write it as a list of texts.")
    texts = tuple(cast(Iterable[object], given))
    if not all(isinstance(text, str) for text in texts):
        raise BadPlan(f"The recipe's {key} holds something other than texts.", remedy="Quote it.")
    return cast(tuple[str, ...], texts)


# ---- the two tables --------------------------------------------------------------------------


class PrivateTable:
    """The private table, after dropping the rows the recipe drops and drawing its sample.

    Rows that are equal in all that is published are one line, and checks ask how many rows each
    line has: never for the rows one by one.

    Attributes
    ----------
    columns : mapping of str to PrivateColumn
        What is published, by name; as the table has it row by row.
    """

    def __init__(
        self,
        promise: Promise,
        private: TextTable,
        levels: Mapping[str, Sequence[Sequence[str]]],
    ) -> None:
        self.columns: dict[str, PrivateColumn] = {}
        self._table, self._promise, self._levels = private, promise, levels
        self._sets: dict[str, LevelSets] = {}
        self._used: dict[str, npt.NDArray[np.bool_]] = {}
        self._beside: dict[str, PrivateColumn] = {}
        private.prefetch(promise.published)
        for name in private.names:
            if name in promise.published:
                self.columns[name] = read_private_column(
                    private.column(name),
                    promise.kinds.get(name),
                    promise.missing_of(name),
                    kept=promise.kept.get(name, ()),
                    neutralised=promise.neutralised,
                    ordered=name in promise.quasi,
                    levels=levels.get(name, ()) if name in promise.quasi else (),
                )
        kept = np.ones(len(private), dtype=np.bool_)
        if promise.drops_missing:
            for name in (*promise.quasi, *promise.sensitive):
                kept &= ~self.columns[name].absent
        self.before_sampling = int(np.count_nonzero(kept))
        self._spelled = None if self.before_sampling == len(private) else kept
        if promise.sample < 1:
            if promise.seed is None:
                raise BadPlan(
                    "The recipe has no seed, so it is not known which rows were drawn for the "
                    "sample.",
                    remedy="Use the completed recipe, which `run --recipe-out` writes.",
                )
            every = list(self.columns.values())
            kept = drawn(every, kept, promise.sample, promise.seed)
        self.rows = int(np.count_nonzero(kept))
        self._kept = None if self.rows == len(private) else kept
        self._places = None if self._kept is None else np.flatnonzero(self._kept)

    @cached_property
    def _lines(self) -> tuple[Codes, Codes, Codes]:
        line, first = joined(map(self._narrow, self.columns.values()), self.rows)
        count = np.bincount(line, minlength=len(first)).astype(np.int64)
        return line, first if self._places is None else self._places[first], count

    @property
    def line(self) -> Codes:
        """Which line every row is, shape (rows,)."""
        return self._lines[0]

    @property
    def first(self) -> Codes:
        """The first row of each line, shape (lines,)."""
        return self._lines[1]

    @property
    def count(self) -> Codes:
        """How many rows are each line, 1 or more; shape (lines,)."""
        return self._lines[2]

    def __len__(self) -> int:
        return len(self.count)

    def _narrow(self, column: PrivateColumn) -> Narrow:
        """Return the codes of the rows that are left, in few bytes."""
        return narrow(column.code_of_cell, column.missing)[self.cells(column)]

    def cells(self, column: PrivateColumn) -> Narrow:
        """Return the cells of the rows that are left, as places of the column's texts."""
        return column.cells if self._places is None else column.cells[self._places]

    def column(self, name: str) -> PrivateColumn | None:
        """Return a column whether it is published or not; None where the table has none."""
        found = self.columns.get(name) or self._beside.get(name)
        if found is None and name in self._table.names:
            found = self._beside[name] = read_private_column(
                self._table.column(name),
                self._promise.kinds.get(name),
                self._promise.missing_of(name),
                kept=self._promise.kept.get(name, ()),
                neutralised=False,
                ordered=False,
            )
        return found

    def codes(self, name: str) -> Codes:
        """Return the codes of a published column, shape (lines,)."""
        return self.columns[name].codes_at(self.first)

    def codes_of_rows(self, column: PrivateColumn) -> Codes:
        """Return a column's codes row by row, shape (rows,)."""
        return self._narrow(column).astype(np.int64)

    def parted(self, columns: Sequence[PrivateColumn]) -> tuple[Codes, Codes, Codes]:
        """Part the lines by columns that may not be published.

        Returns
        -------
        line : int64 array of shape (parts,)
            Of which line each part is.
        first, count : int64 arrays of shape (parts,)
            The first row of each part, and how many rows it has.
        """
        published = list(self.columns.values())
        if all(any(column is own for own in published) for column in columns):
            return np.arange(len(self)), self.first, self.count
        part, first = joined([self.line, *(self._narrow(c) for c in columns)], self.rows)
        count = np.bincount(part, minlength=len(first)).astype(np.int64)
        places = first if self._places is None else self._places[first]
        return self.line[first], places, count

    def has_gaps(self, name: str) -> bool:
        """Return whether a published column has a missing value."""
        return bool(np.any(self._texts_used(name) & self.columns[name].gone))

    def _texts_used(self, name: str) -> npt.NDArray[np.bool_]:
        if name not in self._used:
            self._used[name] = self.columns[name].used(self._kept)
        return self._used[name]

    def level_sets(self, name: str) -> LevelSets:
        """Return what stands in a column's hierarchy; several checks ask for it.

        Raises
        ------
        BadHierarchy
            As `texts.level_sets` does.
        """
        if name not in self._sets:
            self._sets[name] = level_sets(name, self.columns[name], self._levels.get(name))
        return self._sets[name]

    def cover(self, name: str, texts: Sequence[str]) -> Cover:
        """Return what published texts of a quasi-identifier cover.

        Raises
        ------
        BadHierarchy
            As `texts.level_sets` does.
        """
        return read_cover(self.columns[name], self.level_sets(name), texts)

    def written(self, name: str) -> dict[Key, str]:
        """Return how each value of a column is published: the shortest of its spellings."""
        keys = self.columns[name].keys
        return {keys[code]: text for code, text in self.written_codes(name).items()}

    def has_digits(self, name: str, texts: Sequence[str]) -> bool:
        """Say whether texts are values of a column of digits, each of which is written one way."""
        column = self.columns[name]
        codes = None if column.digits is None else column.digits.codes_of(texts)
        if codes is None or np.any(codes < 0):
            return False
        used = np.zeros(len(column.keys) + 1, dtype=np.bool_)
        used[column.code_of_cell[self._texts_used(name)]] = True
        return bool(used[codes].all())

    def written_codes(self, name: str) -> dict[int, str]:
        """Return the same as `written` by the values' codes; values may be many.

        Which of several equal rows a sample draws hangs on their order, so the spellings are those
        of all rows it is drawn from.
        """
        column = self.columns[name]
        shown = self._texts_used(name) & ~column.gone
        used = np.flatnonzero(shown)
        codes = column.code_of_cell[used]
        if self._promise.sample < 1:
            before = np.flatnonzero(column.used(self._spelled) & ~column.gone)
            used = before[np.isin(column.code_of_cell[before], codes)]
            codes = column.code_of_cell[used]
        told = zip(codes.tolist(), map(column.texts.__getitem__, used.tolist()), strict=True)
        if np.bincount(codes, minlength=1).max() <= 1:  # each has one spelling
            return dict(told)
        found: dict[int, str] = {}
        for code, text in told:
            other = found.get(code)
            if other is None or (len(text), text) < (len(other), other):
                found[code] = text
        return found

    def spelling(self, name: str) -> Spelling:
        """Return how a column's cells are read; a column the table lacks is text."""
        found = self.columns.get(name)
        return found.spelling if found else Spelling(kind="text", neutralised=False)


def joined(columns: Iterable[Codes | Narrow], rows: int) -> tuple[Codes, Codes]:
    """Return one code per distinct tuple of codes, in the order of rows, and each one's first row.

    Parameters
    ----------
    columns : iterable of arrays of integers from 0, shape (rows,)
    """
    joint = np.zeros(rows, dtype=np.int64)
    most = 1
    for codes in columns:
        size = int(codes.max(initial=0)) + 1
        if most > (1 << 62) // size:
            joint = _in_order(joint)
            most = int(joint.max(initial=0)) + 1
        joint *= size
        joint += codes
        most *= size
    joint = _in_order(joint)
    # Numbers are given in the order of rows: a number is new where it is above all before it.
    highest = np.maximum.accumulate(joint)
    first = np.flatnonzero(highest[1:] != highest[:-1]) + 1
    return joint, np.concatenate([np.zeros(min(rows, 1), dtype=np.int64), first])


def _in_order(codes: Codes) -> Codes:
    """Number codes in the order in which they first occur, shape (rows,)."""
    if len(codes) > _HASHED_FROM:
        import pyarrow as pa  # a hash table beats sorting, but takes long to load

        coded = cast(Any, pa.array(codes)).dictionary_encode()
        return coded.indices.to_numpy().astype(np.int64)
    _, first, place = np.unique(codes, return_index=True, return_inverse=True)
    number = np.empty(len(first), dtype=np.int64)
    number[np.argsort(first)] = np.arange(len(first))
    return number[place]


def numbered(codes: Codes, size: int) -> Codes:
    """Return codes in [0, size) numbered without gaps in their order, shape (rows,)."""
    if size > 8 * len(codes) + (1 << 16):
        return np.unique(codes, return_inverse=True)[1].astype(np.int64)
    used = np.zeros(size, dtype=np.bool_)
    used[codes] = True
    narrow_enough = np.int32 if size < 1 << 31 else np.int64
    return (np.cumsum(used, dtype=narrow_enough) - 1)[codes].astype(np.int64)
