"""A published table in lines and groups: its distinct lines, its classes, and what these show."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from anon_core.verification.findings import Rows
from anon_core.verification.recipe import Terms
from anon_core.verification.rows.tables import PrivateTable, joined, numbered
from anon_core.verification.text.cells import Narrow, ranked
from anon_core.verification.text.texts import Codes, Key, Spelling

# How often the classes of a release show the values of one column.


#: What one class shows: how often each value; None is the missing value.
Counts = Mapping[Any, int]


@dataclass(frozen=True, kw_only=True, eq=False)
class Histogram:
    """How often each class shows each value; of each class only the values that it shows.

    Attributes
    ----------
    owner, value, count : int64 arrays of shape (entries,)
        The class, the value as an index into `values`, and how many of its rows show it; by class
        and then by value, ascending.
    values : tuple
        What each code means: a `Decimal`, a day's number or a text; None is the missing value,
        which is an entry like the others. Spellings of one number are one value.
    classes : int
        Number of classes; one may have no entry.
    """

    owner: Codes
    value: Codes
    count: Codes
    values: tuple[Hashable, ...]
    classes: int

    @cached_property
    def sizes(self) -> Codes:
        """Rows counted in each class, shape (classes,)."""
        return tally(self.owner, self.count, self.classes)

    @cached_property
    def distinct(self) -> Codes:
        """Distinct values in each class, shape (classes,)."""
        return np.bincount(self.owner, minlength=self.classes).astype(np.int64)

    @cached_property
    def most(self) -> Codes:
        """Rows of each class's most frequent value, shape (classes,); 0 where it has none."""
        found = np.zeros(self.classes, dtype=np.int64)
        np.maximum.at(found, self.owner, self.count)
        return found

    @cached_property
    def start(self) -> Codes:
        """Where each class's entries begin, shape (classes + 1,)."""
        return np.searchsorted(self.owner, np.arange(self.classes + 1)).astype(np.int64)

    @cached_property
    def known(self) -> Histogram:
        """The same without the missing value, for models to which that is no value."""
        keep = np.array([value is not None for value in self.values], dtype=np.bool_)[self.value]
        return Histogram(
            owner=self.owner[keep],
            value=self.value[keep],
            count=self.count[keep],
            values=self.values,
            classes=self.classes,
        )

    def of(self, which: int) -> dict[Any, int]:
        """Return what one class shows."""
        own = slice(int(self.start[which]), int(self.start[which + 1]))
        pairs = zip(self.value[own].tolist(), self.count[own].tolist(), strict=True)
        return {self.values[value]: count for value, count in pairs}

    def each(
        self, rule: Callable[[Counts], tuple[bool, float]]
    ) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.float64]]:
        """Ask a rule about every class; classes that show the same are asked about once.

        Parameters
        ----------
        rule : callable
            Given what one class shows, it returns whether the class keeps the model, and what it
            reaches. It decides in whole numbers or fractions; what it reaches is only shown.

        Returns
        -------
        broken : bool array of shape (classes,)
        reached : float64 array of shape (classes,)
        """
        broken = np.zeros(self.classes, dtype=np.bool_)
        reached = np.zeros(self.classes, dtype=np.float64)
        asked: dict[bytes, tuple[bool, float]] = {}
        pairs = np.ascontiguousarray(np.stack([self.value, self.count], axis=1))
        ends = self.start.tolist()
        for which in range(self.classes):
            key = pairs[ends[which] : ends[which + 1]].tobytes()
            if key not in asked:
                asked[key] = rule(self.of(which))
            keeps, reached[which] = asked[key]
            broken[which] = not keeps
        return broken, reached


def tally(codes: Codes, count: Codes, size: int = 0) -> Codes:
    """Return how many rows each code has in all, shape (size or more,).

    Parameters
    ----------
    codes, count : int64 arrays of one shape
        Lines, and how many rows each represents.
    """
    return np.bincount(codes, weights=count, minlength=size).astype(np.int64)


# The distinct lines of a published table, and how many rows each of them has.


@dataclass(frozen=True, kw_only=True, eq=False)
class Lines:
    """What checks are given of a published table: never its rows one by one.

    Attributes
    ----------
    texts : sequence of lists of str
        Every column's distinct texts, as they are printed.
    codes : sequence of arrays of integers, shape (lines,)
        By column, each line's text as an index into its texts.
    count : int64 array of shape (lines,)
        How many rows are this line, 1 or more.
    quasi : tuple of str
        The columns whose cells make classes.
    spelling : callable
        By column, how its cells are read.
    find : callable
        Given how many of its last rows are wanted of each line, and `count`, the numbers of these
        rows in the file.
    """

    header: tuple[str, ...]
    texts: Sequence[list[str]]
    codes: Sequence[Codes | Narrow]
    count: Codes
    quasi: tuple[str, ...]
    spelling: Callable[[str], Spelling]
    find: Callable[[Codes, Codes], Rows]

    def __len__(self) -> int:
        return len(self.count)

    @cached_property
    def rows(self) -> int:
        """Rows of the table."""
        return int(self.count.sum())

    def rows_of(self, marked: npt.NDArray[np.bool_]) -> Rows:
        """Return the rows of the lines that are marked."""
        return self.last_rows_of(np.where(marked, self.count, 0))

    def last_rows_of(self, wanted: Codes) -> Rows:
        """Return of each line as many of its last rows as are wanted."""
        return self.find(wanted, self.count) if np.any(wanted) else Rows()

    def has(self, names: Iterable[str]) -> bool:
        """Return whether every one of the columns is published, once."""
        return all(self.header.count(name) == 1 for name in names)

    def codes_of(self, name: str) -> Codes:
        """Return a column as codes into its distinct texts, shape (lines,)."""
        return self.codes[self.header.index(name)].astype(np.int64, copy=False)

    def ranked(self, columns: Sequence[str] | None = None) -> Codes:
        """Return the place of every line in the order of what its columns print, shape (lines,).

        Of all columns where none are named.
        """
        place = np.zeros(len(self), dtype=np.int64)
        every = range(len(self.header))
        for at in every if columns is None else map(self.header.index, columns):
            rank, order = ranked(self.texts[at])
            both = place * len(order) + rank[self.codes[at]]
            place = numbered(both, (int(place.max(initial=0)) + 1) * len(order))
        return place

    @cached_property
    def meant(self) -> list[list[str]]:
        """Every column's distinct texts without what keeps them from being formulas."""
        return [
            [own.plain(text) if "'" in text else text for text in column]
            if "'" in "".join(column)
            else column
            for own, column in zip(map(self.spelling, self.header), self.texts, strict=True)
        ]

    def texts_of(self, name: str) -> list[str]:
        """Return a column's distinct texts as they are meant."""
        return self.meant[self.header.index(name)]

    def keyed(self, name: str) -> tuple[Codes, tuple[Key | None, ...]]:
        """Return a column with equal values (1.0 and 1) as equal codes, and what these mean.

        None is the missing value.
        """
        spelling = self.spelling(name)
        code_of: dict[Key | None, int] = {}
        keys = (None if text == "" else spelling.key(text) for text in self.texts_of(name))
        codes = [code_of.setdefault(key, len(code_of)) for key in keys]
        return np.array(codes, dtype=np.int64)[self.codes_of(name)], tuple(code_of)

    @cached_property
    def classes(self) -> Codes | None:
        """The class of every line, or None where quasi-identifiers are not published."""
        if not self.has(self.quasi):
            return None
        return joined([self.codes_of(n) for n in self.quasi], len(self))[0]


# Which columns the recipe says are published where, and which of them stay linked row by row.


Block = tuple[str, ...]


def table_names(terms: Terms) -> tuple[str, ...]:
    """Return the names of the tables a recipe publishes."""
    return ("quasi", "sensitive") if terms.shape.tables == 2 else ("release",)


def group_name(columns: Sequence[str]) -> str:
    """Return the name of the column of group numbers, which no other column has."""
    name = "group"
    while name in columns:
        name += " number"
    return name


def parts(terms: Terms) -> dict[str, Block]:
    """Return the columns of each published table."""
    names = table_names(terms)
    return dict(zip(names, _by_role(terms) if len(names) == 2 else [terms.published], strict=True))


def blocks(terms: Terms) -> tuple[Block, ...]:
    """Return the sets of columns that the recipe itself says stay linked row by row."""
    if not terms.permuted:
        return (terms.published,)
    if terms.shape.linked == "roles":
        return tuple(block for block in _by_role(terms) if block)
    linked = _linked_sets(terms)
    inside = [name for block in linked for name in block]
    return (*linked, *((name,) for name in terms.published if name not in inside))


def whole_classes(release: Lines) -> dict[str, Grouped]:
    """Return a table of whole rows in its classes; nothing where quasi-identifiers are missing."""
    classes = release.classes
    if classes is None:
        return {}
    return {"release": Grouped(table=release, columns=release.header, group=classes)}


def sets_are_formed(terms: Terms) -> bool:
    """Say whether the run formed the column sets, so that the recipe does not tell them."""
    return terms.shape.linked == "sets" and not terms.shape.sets


def _by_role(terms: Terms) -> tuple[Block, Block]:
    """Return the columns next to the quasi-identifiers, and those next to the sensitive columns."""
    with_sensitive = terms.shape.insensitive_with == "sensitive"
    second = [
        name
        for name in terms.published
        if name not in terms.quasi and (name in terms.sensitive or with_sensitive)
    ]
    return tuple(n for n in terms.published if n not in second), tuple(second)


def _linked_sets(terms: Terms) -> tuple[Block, ...]:
    """Return the sets of columns that the recipe names, else the sensitive columns."""
    if terms.shape.linked != "sets":
        return ()
    if sets_are_formed(terms):
        sensitive = (n for n in terms.published if n in terms.sensitive)
        apart = tuple(n for n in sensitive if n not in terms.quasi)
        return (apart,) if apart else ()
    return tuple(tuple(n for n in s if n in terms.published) for s in terms.shape.sets)


# A published table in groups: its classes where rows are whole, else its numbered groups.


#: Of a model about all classes together: given which classes may stay by all other models, and
#: which do, it returns those of which it was decided otherwise than the model asks.
Settled = Callable[[npt.NDArray[np.bool_], npt.NDArray[np.bool_]], npt.NDArray[np.bool_]]


@dataclass(frozen=True, kw_only=True, eq=False)
class Grouped:
    """One published table whose rows stand in groups 0 to g - 1.

    Attributes
    ----------
    table : Lines
        Its distinct lines.
    columns : tuple of str
        Its columns next to the group number.
    group : int64 array of shape (lines,)
        Every line's class, or published group where columns are permuted apart.
    """

    table: Lines
    columns: Block
    group: Codes
    coded: dict[Block, tuple[Codes, Codes]] = field(default_factory=dict)
    counted: dict[str, Histogram] = field(default_factory=dict)

    @cached_property
    def sizes(self) -> Codes:
        """Rows per group, shape (groups,)."""
        return tally(self.group, self.table.count)

    @cached_property
    def first(self) -> Codes:
        """The first line of each group, shape (groups,)."""
        return np.unique(self.group, return_index=True)[1]

    def boxes(self, names: Sequence[str]) -> Codes:
        """Return the texts that each class shows in some columns, shape (classes, columns)."""
        return np.stack([self.table.codes_of(name)[self.first] for name in names], axis=1)

    @cached_property
    def rank(self) -> Codes:
        """Place of every line among what lines show next to the group, by texts; shape (lines,)."""
        return self.table.ranked(self.columns)

    def histogram(self, column: str) -> Histogram:
        """Return how often each group shows each value of a column."""
        found = self.counted.get(column)
        if found is None:
            found = self.counted[column] = self._histogram(*self.table.keyed(column))
        return found

    def texts_in_groups(self, column: str) -> Histogram:
        """Return how often each group shows each text of a column; a value is its number."""
        return self._histogram(self.table.codes_of(column), tuple(self.table.texts_of(column)))

    def _histogram(self, codes: Codes, values: tuple[Hashable, ...]) -> Histogram:
        size = max(len(values), 1)
        pair = self.group * size + codes
        order = np.argsort(pair)
        pair = pair[order]
        first = np.flatnonzero(np.diff(pair, prepend=-1))
        return Histogram(
            owner=pair[first] // size,
            value=pair[first] % size,
            count=np.add.reduceat(self.table.count[order], first),
            values=values,
            classes=len(self.sizes),
        )


def facts_of(rows: int, table: PrivateTable, sizes: Codes) -> dict[str, float]:
    """Return what a verification tells of the rows of a release, and of its classes."""
    return {
        "rows": float(rows),
        "table_rows": float(table.rows),
        "suppressed": float(max(table.rows - rows, 0)),
        "classes": float(len(sizes)),
        "smallest_class": float(sizes.min()) if len(sizes) else 0.0,
    }


def codes_shown(name: str, table: PrivateTable, release: Lines) -> Codes:
    """Return what published lines show as codes of the private column; -1 is what it lacks."""
    return table.columns[name].codes_of_texts(release.texts_of(name))[release.codes_of(name)]


def coded_alike(names: Iterable[str], table: PrivateTable, release: Lines) -> Iterator[Codes]:
    """Yield columns coded alike, the table's lines and then the published ones; 0 is unknown."""
    for name in names:
        yield np.concatenate([table.codes(name), codes_shown(name, table, release)]) + 1


def coded(
    block: Block, grouped: Mapping[str, Grouped], table: PrivateTable
) -> tuple[Codes, Codes, Grouped]:
    """Return the tuples of linked columns, coded alike: of the table's lines and published ones."""
    found = next(g for g in grouped.values() if block[0] in g.columns)
    if block not in found.coded:
        joint, _ = joined(coded_alike(block, table, found.table), len(table) + len(found.table))
        found.coded[block] = joint[: len(table)], joint[len(table) :]
    return *found.coded[block], found
