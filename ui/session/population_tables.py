"""Tables beside the one released: of the population, and earlier releases; kept by content."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import streamlit as st

from anon_core.data.reading import read_table
from anon_core.data.table import Dataset

from . import limits

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
        Its name beside the recipe.
    content : bytes
    table : Dataset
    """

    title: str
    path: str
    content: bytes
    table: Dataset


def add(title: str, content: bytes, what: str = "population") -> Population:
    """Read and keep a table beside the one released; `what` begins its name.

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
    if path not in kept:
        while len(kept) >= _MOST:
            kept.pop(next(iter(kept)))
        limits.check_size(content)
        table = read_table(content, name=title)
        limits.check_rows(table.rows)
        kept[path] = Population(title=title, path=path, content=content, table=table)
    return kept[path]


def find(path: str) -> Population | None:
    """Return the table that a plan names so, if the session still has it."""
    return _kept().get(path)


def _kept() -> dict[str, Population]:
    return st.session_state.setdefault(_KEPT, {})
