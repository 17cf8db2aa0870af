"""What a run holds the table with: in memory as it is, or by its counts in DuckDB or Spark."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from anon_core.base.bounded_reading import first_bytes
from anon_core.data.reading.stored import Stored, is_address, located
from anon_core.recipe.plan import Plan

if TYPE_CHECKING:
    from anon_core.engines.counted_table import CountedTable

#: Bytes that a run in memory takes for each cell of the table, measured on a million rows.
BYTES_A_CELL = 160
#: Bytes that a CSV file has for each cell at least, so that its cells are not counted too low.
_BYTES_OF_TEXT = 8


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """The engine of a run, and why.

    Attributes
    ----------
    name : {'memory', 'duckdb', 'spark'}
    why : str
        One sentence.
    memory : int
        Bytes that the run may take.
    """

    name: str
    why: str
    memory: int


def chosen(plan: Plan, table: Path | Stored) -> Chosen:
    """Choose the engine of a run, before anything but a file's size is read.

    Parameters
    ----------
    table : Path or Stored
        A file, a folder or an address of Parquet; or what lies at an address.

    Raises
    ------
    BadPlan
        If DuckDB or Spark is asked for and the plan needs single rows, or Spark is not there.
    """
    engine, memory = plan.engine, plan.engine.bytes
    if engine.name in ("duckdb", "spark"):
        from anon_core.engines.out_of_core import refuse_at_scale

        refuse_at_scale(plan)
    if engine.name == "spark":
        from anon_core.engines.spark_table import refuse_without_spark

        refuse_without_spark()
    if engine.name != "auto":
        return Chosen(name=engine.name, why="The recipe or the command asks for it.", memory=memory)
    cells = _cells(table)
    needs, room = cells * BYTES_A_CELL, memory
    size = f"about {cells:,} cells need {needs / 1e9:.1f} GB, and {room / 1e9:.1f} GB may be taken"
    if needs <= room:
        return Chosen(name="memory", why=f"The table fits: {size}.", memory=memory)
    from anon_core.engines.out_of_core import why_not_at_scale

    if why_not_at_scale(plan) or not _held_by_duckdb(table):
        why = f"The table may not fit ({size}), but it needs single rows or another reader."
        return Chosen(name="memory", why=why, memory=memory)
    return Chosen(name="duckdb", why=f"The table is too large for memory: {size}.", memory=memory)


def opened(engine: Chosen, path: Path, spill: Path) -> CountedTable:
    """Open a table in DuckDB or Spark, without reading it.

    Parameters
    ----------
    spill : Path
        A folder that is no one else's: the table's numbers are written there.
    """
    if engine.name == "spark":
        from anon_core.engines.spark_table import SparkTable

        return SparkTable(path, spill, engine.memory)
    from anon_core.engines.sql_table import SqlTable

    return SqlTable(path, spill, engine.memory)


def _cells(table: Path | Stored) -> int:
    """Return about how many cells a table has: Parquet says it, of others the size does."""
    if isinstance(table, Stored):
        footers = map(table.footer, range(len(table.files)))
        return sum(one.num_rows * one.num_columns for one in footers)
    if is_address(table):
        return _cells(located(table))
    if table.is_dir():
        return sum(_cells(part) for part in table.rglob("*") if part.is_file())
    try:
        if first_bytes(table, 4) != b"PAR1":
            return table.stat().st_size // _BYTES_OF_TEXT
        from pyarrow import parquet

        footers = parquet.read_metadata(table)
        return int(footers.num_rows) * int(footers.num_columns)
    except (OSError, ValueError):  # the reader says what is wrong
        return 0


def _held_by_duckdb(table: Path | Stored) -> bool:
    if isinstance(table, Stored) or is_address(table) or table.is_dir():
        return True
    parquet = first_bytes(table, 4) == b"PAR1"
    return parquet or table.suffix.lower() in (".csv", ".tsv", ".txt", ".gz")
