"""Codes and texts as they were read become a column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from anon_core.data.column import Column, encode, tokens_of, trimmed
from anon_core.data.reading.notation import notation
from anon_core.data.reading.notes import token_notes, with_notes
from anon_core.data.reading.options import DataOptions
from anon_core.data.table import MISSING
from anon_core.data.values.kinds import ColumnKind


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
