"""Questions that people ask of a result, answered with figures computed for the purpose.

Each is answered with a sentence, the figures behind it, and what it leans on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Cell = int | float | str | None


@dataclass(frozen=True, kw_only=True)
class Answer:
    """An answer.

    Attributes
    ----------
    sentence : str
        The answer itself, with its figures.
    rows : tuple of mappings of str to int, float, str or None
        The figures behind it as a small table; all have the same keys.
    note : str
        What the answer leans on, or why it is less than was asked.
    """

    sentence: str
    rows: tuple[Mapping[str, Cell], ...] = ()
    note: str = ""


def rows_said(number: int) -> str:
    """Return a number of rows in words.

    Examples
    --------
    >>> rows_said(1), rows_said(1200)
    ('1 row', '1,200 rows')
    """
    return f"{number:,} {'row' if number == 1 else 'rows'}"
