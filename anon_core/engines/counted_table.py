"""What a run asks of an engine that holds a table: it reads, counts, joins and orders, no more.

The table lies in the engine as numbers, and is never read whole. What they represent is known
here, a column at a time.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import BadCells, BadInput, BadPlan, InputChanged
from anon_core.data.column import Column, as_kind, encode
from anon_core.data.counted_rows import CountedColumn
from anon_core.data.frames import coded_arrow
from anon_core.data.reading import DataOptions
from anon_core.data.reading.columns import read_column
from anon_core.data.reading.delimited import nul_byte
from anon_core.data.reading.stored import is_address, name_of
from anon_core.data.table import Dataset, check_kinds, check_names
from anon_core.data.values.kinds import ColumnKind
from anon_core.engines.sql_source import files_of, is_parquet, sha256, state

if TYPE_CHECKING:
    import pyarrow as pa

#: By column, the number that represents each number's group; see `CountedTable.grouped`.
Groups = Mapping[str, npt.NDArray[np.int64]]
#: Returns a column with more values; takes which of its texts rows have.
Keep = Callable[[Column, npt.NDArray[np.bool_]], Column]
#: Distinct texts of one column that are held in memory at most.
MOST_TEXTS = 4_000_000
#: A column is read from its distinct values here, so no row of the table is known by number.
_FIRST_ROW = re.compile(r" \(first in row [\d,]+\)")


@dataclass(frozen=True, kw_only=True)
class Coded:
    """One published column: what the numbers in the engine's table represent.

    Attributes
    ----------
    column : Column
        One row for each distinct text of the file; the last, where there is one more, is NULL.
    tally : int64 array of shape (texts,)
        Rows with the text.
    """

    column: Column
    tally: npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Numbered:
    """A column that the engine is to hold as numbers.

    Attributes
    ----------
    name, raw : str
        What it is called, and what the file calls it.
    place : int
        In the file, from 0.
    texts : int
        Its distinct texts, with NULL, which is the last.
    """

    name: str
    raw: str
    place: int
    texts: int


class CountedTable(ABC):
    """A table in an engine.

    Attributes
    ----------
    whole : Dataset
        The table before rows were left out.
    dataset : Dataset
        Its columns by counts; those that no one named have no values.
    coded : dict of str to Coded
        By name, of the columns that were asked for.
    path : Path
        A file, a folder, or an address of object storage where the engine reads these.
    name : str
        What the table is called in messages.
    memory : int
        Bytes that the whole run may take.
    """

    whole: Dataset
    dataset: Dataset
    coded: dict[str, Coded]
    path: Path
    name: str

    def __init__(self, path: Path, memory: int) -> None:
        """Open a file or folder, without reading it; the run may take some bytes of memory."""
        self.path, self.memory = path, memory
        self.name = name_of(path)
        self.state = state(path)

    # ---- what an engine does -----------------------------------------------------------------

    @abstractmethod
    def close(self) -> None:
        """Let go of all that is held."""

    @abstractmethod
    def open_source(self, options: DataOptions) -> list[str]:
        """Make the file a relation, and return its columns as it names them."""

    @abstractmethod
    def distinct(self, raw: str, place: int) -> pa.Table:
        """Return a column's distinct values and how many rows have them: ``value``, ``tally``.

        In the order of their texts, a missing value last.

        Raises
        ------
        BadInput
            If there are more than `MOST_TEXTS`.
        """

    @abstractmethod
    def first_row(self, place: int, values: Any, options: DataOptions) -> int:
        """Return the first row, from 0, with one of some values in a column: the file is reread."""

    @abstractmethod
    def hold(self, columns: list[Numbered]) -> int:
        """Hold columns as numbers of their texts, and return how many rows there are."""

    @abstractmethod
    def leave_out(self, gone: Mapping[str, list[int]]) -> int:
        """Leave out rows that have one of some numbers in a column; return how many they were."""

    @abstractmethod
    def counted(
        self, names: tuple[str, ...], groups: Groups = MappingProxyType({})
    ) -> tuple[list[npt.NDArray[np.int64]], npt.NDArray[np.int64]]:
        """Return the distinct tuples of some columns as numbers, one array a column, and counts.

        Numbers of a column in `groups` are those that represent their group.
        """

    @abstractmethod
    def lend(self, name: str, table: pa.Table) -> None:
        """Let queries name a table of whole numbers."""

    @abstractmethod
    def called(self, name: str) -> str:
        """Return what SQL calls a column of the relation ``coded``, which holds the numbers."""

    @abstractmethod
    def ordered(self, query: str) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a query in its order, some at a time."""

    @abstractmethod
    def how_many(self, names: tuple[str, ...], groups: Groups = MappingProxyType({})) -> int:
        """Return how many distinct tuples some columns have, in groups as `counted` says."""

    @abstractmethod
    def keep(self, name: str, query: str) -> None:
        """Keep what a query finds under a name."""

    @abstractmethod
    def drop(self, name: str) -> None:
        """Let go of what was kept under a name."""

    @abstractmethod
    def add(self, name: str, table: pa.Table) -> None:
        """Add rows of whole numbers to what is kept under a name, or begin it with them."""

    @abstractmethod
    def asked(self, query: str) -> list[npt.NDArray[Any]]:
        """Return the columns of whole numbers that a query finds, in any order of rows."""

    def spare(self, memory: int) -> None:  # noqa: B027 - an engine need not hold so much
        """Leave some bytes more of the memory to everything but the engine."""

    def file_sha256(self) -> str:
        """Return the SHA-256 of the table as it is stored."""
        return sha256(self.path)

    # ---- what is the same for all ------------------------------------------------------------

    def grouped(self, names: tuple[str, ...], groups: Groups) -> tuple[list[str], str]:
        """Return what SQL selects for some columns, and what it selects from.

        Parameters
        ----------
        groups : mapping of str to int64 array of shape (texts,)
            By column, the number that represents each number's group.
        """
        import pyarrow as pa

        shown: list[str] = []
        joins = ["coded"]
        for place, name in enumerate(names):
            called, lent = f"coded.{self.called(name)}", f"groups{place}"
            if name not in groups:
                shown.append(called)
                continue
            own: Any = {
                "c": np.arange(len(groups[name]), dtype=np.uint32),
                "s": groups[name].astype(np.uint32),
            }
            self.lend(lent, pa.table(own))
            joins.append(f"JOIN {lent} ON {called} = {lent}.c")
            shown.append(f"{lent}.s")
        return shown, " ".join(joins)

    def read(
        self,
        options: DataOptions,
        kinds: Mapping[str, ColumnKind],
        wanted: tuple[str, ...],
        complete: tuple[str, ...],
        looked_at: tuple[str, ...] = (),
        *,
        keep: Keep | None = None,
    ) -> None:
        """Read the columns that are wanted, and count their values.

        Parameters
        ----------
        kinds : mapping of str to str
            Declared kinds by column.
        wanted : tuple of str
            Columns that are published.
        looked_at : tuple of str
            Columns that are counted and not published: what is found of them is reported as well.
        keep : callable, optional
            Returns a column with more values, given which of its texts rows have.
        complete : tuple of str
            Columns whose missing values cost a row; rows that lack one are left out.

        Raises
        ------
        BadInput, InputChanged
        """
        import pyarrow as pa

        raw = self.open_source(options)
        parquet = is_address(self.path) or is_parquet(files_of(self.path)[0])
        options.refuse_idle("parquet" if parquet else "text", name_of(self.path))
        raw = raw[: self._named_width(raw)]
        names = tuple(name.strip() for name in raw)
        check_names(names)
        check_kinds(kinds, names)
        self.coded = {}
        numbered: list[Numbered] = []
        for place, name in enumerate(names):
            if name not in wanted and name not in looked_at:
                continue
            table = self.distinct(raw[place], place)
            self._refuse_nul(place, table.column("value"), options)
            try:
                coded = _coded(table, name, kinds.get(name), options)
            except BadCells as error:
                odd = table.column("value").take(cast(Any, pa.array(error.rows)))
                raise error.at_row(self.first_row(place, odd, options)) from error
            if keep is not None:
                coded = replace(coded, column=keep(coded.column, coded.tally > 0))
            self.coded[name] = coded
            if name in wanted:
                texts = len(coded.tally)
                numbered.append(Numbered(name=name, raw=raw[place], place=place, texts=texts))
        self._held = tuple(one.name for one in numbered)
        rows = self.hold(numbered)
        if state(self.path) != self.state:
            raise InputChanged(
                f"{self.name} was changed while it was read.",
                remedy="Nothing was released. Run again when no program writes to it.",
            )
        self.digest = self.file_sha256()
        if rows == 0:
            raise BadInput("The table has no rows.", remedy="Load a table with at least one row.")
        self.whole = self._dataset(names, rows, 0)
        dropped = self._without_missing([n for n in names if n in complete])
        if dropped == rows:
            raise BadPlan(
                f"Every one of the {rows} rows misses a value in a quasi-identifier or sensitive "
                "column, so dropping them leaves nothing.",
                remedy="Set missing = 'keep', or give the empty column another role.",
            )
        self.dataset = self._dataset(names, rows - dropped, dropped)

    def _refuse_nul(self, place: int, values: Any, options: DataOptions) -> None:
        """Refuse cells of CSV with a NUL byte, which other programs take for their end."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if pa.types.is_string(values.type):
            odd = values.filter(pc.match_substring(values, "\0"))
            if len(odd) and not is_address(self.path) and not is_parquet(files_of(self.path)[0]):
                raise nul_byte(self.name, self.first_row(place, odd, options) + 1)

    def _named_width(self, raw: list[str]) -> int:
        """Return how many columns are left without the empty, nameless ones at the end.

        Spreadsheets end every line with a separator where a column was once in use.
        """
        width = len(raw)
        while width and not raw[width - 1].strip():
            held = self.distinct(raw[width - 1], width - 1).column("value").to_pylist()
            if any(str(value).strip() for value in held if value is not None):
                break
            width -= 1
        return width or len(raw)

    def _dataset(self, names: tuple[str, ...], rows: int, dropped: int) -> Dataset:
        nothing = np.array([rows], dtype=np.int64)
        columns = [
            CountedColumn(self.coded[n].column, self.coded[n].tally)
            if n in self.coded
            else CountedColumn(_unread(n), nothing)
            for n in names
        ]
        return Dataset(
            columns=tuple(columns),
            rows=rows,
            source=self.name,
            dropped=dropped,
            file_sha256=self.digest,
        )

    def _without_missing(self, complete: list[str]) -> int:
        """Leave out rows that miss a value of some columns; return how many."""
        lacking = {
            name: gone
            for name in complete
            if (gone := np.flatnonzero(self.coded[name].column.codes < 0).tolist())
        }
        gone = self.leave_out(lacking) if lacking else 0
        if gone:
            self.coded |= {name: self._left(name, self.coded[name]) for name in self._held}
        return gone

    def _left(self, name: str, before: Coded) -> Coded:
        """Count a column again after rows were left out; values that no row has are dropped."""
        (number,), count = self.counted((name,))
        tally = np.zeros_like(before.tally)
        tally[number] = count
        codes, texts = before.column.as_read
        kept = encode(
            name,
            np.where(tally > 0, codes, np.int32(-1)),
            texts,
            kind=before.column.kind,
            thousands=before.column.thousands,
        )
        notes, undecided = before.column.notes, before.column.undecided
        tokens = before.column.tokens
        return Coded(
            column=replace(kept, notes=notes, undecided=undecided, tokens=tokens), tally=tally
        )


def refuse_many_texts(name: str, distinct: int) -> None:
    """Refuse a column of more texts than are held in memory.

    Raises
    ------
    BadInput
    """
    if distinct > MOST_TEXTS:
        raise BadInput(
            f"Column '{name}' has {distinct:,} different values, more than {MOST_TEXTS:,}.",
            remedy="Give it no role, so that it is not published, or run with engine = 'memory'.",
        )


def _coded(table: pa.Table, name: str, kind: ColumnKind | None, options: DataOptions) -> Coded:
    import pyarrow as pa

    value: Any = table.column("value")
    codes, pool = coded_arrow(value, name)
    tally = table.column("tally").to_numpy().astype(np.int64)
    if not len(codes) or value.null_count == 0:  # room for NULL all the same
        codes, tally = np.append(codes, np.int32(-1)), np.append(tally, 0)
    written = pa.types.is_string(value.type)
    column = read_column(name, codes.astype(np.int32), pool, options, None, written=written)
    if kind is not None:
        try:
            column = as_kind(column, kind)
        except BadCells:
            raise
        except BadInput as error:
            raise InputChanged(error.message, remedy=error.remedy, values=error.values) from error
    notes = tuple(_FIRST_ROW.sub("", note) for note in column.notes)
    return Coded(column=replace(column, notes=notes), tally=tally)


def _unread(name: str) -> Column:
    return Column(name=name, kind="text", codes=np.array([-1], dtype=np.int32), values=())
