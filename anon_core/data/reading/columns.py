"""Codes and texts as they were read become a column."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ..column import Column, encode, trimmed
from ..kinds import ColumnKind
from ..table import MISSING
from .notes import with_notes
from .options import DataOptions


def read_column(
    name: str,
    codes: npt.NDArray[np.int32],
    pool: Sequence[str],
    options: DataOptions,
    kind: ColumnKind | None,
) -> Column:
    """Trim the pool, mark missing values, encode, and note what a person should know."""
    absent = {MISSING, *(token.strip() for token in options.missing_values)}
    column = encode(name, *trimmed(codes, pool, absent), kind=kind)
    return with_notes(column, declared=kind is not None)
