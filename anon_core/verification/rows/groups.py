"""A published table in groups: its classes where rows are whole, else its numbered groups."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from anon_core.verification.rows.histogram import Histogram, tally
from anon_core.verification.rows.lines import Lines
from anon_core.verification.rows.tables import PrivateTable, Promise, joined
from anon_core.verification.text.texts import Codes

# Which columns the recipe says are published where, and which of them stay linked row by row.


Block = tuple[str, ...]


def table_names(promise: Promise) -> tuple[str, ...]:
    """Return the names of the tables a recipe publishes."""
    return ("quasi", "sensitive") if promise.shape.tables == 2 else ("release",)


def group_name(columns: Sequence[str]) -> str:
    """Return the name of the column of group numbers, which no other column has."""
    name = "group"
    while name in columns:
        name += " number"
    return name


def parts(promise: Promise) -> dict[str, Block]:
    """Return the columns of each published table."""
    names = table_names(promise)
    return dict(
        zip(names, _by_role(promise) if len(names) == 2 else [promise.published], strict=True)
    )


def blocks(promise: Promise) -> tuple[Block, ...]:
    """Return the sets of columns that the recipe itself says stay linked row by row."""
    if not promise.permuted:
        return (promise.published,)
    if promise.shape.linked == "roles":
        return tuple(block for block in _by_role(promise) if block)
    linked = _linked_sets(promise)
    inside = [name for block in linked for name in block]
    return (*linked, *((name,) for name in promise.published if name not in inside))


def sets_are_formed(promise: Promise) -> bool:
    """Say whether the run formed the column sets, so that the recipe does not tell them."""
    return promise.shape.linked == "sets" and not promise.shape.sets


def _by_role(promise: Promise) -> tuple[Block, Block]:
    """Return the columns beside the quasi-identifiers, and those beside the sensitive columns."""
    with_sensitive = promise.shape.insensitive_with == "sensitive"
    second = [
        name
        for name in promise.published
        if name not in promise.quasi and (name in promise.sensitive or with_sensitive)
    ]
    return tuple(n for n in promise.published if n not in second), tuple(second)


def _linked_sets(promise: Promise) -> tuple[Block, ...]:
    """Return the sets of columns that are told, else the sensitive columns."""
    if promise.shape.linked != "sets":
        return ()
    if sets_are_formed(promise):
        sensitive = (n for n in promise.published if n in promise.sensitive)
        apart = tuple(n for n in sensitive if n not in promise.quasi)
        return (apart,) if apart else ()
    return tuple(tuple(n for n in s if n in promise.published) for s in promise.shape.sets)


@dataclass(frozen=True, kw_only=True, eq=False)
class Grouped:
    """One published table whose rows stand in groups 0 to g - 1.

    Attributes
    ----------
    table : Lines
        Its distinct lines.
    columns : tuple of str
        Its columns beside the group number.
    group : int64 array of shape (lines,)
        Every line's class, or published group where columns are permuted apart.
    """

    table: Lines
    columns: Block
    group: Codes
    coded: dict[Block, tuple[Codes, Codes]] = field(default_factory=dict)
    counted: dict[str, Histogram] = field(default_factory=dict)

    @cached_property
    def sizes(self) -> Codes:
        """Rows per group, shape (groups,)."""
        return tally(self.group, self.table.count)

    @cached_property
    def rank(self) -> Codes:
        """Place of every line among what lines show beside the group, by texts; shape (lines,)."""
        return self.table.ranked(self.columns)

    def histogram(self, column: str) -> Histogram:
        """Return how often each group shows each value of a column."""
        found = self.counted.get(column)
        if found is None:
            found = self.counted[column] = self._histogram(*self.table.keyed(column))
        return found

    def texts_in_groups(self, column: str) -> Histogram:
        """Return how often each group shows each text of a column; a value is its number."""
        return self._histogram(self.table.codes_of(column), tuple(self.table.texts_of(column)))

    def _histogram(self, codes: Codes, values: tuple[Hashable, ...]) -> Histogram:
        size = max(len(values), 1)
        pair = self.group * size + codes
        order = np.argsort(pair)
        pair = pair[order]
        first = np.flatnonzero(np.diff(pair, prepend=-1))
        return Histogram(
            owner=pair[first] // size,
            value=pair[first] % size,
            count=np.add.reduceat(self.table.count[order], first),
            values=values,
            classes=len(self.sizes),
        )


def coded(
    block: Block, grouped: Mapping[str, Grouped], table: PrivateTable
) -> tuple[Codes, Codes, Grouped]:
    """Return the tuples of linked columns, coded alike: of the table's lines and published ones."""
    found = next(g for g in grouped.values() if block[0] in g.columns)
    if block not in found.coded:
        both: list[Codes] = []
        for name in block:
            column = table.columns[name]
            told = column.codes_of_texts(found.table.texts_of(name))
            shown = told[found.table.codes_of(name)]
            both.append(np.concatenate([table.codes(name), shown]) + 1)
        joint, _ = joined(both, len(table) + len(found.table))
        found.coded[block] = joint[: len(table)], joint[len(table) :]
    return *found.coded[block], found
