"""The private table: its columns, its rows after dropping and sampling, and its distinct lines."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from anon_core.verification.recipe import SEED_BITS, Levels, Terms, demand
from anon_core.verification.text.cells import Cells, Narrow, TextTable, narrow
from anon_core.verification.text.texts import (
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

# Which rows of the table a sample holds, drawn again from the recipe.


def drawn(
    columns: Sequence[PrivateColumn], kept: npt.NDArray[np.bool_], share: Fraction, seed: int
) -> npt.NDArray[np.bool_]:
    """Return which of the rows that are kept are drawn, shape (rows,).

    Rows are drawn from the table sorted by what it publishes: numbers and days by size, texts by
    their letters, missing values last.
    """
    rows = np.flatnonzero(kept)
    sort = [_ranks(column)[column.codes[rows]] for column in columns]
    order = np.lexsort(sort[::-1]) if sort else np.arange(len(rows))
    # A third has no end as a decimal: the guard keeps the last of its rows.
    part = share if share <= 1 else share / len(rows)
    size = math.floor(part * len(rows) + Fraction(1, 10**9))
    what = f"The recipe draws {size:,} rows, and {len(rows):,} are complete."
    demand(size <= len(rows), what, "Use the recipe that the run completed.")
    places = random_of(seed, "sample").permutation(len(rows))[:size]
    found = np.zeros(len(kept), dtype=np.bool_)
    found[rows[order[places]]] = True
    return found


def random_of(seed: int, *purpose: str) -> np.random.Generator:
    """Return the random numbers that a seed gives for a purpose."""
    digest = hashlib.sha256(seed.to_bytes(SEED_BITS // 8))
    for part in purpose:
        digest.update(hashlib.sha256(part.encode()).digest())
    start = np.random.SeedSequence(int.from_bytes(digest.digest()))
    return np.random.Generator(np.random.Philox(start))


def read_column(
    terms: Terms,
    cells: Cells,
    name: str,
    levels: Sequence[Sequence[str]] | None = None,
    thousands: str | None = None,
) -> PrivateColumn:
    """Return a column as the recipe has it read.

    Where a level table is given, if only an empty one, groups of values are runs if they can be.
    """
    return read_private_column(
        cells,
        terms.kinds.get(name),
        terms.missing_of(name),
        kept=terms.kept.get(name, ()),
        neutralised=terms.neutralised,
        ordered=levels is not None,
        levels=levels or (),
        thousands=thousands,
    )


def read_of_rows(terms: Terms, private: TextTable, name: str) -> PrivateColumn:
    """Return a column as the rows have it, whatever is published of it."""
    return read_column(terms, private.column(name), name)


def _ranks(column: PrivateColumn) -> Codes:
    """Return the place of every code in the column's order; the missing value is the last."""
    keys = column.keys
    ordered = sorted(range(len(keys)), key=lambda i: (isinstance(keys[i], str), cast(Any, keys[i])))
    ranks = np.empty(len(column.keys) + 1, dtype=np.int64)
    ranks[[*ordered, len(column.keys)]] = np.arange(len(column.keys) + 1)
    return ranks


# The private table, and what was asked for about it.


#: How many codes there may be for each row to be looked up in a table, and not sorted.
_TABLED = 4


class PrivateTable:
    """The private table, after dropping the rows the recipe drops and drawing its sample.

    Rows that are equal in all that is published are one line, and checks ask how many rows each
    line has: never for the rows one by one.

    Attributes
    ----------
    columns : mapping of str to PrivateColumn
        What is published, by name; as the table has it row by row.
    source : TextTable
        All that was read, with the rows that are left out here.
    terms : Terms
        What the recipe says: roles, kinds of columns, shape of the release.
    levels : mapping of str to level table
        The hierarchies by column: value first, then one label a level.
    """

    def __init__(self, terms: Terms, private: TextTable, levels: Levels) -> None:
        self.columns: dict[str, PrivateColumn] = {}
        self.source, self.terms, self.levels = private, terms, levels
        self._sets: dict[str, LevelSets] = {}
        self._used: dict[str, npt.NDArray[np.bool_]] = {}
        self._further: dict[str, PrivateColumn] = {}
        self._of_lines: dict[str, Narrow] = {}
        private.prefetch(terms.published)
        for name in private.names:
            if name in terms.published:
                own = levels.get(name, ()) if name in terms.quasi else None
                found = self.columns[name] = read_column(terms, private.column(name), name, own)
                odd = found.spelling.measured and str in set(map(type, found.keys))
                what = f"Column '{name}' has values that its type in the recipe does not have."
                demand(not odd or name not in terms.kinds, what, "Correct [types].")
        kept = np.ones(len(private), dtype=np.bool_)
        if terms.drops_missing:
            for name in (*terms.quasi, *terms.sensitive):
                kept &= ~self.columns[name].absent
        self.before_sampling = int(np.count_nonzero(kept))
        self._spelled = None if self.before_sampling == len(private) else kept
        if terms.sample != 1:
            demand(
                terms.seed is not None,
                "The recipe has no seed, so it is not known which rows were drawn for the sample.",
                "Use the completed recipe, which `run --recipe-out` writes.",
            )
            every = list(self.columns.values())
            kept = drawn(every, kept, terms.sample, cast(int, terms.seed))
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
        found = self.columns.get(name) or self._further.get(name)
        if found is None and name in self.source.names:
            found = self._further[name] = read_of_rows(self.terms, self.source, name)
        return found

    def codes(self, name: str) -> Codes:
        """Return the codes of a published column, shape (lines,)."""
        if name not in self._of_lines:
            column = self.columns[name]
            self._of_lines[name] = narrow(column.codes_at(self.first), column.missing)
        return self._of_lines[name].astype(np.int64)

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
        """Return what is in a column's hierarchy; several checks ask for it.

        Raises
        ------
        BadHierarchy
            As `texts.level_sets` does.
        """
        if name not in self._sets:
            self._sets[name] = level_sets(name, self.columns[name], self.levels.get(name))
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

        Which of several equal rows a sample draws depends on their order, so spellings are those of
        all rows that it is drawn from.
        """
        column = self.columns[name]
        shown = self._texts_used(name) & ~column.gone
        used = np.flatnonzero(shown)
        codes = column.code_of_cell[used]
        if self.terms.sample != 1:
            before = np.flatnonzero(column.used(self._spelled) & ~column.gone)
            used = before[np.isin(column.code_of_cell[before], codes)]
            codes = column.code_of_cell[used]
        pairs = zip(codes.tolist(), map(column.texts.__getitem__, used.tolist()), strict=True)
        if np.bincount(codes, minlength=1).max() <= 1:  # each has one spelling
            return dict(pairs)
        found: dict[int, str] = {}
        for code, text in pairs:
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
        full = most > (1 << 62) // size
        if full or most <= _TABLED * rows < most * size:  # what is numbered now is not sorted later
            joint = _in_order(joint, most) if full else numbered(joint, most)
            most = int(joint.max(initial=0)) + 1
        joint *= size
        joint += codes
        most *= size
    joint = _in_order(joint, most)
    # Numbers are given in the order of rows: a number is new where it is above all before it.
    highest = np.maximum.accumulate(joint)
    first = np.flatnonzero(highest[1:] != highest[:-1]) + 1
    return joint, np.concatenate([np.zeros(min(rows, 1), dtype=np.int64), first])


def stretched(begin: Codes, width: Codes) -> tuple[Codes, Codes]:
    """Return of every place in stretches which stretch it is of, and the place.

    Examples
    --------
    >>> [own.tolist() for own in stretched(np.array([4, 9]), np.array([2, 1]))]
    [[0, 0, 1], [4, 5, 9]]
    """
    owner = np.repeat(np.arange(len(width)), width)
    return owner, np.arange(len(owner)) + np.repeat(begin - np.cumsum(width) + width, width)


def _in_order(codes: Codes, most: int) -> Codes:
    """Number codes in [0, most) in the order in which they first occur, shape (rows,)."""
    rows = len(codes)
    if most <= _TABLED * rows:
        first = np.full(most, rows)
        first[codes[::-1]] = np.arange(rows - 1, -1, -1)  # of equal codes the last one stays
        group = codes
    else:
        order = np.argsort(codes)
        new = np.diff(codes[order], prepend=-1) > 0
        first = np.minimum.reduceat(order, np.flatnonzero(new)) if rows else order
        group = np.empty(rows, dtype=np.int64)
        group[order] = np.cumsum(new) - 1
    begins = np.zeros(rows + 1, dtype=np.int64)
    begins[first] = 1
    return (np.cumsum(begins) - 1)[first][group]


def numbered(codes: Codes, size: int) -> Codes:
    """Return codes in [0, size) numbered without gaps in their order, shape (rows,)."""
    if size > 8 * len(codes) + (1 << 16):
        return np.unique(codes, return_inverse=True)[1].astype(np.int64)
    used = np.zeros(size, dtype=np.bool_)
    used[codes] = True
    narrow_enough = np.int32 if size < 1 << 31 else np.int64
    return (np.cumsum(used, dtype=narrow_enough) - 1)[codes].astype(np.int64)
