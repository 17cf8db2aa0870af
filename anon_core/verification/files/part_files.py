"""A published table that lies in several files of a format, whose rows follow each other."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from anon_core.base.errors import BadInput, BadPlan, clipped
from anon_core.verification.files.bounded_reading import Content
from anon_core.verification.files.file_bytes import first_difference, is_parquet_of
from anon_core.verification.files.published import PublishedTable
from anon_core.verification.findings import Check
from anon_core.verification.text.cells import Cells, TextTable, narrow

_MOST = 9999
_PART = re.compile(r"-[0-9]{4}-of-([0-9]{4})\.(csv|parquet)\Z")


def parts_told(export: Mapping[str, Any]) -> int:
    """Return in how many files the recipe publishes a table.

    Raises
    ------
    BadPlan
    """
    told = export.get("parts", 1)
    if isinstance(told, bool) or not isinstance(told, int) or not 1 <= told <= _MOST:
        raise BadPlan(
            "The recipe's parts are no number of files.", remedy="Correct [export] parts."
        )
    return told


def part_names(table: str, parts: int, ending: str) -> list[str]:
    """Return the names of the files of a table that lies in several of one format."""
    return [f"{table}-{nth:04}-of-{parts:04}.{ending}" for nth in range(1, parts + 1)]


def parts_there(table: str, names: Iterable[str], ending: str) -> list[str]:
    """Return which of some files are parts of a table in one format, in their order."""
    mine = (name for name in names if is_part(name) and name.endswith(f".{ending}"))
    return sorted(name for name in mine if table_of(name) == table)


def is_part(name: str) -> bool:
    """Return whether a file is one of several that make up a table."""
    return _PART.search(name) is not None


def parts_said(name: str) -> int:
    """Return of how many files the name of a part says that it is one."""
    found = _PART.search(name)
    return int(found[1]) if found else 1


def table_of(name: str) -> str:
    """Return the table that a published file holds, or a part of it."""
    return _PART.sub("", name) if is_part(name) else name.rpartition(".")[0]


def read_parts(
    names: Sequence[str], files: Mapping[str, Content], read: Callable[[Content, str], TextTable]
) -> TextTable:
    """Read the parts of a published table as one.

    Parameters
    ----------
    names : sequence of str
    files : mapping of str to bytes or FileBytes
    read : callable
        Reads one part, by its content and name.

    Raises
    ------
    BadInput
        If one is no file of its format, or has other columns than the first.
    """
    tables = [read(files[name], name) for name in names]
    header = tables[0].names
    for name, table in zip(names, tables, strict=True):
        if table.names != header:
            raise BadInput(f"{name} has other columns than {names[0]}.", remedy="Run it again.")

    def load(places: Sequence[int]) -> list[Cells]:
        for table in tables:
            table.prefetch([header[place] for place in places])
        return [Cells.joined([table.column_at(place) for table in tables]) for place in places]

    return TextTable(header, sum(map(len, tables)), load)


def odd_csv_part(
    release: PublishedTable, names: Sequence[str], files: Mapping[str, Content]
) -> tuple[str, int]:
    """Return the first CSV part that is not the one way to write its share of the rows, and where.

    Where is a row of the table, 0 for the header of the part; the name is empty where all are.
    """
    for name, begin, end in _shares(release.rows, names):
        codes = [column[begin:end] for column in release.codes]
        row = first_difference(files[name], release.header, codes, release.texts)
        if row >= 0:
            return name, begin + row if row else 0
    return "", -1


def check_csv_parts(
    release: PublishedTable, names: Sequence[str], files: Mapping[str, Content]
) -> Check:
    """Check that every CSV part is, byte for byte, the one way to write its share of the rows."""
    odd, row = ("", -1) if release.is_written else odd_csv_part(release, names, files)
    return Check(
        name="writing",
        holds=not odd,
        rows=(row,) if row > 0 else (),
        sentence=f"{odd} is not written as a part of a release is, first "
        + (f"in row {row} of the table" if row else "in its header")
        + ": other rows than its share, or quotes, line ends and marks that no cell needs, could "
        "mark a person."
        if odd
        else f"Each of the {len(names)} parts, {names[0]} and so on, is, byte for byte, the one "
        "way to write its share of the rows.",
    )


def _shares(rows: int, names: Sequence[str]) -> Iterator[tuple[str, int, int]]:
    """Yield each part with the rows that it has: as many as any other, but for one."""
    begin = 0
    for nth, name in enumerate(names, start=1):
        end = rows * nth // len(names)
        yield name, begin, end
        begin = end


def check_parts(
    release: PublishedTable, names: Sequence[str], files: Mapping[str, Content]
) -> Check:
    """Check that every Parquet part is, byte for byte, what is written of its share of the rows."""
    begin, odd, told = 0, "", ""
    for name, begin, end in _shares(release.rows, names):
        codes = [column[begin:end] for column in release.codes]
        if not is_parquet_of(files[name], release.header, codes, release.texts):
            odd = name
            told = f"rows {begin + 1:,} to {end:,}" if end > begin else "no row"
            break
    return Check(
        name="parquet",
        holds=not odd,
        rows=(begin + 1,) if odd else (),
        sentence=f"{odd} is not, byte for byte, what is written of {told} of the table that the "
        "parts make up: what else it holds, or leaves out, could mark a person."
        if odd
        else f"Each of the {len(names)} parts, {names[0]} and so on, is, byte for byte, what is "
        "written of its share of the rows in the same order, and holds nothing else.",
    )


# A private table that lies in a folder of files, read part by part.


_NOTHING = "__HIVE_DEFAULT_PARTITION__"


def joined_parts(folder: Path, read: Callable[[Path], TextTable]) -> TextTable:
    """Return the table whose parts are the files below a folder, in the order of their names.

    Folders named ``column=value`` tell a column of the files below them. Names that start with a
    dot or an underscore are passed over. Columns are read when first asked for.

    Parameters
    ----------
    read : callable
        Reads one file.

    Raises
    ------
    BadInput
        If there is no file, or one has other columns than the first.
    """
    found: list[tuple[str, Path]] = []
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name[0] not in "._"]
        for name in (name for name in names if name[0] not in "._"):
            path = Path(place) / name
            found.append((path.relative_to(folder).as_posix(), path))
    found.sort()
    if not found:
        raise BadInput(
            f"The folder {clipped(folder.name)} holds no data file.", remedy="Check the path."
        )
    return joined([name for name, _ in found], [read(path) for _, path in found])


def joined(names: Sequence[str], tables: Sequence[TextTable]) -> TextTable:
    """Return the table of parts whose names within their folder are given.

    Raises
    ------
    BadInput
        If one has other columns than the first.
    """
    told = [_told(name) for name in names]
    header, keys = tables[0].names, tuple(told[0])
    for name, table, own in zip(names, tables, told, strict=True):
        if table.names != header or tuple(own) != keys or set(own) & set(header):
            raise BadInput(
                f"The file {clipped(name)} has other columns than the first of its folder.",
                remedy="Move out of the folder what is no part of the table.",
            )

    def load(places: Sequence[int]) -> list[Cells]:
        inside = [header[place] for place in places if place < len(header)]
        for table in tables:
            table.prefetch(inside)
        cells: list[Cells] = []
        for place in places:
            if place < len(header):
                cells.append(Cells.joined([table.column_at(place) for table in tables]))
            else:
                key = keys[place - len(header)]
                parts = zip(tables, told, strict=True)
                cells.append(Cells.joined([_all(own[key], len(table)) for table, own in parts]))
        return cells

    return TextTable((*header, *keys), sum(map(len, tables)), load)


def _told(name: str) -> dict[str, str | None]:
    """Return what the names of folders tell of the file, by column."""
    split = [part.split("=", 1) for part in name.split("/")[:-1] if "=" in part]
    return {
        unquote(key).strip(): None if value == _NOTHING else unquote(value) for key, value in split
    }


def _all(value: str | None, rows: int) -> Cells:
    """Return a column whose cells are all the same."""
    code = -1 if value is None else 0
    return Cells(
        codes=narrow(np.full(rows, code, dtype=np.int64), 1),
        texts=[] if value is None else [value],
    )
