"""A file as DuckDB reads it: CSV without any guessing, or Parquet; and what went wrong there."""

from __future__ import annotations

import csv
import gzip
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from ..base.errors import BadInput, clipped
from ..base.opening import first_bytes
from ..data.reading import DataOptions
from ..data.reading.separator import find_separator
from ..data.table import check_names

if TYPE_CHECKING:
    import duckdb

    Execute = Callable[[str], duckdb.DuckDBPyConnection]

_HEAD = 1 << 20


def source(path: Path, options: DataOptions, execute: Execute) -> list[str]:
    """Make a file a relation called source; return its columns as the file names them.

    Parameters
    ----------
    path : Path
    options : DataOptions
    execute : callable
        Runs a query; its result lists its rows.

    Raises
    ------
    BadInput
        If it is no CSV in UTF-8 and no Parquet.
    """
    place = str(path)
    if any(sign in place for sign in "*?[{"):
        raise BadInput(
            "The path of the table holds *, ?, [ or {, which stand for several files.",
            remedy="Rename it.",
        )
    if _begins(path, b"PAR1"):
        execute(f"CREATE VIEW source AS SELECT * FROM read_parquet({text(place)})")
        return [str(row[0]) for row in execute("DESCRIBE source").fetchall()]
    opened = gzip.open if _begins(path, b"\x1f\x8b") else open
    with opened(path, "rb") as file:
        head = file.read(_HEAD).removeprefix(b"\xef\xbb\xbf")
    whole = head if len(head) < _HEAD else head[: head.rfind(b"\n") + 1]
    separator, _ = find_separator(whole, options.separator, path.name)
    try:
        lines = whole.decode("utf-8").splitlines(keepends=True)
    except UnicodeDecodeError as error:
        raise BadInput(
            f"{path.name} is not written in UTF-8.",
            remedy="Save it as UTF-8 or Parquet, or run it with engine = 'memory'.",
        ) from error
    raw = next(csv.reader(lines, delimiter=separator), [])
    check_names([name.strip() for name in raw])
    types = ", ".join(f"{text(name)}: 'VARCHAR'" for name in raw)
    packed = ", compression = 'gzip'" if opened is gzip.open else ""
    # Nothing is guessed. A null string that occurs nowhere leaves empty cells as they are.
    execute(
        f"CREATE TABLE file AS SELECT * FROM read_csv({text(place)}, delim = "
        f"{text(separator)}, quote = '\"', escape = '\"', header = true, "
        f"auto_detect = false, columns = {{{types}}}, nullstr = {text(chr(1))}{packed})"
    )
    execute("CREATE VIEW source AS SELECT * FROM file")
    return raw


def told(error: Exception, name: str) -> BadInput:
    """Return what went wrong in DuckDB in words that hold no cell."""
    import duckdb

    short = str(error).lower()
    if isinstance(error, duckdb.OutOfMemoryException) or "memory" in short:
        return BadInput(
            "The memory that the run may take is too short for this table.",
            remedy="Give it more, for example --memory 4GB. Nothing was released.",
        )
    if isinstance(error, duckdb.IOException) or "no space" in short or "disk" in short:
        return BadInput(
            f"{name} cannot be read, or the disk that holds the release is full.",
            remedy="Check the file and the room on the disk. Nothing was released.",
        )
    return BadInput(
        f"{name} is no table that DuckDB can read ({type(error).__name__}): a row has more or "
        "fewer cells than the header, a quote stays open, or it is broken.",
        remedy="Correct it, or run it with engine = 'memory', which names the place.",
    )


def text(value: str) -> str:
    """Return a text as SQL spells it."""
    return "'" + value.replace("'", "''") + "'"


def quoted(value: str) -> str:
    """Return a name as SQL spells it."""
    return '"' + value.replace('"', '""') + '"'


def _begins(path: Path, mark: bytes) -> bool:
    try:
        return first_bytes(path, len(mark)) == mark
    except OSError as error:
        raise BadInput(
            f"{clipped(path.name)} cannot be read ({error.strerror}).", remedy="Check the path."
        ) from error


def state(path: Path) -> tuple[int, int]:
    """Return what changes when a file is written to: its size and its time."""
    try:
        found = path.stat()
    except (OSError, ValueError) as error:  # ValueError: a character that no path may hold
        raise BadInput(
            f"There is no file {clipped(path.name)}.", remedy="Check the path."
        ) from error
    return found.st_size, found.st_mtime_ns


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file, read piece by piece."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
