"""Words and questions that lessons have in common, and what someone finds at a step."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from hashlib import sha256
from typing import TypeVar

from anon_core.teaching.learn.lesson import Choice, Question, Step
from anon_core.teaching.learn.readings import Seen
from anon_core.teaching.learn.trace import Trace

_Number = TypeVar("_Number", int, Fraction)
#: Numbers that are offered as answers, and how many of them need not come from a mistake.
_OFFERED, _FILLED = 5, 2


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


def offered(
    asks: str, right: _Number, likely: Sequence[_Number], others: Sequence[_Number], many: int
) -> list[_Number]:
    """Return the answers to a question in their order, the right one at a place drawn by its words.

    Parameters
    ----------
    likely, others : sequences of numbers
        What typical mistakes lead to, and what else may be offered, the likeliest first. No more
        than two of `others` are offered where there are enough of `likely`.
    many : int
        How many answers there are to be, at most one more than both have.
    """
    sides = [
        [
            [n for n in numbers if (n < right) == lower and n != right]
            for numbers in (likely, others)
        ]
        for lower in (True, False)
    ]
    below, above = ([*mistakes, *rest] for mistakes, rest in sides)
    filled = {
        place: max(place - len(sides[0][0]), 0) + max(many - 1 - place - len(sides[1][0]), 0)
        for place in range(many)
        if place <= len(below) and many - 1 - place <= len(above)
    }
    most = max(_FILLED, min(filled.values()))
    places = [place for place, others_ in filled.items() if others_ <= most]
    drawn = int.from_bytes(sha256(f"{asks} {right}".encode()).digest())
    lower = places[drawn % len(places)]
    return sorted([*below[:lower], right, *above[: many - 1 - lower]])


def number_question(
    asks: str,
    right: int,
    why: str,
    *,
    among: int,
    least: int = 0,
    mistakes: Iterable[int] = (),
) -> Question:
    """Return a question for a number, with up to five answers in their order.

    Which place the right one has among them is drawn from the question's own words, so that it
    gives nothing away, and is the same whenever it is asked.

    Parameters
    ----------
    among, least : int
        The highest and lowest number that is possible.
    mistakes : iterable of int
        Numbers that typical mistakes lead to; they are offered before others.
    """
    likely = [n for n in dict.fromkeys(mistakes) if least <= n <= among and n != right]
    reach = range(max(least, right - _OFFERED), min(among, right + _OFFERED) + 1)
    near = sorted(reach, key=lambda n: (abs(n - right), n))
    others = [n for n in near if n != right and n not in likely]
    numbers = offered(asks, right, likely, others, min(_OFFERED, len(likely) + len(others) + 1))
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


def attack_said(trace: Trace, step: Step, person: int) -> str:
    """Return what is found by someone who knows a person's quasi-identifiers.

    Empty where nothing is published yet, and would not be if the algorithm stopped here.

    Parameters
    ----------
    person : int
        Row of the person.
    """
    if step.found:
        return step.found[person]
    return "" if step.seen is None else _fits_said(step.seen, trace.name_of(person), person)


def _fits_said(seen: Seen, who: str, person: int) -> str:
    """Say which rows fit a person, and what these rows show."""
    rows = seen.fits(person)
    said = "Someone" if seen.published else "If this table were published, someone"
    said += f" who knows {listed(seen.known)} of {who} finds "
    if seen.rows[person] < 0:
        none = f"{rows_said(len(rows))}{_numbered(rows)}, none of them theirs" if rows else "no row"
        return f"{said}{none}: {who} is suppressed."
    said += rows_said(len(rows))
    certain = "for certain" if len(rows) == 1 else f"1 time in {len(rows)}"
    said += f"{_numbered(rows)} and picks the right one {certain}."
    return said + "".join(_value_said(seen, person, column) for column in seen.secret)


def _numbered(rows: tuple[int, ...]) -> str:
    return f" ({listed(str(row + 1) for row in rows)})" if rows else ""


def _value_said(seen: Seen, person: int, column: str) -> str:
    values = seen.values(person, column)
    most, often = next(iter(values.items()))
    every = sum(values.values())
    if every == 1:
        return f" {column} is {most}."
    if len(values) == 1:
        return f" {column} is {most} in all of them, so it is known."
    return f" {column} is one of {len(values)} values; {most} has {often} of {every}."
