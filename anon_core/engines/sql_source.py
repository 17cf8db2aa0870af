"""A file as DuckDB reads it: CSV without any guessing, or Parquet; and what went wrong there."""

from __future__ import annotations

import contextlib
import csv
import gzip
import hashlib
import io
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, cast

from anon_core.base.bounded_reading import first_bytes
from anon_core.base.errors import BadInput, clipped
from anon_core.data.frames import refuse_nested
from anon_core.data.reading import DataOptions
from anon_core.data.reading.delimited import broken_rows
from anon_core.data.reading.encoding import find_separator, refuse_binary
from anon_core.data.reading.parts import digest_of, parts_of
from anon_core.data.reading.stored import Stored, is_address, located

if TYPE_CHECKING:
    import duckdb

    Execute = Callable[[str], duckdb.DuckDBPyConnection]

_HEAD = 1 << 20
_GZIP = b"\x1f\x8b"
#: A column that no table has.
_FILE = "\x01file"


def source(path: Path, options: DataOptions, execute: Execute) -> list[str]:
    """Make a file a relation called source; return its columns as the file names them.

    In the relation a column is called by its place, see `placed`: DuckDB takes names that differ in
    case alone for one.

    Parameters
    ----------
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
        return view_of_parquet(files, _names_of(first), keys, values, execute)
    separator, raw = csv_head(first, options, path.name)
    types = ", ".join(f"'{placed(place)}': 'VARCHAR'" for place in range(len(raw)))
    packed = ", compression = 'gzip'" if _begins(first, _GZIP) else ""
    # A line break in a name is taken for the end of all lines unless that is stated.
    broken = any(sign in name for name in raw for sign in "\r\n")
    end = f", new_line = {text(_line_end(first))}" if broken else ""
    # Nothing is guessed. What is empty is NULL, which is a missing value as an empty cell is.
    execute(
        f"CREATE VIEW in_order AS SELECT * FROM read_csv({_list(files)}, delim = "
        f"{text(separator)}, quote = '\"', escape = '\"', header = true, "
        f"auto_detect = false, columns = {{{types}}}, nullstr = ''{end}{packed})"
    )
    try:
        execute("CREATE TABLE file AS SELECT * FROM in_order")
    except Unreadable as error:
        raise broken_row(paths, separator, len(raw), path.name) or error from error
    execute("CREATE VIEW source AS SELECT * FROM file")
    return raw


def placed(place: int) -> str:
    """Return what a relation calls the column at a place of its file, from 0.

    Names are none that an engine could take for one another: they may differ in case alone, or hold
    what SQL takes for something else.
    """
    return f"c{place}"


def files_of(path: Path) -> list[Path]:
    """Return the files of a table, which may be a folder of its parts."""
    return list(parts_of(path).files) if path.is_dir() else [path]


def refuse_signs(paths: Sequence[Path], signs: str) -> None:
    """Refuse paths with signs that an engine takes for several files.

    Raises
    ------
    BadInput
    """
    if any(sign in str(place) for place in paths for sign in signs):
        *others, last = signs
        raise BadInput(
            f"The path of the table holds {', '.join(others)} or {last}, which match several "
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
    head = _head(path)
    refuse_binary(head, name)
    whole = head if len(head) < _HEAD else head[: head.rfind(b"\n") + 1]
    separator, _ = find_separator(whole, options.separator, name)
    try:
        lines = io.StringIO(whole.decode("utf-8"), newline="")
    except UnicodeDecodeError as error:
        raise BadInput(
            f"{name} is not written in UTF-8.",
            remedy="Save it as UTF-8 or Parquet, or run it with engine = 'memory'.",
        ) from error
    return separator, next(csv.reader(lines, delimiter=separator), [])


def _head(path: Path) -> bytes:
    opened = gzip.open if _begins(path, _GZIP) else open
    with opened(path, "rb") as file:
        return file.read(_HEAD).removeprefix(b"\xef\xbb\xbf")


def _line_end(path: Path) -> str:
    """Return how a CSV file's first line ends, which quoted cells need not: as SQL escapes it."""
    outside = b"".join(_head(path).split(b'"')[::2])  # an even number of quotes is before
    place = next((i for i, byte in enumerate(outside) if byte in b"\r\n"), len(outside))
    return {b"\r\n": "\\r\\n", b"\r": "\\r"}.get(outside[place : place + 2].rstrip(b" "), "\\n")


def _names_of(path: Path) -> list[str]:
    """Return the names of a Parquet file's columns, of which DuckDB changes some.

    Raises
    ------
    BadInput
        If it is no Parquet file.
    """
    import pyarrow as pa
    from pyarrow import parquet

    try:
        schema = parquet.read_schema(path)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise failure(error, path.name) from error
    refuse_nested(schema, path.name)
    for field in schema:
        fine = str(field.type) == "time64[ns]"  # which it cuts to microseconds
        if fine or pa.types.is_duration(field.type):
            what = "times in nanoseconds" if fine else "durations"
            raise BadInput(
                f"{path.name}: column '{field.name}' holds {what}, which this engine does not "
                "read.",
                remedy="Set engine = 'memory', or leave the column out.",
            )
    return list(schema.names)


def refuse_case_twins(path: Path) -> None:
    """Refuse Parquet with two columns whose names differ in case alone: Spark takes them for one.

    Raises
    ------
    BadInput
        Naming them.
    """
    import pyarrow as pa
    from pyarrow import parquet

    parts = parts_of(path) if path.is_dir() else None
    first = files_of(path)[0]
    if not is_parquet(first):
        return
    try:
        names = [*parquet.read_schema(first).names, *(() if parts is None else parts.keys)]
    except (pa.ArrowException, OSError, ValueError):
        return  # reading it says what is wrong
    seen: dict[str, str] = {}
    for name in names:
        twin = seen.setdefault(name.lower(), name)
        if twin != name:
            raise BadInput(
                f"{clipped(path.name)}: the names of the columns '{twin}' and '{name}' differ in "
                "case alone, and Spark takes them for one.",
                remedy="Rename one of them, or set engine = 'duckdb' or 'memory'.",
            )


def view_of_parquet(
    files: Sequence[str],
    names: Sequence[str],
    keys: Sequence[str],
    values: Sequence[Sequence[str | None]],
    execute: Execute,
) -> list[str]:
    """Make Parquet files a relation called source; return its columns' names.

    Parameters
    ----------
    files : sequence of str
        What DuckDB calls them.
    names : sequence of str
        The columns that they hold.
    keys : sequence of str
        Columns that the names of folders tell; they are joined to each file's rows.
    values : sequence of sequence of (str or None)
        For each file, what they say of it.
    execute : callable
        As for `source`.
    """
    read = f"read_parquet({_list(files)}, hive_partitioning = false, filename = {text(_FILE)})"
    called = [placed(place) for place in range(len(names) + len(keys))]
    read += f" AS file({', '.join(called[: len(names)])})"
    joined = ""
    if keys:
        columns = ", ".join(f"{key} VARCHAR" for key in called[len(names) :])
        execute(f"CREATE TABLE parts ({quoted(_FILE)} VARCHAR, {columns})")
        for file, own in zip(files, values, strict=True):
            cells = ("NULL" if value is None else text(value) for value in own)
            execute(f"INSERT INTO parts VALUES ({text(file)}, {', '.join(cells)})")
        joined = f" LEFT JOIN parts USING ({quoted(_FILE)})"
    execute(f"CREATE VIEW source AS SELECT {', '.join(called)} FROM {read}{joined}")
    execute("CREATE VIEW in_order AS SELECT * FROM source")
    return [*names, *keys]


class Unreadable(BadInput):
    """A file that an engine takes for no table."""


def broken_row(paths: Sequence[Path], separator: str, width: int, name: str) -> BadInput | None:
    """Return what is wrong with the rows of CSV files, with their numbers; None if nothing is."""
    with contextlib.ExitStack() as opened:
        files: list[Iterator[str]] = []
        for path in paths:
            lines = gzip.open if _begins(path, _GZIP) else open
            own = lines(path, "rt", encoding="utf-8-sig", errors="surrogateescape", newline="")
            files.append(iter(opened.enter_context(cast(TextIO, own))))
        return broken_rows(files, separator, width, name)


def _list(files: Sequence[str]) -> str:
    return f"[{', '.join(map(text, files))}]"


def failure(error: Exception, name: str) -> BadInput:
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
            remedy="Check the file, and that no program writes to it. Nothing was released.",
        )
    line = re.search(r"on line: (\d+)", short)
    place = f", line {line[1]}" if line else ""
    return Unreadable(
        f"{name}{place}: no table that DuckDB can read ({type(error).__name__}): a row has more or "
        "fewer cells than the header, a quote stays open, or it is broken.",
        remedy="Correct it, or run it with engine = 'memory'.",
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
