"""The distinct lines of a published table, and how many rows each of them has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from anon_core.verification.findings import Rows
from anon_core.verification.rows.tables import joined, numbered
from anon_core.verification.text.cells import Narrow
from anon_core.verification.text.texts import Codes, Key, Spelling


def plain_texts(
    header: Sequence[str], texts: Sequence[list[str]], spelling: Callable[[str], Spelling]
) -> list[list[str]]:
    """Return columns' distinct texts without what keeps them from being formulas."""
    plain = [spelling(name).plain for name in header]
    return [
        [own(text) if "'" in text else text for text in column]
        if "'" in "".join(column)
        else column
        for own, column in zip(plain, texts, strict=True)
    ]


@dataclass(frozen=True, kw_only=True, eq=False)
class Lines:
    """What checks are given of a published table: never its rows one by one.

    Attributes
    ----------
    header : tuple of str
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
            texts = self.texts[at]
            order = {text: i for i, text in enumerate(sorted(set(texts)))}
            rank = np.fromiter(map(order.__getitem__, texts), np.int64, len(texts))
            both = place * len(order) + rank[self.codes[at]]
            place = numbered(both, (int(place.max(initial=0)) + 1) * len(order))
        return place

    @cached_property
    def meant(self) -> list[list[str]]:
        """Every column's distinct texts without what keeps them from being formulas."""
        return plain_texts(self.header, self.texts, self.spelling)

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
