"""What of a table decides which techniques suit it: counts of rows, columns and levels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from anon_core.data.hierarchy.model import LevelTable
from anon_core.data.roles.roles import Roles
from anon_core.data.table import Dataset
from anon_core.data.values.kinds import KINDS

#: Values of a column that no hierarchy can group.
_NOTHING_BETWEEN = 2


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What is looked at of a table; no value of it.

    Attributes
    ----------
    rows, people : int
        The same where a row is a person.
    person : str
        The column that distinguishes persons; empty where a row is a person.
    quasi, numbers, measured, bare : tuple of str
        The quasi-identifiers; those of them that are numbers; numbers and dates; those without a
        hierarchy.
    lacking : tuple of str
        Those without a hierarchy that have values to group; see `lacking`.
    nodes : int
        Choices of one level for every quasi-identifier.
    shares : mapping of str to Fraction
        By sensitive column the share of its most common value among the rows that have one.
    public : int
        People of a public table; 0 where there is none.
    """

    rows: int
    people: int
    person: str = ""
    quasi: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    measured: tuple[str, ...] = ()
    bare: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()
    nodes: int = 1
    shares: Mapping[str, Fraction] = field(default_factory=dict[str, Fraction])
    public: int = 0


def facts_of(
    table: Dataset, roles: Roles, levels: Mapping[str, LevelTable], public: int = 0
) -> Facts:
    """Return the facts of a table with its roles and hierarchies.

    Parameters
    ----------
    table : Dataset
        With the kinds of its columns.
    public : int
        People of a public table.
    """
    people = len(table.column(roles.unit).values) if roles.unit else table.rows
    heights = [len(levels[name][0]) if levels.get(name) else 2 for name in roles.quasi]
    return Facts(
        rows=table.rows,
        people=people,
        person=roles.unit,
        quasi=roles.quasi,
        numbers=tuple(n for n in roles.quasi if KINDS[table.column(n).kind].amount),
        measured=tuple(n for n in roles.quasi if KINDS[table.column(n).kind].measured),
        bare=tuple(n for n in roles.quasi if not levels.get(n)),
        lacking=lacking(table, roles.quasi, levels),
        nodes=math.prod(heights),
        shares={name: _share(table, name) for name in roles.sensitive if name not in roles.quasi},
        public=public,
    )


def lacking(
    table: Dataset, names: Sequence[str], levels: Mapping[str, LevelTable]
) -> tuple[str, ...]:
    """Return the columns without a hierarchy that have more than two values.

    Between two values and the top that hides them lies nothing that a hierarchy could say.
    """
    return tuple(
        name
        for name in names
        if not levels.get(name) and len(table.column(name).values) > _NOTHING_BETWEEN
    )


def _share(table: Dataset, name: str) -> Fraction:
    counts = table.column(name).counts
    return Fraction(int(counts.max()), int(counts.sum())) if counts.sum() else Fraction(1)
