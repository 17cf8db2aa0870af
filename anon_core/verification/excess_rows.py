"""What a Parquet file tells beside its rows: dictionaries, and the ends of each column."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from anon_core.verification.engine import engine, own_folder, quoted

if TYPE_CHECKING:
    import pyarrow as pa


def beyond_rows(content: bytes) -> list[str]:
    """Return the columns of a Parquet file that hold more than the rows show.

    A reader of the cells alone sees neither the dictionaries nor the least and greatest values
    that every row group carries, but whoever has the file does. Each of them must come from the
    rows of its own row group.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = pq.read_schema(pa.BufferReader(content)).names
    if not _kinds_stand(content):
        return list(names)
    file = pq.ParquetFile(pa.BufferReader(content), read_dictionary=names)
    found: dict[str, None] = {}
    for group in range(file.num_row_groups):
        table, told = file.read_row_group(group), file.metadata.row_group(group)
        if told.num_columns != table.num_columns:  # a column of several leaves is no cell
            return list(table.column_names)
        for place, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True)):
            if _idle(column) or not _extremes_stand(told.column(place).statistics, column):
                found[name] = None
    return list(found)


def _idle(column: pa.ChunkedArray[Any]) -> bool:
    """Return whether a dictionary of a column holds a text that no row of it shows."""
    import pyarrow as pa

    for chunk in column.chunks:
        if isinstance(chunk, pa.DictionaryArray):
            shown = set(cast(list[object], chunk.indices.unique().to_pylist())) - {None}
            if len(shown) < len(chunk.dictionary):
                return True
    return False


def _extremes_stand(statistics: Any, column: pa.ChunkedArray[Any]) -> bool:
    """Return whether the least and greatest value told of a column are those of its rows."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if statistics is None or not statistics.has_min_max:
        return True
    try:
        if pa.types.is_dictionary(column.type):
            column = cast(Any, column).cast(cast(Any, column.type).value_type)
        ends = pc.call_function("min_max", [column]).as_py()
        return bool(ends["min"] == statistics.min and ends["max"] == statistics.max)
    except (pa.ArrowException, UnicodeDecodeError):
        return False  # what cannot be compared is not known to stand


def _kinds_stand(content: bytes) -> bool:
    """Return whether each column chunk is of the kind that the file's schema says.

    Where one is not, Arrow ends the process as soon as it is asked for what the chunk tells. The
    database reads the same end of the file, where all of it stands, and only refuses.
    """
    import duckdb

    length = int.from_bytes(content[-8:-4], "little")
    with engine() as database, own_folder() as folder:
        end = Path(folder) / "end.parquet"
        end.write_bytes(content[:4] + content[-8 - length :])
        file = quoted(str(end))
        try:
            chunks = database.execute(
                f"SELECT DISTINCT path_in_schema, type FROM parquet_metadata({file})"
            ).fetchall()
            columns = database.execute(
                f"SELECT name, type FROM parquet_schema({file}) WHERE type IS NOT NULL"
            ).fetchall()
        except (duckdb.Error, UnicodeDecodeError):
            return False
    return sorted(chunks) == sorted(columns)
