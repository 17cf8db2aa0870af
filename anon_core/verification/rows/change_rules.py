"""What a change is made again from, and the functions that make each again, by their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np

#: Texts of a column, row by row; None where there is no value.
Rows = list[str | None]


@dataclass(frozen=True, kw_only=True, eq=False)
class Told:
    """What one change is made again from.

    Attributes
    ----------
    change : mapping
        The recipe's table.
    columns : tuple of str
    rows : callable
        Given a column's name, returns its texts row by row, as they were read.
    person : str
        The column that tells persons apart; empty where none does.
    order : sequence of int
        Rows by their content.
    kind : callable
        Given a column, the kind of its values.
    measures : callable
        Given a column of a measured kind, its numbers or days row by row.
    generator : callable
        Returns the numbers that the seed gives for this change, from the first on.
    """

    change: Mapping[str, Any]
    columns: tuple[str, ...]
    rows: Callable[[str], Rows]
    person: str
    key: bytes = field(repr=False)
    order: Callable[[], Sequence[int]]
    generator: Callable[[], np.random.Generator]
    kind: Callable[[str], str]
    measures: Callable[[str], list[Decimal | int | None]]

    def text(self, name: str, default: str) -> str:
        """Return a parameter that is a text."""
        return str(self.change.get(name, default))

    def asked(self, name: str) -> bool:
        """Return a parameter that is a yes or no, and no where it is left out."""
        return self.change.get(name, False) is True


Redone = Mapping[str, tuple[Rows, str]]
MADE_AGAIN: dict[str, Callable[[Told], Redone]] = {}


def makes_again(
    name: str,
) -> Callable[[Callable[[Told], Redone]], Callable[[Told], Redone]]:
    """Enter a function that makes a change again: by column its texts, and their kind."""

    def enter(made: Callable[[Told], Redone]) -> Callable[[Told], Redone]:
        MADE_AGAIN[name] = made
        return made

    return enter
