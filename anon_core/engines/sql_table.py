"""A table held by DuckDB as codes, in a folder of its own: counted there, and never read whole."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from anon_core.data.reading import DataOptions
from anon_core.data.reading.stored import changed, is_address, located
from anon_core.engines.counted_table import CountedTable, Groups, Numbered, refuse_many_texts
from anon_core.engines.sql_source import failure, placed, source, state_of, text
from anon_core.pipeline.publish.file_formats import ROW_GROUP

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    from anon_core.engines.stored_files import StoredFiles

_THREADS = 2
#: Bytes of the memory setting that are left to everything but DuckDB.
RESERVE = 1 << 30
#: Objects of storage are held in memory up to this part of DuckDB's; larger ones are read by parts.
_SHARE_HELD = 4


class SqlTable(CountedTable):
    """A table in DuckDB: each text is its place in the order of its column's texts."""

    def __init__(self, path: Path, spill: Path, memory: int) -> None:
        """Open a file, without reading it.

        Parameters
        ----------
        path : Path
            CSV in UTF-8, plain or packed, or Parquet; or the address of Parquet in object storage.
        spill : Path
            A folder that is no one else's: the table's numbers are written there.
        memory : int
            Bytes that the whole run may take.
        """
        import duckdb

        super().__init__(path, memory)
        self._begun: set[str] = set()
        self._files: StoredFiles | None = None
        self._place: dict[str, int] = {}
        self.connection = duckdb.connect(str(spill / "table.duckdb"))
        self.spare(0)
        for setting in (
            f"SET temp_directory = {text(str(spill))}",
            f"SET threads = {_THREADS}",
            "SET preserve_insertion_order = false",
            # Joins are written in the order that keeps rows few: nothing is known of lent tables.
            "SET disabled_optimizers = 'join_order'",
            "SET autoinstall_known_extensions = false",
            "SET enable_progress_bar = false",
        ):
            self.connection.execute(setting)

    def close(self) -> None:
        """Let go of the file that holds the numbers."""
        if self._files is not None:
            self._files.release()
        self.connection.close()

    def open_source(self, options: DataOptions) -> list[str]:
        """Make the file a relation, and return its columns as it names them."""
        if not is_address(self.path):
            return source(self.path, options, self.execute)
        from anon_core.engines.stored_files import StoredFiles, stored_source

        stored = located(self.path)
        if self.state != state_of(stored):
            raise changed(self.name)
        self._files = StoredFiles(stored)
        room = (self.memory - RESERVE) // _SHARE_HELD
        columns = stored_source(self._files, room, self.connection, self.execute)
        self.spare(self._files.held)
        return columns

    def distinct(self, raw: str, place: int) -> pa.Table:
        """Return a column's distinct values with counts, and make their texts a type."""
        called = placed(place)
        shown = f"CAST({called} AS VARCHAR)"
        typed = self.one(f"SELECT typeof({called}) FROM source LIMIT 1") != "VARCHAR"
        value = f"any_value({called})" if typed else shown
        self.execute(
            f"CREATE TEMP TABLE texts AS SELECT {shown} AS text, {value} AS value, "
            f"count(*) AS tally FROM source GROUP BY {shown}"
        )
        refuse_many_texts(raw.strip(), int(self.one("SELECT count(*) FROM texts")))
        self.execute(
            f"CREATE TEMP TABLE numbers{place} AS SELECT text, "
            "row_number() OVER (ORDER BY text) - 1 AS number FROM texts WHERE text IS NOT NULL"
        )
        self.execute("SET preserve_insertion_order = true")
        found = self.relation("SELECT value, tally FROM texts ORDER BY text NULLS LAST")
        table = cast("pa.Table", found.to_arrow_table())
        self.execute("SET preserve_insertion_order = false")
        self.execute("DROP TABLE texts")
        return table

    def first_row(self, place: int, values: Any, options: DataOptions) -> int:
        """Return the first row, from 0, with one of some values in a column: the file is reread."""
        import pyarrow as pa

        self.lend("odd", pa.table({"value": values}))
        self.execute("SET preserve_insertion_order = true")
        called = f"SELECT row_number() OVER () AS row, {placed(place)} AS value FROM in_order"
        return int(self.one(f"SELECT min(row) - 1 FROM ({called}) JOIN odd USING (value)"))

    def hold(self, columns: list[Numbered]) -> int:
        """Hold columns as numbers of their texts, and return how many rows there are."""
        numbers = [
            f"CAST(coalesce(numbers{one.place}.number, {one.texts - 1}) AS {_width(one.texts)}) "
            f"AS n{one.place}"
            for one in columns
        ]
        # A join looks each entry of a Parquet dictionary up once; a cast to ENUM each row.
        joins = [
            f"LEFT JOIN numbers{one.place} "
            f"ON CAST(source.{placed(one.place)} AS VARCHAR) = numbers{one.place}.text"
            for one in columns
        ]
        self._place = {one.name: one.place for one in columns}
        # A temporary table is put aside as it is where memory is short; any other is compressed.
        self.execute(
            f"CREATE TEMP TABLE coded AS SELECT {', '.join(numbers)} FROM source {' '.join(joins)}"
        )
        for one in columns:
            self.execute(f"DROP TABLE numbers{one.place}")
        self.execute("DROP TABLE IF EXISTS file")
        if self._files is not None:
            self._files.release()
            self.spare(0)
        return int(self.one("SELECT count(*) FROM coded"))

    def leave_out(self, gone: Mapping[str, list[int]]) -> int:
        """Leave out rows that have one of some numbers in a column; return how many they were."""
        lacking = " OR ".join(
            f"{self.called(name)} IN ({', '.join(map(str, numbers))})"
            for name, numbers in gone.items()
        )
        rows = int(self.one(f"SELECT count(*) FROM coded WHERE {lacking}"))
        if rows:
            self.execute(f"DELETE FROM coded WHERE {lacking}")
        return rows

    def counted(
        self, names: tuple[str, ...], groups: Groups = MappingProxyType({})
    ) -> tuple[list[npt.NDArray[np.int64]], npt.NDArray[np.int64]]:
        """Return the distinct tuples of some columns as numbers, one array a column, and counts."""
        shown, coded = self.grouped(names, groups)
        selected = ", ".join(f"{column} AS n{place}" for place, column in enumerate(shown))
        found = self.asked(f"SELECT {selected}, count(*) FROM {coded} GROUP BY {', '.join(shown)}")
        arrays = [column.astype(np.int64) for column in found]
        return arrays[:-1], arrays[-1]

    def how_many(self, names: tuple[str, ...], groups: Groups = MappingProxyType({})) -> int:
        """Return how many distinct tuples some columns have, in groups as `counted` says."""
        shown, coded = self.grouped(names, groups)
        selected = ", ".join(f"{column} AS n{place}" for place, column in enumerate(shown))
        return int(self.one(f"SELECT count(*) FROM (SELECT DISTINCT {selected} FROM {coded})"))

    def lend(self, name: str, table: pa.Table) -> None:
        """Let queries name a table of whole numbers."""
        self.connection.register(name, table)

    def keep(self, name: str, query: str) -> None:
        """Keep what a query finds under a name."""
        self.execute(f"CREATE TEMP TABLE {name} AS {query}")

    def drop(self, name: str) -> None:
        """Let go of what was kept under a name."""
        self.execute(f"DROP TABLE {name}")

    def add(self, name: str, table: pa.Table) -> None:
        """Add rows of whole numbers to what is kept under a name, or begin it with them."""
        self.lend("added", table)
        if name in self._begun:
            self.execute(f"INSERT INTO {name} SELECT * FROM added")
        else:
            self.keep(name, "SELECT * FROM added")
            self._begun.add(name)
        self.connection.unregister("added")

    def asked(self, query: str) -> list[npt.NDArray[Any]]:
        """Return the columns of whole numbers that a query finds, in any order of rows."""
        found = cast(Mapping[str, Any], self.execute(query).fetchnumpy())
        return [np.asarray(column) for column in found.values()]

    def spare(self, memory: int) -> None:
        """Leave some bytes more of the memory to everything but the engine."""
        limit = max(self.memory - RESERVE - memory, RESERVE // 2)
        self.execute(f"SET memory_limit = '{limit // 2**20}MiB'")

    def called(self, name: str) -> str:
        """Return what SQL calls a column of the relation ``coded``."""
        return f"n{self._place[name]}"

    def ordered(self, query: str) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a query in its order, some at a time."""
        import duckdb
        import pyarrow as pa

        # Else parts of the result change places.
        self.execute("SET preserve_insertion_order = true")
        try:
            yield from self.relation(query).to_arrow_reader(ROW_GROUP)
        except (duckdb.Error, pa.ArrowException) as error:
            raise self._failure(error) from None

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
            raise self._failure(error) from None

    def relation(self, query: str) -> Any:
        """Return a query whose rows are asked for later; they come in its order."""
        return self.connection.sql(query)

    def file_sha256(self) -> str:
        """Return the SHA-256 of the table, of which what is held was read already."""
        if self._files is None:
            return super().file_sha256()
        return self._files.digest or self._files.stored.sha256()

    def _failure(self, error: Exception) -> BaseException:
        """Return what went wrong: what became of reading from storage, where it was that."""
        failed = self._files.failed if self._files is not None else None
        return failed or failure(error, self.name)

    def one(self, query: str) -> Any:
        """Return the one value that a query finds; None where it finds none."""
        rows = self.execute(query).fetchall()  # a result that is not read to its end stays in use
        return rows[0][0] if rows else None


def _width(texts: int) -> str:
    return "UTINYINT" if texts < 256 else "USMALLINT" if texts < 65536 else "UINTEGER"
