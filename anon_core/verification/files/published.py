"""The published file of one table, read by rows."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property
from itertools import islice
from typing import TextIO

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import BadInput
from anon_core.verification.files.bounded_reading import Content, refuse_wide
from anon_core.verification.files.plain_csv import read_plain
from anon_core.verification.findings import Rows, numbers
from anon_core.verification.rows.lines import Lines, plain_texts
from anon_core.verification.rows.tables import lines_of
from anon_core.verification.text.cells import Cells, Narrow, TextTable, narrow, numbering, taken
from anon_core.verification.text.texts import Codes, Spelling

_AT_A_TIME = 1 << 20
#: Larger files are not read as one text.
_PLAIN_BELOW = 1 << 29
_CHUNK = 256  # small, so that its lists are gone before the collector looks at them


def _text_of(content: Content) -> TextIO:
    """Return a file's text, decoded as it is read."""
    file = io.BytesIO(content) if isinstance(content, bytes) else content.path.open("rb")
    return io.TextIOWrapper(file, encoding="utf-8-sig", newline="")


class PublishedTable:
    """The published file: texts as codes into each column's distinct texts, row by row.

    What is a matter of the file itself is asked of it: order and writing. Everything else is asked
    of its `lines`.

    Raises
    ------
    BadInput
        If the bytes are no CSV file, or its rows differ in length; `ragged` names these.
    """

    codes: Sequence[Codes | Narrow]
    texts: Sequence[list[str]]
    #: Whether the CSV file was found to be the writing of these cells already.
    is_written = False
    #: The file that it was read from, where that is not the table's CSV file.
    file = ""
    #: The columns that tell its lines apart; all where it is None.
    lined: Collection[str] | None = None

    def __init__(
        self, content: Content, quasi: tuple[str, ...], spelling: Callable[[str], Spelling]
    ) -> None:
        self.spelling = spelling
        self._quasi = quasi
        quick = read_plain(content[:]) if len(content) < _PLAIN_BELOW else None
        if quick is not None:
            self.header, self.codes, self.texts, self.rows = quick
            refuse_wide(len(self.header) - 1, "The published file")  # a group number goes before
            self.ragged: list[int] = []
            return
        try:
            csv.field_size_limit(max(csv.field_size_limit(), len(content) + 1))
            with _text_of(content) as text:
                lines = csv.reader(text, strict=True)
                self.header = next(lines, [])
                refuse_wide(len(self.header) - 1, "The published file")
                self.ragged = self._read(lines)
        except (UnicodeDecodeError, csv.Error) as error:
            raise BadInput("The published file is no well-formed CSV file in UTF-8.") from error
        if not self.header:
            raise BadInput("The published file is empty: it has no header.")

    @classmethod
    def of_cells(
        cls, shown: TextTable, quasi: tuple[str, ...], spelling: Callable[[str], Spelling]
    ) -> PublishedTable | None:
        """Return a table by its cells; None where one is missing, which no CSV file can tell."""
        shown.prefetch(shown.names)
        columns = [shown.column_at(place) for place in range(len(shown.names))]
        if not columns or any(np.any(column.codes < 0) for column in columns):
            return None
        found = cls.__new__(cls)
        found.spelling, found._quasi, found.ragged = spelling, quasi, []
        found.header, found.rows = list(shown.names), len(shown)
        found.codes = [column.codes for column in columns]
        found.texts = [list(column.texts) for column in columns]
        return found

    def called(self, name: str) -> str:
        """Return what the file of the table of this name is called."""
        return self.file or f"{name}.csv"

    def as_cells(self) -> TextTable:
        """Return its cells.

        Raises
        ------
        BadInput
            If its rows differ in length.
        """
        if self.ragged:
            raise BadInput("Rows of the published file differ in length from its header.")
        columns = [
            Cells(codes=narrow(codes, len(texts)), texts=texts)
            for codes, texts in zip(self.codes, self.texts, strict=True)
        ]
        return TextTable.of(self.header, columns, self.rows)

    def _read(self, lines: Iterable[list[str]]) -> list[int]:
        """Number each column's texts, some rows at a time; return rows of another length."""
        ragged: list[int] = []
        # A text that is not known yet gets the next number.
        code_of = [numbering() for _ in self.header]
        parts: list[list[Codes]] = [[] for _ in self.header]
        self.rows = 0
        lines = iter(lines)
        while chunk := list(islice(lines, _CHUNK)):
            ragged += [
                self.rows + i for i, row in enumerate(chunk, 1) if len(row) != len(self.header)
            ]
            self.rows += len(chunk)
            if not ragged:
                columns = zip(*chunk, strict=True)
                for codes, known, cells in zip(parts, code_of, columns, strict=True):
                    codes.append(np.fromiter(map(known.__getitem__, cells), np.int64, len(chunk)))
        self.codes = [np.concatenate([np.empty(0, np.int64), *codes]) for codes in parts]
        self.texts = [list(known) for known in code_of]
        return ragged

    @cached_property
    def meant(self) -> list[list[str]]:
        """Every column's distinct texts without what keeps them from being formulas."""
        return plain_texts(self.header, self.texts, self.spelling)

    def rows_showing(self, odd: Sequence[Sequence[int]]) -> Rows:
        """Return the rows that show one of some texts, which are told by column."""
        wrong = np.zeros(self.rows, dtype=np.bool_)
        for codes, places in zip(self.codes, odd, strict=True):
            if places:
                wrong |= np.isin(codes, places)
        return numbers(wrong)

    @cached_property
    def line_of_row(self) -> Codes | Narrow:
        """The distinct line that every row is, shape (rows,)."""
        return self._distinct[0]

    @cached_property
    def _distinct(self) -> tuple[Codes | Narrow, Codes, Codes]:
        if self.lined is not None or not self._alike_follow:
            return lines_of([self.codes[place] for place in self._lined_places], self.rows)
        new = np.ones(self.rows, dtype=np.bool_)
        if self.rows:
            new[1:] = False
        for codes in self.codes:
            new[1:] |= codes[1:] != codes[:-1]
        first = np.flatnonzero(new)
        return np.cumsum(new, dtype=np.int64) - 1, first, np.diff(first, append=self.rows)

    def lined_by_all(self) -> PublishedTable:
        """Return the table with its rows told apart by all columns."""
        if self.lined is None:
            return self
        found = PublishedTable.__new__(PublishedTable)
        found.header, found.codes, found.texts = self.header, self.codes, self.texts
        found.rows, found.ragged, found.file = self.rows, self.ragged, self.file
        found.spelling, found._quasi = self.spelling, self._quasi
        return found

    @property
    def _lined_places(self) -> list[int]:
        lined = self.header if self.lined is None else self.lined
        found = [place for place, name in enumerate(self.header) if name in lined]
        return found or list(range(len(self.header)))  # a broken file may have none of them

    @cached_property
    def unlike(self) -> int | None:
        """How many rows no other row equals; None where it would take all rows to count them."""
        if self.lined is None:
            return int(np.count_nonzero(self.lines.count == 1))
        if self.wrong_order:
            return None
        found = 0
        alone = True  # whether the row before is unlike the one before it
        for start in range(0, self.rows, _AT_A_TIME):
            end = min(start + _AT_A_TIME, self.rows)
            new = np.zeros(end - start, dtype=np.bool_)  # unlike the row that follows
            new[-1] = end == self.rows
            for codes in self.codes:
                part = codes[start : end + 1]
                step = part[1:] != part[:-1]
                new[: len(step)] |= step
            found += int(np.count_nonzero(new[1:] & new[:-1])) + int(alone and new[0])
            alone = bool(new[-1])
        return found

    @cached_property
    def lines(self) -> Lines:
        """Its distinct lines and how many rows each has, in the order of their first rows."""
        _, first, count = self._distinct
        return Lines(
            header=tuple(self.header[place] for place in self._lined_places),
            texts=[self.texts[place] for place in self._lined_places],
            codes=[self.codes[place][first].astype(np.int64) for place in self._lined_places],
            count=count,
            quasi=self._quasi,
            spelling=self.spelling,
            find=self._find,
        )

    def _find(self, wanted: Codes, count: Codes) -> Rows:
        """Return the rows of some lines: of each as many of the last as are wanted."""
        candidates = np.flatnonzero(taken(wanted > 0, self.line_of_row))
        if np.all((wanted == 0) | (wanted == count)):
            return Rows.of(candidates)
        line = self.line_of_row[candidates]
        order = np.argsort(line, kind="stable")
        size = np.bincount(line, minlength=len(count))
        nth = np.empty(len(line), dtype=np.int64)
        nth[order] = np.arange(len(line)) - np.repeat(np.cumsum(size) - size, size)
        return Rows.of(candidates[nth >= (count - wanted)[line]])

    @cached_property
    def _alike_follow(self) -> bool:
        """Whether equal rows follow each other, as they do where rows are in order.

        The order of the first column's texts does not matter for that: groups stand by number.
        """
        if not self.wrong_order:
            return True
        if not self.codes or not self.rows:
            return False
        first = self.codes[0]
        used = np.zeros(len(self.texts[0]), dtype=np.bool_)
        used[first] = True
        runs = 1 + np.count_nonzero(first[1:] != first[:-1])
        return bool(runs == np.count_nonzero(used)) and not self._below(within=1)

    @cached_property
    def wrong_order(self) -> Rows:
        """The rows that stand below one they should stand above."""
        return self._below(within=0)

    def _below(self, within: int) -> Rows:
        """Return the rows that stand wrongly among those that say the same in the first columns."""
        wrong: list[Codes] = [np.empty(0, dtype=np.int64)]
        for start in range(0, self.rows - 1, _AT_A_TIME):
            end = min(start + _AT_A_TIME, self.rows - 1)
            alike = np.ones(end - start, dtype=np.bool_)  # as far as columns were looked at
            for codes in self.codes[:within]:
                part = codes[start : end + 1]
                alike &= part[1:] == part[:-1]
            below: list[Codes] = []
            for codes, rank in zip(self.codes[within:], self._ranks[within:], strict=True):
                part = codes[start : end + 1]
                at = np.flatnonzero(alike & (part[1:] != part[:-1]))
                step = rank[part[at + 1]] - rank[part[at]]
                below.append(at[step < 0])
                alike[at[step != 0]] = False  # one text may stand twice among a column's texts
            wrong.append(np.sort(np.concatenate([np.empty(0, dtype=np.int64), *below])) + start + 1)
        return Rows.of(np.concatenate(wrong))

    @cached_property
    def _ranks(self) -> list[npt.NDArray[np.int32]]:
        """The place of every column's texts in their order, each of shape (texts,)."""
        return [_ranked(texts) for texts in self.texts]


def _ranked(texts: Sequence[str]) -> npt.NDArray[np.int32]:
    ordered = sorted(texts)
    if ordered == texts and len(set(texts)) == len(texts):  # as a file's own dictionary has them
        return np.arange(len(texts), dtype=np.int32)
    place = dict(zip(ordered, range(len(ordered)), strict=True))
    return np.fromiter(map(place.__getitem__, texts), np.int32, len(texts))
