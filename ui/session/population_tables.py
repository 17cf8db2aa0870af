"""Population tables for journalist risk: kept with the session, named after their content."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import streamlit as st

from anon_core.data.reading import read_table
from anon_core.data.table import Dataset

from . import limits

_KEPT = "populations"
_MOST = 4


@dataclass(frozen=True, kw_only=True, eq=False)
class Population:
    """An uploaded population table.

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


def add(title: str, content: bytes) -> Population:
    """Read and keep a population table.

    Raises
    ------
    BadInput
        If the file is no table.
    TooMuch
        If the host takes no table of this size.
    """
    ending = "parquet" if content.startswith(b"PAR1") else "csv"
    path = f"population-{hashlib.sha256(content).hexdigest()[:12]}.{ending}"
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
    """Return the population table a plan names, if the session still has it."""
    return _kept().get(path)


def _kept() -> dict[str, Population]:
    return st.session_state.setdefault(_KEPT, {})
