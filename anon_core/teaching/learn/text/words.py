"""Words and questions that lessons have in common."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from anon_core.teaching.learn.lesson import Choice, Question


def rows_said(number: int) -> str:
    """Return a number of rows in words.

    Examples
    --------
    >>> rows_said(1), rows_said(3)
    ('1 row', '3 rows')
    """
    return f"{number:,} row{'' if number == 1 else 's'}"


def rows_listed(rows: Iterable[int]) -> str:
    """Return rows, counted from 0, by their numbers, at the beginning of a sentence.

    Examples
    --------
    >>> rows_listed([0, 2]), rows_listed([4])
    ('Rows 1 and 3', 'Row 5')
    """
    numbers = [str(row + 1) for row in rows]
    return f"Row{'' if len(numbers) == 1 else 's'} {listed(numbers)}"


def listed(texts: Iterable[str], last: str = "and") -> str:
    """Return texts as a list within a sentence.

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed(["a"])
    ('a, b and c', 'a')
    """
    *most, end = list(texts) or [""]
    return f"{', '.join(most)} {last} {end}" if most else end


def number_question(asks: str, right: int, why: str, *, near: Sequence[int] = ()) -> Question:
    """Return a question for a number; `near` are the other numbers that are offered."""
    others = near or [n for n in (right - 2, right - 1, right + 1, right + 2) if n >= 0]
    numbers = sorted({right, *others})
    choices = tuple(Choice(id=f"number:{n}", label=f"{n:,}") for n in numbers)
    return Question(asks=asks, choices=choices, answer=f"number:{right}", why=why)


def yes_or_no(asks: str, yes: bool, why: str) -> Question:
    """Return a question whose answer is yes or no."""
    choices = (Choice(id="yes", label="Yes"), Choice(id="no", label="No"))
    return Question(asks=asks, choices=choices, answer="yes" if yes else "no", why=why)


def node_label(columns: Sequence[str], levels: Sequence[int]) -> str:
    """Return a node by the first letters of its columns, with their levels.

    Examples
    --------
    >>> node_label(["Race", "ZIP"], (1, 0))
    'R1 Z0'
    """
    wide = 1
    while wide < 4 and len({name[:wide] for name in columns}) < len(columns):
        wide += 1
    return " ".join(f"{name[:wide]}{n}" for name, n in zip(columns, levels, strict=True))


def node_said(columns: Sequence[str], levels: Sequence[int]) -> str:
    """Return a node within a sentence.

    Examples
    --------
    >>> node_said(["Race", "ZIP"], (1, 0))
    'Race at level 1, ZIP at level 0'
    """
    return ", ".join(f"{name} at level {n}" for name, n in zip(columns, levels, strict=True))


def node_id(levels: Sequence[int]) -> str:
    """Return what a node is clicked by."""
    return "node:" + ",".join(map(str, levels))
