"""Several tables of the same rows: what they say together, which none of them says alone.

Rows with the same membership in all published cells are an atom. Every cell is a sum of atoms, so
hierarchical, linked and earlier tables are one system.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from anon_core.tables.system import Number, Relation, System

_Row = TypeVar("_Row", bound=Hashable)


@dataclass(frozen=True, kw_only=True)
class Difference:
    """A cell taken off a larger one: what is left is as good as published."""

    larger: str
    smaller: str
    value: Number


def atoms(cells: Mapping[str, Collection[_Row]]) -> dict[frozenset[str], list[_Row]]:
    """Return the rows of each atom, by the cells that hold it.

    Examples
    --------
    >>> found = atoms({"<20": ["a"], "<25": ["a", "b"]})
    >>> {tuple(sorted(cells)): rows for cells, rows in found.items()}
    {('<20', '<25'): ['a'], ('<25',): ['b']}
    """
    held: dict[_Row, set[str]] = defaultdict(set)
    for name, rows in cells.items():
        for row in rows:
            held[row].add(name)
    found: dict[frozenset[str], list[_Row]] = defaultdict(list)
    for row, names in held.items():
        found[frozenset(names)].append(row)
    return dict(found)


def linked(
    cells: Mapping[str, Collection[_Row]], amounts: Mapping[_Row, Number] | None = None
) -> tuple[System, frozenset[int]]:
    """Return everything published as one system over atoms, and which of its cells are atoms.

    Parameters
    ----------
    cells : mapping of str to collection
        By name, the rows of each cell of all tables.
    amounts : mapping, optional
        What each row adds; 1 by default.
    """
    every = atoms(cells)

    def total(rows: Collection[_Row]) -> Number:
        return sum(1 if amounts is None else amounts[row] for row in rows)

    names = list(cells)
    place = {name: at for at, name in enumerate(names)}
    parts: list[list[int]] = [[] for _ in names]
    values = [total(cells[name]) for name in names]
    for own, rows in every.items():
        at = len(names)
        names.append("atom of " + ", ".join(sorted(own)))
        values.append(total(rows))
        for name in own:
            parts[place[name]].append(at)
    system = System(
        names=tuple(names),
        values=tuple(values),
        relations=tuple(
            Relation(parent=at, children=tuple(below)) for at, below in enumerate(parts) if below
        ),
    )
    return system, frozenset(range(len(cells), len(names)))


def differences(
    first: Mapping[str, Collection[_Row]],
    second: Mapping[str, Collection[_Row]],
    amounts: Mapping[_Row, Number] | None = None,
) -> list[Difference]:
    """Return what cells of one table leave of cells of another that hold all their rows."""
    found: list[Difference] = []
    for one, other in ((first, second), (second, first)):
        for larger, rows in one.items():
            whole = set(rows)
            for smaller, inside in other.items():
                if set(inside) < whole:
                    rest = whole - set(inside)
                    value = sum(1 if amounts is None else amounts[row] for row in rest)
                    found.append(Difference(larger=larger, smaller=smaller, value=value))
    return found
