"""Columns whose cells were changed before rows were grouped, with what the table had there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from anon_core.base.arrays import B1, F64
from anon_core.data.column import Column
from anon_core.data.table import Dataset
from anon_core.data.values.kinds import KINDS


@dataclass(frozen=True, kw_only=True, eq=False)
class Before:
    """The columns of a changed table as they were, row by row those of the changed one.

    Attributes
    ----------
    replaced : tuple of str
        Those whose cells need not be their person's own any more.
    """

    columns: Mapping[str, Column]
    replaced: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class ChangedColumn:
    """One column twice, as numbers: what the table had in each row, and what is published there.

    Attributes
    ----------
    amount : bool
        Whether the numbers are amounts; else they only distinguish values.
    was, now : float64 arrays of shape (rows,)
        NaN where a value is missing.
    """

    name: str
    amount: bool
    was: F64
    now: F64


def changed_column(table: Dataset, before: Before, name: str) -> ChangedColumn:
    """Return a column before and after the changes; equal texts of both are equal numbers."""
    now = table.column(name)
    was = before.columns.get(name, now)
    if KINDS[now.kind].measured and now.measure is not None and was.measure is not None:
        return ChangedColumn(
            name=name,
            amount=KINDS[now.kind].amount,
            was=np.append(was.measure, np.nan)[was.codes],
            now=np.append(now.measure, np.nan)[now.codes],
        )
    place = {v: float(i) for i, v in enumerate(dict.fromkeys((*was.values, *now.values)))}
    places = [np.array([*(place[v] for v in c.values), np.nan])[c.codes] for c in (was, now)]
    return ChangedColumn(name=name, amount=False, was=places[0], now=places[1])


def taken(column: Column, rows: B1) -> Column:
    """Return a column's rows that are left; all of them where none has gone."""
    return column if rows.all() else column.take(rows)
