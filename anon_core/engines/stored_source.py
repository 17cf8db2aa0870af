"""Parquet in object storage as DuckDB reads it where it lies."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from anon_core.base.errors import BadInput
from anon_core.data.reading.parts import refuse_other_schemas, told_by_folders
from anon_core.data.reading.stored import AT_ONCE
from anon_core.engines.sql_source import view_of_parquet

if TYPE_CHECKING:
    import duckdb

    from anon_core.engines.sql_source import Execute
    from anon_core.engines.stored_files import StoredFiles


def stored_source(
    files: StoredFiles, room: int, connection: duckdb.DuckDBPyConnection, execute: Execute
) -> list[str]:
    """Make the objects at an address a relation called source; return its columns.

    Parameters
    ----------
    files : StoredFiles
    room : int
        Bytes of memory that their content may take; where it has more, it is read by parts, and
        more than once.
    connection : duckdb.DuckDBPyConnection
    execute : callable
        As for `source`.

    Raises
    ------
    BadInput
        If they are no Parquet, do not fit each other, or cannot be read.
    """
    stored = files.stored
    if not stored.is_parquet:
        raise BadInput(
            f"{stored.shown} is no Parquet, of which alone DuckDB reads parts.",
            remedy="Bring the table to this machine, or store it as Parquet.",
        )
    names = [file.name for file in stored.files]
    keys, values = told_by_folders(names) if stored.is_folder else ((), ())
    with ThreadPoolExecutor(AT_ONCE) as pool:
        ends = list(pool.map(stored.footer, range(len(names))))
    refuse_other_schemas(names, keys, lambda nth: ends[nth].schema.to_arrow_schema())
    if stored.size <= room:
        files.hold()
    connection.register_filesystem(files)
    columns = ends[0].schema.to_arrow_schema().names
    return view_of_parquet(files.names(), columns, keys, values, execute)
