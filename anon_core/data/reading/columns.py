"""Codes and texts as they were read become a column; which missing texts are values after all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from anon_core.data.column import Column, encode, tokens_of, trimmed, with_values
from anon_core.data.reading.notation import notation
from anon_core.data.reading.notes import token_notes, with_notes
from anon_core.data.reading.options import DataOptions
from anon_core.data.table import MISSING, MISSING_TOKENS, Dataset
from anon_core.data.values.kinds import KINDS, ColumnKind


def read_column(
    name: str,
    codes: npt.NDArray[np.int32],
    pool: Sequence[str],
    options: DataOptions,
    kind: ColumnKind | None,
    *,
    written: bool = True,
) -> Column:
    """Trim the pool, mark missing values, encode, and note what a person should know.

    Where not `written`, a program wrote numbers that it knew, so that a point is a decimal point.
    """
    absent = {MISSING, *(token.strip() for token in options.missing_of(name))}
    tokens = tokens_of(codes, pool, absent)
    codes, pool = trimmed(codes, pool, absent)
    used = np.bincount(codes + np.int32(1), minlength=len(pool) + 1)[1:] > 0
    order, mark = options.dates.get(name, ""), options.decimals.get(name, "")
    present = list(pool)
    if not used.all():
        present = [text for text, is_used in zip(pool, used, strict=True) if is_used]
    found = notation(name, present, order, mark, written=written)
    if found.texts:
        codes, pool = trimmed(codes, [found.texts.get(text, text) for text in pool], ())
    column = replace(encode(name, codes, pool, kind=kind), tokens=tokens)
    column = with_notes(column, declared=kind is not None)
    if name not in options.missing_in:
        column = column.with_notes(*token_notes(column))
    if kind is None and found.undecided:
        return replace(column, undecided=found.undecided, notes=(found.note,))
    return column.with_notes(found.note) if found.note else column


# What a hierarchy says of missing values goes before what represents them in any table.
#
# A text such as ``NA`` represents a missing value by default. Where a column's hierarchy lists it,
# it is a value: a country, a surname. So it is where a column without a hierarchy is declared as
# text. And where the hierarchy has a row for the missing value, that is where it is, among the
# texts it is grouped with.


@dataclass(frozen=True, kw_only=True)
class Keeping:
    """What decides which texts are values though they represent a missing one elsewhere.

    Attributes
    ----------
    data : DataOptions
        What the recipe says of missing values goes before what a hierarchy does.
    types : mapping of str to str
        Declared kinds.
    coarsened : tuple of str
        Columns that are published by their hierarchies: there the missing value has a place.
    hierarchies : mapping of str to level table
        The value first in each row.
    """

    data: DataOptions
    types: Mapping[str, ColumnKind]
    coarsened: tuple[str, ...]
    hierarchies: Mapping[str, Sequence[Sequence[str]]] = field(
        default_factory=dict[str, Sequence[Sequence[str]]]
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
        held : bool array of shape (rows,), optional
            Where a row of the column represents rows of the table; everywhere if it is not given.
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
