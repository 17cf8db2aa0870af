"""A folder of files that are one table: which they are, and that they fit each other."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import unquote

from anon_core.base.bounded_reading import first_bytes
from anon_core.base.errors import BadInput, brief, clipped
from anon_core.data.reading.delimited import read_csv
from anon_core.data.reading.limits import too_large
from anon_core.data.reading.loading import GZIP_MARK, PARQUET_MARKS, load, refuse_foreign, unpack
from anon_core.data.reading.options import DataOptions
from anon_core.data.reading.parquet import read_parquet_parts
from anon_core.data.table import Dataset
from anon_core.data.values.kinds import ColumnKind

if TYPE_CHECKING:
    import pyarrow as pa


def read_folder(
    folder: Path, options: DataOptions, kinds: Mapping[str, ColumnKind], most_bytes: int
) -> Dataset:
    """Read the files of a folder, rows below rows in the order of the files' names.

    Raises
    ------
    BadInput
        If they are no parts of one table; see `parts_of`.
    """
    parts = parts_of(folder)
    options.refuse_idle("parquet" if parts.kind == "parquet" else "text", parts.folder)
    contents: list[bytes] = []
    digests: list[str] = []
    room = most_bytes
    for path, name in zip(parts.files, parts.names, strict=True):
        data = load(path, name, most_bytes)
        digests.append(hashlib.sha256(data).hexdigest())
        if parts.kind == "gzip":
            data = unpack(data, name, most_bytes)
        room -= len(data)
        if room < 0:
            raise too_large(parts.folder, most_bytes - room, most_bytes)
        contents.append(data)
    if parts.kind == "parquet":
        table = read_parquet_parts(
            contents,
            options,
            kinds,
            parts.folder,
            most_bytes,
            values_of_folders={
                key: [own[i] for own in parts.values] for i, key in enumerate(parts.keys)
            },
        )
    else:
        table = read_csv(_joined(parts, contents, options), options, kinds, parts.folder)
    return replace(table, file_sha256=digest_of(parts.names, digests))


def digest_of(names: Sequence[str], digests: Sequence[str]) -> str:
    """Return the SHA-256 of what is in ``sha256sum``'s lines of the parts."""
    lines = "".join(f"{digest}  {name}\n" for name, digest in zip(names, digests, strict=True))
    return hashlib.sha256(lines.encode("utf-8", "surrogateescape")).hexdigest()


def _joined(parts: Parts, contents: list[bytes], options: DataOptions) -> bytes:
    """Return the parts of a CSV table as one file with one header."""
    found: list[bytes] = []
    for name, data in zip(parts.names, contents, strict=True):
        refuse_foreign(data, name)
        if not options.encoding:
            try:
                data.decode("utf-8")
            except UnicodeDecodeError as error:
                raise BadInput(
                    f"{clipped(name)} is not written in UTF-8.",
                    remedy="Save it as UTF-8, or name the encoding of all parts in [data].",
                ) from error
        if data.count(b'"') % 2:
            raise BadInput(
                f"A quote stays open in {clipped(name)}.",
                remedy="Close it, or write the parts as Parquet.",
            )
        body = data.removeprefix(b"\xef\xbb\xbf")
        if found:
            body = body.partition(b"\n")[2]
        found.append(body if body.endswith(b"\n") or not body else body + b"\n")
    return b"".join(found)


#: What all parts of a folder are: Parquet, or CSV plain or packed.
PartKind = Literal["parquet", "csv", "gzip"]
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
_HEAD = 1 << 20
_WORDS = {"parquet": "Parquet", "csv": "CSV or another format", "gzip": "packed with gzip"}


@dataclass(frozen=True, kw_only=True)
class Parts:
    """The files of a folder, in the order of their names.

    Attributes
    ----------
    folder : str
        The folder's name.
    names : tuple of str
        Each file's path within the folder, with strokes.
    kind : {'parquet', 'csv', 'gzip'}
    keys : tuple of str
        Columns that the names of folders within tell, as in ``year=2024/``.
    values : tuple of tuple of (str or None)
        For each file, what they say of it; None where they say that there is no value.
    """

    folder: str
    files: tuple[Path, ...]
    names: tuple[str, ...]
    kind: PartKind
    keys: tuple[str, ...]
    values: tuple[tuple[str | None, ...], ...]


def parts_of(folder: Path) -> Parts:
    """Return the files of a folder, and of the folders within, as parts of one table.

    Files whose names start with a dot or an underscore are left out, as others who write such
    folders keep notes in them.

    Raises
    ------
    BadInput
        If there are none, they are of different kinds, have other columns than the first, or the
        names of folders tell different columns. The message names the file.
    """
    names = sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if not path.is_dir()
        and not any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
    )
    shown = clipped(folder.name)
    if not names:
        raise BadInput(
            f"The folder {shown} holds no file to read.",
            remedy="Name a folder of CSV or Parquet files that are parts of one table.",
        )
    keys, values = folder_columns(names)
    kinds: list[PartKind] = [_kind(folder / name, name) for name in names]
    for name, kind in zip(names, kinds, strict=True):
        if kind != kinds[0]:
            raise BadInput(
                f"{clipped(name)} is {_WORDS[kind]}, and {clipped(names[0])} is "
                f"{_WORDS[kinds[0]]}; parts of one table are of one kind.",
                remedy=f"Move files that are not part of the table out of {shown}.",
            )
    if keys and kinds[0] != "parquet":
        raise BadInput(
            f"The folders of {shown} define the column {brief(keys[0])}, and its files are CSV.",
            remedy="Write the column into the files, or the table as Parquet.",
        )
    parts = Parts(
        folder=folder.name,
        files=tuple(folder / name for name in names),
        names=tuple(names),
        kind=kinds[0],
        keys=keys,
        values=values,
    )
    if parts.kind == "parquet":
        _refuse_other_schemas_of_files(parts)
    else:
        _refuse_other_headers(parts)
    return parts


def folder_columns(
    names: Sequence[str],
) -> tuple[tuple[str, ...], tuple[tuple[str | None, ...], ...]]:
    """Return the columns in the names of the parts' folders, and their values for each part.

    Raises
    ------
    BadInput
        If the folders tell different columns.
    """
    folders = [_pairs_of(name) for name in names]
    keys = tuple(key for key, _ in folders[0])
    for name, own in zip(names, folders, strict=True):
        if tuple(key for key, _ in own) != keys:
            raise BadInput(
                f"The folders of {clipped(name)} define other columns than those of "
                f"{clipped(names[0])}.",
                remedy="Put every part below the same columns, as in year=2024/part.parquet.",
            )
    return keys, tuple(tuple(value for _, value in own) for own in folders)


def _pairs_of(name: str) -> list[tuple[str, str | None]]:
    """Return the columns and values that the folders of a part tell."""
    pairs = [part.partition("=") for part in name.split("/")[:-1] if "=" in part]
    return [(unquote(k), None if v == _NO_VALUE else unquote(v)) for k, _, v in pairs]


def _kind(path: Path, name: str) -> PartKind:
    try:
        head = first_bytes(path, 4)
    except OSError as error:
        raise BadInput(
            f"{clipped(name)} cannot be read ({error.strerror}).",
            remedy="Check the file and your permissions.",
        ) from error
    if head.startswith(PARQUET_MARKS):
        return "parquet"
    return "gzip" if head.startswith(GZIP_MARK) else "csv"


def _refuse_other_schemas_of_files(parts: Parts) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    def schema_of(nth: int) -> pa.Schema:
        try:
            return parquet.read_schema(parts.files[nth])
        except (pa.ArrowException, OSError, ValueError) as error:
            raise BadInput(
                f"{clipped(parts.names[nth])} is a broken or encrypted Parquet file.",
                remedy="Copy it again, or write it again without encryption.",
            ) from error

    refuse_other_schemas(parts.names, parts.keys, schema_of)


def refuse_other_schemas(
    names: Sequence[str], keys: Sequence[str], schema_of: Callable[[int], pa.Schema]
) -> None:
    """Refuse Parquet files that have other columns, or other types, than the first of them.

    Parameters
    ----------
    names : sequence of str
        What the files are called.
    keys : sequence of str
        Columns that the names of folders tell.
    schema_of : callable
        Takes the number of a file.

    Raises
    ------
    BadInput
    """
    first = None
    for nth, name in enumerate(names):
        schema = schema_of(nth).remove_metadata()
        twice = next((key for key in keys if key in schema.names), None)
        if twice is not None:
            raise BadInput(
                f"{clipped(name)} has the column {brief(twice)}, which its folder defines as well.",
                remedy="Leave it out of one of the two.",
            )
        first = first or schema
        if schema.names != first.names:
            raise _other_columns(name, names[0])
        unlike = next((a.name for a, b in zip(schema, first, strict=True) if a.type != b.type), "")
        if unlike:
            raise BadInput(
                f"The column {brief(unlike)} has another type in {clipped(name)} than in "
                f"{clipped(names[0])}.",
                remedy="Write all parts with the same types.",
            )


def _refuse_other_headers(parts: Parts) -> None:
    first = None
    for path, name in zip(parts.files, parts.names, strict=True):
        try:
            with gzip.open(path) if parts.kind == "gzip" else path.open("rb") as file:
                line = header_line(file.read(_HEAD), name)
        except (OSError, EOFError) as error:
            raise BadInput(
                f"{clipped(name)} cannot be read.", remedy="Copy it again, or compress it again."
            ) from error
        first = line if first is None else first
        if line != first:
            raise _other_columns(name, parts.names[0])


def header_line(head: bytes, name: str) -> bytes:
    """Return the first line of a part without its end.

    Raises
    ------
    BadInput
        If it is UTF-16 or UTF-32, or a name in the header holds a line break.
    """
    line = head.removeprefix(b"\xef\xbb\xbf").split(b"\n", 1)[0].removesuffix(b"\r")
    if b"\0" in head or head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise BadInput(
            f"{clipped(name)} is not CSV in UTF-8, as parts of a table are.",
            remedy="Save it as UTF-8 or Parquet, or move it out of the folder.",
        )
    if line.count(b'"') % 2:
        raise BadInput(
            f"A name in the header of {clipped(name)} holds a line break, which is not read in "
            "parts.",
            remedy="Rename the column, or write the parts as Parquet.",
        )
    return line


def _other_columns(name: str, first: str) -> BadInput:
    return BadInput(
        f"{clipped(name)} has other columns than {clipped(first)}, or another order of them.",
        remedy="Write all parts with the same columns, or move out files that are not part of "
        "the table.",
    )
