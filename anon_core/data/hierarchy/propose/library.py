"""The shipped library of hierarchies, and how much of it a column's values are."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from anon_core.base.installation import shipped
from anon_core.data.column import Column
from anon_core.data.hierarchy.edit.placing import UNPLACED
from anon_core.data.hierarchy.model import Rows, tidied


def folder() -> Path:
    """Return the folder of the library."""
    return shipped() / "hierarchies" / "library"


@dataclass(frozen=True, kw_only=True)
class Shelf:
    """One hierarchy of the library.

    Attributes
    ----------
    words : frozenset of str
        Words of column names that it suits.
    paths : mapping of str to tuple
        By spelling (see `spelling`): the value's place in the file and its labels, level 1 first.
    """

    name: str
    title: str
    words: frozenset[str]
    paths: dict[str, tuple[int, tuple[str, ...]]]


@dataclass(frozen=True, kw_only=True)
class Match:
    """A hierarchy of the library for a column.

    Attributes
    ----------
    known : int
        Distinct values of the column that the library has.
    rows : Rows
        For all values of the column; those not known are under "not in the list".
    unplaced : tuple of str
        The values that are not known.
    named : bool
        Whether the column's name speaks for it, too.
    """

    name: str
    title: str
    known: int
    rows: Rows
    unplaced: tuple[str, ...]
    named: bool


@cache
def shelves() -> tuple[Shelf, ...]:
    """Return every hierarchy of the library."""
    index: dict[str, dict[str, Any]] = tomllib.loads(
        (folder() / "index.toml").read_text(encoding="utf-8")
    )
    tables = {name: _table(name) for name, entry in index.items() if "of" not in entry}
    for name, entry in index.items():
        if "of" in entry:
            tables[name] = _nested(tables, entry["of"], entry["within"])
    return tuple(
        Shelf(
            name=name,
            title=entry["title"],
            words=frozenset(entry["words"].split()),
            paths=tables[name],
        )
        for name, entry in index.items()
    )


def _table(name: str) -> dict[str, tuple[int, tuple[str, ...]]]:
    found: dict[str, tuple[int, tuple[str, ...]]] = {}
    for place, line in enumerate(_lines(name)):
        spellings, *labels = line.split(";")
        for one in spellings.split("|"):
            found.setdefault(spelling(one), (place, tuple(labels)))
    return found


def _lines(name: str) -> list[str]:
    return (folder() / f"{name}.csv").read_text(encoding="utf-8").splitlines()


def _nested(
    tables: dict[str, dict[str, tuple[int, tuple[str, ...]]]], names: Sequence[str], within: str
) -> dict[str, tuple[int, tuple[str, ...]]]:
    """Return a table of countries with the parts of one of them next to them."""
    outer, inner = (tables[name] for name in names)
    place, above = outer[spelling(within)]
    # A country's first label is itself, so that parts and countries have one height.
    titles = [line.split(";")[0].split("|")[0] for line in _lines(names[0])]
    found = {text: (at, (titles[at], *labels)) for text, (at, labels) in outer.items()}
    for text in inner:
        # Codes of two letters mean other countries, and Georgia is one as well.
        if len(text) > 2 and text not in outer:
            found[text] = (place, (within, *above))
    return found


def spelling(text: str) -> str:
    """Return what spellings of one value have in common: lower case letters and digits.

    Examples
    --------
    >>> spelling("Côte d'Ivoire") == spelling("cote-d-ivoire"), spelling("Trinidad & Tobago")
    (True, 'trinidad and tobago')
    """
    plain = unicodedata.normalize("NFKD", text.casefold().replace("&", " and "))
    plain = "".join(c for c in plain if not unicodedata.combining(c))
    words = re.split(r"[^a-z0-9]+", plain)
    return " ".join("saint" if word == "st" else word for word in words if word)


def _spellings(text: str) -> list[str]:
    """Return the spellings to try: all of a text, and its parts (California/CA, Georgia (US))."""
    tried = [text, *re.split(r"\s*/\s*", text), re.sub(r"\s*\(.*?\)", "", text)]
    return list(dict.fromkeys(found for one in tried if (found := spelling(one))))


def matches(column: Column, *, least: float = 0.6) -> tuple[Match, ...]:
    """Return the hierarchies of the library that know a column's values, the best one first.

    Parameters
    ----------
    least : float
        Smallest share of distinct values that must be known.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.data.column import encode
    >>> values = ["Divorced", "Never-married", "Widowed", "Married", "it is complicated"]
    >>> status = encode("marital-status", np.arange(5, dtype=np.int32), values)
    >>> found = matches(status)[0]
    >>> found.name, found.known, found.unplaced
    ('marital-status', 4, ('it is complicated',))
    """
    words = set(
        re.split(r"[^a-z0-9]+", re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", column.name).lower())
    )
    found: list[Match] = []
    tried = {value: _spellings(value) for value in column.values}
    for shelf in shelves():
        paths = {value: _path(shelf, own) for value, own in tried.items()}
        unplaced = tuple(value for value, path in paths.items() if path is None)
        known = len(paths) - len(unplaced)
        if known < 3 or known < least * len(paths):
            continue
        height = len(next(iter(shelf.paths.values()))[1])
        placed = sorted(
            ((value, path) for value, path in paths.items() if path is not None),
            key=lambda one: one[1][0],
        )
        rows = [(value, *labels) for value, (_, labels) in placed]
        rows += [(value, *[UNPLACED] * height) for value in unplaced]
        tidy = tidied(rows)
        if len(tidy[0]) > 2:
            found.append(
                Match(
                    name=shelf.name,
                    title=shelf.title,
                    known=known,
                    rows=tidy,
                    unplaced=unplaced,
                    named=bool(words & shelf.words),
                )
            )
    return tuple(sorted(found, key=lambda one: (-one.known, not one.named)))


def _path(shelf: Shelf, spellings: Sequence[str]) -> tuple[int, tuple[str, ...]] | None:
    return next((shelf.paths[s] for s in spellings if s in shelf.paths), None)
