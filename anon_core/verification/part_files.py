"""A published table that lies in several Parquet files, whose rows follow each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..base.errors import BadInput, BadPlan
from .cells import Cells, TextTable
from .file_bytes import is_parquet_of
from .findings import Check
from .opening import Content
from .published import PublishedTable
from .reading import read_published

_MOST = 9999
_PART = re.compile(r"-[0-9]{4}-of-[0-9]{4}\.parquet\Z")


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


def part_names(table: str, parts: int) -> list[str]:
    """Return the names of the files of a table that lies in several."""
    return [f"{table}-{nth:04}-of-{parts:04}.parquet" for nth in range(1, parts + 1)]


def parts_there(table: str, names: Iterable[str]) -> list[str]:
    """Return which of some files are parts of a table, in their order."""
    return sorted(name for name in names if is_part(name) and table_of(name) == table)


def is_part(name: str) -> bool:
    """Return whether a file is one of several that make up a table."""
    return _PART.search(name) is not None


def table_of(name: str) -> str:
    """Return the table that a published file holds, or a part of it."""
    return _PART.sub("", name) if is_part(name) else name.rpartition(".")[0]


def read_parts(names: Sequence[str], files: Mapping[str, Content]) -> TextTable:
    """Read the parts of a published table as one.

    Raises
    ------
    BadInput
        If one is no Parquet file, or has other columns than the first.
    """
    tables = [read_published(files[name], name) for name in names]
    header = tables[0].names
    for name, table in zip(names, tables, strict=True):
        if table.names != header:
            raise BadInput(f"{name} has other columns than {names[0]}.", remedy="Run it again.")

    def load(places: Sequence[int]) -> list[Cells]:
        for table in tables:
            table.prefetch([header[place] for place in places])
        return [Cells.joined([table.column_at(place) for table in tables]) for place in places]

    return TextTable(header, sum(map(len, tables)), load)


def check_parts(
    release: PublishedTable, names: Sequence[str], files: Mapping[str, Content]
) -> Check:
    """Check that every part is, byte for byte, what is written of its share of the rows."""
    begin, odd, told = 0, "", ""
    for nth, name in enumerate(names, start=1):
        end = release.rows * nth // len(names)
        codes = [column[begin:end] for column in release.codes]
        if not is_parquet_of(files[name], release.header, codes, release.texts):
            odd = name
            told = f"rows {begin + 1:,} to {end:,}" if end > begin else "no row"
            break
        begin = end
    return Check(
        name="parquet",
        holds=not odd,
        rows=(begin + 1,) if odd else (),
        sentence=f"{odd} is not, byte for byte, what is written of {told} of the table that the "
        "parts make up: what else it holds, or leaves out, could mark a person."
        if odd
        else f"Each of the {len(names)} parts, {names[0]} and so on, is, byte for byte, what is "
        "written of its share of the rows in the same order, and holds nothing beside them.",
    )
