"""A file as DuckDB reads it: CSV without any guessing, or Parquet; and what went wrong there."""

from __future__ import annotations

import csv
import gzip
import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..base.errors import BadInput, clipped
from ..base.opening import first_bytes
from ..data.reading import DataOptions
from ..data.reading.folder import digest_of
from ..data.reading.parts import parts_of
from ..data.reading.separator import find_separator
from ..data.reading.stored import Stored, is_address, located
from ..data.table import check_names

if TYPE_CHECKING:
    import duckdb

    Execute = Callable[[str], duckdb.DuckDBPyConnection]

_HEAD = 1 << 20
_GZIP = b"\x1f\x8b"
#: A column that no table has.
_FILE = "\x01file"


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
        If it is no CSV in UTF-8 and no Parquet, and no folder of such files.
    """
    parts = parts_of(path) if path.is_dir() else None
    paths = [path] if parts is None else list(parts.files)
    first = paths[0]
    refuse_signs(paths, "*?[{")
    files = [str(place) for place in paths]
    if is_parquet(first):
        keys, values = ((), ()) if parts is None else (parts.keys, parts.values)
        return view_of_parquet(files, keys, values, execute)
    separator, raw = csv_head(first, options, path.name)
    check_names([name.strip() for name in raw])
    types = ", ".join(f"{text(name)}: 'VARCHAR'" for name in raw)
    packed = ", compression = 'gzip'" if _begins(first, _GZIP) else ""
    # Nothing is guessed. A null string that occurs nowhere leaves empty cells as they are.
    execute(
        f"CREATE TABLE file AS SELECT * FROM read_csv({_list(files)}, delim = "
        f"{text(separator)}, quote = '\"', escape = '\"', header = true, "
        f"auto_detect = false, columns = {{{types}}}, nullstr = {text(chr(1))}{packed})"
    )
    execute("CREATE VIEW source AS SELECT * FROM file")
    return raw


def refuse_signs(paths: Sequence[Path], signs: str) -> None:
    """Refuse paths with signs that an engine takes for several files.

    Raises
    ------
    BadInput
    """
    if any(sign in str(place) for place in paths for sign in signs):
        *others, last = signs
        raise BadInput(
            f"The path of the table holds {', '.join(others)} or {last}, which stand for several "
            "files.",
            remedy="Rename it.",
        )


def is_parquet(path: Path) -> bool:
    """Return whether a file begins as Parquet does."""
    return _begins(path, b"PAR1")


def csv_head(path: Path, options: DataOptions, name: str) -> tuple[str, list[str]]:
    """Return the separator of a CSV file and its header, of which it says nothing else.

    Raises
    ------
    BadInput
        If it is not written in UTF-8.
    """
    opened = gzip.open if _begins(path, _GZIP) else open
    with opened(path, "rb") as file:
        head = file.read(_HEAD).removeprefix(b"\xef\xbb\xbf")
    whole = head if len(head) < _HEAD else head[: head.rfind(b"\n") + 1]
    separator, _ = find_separator(whole, options.separator, name)
    try:
        lines = whole.decode("utf-8").splitlines(keepends=True)
    except UnicodeDecodeError as error:
        raise BadInput(
            f"{name} is not written in UTF-8.",
            remedy="Save it as UTF-8 or Parquet, or run it with engine = 'memory'.",
        ) from error
    return separator, next(csv.reader(lines, delimiter=separator), [])


def view_of_parquet(
    files: Sequence[str],
    keys: Sequence[str],
    values: Sequence[Sequence[str | None]],
    execute: Execute,
) -> list[str]:
    """Make Parquet files a relation called source; return its columns.

    Parameters
    ----------
    files : sequence of str
        What DuckDB calls them.
    keys : sequence of str
        Columns that the names of folders tell; they are joined to each file's rows.
    values : sequence of sequence of (str or None)
        For each file, what they say of it.
    execute : callable
        As for `source`.
    """
    read = f"read_parquet({_list(files)}, hive_partitioning = false, filename = {text(_FILE)})"
    joined = ""
    if keys:
        columns = ", ".join(f"{quoted(key)} VARCHAR" for key in keys)
        execute(f"CREATE TABLE parts ({quoted(_FILE)} VARCHAR, {columns})")
        for file, own in zip(files, values, strict=True):
            cells = ("NULL" if value is None else text(value) for value in own)
            execute(f"INSERT INTO parts VALUES ({text(file)}, {', '.join(cells)})")
        joined = f" LEFT JOIN parts USING ({quoted(_FILE)})"
    execute(f"CREATE VIEW source AS SELECT * EXCLUDE ({quoted(_FILE)}) FROM {read}{joined}")
    return [str(row[0]) for row in execute("DESCRIBE source").fetchall()]


def _list(files: Sequence[str]) -> str:
    return f"[{', '.join(map(text, files))}]"


def told(error: Exception, name: str) -> BadInput:
    """Return what went wrong in DuckDB in words that hold no cell."""
    import duckdb

    short = str(error).lower()
    if "max_temp_directory_size" in short or "no space" in short or "quota" in short:
        return BadInput(
            "The disk that holds the release is full: what does not fit into memory is put aside "
            "there while the run lasts.",
            remedy="Make room, or name a folder on a larger disk. Nothing was released.",
        )
    if isinstance(error, duckdb.OutOfMemoryException) or "memory" in short:
        return BadInput(
            "The memory that the run may take is too short for this table.",
            remedy="Give it more, for example --memory 4GB. Nothing was released.",
        )
    if isinstance(error, duckdb.IOException):
        return BadInput(
            f"{name} cannot be read.",
            remedy="Check the file, and that nobody writes to it. Nothing was released.",
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


def state(path: Path) -> tuple[tuple[str, int, int | str], ...]:
    """Return what changes when a file, or one of a folder, is written to: its size and its time."""
    if is_address(path):
        return state_of(located(path))
    try:
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        found = [(str(one), one.stat()) for one in files]
    except (OSError, ValueError) as error:  # ValueError: a character that no path may hold
        raise BadInput(
            f"There is no file {clipped(path.name)}.", remedy="Check the path."
        ) from error
    return tuple((name, one.st_size, one.st_mtime_ns) for name, one in found)


def state_of(stored: Stored) -> tuple[tuple[str, int, int | str], ...]:
    """Return what changes when an object of storage is written to, as `state` does."""
    return tuple((one.place, one.size, one.mark) for one in stored.files)


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file, read piece by piece; of a folder that of its parts' lines."""
    if path.is_dir():
        parts = parts_of(path)
        return digest_of(parts.names, [sha256(one) for one in parts.files])
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
