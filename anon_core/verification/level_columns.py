"""The lines of a level table, level by level: there may be a hundred thousand of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest


def level_columns(levels: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the cells of each level without blanks around them, the values first.

    Shorter lines end with empty cells.

    Examples
    --------
    >>> level_columns([["a ", "A"], ["b", "A"]]), level_columns([["a"], ["b", "B"]])
    ([['a', 'b'], ['A', 'A']], [['a', 'b'], ['', 'B']])
    """
    return [list(map(str.strip, column)) for column in zip_longest(*levels, fillvalue="")]
