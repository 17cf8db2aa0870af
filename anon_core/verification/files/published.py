"""The published file of one table: its rows, and what is checked of them alone."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import BadInput, listing
from anon_core.verification.files.bounded_reading import Content
from anon_core.verification.files.csv_files import Split, split
from anon_core.verification.findings import Check, Rows, broken, judged, many, named, numbers
from anon_core.verification.recipe import Terms
from anon_core.verification.rows.groups import Lines
from anon_core.verification.rows.tables import joined
from anon_core.verification.text.cells import Narrow, TextTable, ranked
from anon_core.verification.text.texts import Codes, Spelling, is_formula, may_be_guarded

# The published file of one table, read by rows.


def split_release(content: Content) -> Split:
    """Split the CSV file of a published table into columns of cells.

    Raises
    ------
    BadInput
        If the bytes are no CSV file. Rows that differ in length are `ragged`.
    """
    try:
        found = split(content, "utf-8-sig", ",", "The published file", strict=True)
    except (UnicodeDecodeError, csv.Error) as error:
        raise BadInput("The published file is not a well-formed CSV file in UTF-8.") from error
    if not found.header:
        raise BadInput("The published file is empty: it has no header.")
    return found


def split_cells(shown: TextTable) -> Split | None:
    """Return the same of cells; None where one is missing, which no CSV file can tell."""
    shown.prefetch(shown.names)
    columns = [shown.column_at(place) for place in range(len(shown.names))]
    if not columns or any(np.any(column.codes < 0) for column in columns):
        return None
    return Split(header=list(shown.names), columns=columns, rows=len(shown), ragged={})


class PublishedTable:
    """The published file: texts as codes into each column's distinct texts, row by row.

    What is a matter of the file itself is asked of it: order and writing. Everything else is asked
    of its `lines`.
    """

    #: Whether the CSV file was found to be the writing of these cells already.
    is_written = False
    #: The file that it was read from, where that is not the table's CSV file.
    file = ""

    def __init__(
        self, found: Split, quasi: tuple[str, ...], spelling: Callable[[str], Spelling]
    ) -> None:
        self.spelling, self._quasi = spelling, quasi
        self.header, self.rows, self.ragged = found.header, found.rows, list(found.ragged)
        self.codes: Sequence[Codes | Narrow] = [column.codes for column in found.columns]
        self.texts: Sequence[list[str]] = [list(column.texts) for column in found.columns]

    def called(self, name: str) -> str:
        """Return what the file of the table of this name is called."""
        return self.file or f"{name}.csv"

    def rows_showing(self, odd: Sequence[Sequence[int]]) -> Rows:
        """Return the rows that show one of some texts, given by column."""
        wrong = np.zeros(self.rows, dtype=np.bool_)
        for codes, places in zip(self.codes, odd, strict=True):
            if places:
                wrong |= np.isin(codes, places)
        return numbers(wrong)

    @cached_property
    def _new(self) -> npt.NDArray[np.bool_] | None:
        """Where a row prints something else than the one before; None if one is out of order."""
        new = np.arange(self.rows) < 1
        for texts, codes in zip(self.texts, self.codes, strict=True):
            rank = ranked(texts)[0][codes]
            if np.any((rank[1:] < rank[:-1]) & ~new[1:]):
                return None
            new[1:] |= rank[1:] != rank[:-1]
        return new

    @property
    def rank(self) -> Codes:
        """The place of every row in the order of what rows print, shape (rows,)."""
        rows = self.line_of_row  # lines are numbered as their first rows follow each other
        return rows if self._new is not None else self.lines.ranked()[rows]

    @property
    def line_of_row(self) -> Codes:
        """The distinct line that every row is, shape (rows,)."""
        return self._distinct[0]

    @cached_property
    def _distinct(self) -> tuple[Codes, Codes]:
        if self._new is None:
            return joined(self.codes, self.rows)
        return np.cumsum(self._new) - 1, np.flatnonzero(self._new)  # equal rows follow each other

    @cached_property
    def lines(self) -> Lines:
        """Its distinct lines and how many rows each has, in the order of their first rows."""
        line, first = self._distinct
        return Lines(
            header=tuple(self.header),
            texts=self.texts,
            codes=[codes[first] for codes in self.codes],
            count=np.bincount(line, minlength=len(first)).astype(np.int64),
            quasi=self._quasi,
            spelling=self.spelling,
            find=self._find,
        )

    def _find(self, wanted: Codes, count: Codes) -> Rows:
        """Return the rows of some lines: of each as many of the last as are wanted."""
        candidates = np.flatnonzero((wanted > 0)[self.line_of_row])
        line = self.line_of_row[candidates]
        order = np.argsort(line, kind="stable")
        size = np.bincount(line, minlength=len(count))
        nth = np.empty(len(line), dtype=np.int64)
        nth[order] = np.arange(len(line)) - np.repeat(np.cumsum(size) - size, size)
        return Rows.of(candidates[nth >= (count - wanted)[line]])


# Checks of one published file that do not depend on how it was made.


def check_identifiers(terms: Terms, published: Iterable[Sequence[str]]) -> Check:
    """Check that no identifier is published, given the columns of each table."""
    every = [name for header in published for name in header]
    shown = [name for name in terms.identifier if name in every]
    wrong = f"Identifier {listing(shown)} is published."
    kept = f"No identifier column is published{' as it is' if terms.shown else ''}."
    return judged("identifiers", shown, wrong, kept, column=shown[0] if shown else "")


def check_order(rank: Codes, of: str = "") -> Check:
    """Check that no row stands below one it should stand above, given each row's rank."""
    wrong = Rows.of(np.flatnonzero(np.diff(rank) < 0) + 1)
    return judged(
        "order",
        wrong,
        f"{many(len(wrong), 'row', 'is', 'are')} not in canonical order{of and f' in {of}'} "
        f"{named(wrong)}; the order of the table could show.",
        f"The rows{of and f' of {of}'} are in canonical order, so the table's order does not show.",
    )


def check_formulas(release: PublishedTable) -> Check:
    """Check that no cell is one a spreadsheet would execute."""
    odd = [
        [i for i, text in enumerate(texts) if is_formula(text)] if may_be_guarded(texts) else []
        for texts in release.texts
    ]
    rows = release.rows_showing(odd)
    few = many(len(rows), "row", "has", "have")
    wrong = f"{few} a cell that a spreadsheet could execute {named(rows)}."
    kept = "No cell starts like a formula, and no part of one that may become a cell."
    return judged("formulas", rows, wrong, kept)


def check_readable(release: PublishedTable) -> Check | None:
    """Return a broken check where rows differ in length from the header, else nothing."""
    if not release.ragged:
        return None
    rows = Rows.of(np.array(release.ragged, dtype=np.int64) - 1)
    what = many(len(rows), "published row", "differs", "differ")
    return broken("readable", f"{what} in length from the header {named(rows)}.", rows=rows)
