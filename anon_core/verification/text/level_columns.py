"""The lines of a level table, level by level: there may be a hundred thousand of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import zip_longest


class LevelTable(tuple[Sequence[str], ...]):
    """Lines of a level table whose columns are put together once, however many ask for them."""

    @cached_property
    def columns(self) -> list[list[str]]:
        """The cells of each level, as `level_columns` returns them."""
        return [list(map(str.strip, column)) for column in zip_longest(*self, fillvalue="")]


def level_columns(levels: Sequence[Sequence[str]]) -> list[list[str]]:
    """Return the cells of each level without blanks around them, the values first.

    Shorter lines end with empty cells. Not to be written to.

    Examples
    --------
    >>> level_columns([["a ", "A"], ["b", "A"]]), level_columns([["a"], ["b", "B"]])
    ([['a', 'b'], ['A', 'A']], [['a', 'b'], ['', 'B']])
    """
    return (levels if isinstance(levels, LevelTable) else LevelTable(levels)).columns
