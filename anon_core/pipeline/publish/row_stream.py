"""Rows of a published table on their way into one file or several, as they come."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from anon_core.pipeline.publish.file_formats import ROW_GROUP

if TYPE_CHECKING:
    import pyarrow as pa


class RowStream:
    """The rows of tables that follow each other, taken some at a time.

    Parameters
    ----------
    tables : iterator of pyarrow.Table
        Of the same columns.
    """

    def __init__(self, tables: Iterator[pa.Table]) -> None:
        self._tables = tables
        self._waiting: list[pa.Table] = []
        self._held = 0

    def take(self, rows: int) -> Iterator[pa.Table]:
        """Yield the next rows, `ROW_GROUP` at a time, the last fewer; one empty table of none."""
        while True:
            wanted = min(rows, ROW_GROUP)
            while self._held < wanted or not self._waiting:
                table = next(self._tables, None)
                if table is None:
                    break
                self._waiting.append(table)
                self._held += table.num_rows
            yield self._first(min(wanted, self._held))
            rows -= wanted
            if rows <= 0:
                return

    def finish(self) -> int:
        """Return how many rows are left, when nobody wants more; whoever made them may look."""
        return self._held + sum(table.num_rows for table in self._tables)

    def _first(self, rows: int) -> pa.Table:
        import pyarrow as pa

        whole = self._waiting[0] if len(self._waiting) == 1 else pa.concat_tables(self._waiting)
        rest = whole.slice(rows)
        self._waiting, self._held = [rest], rest.num_rows
        return whole.slice(0, rows)
