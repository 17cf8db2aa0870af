"""What somebody finds out at a step about the person who is followed."""

from __future__ import annotations

from anon_core.teaching.learn.lesson import Step
from anon_core.teaching.learn.seen import Seen
from anon_core.teaching.learn.text import listed, rows_said
from anon_core.teaching.learn.trace import Trace


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
