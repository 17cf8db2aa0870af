"""How a hierarchy from elsewhere fits a column: which values it lacks, and where they may go."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from anon_core.base.errors import BadHierarchy
from anon_core.data.column import Column
from anon_core.data.hierarchy.model import Rows
from anon_core.data.table import MISSING_TOKENS
from anon_core.data.values.kinds import KINDS

#: Where values are that a hierarchy does not know, until a person places them.
UNPLACED = "not in the list"


@dataclass(frozen=True, kw_only=True)
class Placement:
    """How a level table fits a column.

    Attributes
    ----------
    rows : Rows
        The level table as it was given.
    unplaced : tuple of str
        Values of the data that it lacks, to be placed by a person; never dropped.
    rows_unplaced : int
        Rows of the table that have one of them.
    unseen : int
        Values that only the level table has; they are kept.
    """

    rows: Rows
    unplaced: tuple[str, ...]
    rows_unplaced: int
    unseen: int


def placed(rows: Sequence[Sequence[str]], column: Column) -> Placement:
    """Say which values of a column a level table lacks.

    Raises
    ------
    BadHierarchy
        If it has none of the column's values: it belongs to another column.

    Examples
    --------
    >>> import numpy as np
    >>> from anon_core.data.column import encode
    >>> pets = encode("pet", np.array([0, 1, 1], dtype=np.int32), ["cat", "emu"])
    >>> found = placed([["cat", "*"], ["dog", "*"]], pets)
    >>> found.unplaced, found.rows_unplaced, found.unseen
    (('emu',), 2, 1)
    """
    own = {_meaning(column, row[0].strip()) for row in rows if row}
    absent = {_meaning(column, token) for token in MISSING_TOKENS}
    unplaced = tuple(v for v in column.values if _meaning(column, v) not in own)
    if column.values and len(unplaced) == len(column.values):
        raise BadHierarchy(
            f"The hierarchy of '{column.name}' has none of the column's {len(column.values)} "
            "values: it seems to belong to another column.",
            remedy="Choose the file of this column.",
            values=unplaced[:5],
        )
    gone = set(unplaced)
    lacking = [c for v, c in zip(column.values, column.counts.tolist(), strict=True) if v in gone]
    seen = {_meaning(column, v) for v in column.values}
    return Placement(
        rows=tuple(tuple(row) for row in rows),
        unplaced=unplaced,
        rows_unplaced=sum(lacking),
        unseen=len(own - seen - absent),
    )


def _meaning(column: Column, text: str) -> str | float:
    """Return what makes two values of the column equal: numbers and days by value."""
    measure = KINDS[column.kind].measure(text)
    return text if measure != measure else measure
