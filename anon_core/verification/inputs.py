"""Both sides of the second computation, read at once: the private table and the published files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any

from anon_core.base.errors import BadInput
from anon_core.verification.files.bounded_reading import Content
from anon_core.verification.files.file_checks import check_readable
from anon_core.verification.files.file_formats import read_alone, read_beside, read_from
from anon_core.verification.files.prefetch import WORTH_THREADS
from anon_core.verification.files.published import PublishedTable
from anon_core.verification.findings import Check
from anon_core.verification.rows.groups import table_names
from anon_core.verification.rows.tables import PrivateTable, Promise
from anon_core.verification.text.cells import TextTable
from anon_core.verification.text.texts import Spelling

#: Rows of the table up to which published files are read while it is.
_AT_ONCE = 1 << 23


class UnlikeCsv(Exception):
    """Cells that were read are not those of the CSV file."""


@dataclass(frozen=True, kw_only=True)
class BothSides:
    """What a release is held against, and what is published.

    Attributes
    ----------
    published : mapping of str to PublishedTable
        By the names of the release's tables.
    unsure : tuple of str
        The tables that were read from Parquet: whether their CSV files say the same is open.
    """

    table: PrivateTable
    published: Mapping[str, PublishedTable]
    unsure: tuple[str, ...]


def read_both_sides(
    promise: Promise,
    private: TextTable,
    levels: Mapping[str, Sequence[Sequence[str]]],
    files: Mapping[str, Content],
    export: Mapping[str, Any],
    lined: tuple[str, ...] | None,
    *,
    beside: bool,
) -> BothSides | Check:
    """Read both sides, or return the check that a file of the release cannot be read.

    Parameters
    ----------
    levels : mapping of str to sequence of sequences of str
    files : mapping of str to Content
        The published files by name.
    export : mapping
        The recipe's table of that name.
    lined : tuple of str or None
        The columns by which lines are told apart; None for all.
    beside : bool
        Whether the Parquet files beside large CSV files are read.

    Raises
    ------
    UnlikeCsv
        If a table cannot be read and another was read from Parquet: CSV files have their own words.
    """
    unsure: list[str] = []

    def spelling(column: str) -> Spelling:
        return table.spelling(column)  # which may still be read when this is handed on

    def read(name: str) -> PublishedTable | Check:
        if (file := read_from(name, files, export)) not in files:
            sentence = f"The published file {file} is missing."
            return Check(name="readable", holds=False, sentence=sentence)
        asked = name, files, promise.quasi, spelling
        found = read_beside(*asked) if beside else None
        try:
            if found is None:
                found = read_alone(*asked)
            else:
                unsure.append(name)
        except BadInput as error:
            return Check(name="readable", holds=False, sentence=error.message)
        found.lined = lined
        return check_readable(found) or found

    names = table_names(promise)
    with ThreadPoolExecutor(1) as pool:  # both at once, where memory has room for that
        few = len(private) < _AT_ONCE
        worth = few and len(private) >= WORTH_THREADS
        begun = [pool.submit(copy_context().run, read, name) for name in names if worth]
        table = PrivateTable(promise, private, levels, lined)
        if few and promise.shape.levels != "one":
            table.line  # noqa: B018 - told apart meanwhile: classes that overlap ask for it
        told = [own.result() for own in begun] or [read(name) for name in names]
    published: dict[str, PublishedTable] = {}
    for name, found in zip(names, told, strict=True):
        if isinstance(found, Check):
            if unsure:
                raise UnlikeCsv
            return found
        published[name] = found
    return BothSides(table=table, published=published, unsure=tuple(unsure))
