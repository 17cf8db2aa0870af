"""A table held by DuckDB as codes, in a folder of its own: counted there, and never read whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from ..base.errors import BadInput, BadPlan, InputChanged
from ..data.column import Column, encode
from ..data.counted import CountedColumn
from ..data.frames import coded_arrow
from ..data.kinds import ColumnKind
from ..data.reading import DataOptions
from ..data.reading.columns import read_column
from ..data.table import Dataset, check_kinds, check_names
from .sql_source import quoted, sha256, source, state, text, told

if TYPE_CHECKING:
    import duckdb

_THREADS = 2
#: Distinct texts of one column that are held in memory at most.
MOST_TEXTS = 4_000_000
#: Bytes of the memory setting that are left to everything but DuckDB.
RESERVE = 1 << 30


@dataclass(frozen=True, kw_only=True)
class Coded:
    """One published column: what the numbers in DuckDB's table stand for.

    Attributes
    ----------
    column : Column
        One row for each distinct text of the file; the last, where there is one more, is NULL.
    tally : int64 array of shape (texts,)
        Rows with the text.
    """

    column: Column
    tally: npt.NDArray[np.int64]


class SqlTable:
    """A table in DuckDB.

    Attributes
    ----------
    whole : Dataset
        The table before rows were left out.
    dataset : Dataset
        Its columns by counts; those that nobody named have no values.
    coded : dict of str to Coded
        By name, of the columns that were asked for.
    """

    whole: Dataset
    dataset: Dataset
    coded: dict[str, Coded]

    def __init__(self, path: Path, spill: Path, memory: int) -> None:
        """Open a file, without reading it.

        Parameters
        ----------
        path : Path
            CSV in UTF-8, plain or packed, or Parquet.
        spill : Path
            A folder that is nobody else's: the table's numbers are written there.
        memory : int
            Bytes that the whole run may take.
        """
        import duckdb

        self.path = path
        self.state = state(path)
        self.connection = duckdb.connect(str(spill / "table.duckdb"))
        limit = max(memory - RESERVE, RESERVE // 2)
        for setting in (
            f"SET memory_limit = '{limit // 2**20}MiB'",
            f"SET temp_directory = {text(str(spill))}",
            f"SET threads = {_THREADS}",
            "SET preserve_insertion_order = false",
            "SET autoinstall_known_extensions = false",
            "SET enable_progress_bar = false",
        ):
            self.connection.execute(setting)

    def close(self) -> None:
        """Let go of the file that holds the numbers."""
        self.connection.close()

    def read(
        self,
        options: DataOptions,
        kinds: Mapping[str, ColumnKind],
        wanted: tuple[str, ...],
        complete: tuple[str, ...],
        looked_at: tuple[str, ...] = (),
    ) -> None:
        """Read the columns that are wanted, and count their values.

        Parameters
        ----------
        options : DataOptions
        kinds : mapping of str to str
            Declared kinds by column.
        wanted : tuple of str
            Columns that are published.
        looked_at : tuple of str
            Columns that are counted and not published: what is found of them is told as well.
        complete : tuple of str
            Columns whose missing values cost a row; rows that lack one are left out.

        Raises
        ------
        BadInput, InputChanged
        """
        raw = source(self.path, options, self.execute)
        names = tuple(name.strip() for name in raw)
        check_names(names)
        check_kinds(kinds, names)
        at = {name: place for place, name in enumerate(raw)}
        raw_of = dict(zip(names, raw, strict=True))
        counted = tuple(name for name in names if name in (*wanted, *looked_at))
        self.coded = {}
        numbers: list[str] = []
        for name in counted:
            place = at[raw_of[name]]
            coded, width = self._column(name, quoted(raw_of[name]), place, kinds.get(name), options)
            self.coded[name] = coded
            shown = f"CAST({quoted(raw_of[name])} AS VARCHAR)"
            last = len(coded.tally) - 1
            if name not in wanted:
                continue
            code = f"coalesce(enum_code(CAST({shown} AS e{place})), {last})"
            numbers.append(f"CAST({code} AS {width}) AS {quoted(name)}")
        self.execute(f"CREATE TABLE coded AS SELECT {', '.join(numbers)} FROM source")
        self.execute("DROP TABLE IF EXISTS file")
        if state(self.path) != self.state:
            raise InputChanged(
                f"{self.path.name} was changed while it was read.",
                remedy="Nothing was released. Run again when nobody writes to it.",
            )
        self.digest = sha256(self.path)
        rows = int(self.one("SELECT count(*) FROM coded"))
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
            source=self.path.name,
            dropped=dropped,
            file_sha256=self.digest,
        )

    def counted(
        self, names: tuple[str, ...]
    ) -> tuple[list[npt.NDArray[np.int64]], npt.NDArray[np.int64]]:
        """Return the distinct tuples of some columns as numbers, one array a column, and counts."""
        listed = ", ".join(map(quoted, names))
        found = self.execute(f"SELECT {listed}, count(*) FROM coded GROUP BY {listed}").fetchnumpy()
        arrays = [np.asarray(a).astype(np.int64) for a in cast(Mapping[str, Any], found).values()]
        return arrays[:-1], arrays[-1]

    def execute(self, query: str) -> duckdb.DuckDBPyConnection:
        """Run a query; a failure names no value of the table.

        Raises
        ------
        BadInput
            If the file is broken, or disk or memory are short.
        """
        import duckdb

        try:
            return self.connection.execute(query)
        except duckdb.Error as error:
            raise told(error, self.path.name) from None

    def relation(self, query: str) -> Any:
        """Return a query whose rows are asked for later; they come in its order."""
        return self.connection.sql(query)

    def one(self, query: str) -> Any:
        """Return the one value that a query finds; None where it finds none."""
        row = self.execute(query).fetchone()
        return None if row is None else row[0]

    def _column(
        self, name: str, called: str, place: int, kind: ColumnKind | None, options: DataOptions
    ) -> tuple[Coded, str]:
        """Count a column's texts, and make them a type; return them and the width of its codes."""
        import pyarrow as pa

        text = f"CAST({called} AS VARCHAR)"
        typed = self.one(f"SELECT typeof({called}) FROM source LIMIT 1") != "VARCHAR"
        value = f"any_value({called})" if typed else text
        self.execute(
            f"CREATE TEMP TABLE texts AS SELECT {text} AS text, {value} AS value, "
            f"count(*) AS tally FROM source GROUP BY {text}"
        )
        distinct = int(self.one("SELECT count(*) FROM texts"))
        if distinct > MOST_TEXTS:
            raise BadInput(
                f"Column '{name}' has {distinct:,} different values, more than {MOST_TEXTS:,}.",
                remedy="Give it no role, so that it is not published, or run with engine = "
                "'memory'.",
            )
        self.execute(
            f"CREATE TYPE e{place} AS ENUM (SELECT text FROM texts WHERE text IS NOT NULL "
            "ORDER BY text)"
        )
        self.execute("SET preserve_insertion_order = true")
        found = self.relation("SELECT value, tally FROM texts ORDER BY text NULLS LAST")
        table = cast("pa.Table", found.to_arrow_table())
        self.execute("SET preserve_insertion_order = false")
        self.execute("DROP TABLE texts")
        codes, pool = coded_arrow(table.column("value"), name)
        tally = table.column("tally").to_numpy().astype(np.int64)
        if not len(codes) or table.column("value").null_count == 0:  # room for NULL all the same
            codes, tally = np.append(codes, np.int32(-1)), np.append(tally, 0)
        written = pa.types.is_string(table.schema.field("value").type)
        column = read_column(name, codes.astype(np.int32), pool, options, kind, written=written)
        width = (
            "UTINYINT" if len(tally) < 256 else "USMALLINT" if len(tally) < 65536 else "UINTEGER"
        )
        return Coded(column=column, tally=tally), width

    def _without_missing(self, complete: list[str]) -> int:
        """Leave out rows that miss a value of some columns; return how many."""
        lacking = [
            f"{quoted(name)} IN ({', '.join(map(str, gone))})"
            for name in complete
            if (gone := np.flatnonzero(self.coded[name].column.codes < 0).tolist())
        ]
        if not lacking:
            return 0
        gone = int(self.one(f"SELECT count(*) FROM coded WHERE {' OR '.join(lacking)}"))
        if gone:
            self.execute(f"DELETE FROM coded WHERE {' OR '.join(lacking)}")
            listed = {str(row[0]) for row in self.execute("DESCRIBE coded").fetchall()}
            self.coded |= {name: self._left(name, self.coded[name]) for name in listed}
        return gone

    def _left(self, name: str, before: Coded) -> Coded:
        """Count a column anew after rows were left out; values that no row has are dropped."""
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
        return Coded(column=replace(kept, notes=notes, undecided=undecided), tally=tally)


def _unread(name: str) -> Column:
    return Column(name=name, kind="text", codes=np.array([-1], dtype=np.int32), values=())
