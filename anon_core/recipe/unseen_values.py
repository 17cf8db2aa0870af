"""Values that no hierarchy has, when a decided recipe meets a new table: ``[reuse] unseen``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from anon_core.base.errors import BadPlan, InputChanged, brief
from anon_core.data.column import Column
from anon_core.data.hierarchy.level_table import LevelTable
from anon_core.data.hierarchy.model import TOP
from anon_core.data.table import Dataset
from anon_core.data.values.kinds import KINDS

#: What becomes of them: the run is refused; they are published as the top of their hierarchy; or
#: their rows are left out of the release.
Unseen = Literal["fail", "top", "suppress"]
UNSEEN: tuple[Unseen, ...] = get_args(Unseen)


@dataclass(frozen=True, kw_only=True)
class Met:
    """A table with the hierarchies that know all of its values, and what was unknown.

    Attributes
    ----------
    hierarchies : mapping of str to level table
    values : mapping of str to int
        By column the distinct values that its hierarchy did not have.
    rows : int
        Rows with such a value.
    """

    table: Dataset
    hierarchies: Mapping[str, LevelTable]
    values: Mapping[str, int]
    rows: int


def read_unseen(given: object) -> Unseen:
    """Read ``[reuse] unseen``.

    Raises
    ------
    BadPlan
    """
    for known in UNSEEN:
        if given == known:
            return known
    raise BadPlan(f"[reuse] unseen is {brief(given)}.", remedy="Use 'fail', 'top' or 'suppress'.")


def met(
    unseen: Unseen, table: Dataset, hierarchies: Mapping[str, LevelTable], columns: tuple[str, ...]
) -> Met:
    """Do with unknown values as a recipe says.

    Parameters
    ----------
    unseen : {'fail', 'top', 'suppress'}
        With 'fail' nothing is done here: building the hierarchy refuses them.
    table : Dataset
        With the kinds of its columns.
    hierarchies : mapping of str to level table
    columns : tuple of str
        Those whose hierarchies decide what is published.

    Raises
    ------
    InputChanged
        If a number or a date is to be published as the top: groups of these are intervals, and a
        value outside of all would stand in the middle of one. If such a value is written as a group
        of its hierarchy is: nobody could tell which of both a cell says.
    """
    found: dict[str, npt.NDArray[np.bool_]] = {}
    for name in columns if unseen != "fail" else ():
        if hierarchies.get(name):
            new = _unknown(table.column(name), hierarchies[name])
            if new.any() and not new.all():  # none at all: the hierarchy is another column's
                _refuse_labels(name, table.column(name), new, hierarchies[name])
                found[name] = new
    if not found:
        return Met(table=table, hierarchies=hierarchies, values={}, rows=0)
    held = np.zeros(table.rows, dtype=np.bool_)
    for name, new in found.items():
        held |= np.append(new, False)[table.column(name).codes]  # -1, missing, is the last
    values = {name: int(np.count_nonzero(new)) for name, new in found.items()}
    rows = int(np.count_nonzero(held))
    if unseen == "suppress":
        left = table.without_unseen(held)
        return Met(table=left, hierarchies=hierarchies, values=values, rows=rows)
    widened = dict(hierarchies)
    for name, new in found.items():
        column = table.column(name)
        if KINDS[column.kind].measured:
            raise InputChanged(
                f"The hierarchy of '{name}' lacks {values[name]} of the column's "
                f"{len(column.values)} values, and {KINDS[column.kind].several} cannot be "
                "published as its top.",
                remedy="Add them to the hierarchy, or set unseen = 'suppress' under [reuse].",
                values=[v for v, n in zip(column.values, new.tolist(), strict=True) if n][:5],
            )
        above = [cell.strip() for cell in hierarchies[name][0]][1:] or [TOP]
        more = [
            [value, *[above[-1]] * len(above)]
            for value, n in zip(column.values, new.tolist(), strict=True)
            if n
        ]
        own = [list(row) if len(row) > 1 else [*row, TOP] for row in hierarchies[name]]
        widened[name] = [*own, *more]
    return Met(table=table, hierarchies=widened, values=values, rows=rows)


def _refuse_labels(name: str, column: Column, new: npt.NDArray[np.bool_], rows: LevelTable) -> None:
    labels = {cell.strip() for row in rows for cell in row[1:]}
    alike = [v for v, n in zip(column.values, new.tolist(), strict=True) if n and v in labels]
    if alike:
        one = "a value" if len(alike) == 1 else f"{len(alike)} values"
        are = "is written as a group" if len(alike) == 1 else "are written as groups"
        raise InputChanged(
            f"Column '{name}' has {one} that its hierarchy does not know and that {are} of it, so "
            "a published cell could mean either.",
            remedy="Replace such values in the table, or give the hierarchy's groups other labels.",
            values=alike[:5],
        )


def _unknown(column: Column, rows: LevelTable) -> npt.NDArray[np.bool_]:
    """Say of every value of a column whether its level table lacks it, shape (values,)."""
    listed = {row[0].strip() for row in rows if row}
    new = np.array([value not in listed for value in column.values], dtype=np.bool_)
    read = KINDS[column.kind].read
    if read is not None and column.measure is not None and new.any():
        measures = np.array([read(text) for text in listed], dtype=np.float64)
        new &= ~np.isin(column.measure, measures)
    return new
