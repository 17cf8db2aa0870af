"""The published file of one table, read by rows."""

from __future__ import annotations

import csv
import io
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cached_property
from itertools import count, islice

import numpy as np
import numpy.typing as npt

from ..base.errors import BadInput
from .findings import Rows
from .lines import Lines
from .opening import refuse_wide
from .plain_csv import read_plain
from .tables import joined
from .texts import Codes, Spelling

_CHUNK = 256  # small, so that its lists are gone before the collector looks at them


class PublishedTable:
    """The published file: texts as codes into each column's distinct texts, row by row.

    What is a matter of the file itself is asked of it: order and writing. Everything else is asked
    of its `lines`.

    Raises
    ------
    BadInput
        If the bytes are no CSV file, or its rows differ in length; `ragged` names these.
    """

    def __init__(
        self, content: bytes, quasi: tuple[str, ...], spelling: Callable[[str], Spelling]
    ) -> None:
        self.spelling = spelling
        self._quasi = quasi
        quick = read_plain(content)
        if quick is not None:
            self.header, self.codes, self.texts, self.rows = quick
            refuse_wide(len(self.header) - 1, "The published file")  # a group number goes before
            self.ragged: list[int] = []
            return
        try:
            text = content.decode("utf-8-sig")
            csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
            lines = csv.reader(io.StringIO(text, newline=""), strict=True)
            self.header = next(lines, [])
            refuse_wide(len(self.header) - 1, "The published file")
            self.ragged = self._read(lines)
        except (UnicodeDecodeError, csv.Error) as error:
            raise BadInput("The published file is no well-formed CSV file in UTF-8.") from error
        if not self.header:
            raise BadInput("The published file is empty: it has no header.")

    def _read(self, lines: Iterable[list[str]]) -> list[int]:
        """Number each column's texts, some rows at a time; return rows of another length."""
        ragged: list[int] = []
        # A text that is not known yet gets the next number.
        code_of = [defaultdict[str, int](count().__next__) for _ in self.header]
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
    def line_of_row(self) -> Codes:
        """The distinct line that every row is, shape (rows,)."""
        return self._distinct[0]

    @cached_property
    def _distinct(self) -> tuple[Codes, Codes]:
        return joined(self.codes, self.rows)

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
        if np.all((wanted == 0) | (wanted == count)):
            return Rows.of(candidates)
        line = self.line_of_row[candidates]
        order = np.argsort(line, kind="stable")
        size = np.bincount(line, minlength=len(count))
        nth = np.empty(len(line), dtype=np.int64)
        nth[order] = np.arange(len(line)) - np.repeat(np.cumsum(size) - size, size)
        return Rows.of(candidates[nth >= (count - wanted)[line]])

    def out_of_order(self) -> npt.NDArray[np.bool_]:
        """Return which rows stand below one they should stand above, shape (rows,)."""
        sign = np.zeros(max(self.rows - 1, 0), dtype=np.int64)
        for codes, texts in zip(self.codes, self.texts, strict=True):
            place = {text: i for i, text in enumerate(sorted(texts))}
            rank = np.array([place[text] for text in texts], dtype=np.int64)[codes]
            sign = np.where(sign == 0, np.diff(rank), sign)
        return np.concatenate([np.zeros(min(self.rows, 1), dtype=np.bool_), sign < 0])
