"""Reading a folder of files as one table, in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from anon_core.base.errors import BadInput, clipped
from anon_core.data.reading.delimited import read_csv
from anon_core.data.reading.formats import refuse_foreign
from anon_core.data.reading.limits import too_large
from anon_core.data.reading.loading import load, unpack
from anon_core.data.reading.options import DataOptions
from anon_core.data.reading.parquet import read_parquet_parts
from anon_core.data.reading.parts import Parts, parts_of
from anon_core.data.table import Dataset
from anon_core.data.values.kinds import ColumnKind


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
            told={key: [own[i] for own in parts.values] for i, key in enumerate(parts.keys)},
        )
    else:
        table = read_csv(_joined(parts, contents, options), options, kinds, parts.folder)
    return replace(table, file_sha256=digest_of(parts.names, digests))


def digest_of(names: Sequence[str], digests: Sequence[str]) -> str:
    """Return the SHA-256 of what stands in ``sha256sum``'s lines of the parts."""
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
