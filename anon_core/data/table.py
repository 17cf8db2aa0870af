"""The table as the core sees it: columns of equal length."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import BadInput, listing, nearest
from anon_core.data.column import Column, as_kind, encode, tokens_of, trimmed
from anon_core.data.frames import ArrowFrame, columns_of
from anon_core.data.values.kinds import KINDS, ColumnKind

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, kw_only=True)
class Meaning:
    """What an SPSS, Stata or SAS file says of one column.

    Attributes
    ----------
    title : str
        The column's label: often the question that was asked.
    labels : mapping of str to str
        By code, its label.
    """

    title: str = ""
    labels: Mapping[str, str] = field(default_factory=dict[str, str])


MISSING_TOKENS: tuple[str, ...] = ("", "?", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null")
#: How a missing value is written in a release and matched in a hierarchy.
MISSING = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class Dataset:
    """A table that was read: columns of equal length, in the file's order.

    Attributes
    ----------
    source : str
        File or sample name, for headings.
    notes : tuple of str
        What a person should know about how the table was read.
    dropped : int
        Rows left out because a value was missing.
    unseen : int
        Rows left out because a hierarchy did not have one of their values.
    undrawn : int
        Rows left out because a sample did not draw them.
    outside : int
        Rows left out because a condition did not choose them.
    file_sha256 : str
        SHA-256 of the file's bytes, packed where it was; empty where the table came from no file.
    meanings : mapping of str to Meaning
        By column, what an SPSS, Stata or SAS file says of it: a title, and labels of its values.
    numbers : int64 array of shape (rows,), optional
        Which rows of the table as it was read these are; None where none was left out since.
    """

    columns: tuple[Column, ...]
    rows: int
    source: str = ""
    notes: tuple[str, ...] = ()
    dropped: int = 0
    undrawn: int = 0
    unseen: int = 0
    outside: int = 0
    file_sha256: str = ""
    meanings: Mapping[str, Meaning] = field(default_factory=dict[str, Meaning])
    numbers: npt.NDArray[np.int64] | None = None
    _by_name: Mapping[str, Column] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Index the columns by name."""
        object.__setattr__(self, "_by_name", {c.name: c for c in self.columns})

    @property
    def row_numbers(self) -> npt.NDArray[np.int64]:
        """Which rows of the table as it was read these are."""
        return np.arange(self.rows, dtype=np.int64) if self.numbers is None else self.numbers

    @property
    def names(self) -> tuple[str, ...]:
        """Column names in order."""
        return tuple(self._by_name)

    def column(self, name: str) -> Column:
        """Return one column.

        Raises
        ------
        BadInput
            If there is none of that name; lists the columns and the nearest name.
        """
        if name not in self._by_name:
            raise BadInput(
                f"There is no column '{name}'; the table has {listing(self._by_name)}.",
                remedy=f"Use one of the table's column names.{nearest(name, self._by_name)}",
            )
        return self._by_name[name]

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the full content: names, kinds, values and every row's codes."""
        digest = hashlib.sha256()
        for column in self.columns:
            for part in (column.name, column.kind, *column.values):
                digest.update(part.encode("utf-8", "surrogatepass") + b"\x00")
            digest.update(np.ascontiguousarray(column.codes).data)
            if column.spelled is not None:
                codes, texts = column.spelled
                digest.update("\x00".join(texts).encode("utf-8", "surrogatepass"))
                digest.update(np.ascontiguousarray(codes).data)
        return digest.hexdigest()

    def without_missing(self, names: Sequence[str]) -> Dataset:
        """Return the table without the rows that miss a value in any of `names`; counts them."""
        keep = np.ones(self.rows, dtype=np.bool_)
        for name in names:
            keep &= self.column(name).codes >= 0
        gone = self.rows - int(np.count_nonzero(keep))
        if gone == 0:
            return self
        return replace(
            self,
            columns=tuple(c.take(keep) for c in self.columns),
            rows=self.rows - gone,
            dropped=self.dropped + gone,
            numbers=self.row_numbers[keep],
        )

    def only(self, kept: npt.NDArray[np.bool_]) -> Dataset:
        """Return the table with these rows alone, to try something on.

        Parameters
        ----------
        kept : bool array of shape (rows,)
        """
        columns = tuple(column.take(kept) for column in self.columns)
        numbers = self.row_numbers[kept]
        return replace(self, columns=columns, rows=int(np.count_nonzero(kept)), numbers=numbers)

    def chosen(self, kept: npt.NDArray[np.bool_]) -> Dataset:
        """Return the table with the rows that a condition chooses; counts the others.

        Parameters
        ----------
        kept : bool array of shape (rows,)
        """
        found = self.only(kept)
        return replace(found, outside=self.outside + self.rows - found.rows)

    def without_unseen(self, held: npt.NDArray[np.bool_]) -> Dataset:
        """Return the table without rows that hold values no hierarchy has; counts them.

        Parameters
        ----------
        held : bool array of shape (rows,)
        """
        gone = int(np.count_nonzero(held))
        return replace(
            self,
            columns=tuple(c.take(~held) for c in self.columns),
            rows=self.rows - gone,
            unseen=self.unseen + gone,
            numbers=self.row_numbers[~held],
        )

    def with_kinds(self, kinds: Mapping[str, ColumnKind]) -> Dataset:
        """Return the table with some columns read as another kind.

        Raises
        ------
        BadInput
            If a column is unknown or has values that are not of the kind.
        """
        check_kinds(kinds, self.names)
        columns = tuple(as_kind(c, kinds[c.name]) if c.name in kinds else c for c in self.columns)
        return replace(self, columns=columns)

    def lines(self, names: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the rows of some columns as the texts that were read, empty where missing."""
        cells: list[list[str]] = []
        for name in names:
            codes, texts = self.column(name).as_read
            pool = [*texts, MISSING]  # a code of −1 is the last one
            cells.append([pool[code] for code in codes.tolist()])
        return list(zip(*cells, strict=True))

    def frame(self, first: int | None = None) -> pd.DataFrame:
        """Return the table, or its first rows, as a pandas frame of texts (None where missing)."""
        import pandas as pd
        import pyarrow as pa

        stop = self.rows if first is None else min(first, self.rows)
        data: dict[str, Any] = {}
        for column in self.columns:
            codes, values = column.head(stop).as_read
            # The stub package knows neither a mask of an array nor pandas' own texts.
            places = cast(Any, pa.array(codes, mask=codes < 0))
            cells = pa.DictionaryArray.from_arrays(places, pa.array(values, type=pa.large_string()))
            texts = cast(Any, cells.cast(pa.large_string()))
            data[column.name] = pd.Series(pd.array(texts, dtype="str"))
        return pd.DataFrame(data)

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame | ArrowFrame,
        *,
        kinds: Mapping[str, ColumnKind] | None = None,
        missing: Sequence[str] = MISSING_TOKENS,
        missing_in: Mapping[str, Sequence[str]] | None = None,
        source: str = "",
    ) -> Dataset:
        """Build a dataset from a frame of pandas, polars, pyarrow; labels of an index play no part.

        Cells are read as a file's are: blanks around them are no part of them, and what is then
        empty is missing. So is what `missing` lists, and of a column that `missing_in` names, what
        that lists.

        Raises
        ------
        BadInput
            On duplicate column names, an empty frame, or values that are not of a declared kind.
        """
        names, coded, rows = columns_of(frame)
        check_names(names)
        kinds = kinds or {}
        check_kinds(kinds, names)
        if rows == 0:
            raise BadInput("The table has no rows.", remedy="Load a table with at least one row.")
        columns: list[Column] = []
        for name, (codes, texts) in zip(names, coded, strict=True):
            tokens = (missing_in or {}).get(name, missing)
            absent = {MISSING, *(token.strip() for token in tokens)}
            column = encode(name, *trimmed(codes, texts, absent), kind=kinds.get(name))
            columns.append(replace(column, tokens=tokens_of(codes, texts, absent)))
        return cls(columns=tuple(columns), rows=rows, source=source)


def check_kinds(kinds: Mapping[str, ColumnKind], names: Sequence[str]) -> None:
    """Refuse declared kinds of unknown columns, and unknown kinds.

    Raises
    ------
    BadInput
        Naming the column and the nearest name.
    """
    for name, kind in kinds.items():
        if name not in names:
            raise BadInput(
                f"A type is declared for '{name}', but the table has {listing(names)}.",
                remedy=f"Use one of the table's column names.{nearest(name, names)}",
            )
        if kind not in tuple(KINDS):  # what is given may be no text at all
            raise BadInput(
                f"Column '{name}' has the unknown type '{kind}'; allowed are {listing(KINDS)}.",
                remedy="Use one of these types.",
            )


def check_names(names: Sequence[str]) -> None:
    """Refuse empty and duplicate column names.

    Raises
    ------
    BadInput
        Naming the positions (1-based) of the columns concerned.
    """
    empty = [str(i + 1) for i, name in enumerate(names) if not name.strip()]
    if empty:
        raise BadInput(
            f"Column {', '.join(empty)} has no name in the header line.",
            remedy="Give every column a name in the first line of the file. "
            + (
                "pandas writes row numbers without a name: write the file with index=False."
                if empty == ["1"]
                else "Where every line ends with a separator, the last column is empty: delete it."
            ),
        )
    seen: dict[str, int] = {}
    for position, name in enumerate(names):
        if name in seen:
            raise BadInput(
                f"Two columns are called '{name}' (columns {seen[name] + 1} and {position + 1}).",
                remedy="Rename one of them; every column needs its own name.",
            )
        seen[name] = position
