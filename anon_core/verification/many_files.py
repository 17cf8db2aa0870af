"""A private table that lies in a folder of files, read part by part."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from urllib.parse import unquote

import numpy as np

from anon_core.base.errors import BadInput, clipped
from anon_core.verification.cells import Cells, TextTable, narrow

_NOTHING = "__HIVE_DEFAULT_PARTITION__"


def joined_parts(folder: Path, read: Callable[[Path], TextTable]) -> TextTable:
    """Return the table whose parts are the files below a folder, in the order of their names.

    Folders named ``column=value`` tell a column of the files below them. Names that start with a
    dot or an underscore are passed over. Columns are read when first asked for.

    Parameters
    ----------
    folder : Path
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
