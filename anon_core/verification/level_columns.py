"""The lines of a level table, level by level: there may be a hundred thousand of them."""

from __future__ import annotations

from collections.abc import Sequence


def level_columns(levels: Sequence[Sequence[str]]) -> list[list[str]] | None:
    """Return the cells of each level without blanks around them, the values first.

    None where lines differ in length, or there are none.

    Examples
    --------
    >>> level_columns([["a ", "A"], ["b", "A"]]), level_columns([["a"], ["b", "B"]])
    ([['a', 'b'], ['A', 'A']], None)
    """
    if len(set(map(len, levels))) != 1:
        return None
    return [list(map(str.strip, column)) for column in zip(*levels, strict=True)]
