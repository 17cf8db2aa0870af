"""A table held by Spark as codes, in a folder of its own: counted there, and never read whole."""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import BadInput, BadPlan
from anon_core.data.reading import DataOptions
from anon_core.data.reading.parts import Parts, parts_of
from anon_core.engines.counted_table import CountedTable, Groups, Numbered, refuse_many_texts
from anon_core.engines.sql_source import csv_head, is_parquet, refuse_case_twins, refuse_signs
from anon_core.engines.sql_table import SqlTable
from anon_core.pipeline.publish.file_formats import ROW_GROUP

if TYPE_CHECKING:
    import pyarrow as pa

# Spark on this machine: started without a page or an open port, in a folder of its own.
#
# An extra: pyspark before 4.1, which runs on Java 17.


_THREADS = 2


def refuse_without_spark() -> None:
    """Refuse a run that asks for Spark where it, or Java, is not installed.

    Raises
    ------
    BadPlan
        Naming what is missing.
    """
    if importlib.util.find_spec("pyspark") is None:
        raise BadPlan(
            "The engine is 'spark', and pyspark is not installed.",
            remedy="Install the extra: pip install 'anonymity-workbench[spark]'; or use 'duckdb'.",
        )
    home = os.environ.get("JAVA_HOME", "")
    if shutil.which("java") is None and not (Path(home) / "bin" / "java").is_file():
        raise BadPlan(
            "The engine is 'spark', and Java is not installed.",
            remedy="Install Java 17, for example with apt-get install openjdk-17-jre-headless.",
        )


def session(folder: Path, memory: int) -> Any:
    """Start Spark in this process's machine, with all it writes in a folder of the run's own.

    Parameters
    ----------
    memory : int
        Bytes that Java may take.
    """
    quiet = folder / "log4j2.properties"
    quiet.write_text("rootLogger.level = off\n", encoding="utf-8")
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": f"{memory // 2**20}m",
        "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={folder} "
        f"-Dlog4j2.configurationFile={quiet}",
        "spark.local.dir": str(folder),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "8",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.parquet.compression.codec": "zstd",
        # No one is there who could tell a progress bar from a result.
        "spark.ui.showConsoleProgress": "false",
    }
    made: Any = importlib.import_module("pyspark.sql").SparkSession
    build = made.builder.master(f"local[{_THREADS}]").appName("anonymity-workbench")
    for key, value in settings.items():
        build = build.config(key, value)
    return build.getOrCreate()


def failures() -> tuple[type[Exception], ...]:
    """Return the errors of Spark, and of Java behind it."""
    java: Any = importlib.import_module("py4j.protocol").Py4JError
    spark: Any = importlib.import_module("pyspark.errors").PySparkException
    return java, spark


#: Bytes of the memory setting that are left to everything but Java.
RESERVE = 1 << 30
#: A column that no table has.
_FILE = "\x01file"


class SparkTable(CountedTable):
    """A table in Spark: each text's number is joined to its rows."""

    def __init__(self, path: Path, spill: Path, memory: int) -> None:
        """Open a file, without reading it.

        Parameters
        ----------
        path : Path
            CSV in UTF-8, plain or packed, or Parquet, or a folder of parts.
        spill : Path
            A folder that is no one else's: the table's numbers are written there.
        memory : int
            Bytes that the whole run may take.
        """
        super().__init__(path, memory)
        refuse_case_twins(path)
        self._spill = spill / "spark"
        self._spill.mkdir(mode=0o700)
        with self._telling():
            self._spark = session(self._spill, max(memory - RESERVE, RESERVE))
        self._place: dict[str, int] = {}
        self._texts: dict[int, Any] = {}

    def close(self) -> None:
        """Stop Spark."""
        self._spark.stop()

    def open_source(self, options: DataOptions) -> list[str]:
        """Make the file a relation, and return its columns as it names them.

        Raises
        ------
        BadInput
            If it is no CSV in UTF-8 and no Parquet.
        """
        parts = parts_of(self.path) if self.path.is_dir() else None
        paths = [self.path] if parts is None else list(parts.files)
        refuse_signs(paths, "*?[{\\")
        # As they are: Spark takes %20 for three signs.
        places = [f"file://{one.resolve().as_posix()}" for one in paths]
        with self._telling():
            if is_parquet(paths[0]):
                table = self._spark.read.parquet(*places)
                if parts is not None and parts.keys:
                    table = self._with_folders(table, parts)
                raw = list(cast("list[str]", table.columns))
            else:
                separator, raw = csv_head(paths[0], options, self.path.name)
                table = self._csv(places, separator, len(raw))
            # Columns go by their places: names may hold what SQL takes for something else.
            table = table.toDF(*(f"c{place}" for place in range(len(raw))))
            table.createOrReplaceTempView("source")
        return raw

    def _with_folders(self, table: Any, parts: Parts) -> Any:
        """Return a table with the columns that the names of its files' folders tell."""
        import pyarrow as pa
        from pyspark.sql import functions  # pyright: ignore[reportMissingImports]

        values_of_file = {
            one.resolve().as_posix(): values
            for one, values in zip(parts.files, parts.values, strict=True)
        }
        files = [str(uri) for uri in table.inputFiles()]
        values = [values_of_file[unquote(uri.removeprefix("file://"))] for uri in files]
        columns = {key: [own[nth] for own in values] for nth, key in enumerate(parts.keys)}
        schema = pa.schema([(name, pa.string()) for name in (_FILE, *columns)])
        folders = self._spark.createDataFrame(pa.table({_FILE: files, **columns}, schema=schema))
        marked = table.withColumn(_FILE, functions.input_file_name())
        return marked.join(functions.broadcast(folders), _FILE, "left").drop(_FILE)

    def _csv(self, places: list[str], separator: str, width: int) -> Any:
        columns = ", ".join(f"c{place} STRING" for place in range(width))
        reader = self._spark.read.schema(columns).option("header", True)
        for key, value in {
            "sep": separator,
            "quote": '"',
            "escape": '"',
            "multiLine": True,
            "mode": "FAILFAST",
            "nullValue": "",  # what is empty is filled again below
            "emptyValue": "",
            "ignoreLeadingWhiteSpace": False,
            "ignoreTrailingWhiteSpace": False,
            "enforceSchema": True,
            "encoding": "UTF-8",
            "maxCharsPerColumn": -1,
        }.items():
            reader = reader.option(key, value)
        return reader.csv(places).na.fill("")

    def distinct(self, raw: str, place: int) -> pa.Table:
        """Return a column's distinct values with counts, and number them."""
        import pyarrow as pa
        import pyarrow.compute as pc

        distinct = int(
            self._query(f"SELECT count(DISTINCT c{place}) FROM source").column(0)[0].as_py()
        )
        refuse_many_texts(raw.strip(), distinct)
        found = self._query(
            f"SELECT c{place} AS value, count(*) AS tally FROM source GROUP BY c{place}"
        )
        shown: Any = pc.cast(found.column("value"), pa.string())
        order: Any = pc.call_function("array_sort_indices", [shown.combine_chunks()])
        found = found.take(order)  # what is missing comes last
        numbers = pa.array(np.arange(len(found), dtype=np.int32))
        columns: Any = [found.column("value"), numbers]
        self._texts[place] = pa.table(columns, names=["value", "number"])
        return found

    def first_row(self, place: int, values: Any, options: DataOptions) -> int:
        """Return the first row, from 0, with one of some values in a column: DuckDB rereads it."""
        spill = self._spill / "again"
        spill.mkdir(mode=0o700)
        with closing(SqlTable(self.path, spill, self.memory)) as table:
            table.open_source(options)
            return table.first_row(place, values, options)

    def hold(self, columns: list[Numbered]) -> int:
        """Hold columns as numbers of their texts, and return how many rows there are."""
        joins: list[str] = []
        for one in columns:
            self.lend(f"texts{one.place}", self._texts[one.place])
            joins.append(
                f"LEFT JOIN texts{one.place} ON source.c{one.place} <=> texts{one.place}.value"
            )
            self._place[one.name] = one.place
        numbers = ", ".join(
            f"coalesce(texts{one.place}.number, {one.texts - 1}) AS n{one.place}" for one in columns
        )
        hints = ", ".join(f"texts{one.place}" for one in columns)
        with self._telling():
            found = self._spark.sql(
                f"SELECT /*+ BROADCAST({hints}) */ {numbers} FROM source {' '.join(joins)}"
            )
            self._keep(found, "coded")
        self._texts.clear()
        return self._rows("SELECT count(*) FROM coded")

    def leave_out(self, gone: Mapping[str, list[int]]) -> int:
        """Leave out rows that have one of some numbers in a column; return how many they were."""
        lacking = " OR ".join(
            f"{self.called(name)} IN ({', '.join(map(str, numbers))})"
            for name, numbers in gone.items()
        )
        rows = self._rows(f"SELECT count(*) FROM coded WHERE {lacking}")
        if rows:
            with self._telling():
                left = self._spark.sql(f"SELECT * FROM coded WHERE NOT ({lacking})")
                self._keep(left, "left")
                self._spark.table("left").createOrReplaceTempView("coded")
        return rows

    def counted(
        self, names: tuple[str, ...], groups: Groups = MappingProxyType({})
    ) -> tuple[list[npt.NDArray[np.int64]], npt.NDArray[np.int64]]:
        """Return the distinct tuples of some columns as numbers, one array a column, and counts."""
        shown, coded = self.grouped(names, groups)
        selected = ", ".join(f"{column} AS t{place}" for place, column in enumerate(shown))
        found = self.asked(f"SELECT {selected}, count(*) FROM {coded} GROUP BY {', '.join(shown)}")
        arrays = [column.astype(np.int64) for column in found]
        return arrays[:-1], arrays[-1]

    def how_many(self, names: tuple[str, ...], groups: Groups = MappingProxyType({})) -> int:
        """Return how many distinct tuples some columns have, in groups as `counted` says."""
        shown, coded = self.grouped(names, groups)
        selected = ", ".join(f"{column} AS t{place}" for place, column in enumerate(shown))
        return self._rows(f"SELECT count(*) FROM (SELECT DISTINCT {selected} FROM {coded})")

    def lend(self, name: str, table: pa.Table) -> None:
        """Let queries name a table of whole numbers."""
        import pyarrow as pa

        signed = [
            field.with_type(pa.int64()) if pa.types.is_unsigned_integer(field.type) else field
            for field in table.schema
        ]
        with self._telling():
            lent = self._spark.createDataFrame(table.cast(pa.schema(signed)))
            lent.createOrReplaceTempView(name)

    def keep(self, name: str, query: str) -> None:
        """Keep what a query finds under a name."""
        with self._telling():
            self._keep(self._spark.sql(query), name)

    def drop(self, name: str) -> None:
        """Let go of what was kept under a name."""
        self._spark.catalog.dropTempView(name)
        shutil.rmtree(self._spill / name)

    def add(self, name: str, table: pa.Table) -> None:
        """Add rows of whole numbers to what is kept under a name, or begin it with them."""
        place = str(self._spill / name)
        with self._telling():
            self._spark.createDataFrame(table).write.mode("append").parquet(place)
            self._spark.read.parquet(place).createOrReplaceTempView(name)

    def asked(self, query: str) -> list[npt.NDArray[Any]]:
        """Return the columns of whole numbers that a query finds, in any order of rows."""
        return [column.to_numpy() for column in self._query(query).columns]

    def called(self, name: str) -> str:
        """Return what SQL calls a column of the relation ``coded``."""
        return f"n{self._place[name]}"

    def ordered(self, query: str) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a query in its order, some at a time."""
        from pyarrow import parquet as pq

        with self._telling():
            self._spark.sql(query).write.parquet(str(self._spill / "ordered"))
        # Files are numbered by their ranges, which follow each other.
        for part in sorted((self._spill / "ordered").glob("part-*.parquet")):
            with pq.ParquetFile(part) as file:
                yield from file.iter_batches(ROW_GROUP)
            part.unlink()

    def _keep(self, found: Any, name: str) -> None:
        """Write a relation, so that it is not computed again, and give it a name."""
        place = str(self._spill / name)
        found.write.parquet(place)
        self._spark.read.parquet(place).createOrReplaceTempView(name)

    def _rows(self, query: str) -> int:
        return int(self._query(query).column(0)[0].as_py())

    def _query(self, query: str) -> pa.Table:
        with self._telling():
            return self._spark.sql(query).toArrow()

    @contextmanager
    def _telling(self) -> Generator[None]:
        """Let a failure of Spark name no value of the table.

        Raises
        ------
        BadInput
        """
        try:
            yield
        except failures() as error:
            short = str(error).lower()
            if "outofmemory" in short or "heap space" in short:
                raise BadInput(
                    "The memory that the run may take is too short for this table.",
                    remedy="Give it more, for example --memory 8GB. Nothing was released.",
                ) from None
            if "no space" in short:
                raise BadInput(
                    "The disk that holds the release is full.",
                    remedy="Make room on the disk. Nothing was released.",
                ) from None
            raise BadInput(
                f"{self.path.name} is not a table that Spark can read ({type(error).__name__}): a "
                "row has more or fewer cells than the header, a quote stays open, or it is broken.",
                remedy="Correct it, or run it with engine = 'memory', which names the place.",
            ) from None
