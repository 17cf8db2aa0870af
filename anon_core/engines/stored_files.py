"""Objects of storage as files of DuckDB: fetched some ahead, or held where memory has room.

DuckDB counts each column on its own, and a column of a Parquet file lies in many places, so that
most of the time would be spent waiting for one answer after the other. What it will ask for next
is known, though: the same columns of the next row groups.
"""

from __future__ import annotations

import hashlib
import io
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import fsspec

from anon_core.base.errors import AnonError, BadInput
from anon_core.data.reading.parts import folder_columns, refuse_other_schemas
from anon_core.data.reading.stored import AT_ONCE, Stored
from anon_core.engines.sql_source import view_of_parquet

if TYPE_CHECKING:
    import duckdb

    from anon_core.engines.sql_source import Execute

#: What DuckDB calls the objects: this and their number.
PROTOCOL = "anonymity-object"
#: Bytes that are fetched ahead at most, of all objects together.
_AHEAD = 1 << 26
_Base: Any = fsspec.AbstractFileSystem


class StoredFiles(_Base):
    """The objects of a table as DuckDB opens them.

    Attributes
    ----------
    failed : AnonError, KeyboardInterrupt or None
        What went wrong, or that the program was asked to end; DuckDB has an error of its own for
        it.
    digest : str
        The table's SHA-256, where its bytes are held.
    """

    protocol = PROTOCOL
    cachable = False

    def __init__(self, stored: Stored) -> None:
        """Offer what lies at an address."""
        super().__init__()
        self.stored = stored
        self.failed: AnonError | KeyboardInterrupt | None = None
        self.digest = ""
        self._held: list[bytes] = []
        self._pool = ThreadPoolExecutor(AT_ONCE)
        self._ahead: dict[int, _Ahead] = {}
        self._lock = threading.Lock()

    def names(self) -> list[str]:
        """Return what DuckDB calls the objects, in their order."""
        return [f"{PROTOCOL}://{nth}" for nth in range(len(self.stored.files))]

    @property
    def held(self) -> int:
        """Bytes that are held in memory."""
        return sum(map(len, self._held))

    def hold(self) -> None:
        """Fetch every object into memory, once; what is asked for is read from there."""
        self._held = [b"".join(self.stored.blocks(file)) for file in self.stored.files]
        self.digest = self.stored.digest_of([hashlib.sha256(one).hexdigest() for one in self._held])

    def release(self) -> None:
        """Let go of what is held and of what was fetched ahead."""
        self._held = []
        self._ahead = {}
        self._pool.shutdown(cancel_futures=True)

    # ---- what DuckDB asks for ----------------------------------------------------------------

    def open(self, path: str, mode: str = "rb", *_: Any, **__: Any) -> Any:
        """Open an object; each reader opens it for itself."""
        return self._guarded(lambda: self._open(self._nth(path)))

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        """Return name, size and type of an object."""
        return {"name": path, "size": self.stored.files[self._nth(path)].size, "type": "file"}

    def modified(self, path: str) -> datetime:
        """Return one time for all: whether an object has changed is looked at elsewhere."""
        return datetime(2000, 1, 1, tzinfo=UTC)

    def glob(self, path: str, **_: Any) -> list[str]:
        """Return an object by its name; nothing in it represents others."""
        return [path]

    def exists(self, path: str, **_: Any) -> bool:
        """Return that an object is there: it was looked at."""
        return True

    def _nth(self, path: str) -> int:
        return int(path.rpartition("/")[2])

    def _open(self, nth: int) -> Any:
        if self._held:
            return io.BytesIO(self._held[nth])
        file = self.stored.files[nth]
        with self._lock:
            if nth not in self._ahead:
                self._ahead[nth] = _Ahead(self.stored, nth, self._pool)
            ahead = self._ahead[nth]
        return _Read(
            lambda begin, count: self._guarded(lambda: ahead.read(begin, count)), file.size
        )

    def _guarded(self, work: Callable[[], Any]) -> Any:
        try:
            return work()
        except (AnonError, KeyboardInterrupt) as error:
            self.failed = self.failed or error
            raise


class _Read(io.RawIOBase):
    """A reader of one object with a place of its own."""

    def __init__(self, read: Callable[[int, int], bytes], size: int) -> None:
        self._read, self._size, self._at = read, size, 0

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        begin = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = begin + offset
        return self._at

    def tell(self) -> int:
        return self._at

    def read(self, size: int = -1) -> bytes:
        left = max(self._size - self._at, 0)
        found = self._read(self._at, left if size < 0 else min(size, left))
        self._at += len(found)
        return found


class _Ahead:
    """An object that is read by spans of columns, row group by row group, and by its end."""

    def __init__(self, stored: Stored, nth: int, pool: ThreadPoolExecutor) -> None:
        self._stored, self._pool = stored, pool
        self._opened = stored.opened(stored.files[nth])
        footer = stored.footer(nth)
        self._begins: list[list[int]] = []
        self._ends: list[list[int]] = []
        for group in range(footer.num_row_groups):
            row_group = footer.row_group(group)
            columns = [row_group.column(nth) for nth in range(row_group.num_columns)]
            begins = [_begin(column) for column in columns]
            self._begins.append(begins)
            self._ends.append(
                [b + c.total_compressed_size for b, c in zip(begins, columns, strict=True)]
            )
        #: Of each place where a column begins in a row group: the group and the column.
        self._place = {b: (g, c) for g, own in enumerate(self._begins) for c, b in enumerate(own)}
        self._data = max((end for own in self._ends for end in own), default=0)
        self._tail: dict[tuple[int, int], bytes] = {}
        self._coming: dict[tuple[int, int], Future[bytes]] = {}
        self._asked: dict[tuple[int, int], int] = {}
        self._lock = threading.Lock()

    def read(self, begin: int, count: int) -> bytes:
        """Return some bytes, and ask for those that will be wanted next."""
        span = (begin, count)
        if begin >= self._data:  # every query looks at the end of a file first
            if span not in self._tail:
                self._tail[span] = self._part(*span)
            return self._tail[span]
        with self._lock:
            coming = self._coming.pop(span, None)
            for following in self._following(*span):
                if following not in self._coming:
                    self._coming[following] = self._pool.submit(self._part, *following)
            room = _AHEAD - sum(size for _, size in self._coming)
            while room < 0:  # nobody came for the oldest
                oldest = next(iter(self._coming))
                self._coming.pop(oldest).cancel()
                room += oldest[1]
        return self._part(*span) if coming is None else coming.result()

    def _following(self, begin: int, count: int) -> list[tuple[int, int]]:
        """Return the same columns of the next row groups, as far as no one asked for them."""
        group, first = self._place.get(begin, (-1, 0))
        ends = self._ends[group] if group >= 0 else []
        if begin + count not in ends:
            return []
        last = ends.index(begin + count)
        known = self._asked.get((first, last), 0) if group else 0
        found: list[tuple[int, int]] = []
        room = _AHEAD
        for nth in range(group + 1, min(group + 1 + AT_ONCE, len(self._begins))):
            own = self._begins[nth][first]
            size = self._ends[nth][last] - own
            room -= size
            if size <= 0 or room < 0:
                break
            if nth > known:
                found.append((own, size))
                known = nth
        self._asked[first, last] = max(known, group)
        return found

    def _part(self, begin: int, count: int) -> bytes:
        return self._stored.part(self._opened, begin, count)


def _begin(column: Any) -> int:
    """Return where a column of a row group begins: with its dictionary, where it has one."""
    pages, words = int(column.data_page_offset), column.dictionary_page_offset
    return pages if words is None else min(pages, int(words))


# Parquet in object storage as DuckDB reads it where it lies.


def stored_source(
    files: StoredFiles, room: int, connection: duckdb.DuckDBPyConnection, execute: Execute
) -> list[str]:
    """Make the objects at an address a relation called source; return its columns.

    Parameters
    ----------
    room : int
        Bytes of memory that their content may take; where it has more, it is read by parts, and
        more than once.
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
            f"{stored.shown} is not Parquet; DuckDB reads parts of Parquet only.",
            remedy="Bring the table to this machine, or store it as Parquet.",
        )
    names = [file.name for file in stored.files]
    keys, values = folder_columns(names) if stored.is_folder else ((), ())
    with ThreadPoolExecutor(AT_ONCE) as pool:
        ends = list(pool.map(stored.footer, range(len(names))))
    refuse_other_schemas(names, keys, lambda nth: ends[nth].schema.to_arrow_schema())
    if stored.size <= room:
        files.hold()
    connection.register_filesystem(files)
    columns = ends[0].schema.to_arrow_schema().names
    return view_of_parquet(files.names(), columns, keys, values, execute)
