"""What a hierarchy says of missing values goes before what stands for them in any table.

A text such as ``NA`` stands for a missing value by default. Where a column's hierarchy lists it, it
is a value: a country, a surname. So it is where a column without a hierarchy is declared as text.
And where the hierarchy has a row for the missing value, that is
where it stands, among the texts it is grouped with.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from anon_core.data.column import Column, with_values
from anon_core.data.hierarchy.level_table import LevelTable
from anon_core.data.reading import DataOptions
from anon_core.data.table import MISSING, MISSING_TOKENS, Dataset
from anon_core.data.values.kinds import KINDS, ColumnKind
from anon_core.recipe.plan import Plan


@dataclass(frozen=True, kw_only=True)
class Keeping:
    """What decides which texts are values though they stand for a missing one elsewhere.

    Attributes
    ----------
    data : DataOptions
        What the recipe says of missing values goes before what a hierarchy does.
    types : mapping of str to str
        Declared kinds.
    coarsened : tuple of str
        Columns that are published by their hierarchies: there the missing value has a place.
    hierarchies : mapping of str to level table
    """

    data: DataOptions
    types: Mapping[str, ColumnKind]
    coarsened: tuple[str, ...]
    hierarchies: Mapping[str, LevelTable] = field(default_factory=dict[str, LevelTable])

    @classmethod
    def of(cls, plan: Plan, hierarchies: Mapping[str, LevelTable] | None) -> Keeping:
        """Return what a plan and its hierarchies say."""
        return cls(
            data=plan.data,
            types=plan.types,
            coarsened=plan.roles.quasi,
            hierarchies=hierarchies or {},
        )

    def table(self, dataset: Dataset) -> Dataset:
        """Return a table whose columns have as values what they are to keep; once is enough."""
        columns = [self.column(column) for column in dataset.columns]
        same = all(new is old for new, old in zip(columns, dataset.columns, strict=True))
        return dataset if same else replace(dataset, columns=tuple(columns))

    def column(self, column: Column, held: npt.NDArray[np.bool_] | None = None) -> Column:
        """Return one column with what it is to keep as values.

        Parameters
        ----------
        column : Column
        held : bool array of shape (rows,), optional
            Where a row of the column stands for rows of the table; everywhere if it is not given.
        """
        name, rows = column.name, self.hierarchies.get(column.name, ())
        kind = self.types.get(name, column.kind)
        if KINDS[kind].measured or not column.missing:
            return column
        listed = {row[0].strip() for row in rows if row}
        kept = set[str]()
        if name not in self.data.missing_in and self.data.missing_values == MISSING_TOKENS:
            declared = name in self.types and name not in self.data.kinds_found
            if rows or declared:  # declared as text, every text is a value
                kept = listed.intersection(column.replaced) if rows else {*column.replaced}
        gaps = None
        if MISSING in listed and column.name in self.coarsened and self.data.missing == "keep":
            gaps = column.codes < 0
            if held is not None:
                gaps &= held
        if not kept and gaps is None:
            return column
        return with_values(replace(column, kind=kind), kept, gaps)
