"""Tables next to the one released: of the population, and earlier releases; kept by content.

As on the command line, what represents a missing value, and how dates and decimals are written, is
what the table that is released was read with.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import streamlit as st

from anon_core.data.reading import DataOptions, read_table
from anon_core.data.table import Dataset
from ui.state import limits, state

_KEPT = "populations"
_MOST = 6


@dataclass(frozen=True, kw_only=True, eq=False)
class Population:
    """An uploaded table of the population, or an earlier release.

    Attributes
    ----------
    title : str
        The uploaded file's name.
    path : str
        Its name next to the recipe.
    content : bytes
    table : Dataset
    options : DataOptions
        How it was read.
    """

    title: str
    path: str
    content: bytes
    table: Dataset
    options: DataOptions = field(default_factory=DataOptions)


def add(title: str, content: bytes, what: str = "population") -> Population:
    """Read and keep a table next to the one released; `what` begins its name.

    Raises
    ------
    BadInput
        If the file is no table.
    TooMuch
        If the host takes no table of this size.
    """
    ending = "parquet" if content.startswith(b"PAR1") else "csv"
    path = f"{what}-{hashlib.sha256(content).hexdigest()[:12]}.{ending}"
    kept = _kept()
    if path not in kept or kept[path].options != _options():
        while len(kept) >= _MOST:
            kept.pop(next(iter(kept)))
        limits.check_size(content)
        kept[path] = _read(title, path, content)
    return kept[path]


def find(path: str) -> Population | None:
    """Return the table that a plan names so, if the session still has it.

    It is read again where the table that is released is read otherwise since.

    Raises
    ------
    BadInput
        If it is no table, read like this.
    """
    found = _kept().get(path)
    if found is not None and found.options != _options():
        found = _kept()[path] = _read(found.title, path, found.content)
    return found


def _read(title: str, path: str, content: bytes) -> Population:
    options = _options()
    table = read_table(content, options, name=title)
    limits.check_rows(table.rows)
    return Population(title=title, path=path, content=content, table=table, options=options)


def _options() -> DataOptions:
    options = DataOptions.from_mapping(state.draft().get("data", {}))
    return DataOptions(
        missing_values=options.missing_values,
        missing_in=options.missing_in,
        dates=options.dates,
        decimals=options.decimals,
    )


def _kept() -> dict[str, Population]:
    return st.session_state.setdefault(_KEPT, {})
