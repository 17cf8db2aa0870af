"""Changed cells as columns: texts for each distinct value, or a text for every row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from anon_core.data.column import Column, encode
from anon_core.data.values.kinds import ColumnKind


def by_text(column: Column, told: Callable[[str], str], kind: ColumnKind | None = None) -> Column:
    """Return a column whose texts, as they were read, each become another; missing stays missing.

    Parameters
    ----------
    told : callable
        Given a text, it returns what is published; asked once for each text that a row has.
    kind : str, optional
        The kind of what is published; the column's own where it is left out.
    """
    codes, texts = column.as_read
    used = np.zeros(len(texts) + 1, dtype=np.bool_)
    used[codes] = True
    made = [told(text) if has else "" for text, has in zip(texts, used, strict=False)]
    return _encoded(column, codes.astype(np.int64), made, kind or column.kind)


def by_row(column: Column, texts: Sequence[str | None], kind: ColumnKind | None = None) -> Column:
    """Return a column with a text for every row; None where the value is missing."""
    place: dict[str, int] = {}
    codes = [-1 if t is None else place.setdefault(t, len(place)) for t in texts]
    return _encoded(column, np.array(codes, dtype=np.int64), list(place), kind or column.kind)


def _encoded(column: Column, codes: np.ndarray, texts: Sequence[str], kind: ColumnKind) -> Column:
    pool = list(dict.fromkeys(texts))
    place = {text: code for code, text in enumerate(pool)}
    target = np.array([*(place[text] for text in texts), -1], dtype=np.int32)
    made = encode(column.name, target[codes], pool, kind=kind, thousands="")
    return replace(made, origin=column.origin)
